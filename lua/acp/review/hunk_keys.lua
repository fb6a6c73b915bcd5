---Keys in the user's own buffers with agents' changes: from change to change, also into the next
---file, and decisions about the one under the cursor or about the selected lines. The host knows
---which lines are part of a change (host/reviewui/selection.go).
local M = {}

local api = vim.api

local changes = require('acp.review.changes')
local marks = require('acp.review.marks')
local warn = require('acp.notify').warn

---@class acp.Place
---@field path string
---@field row integer

---The first row of each change in a file, from the buffer's marks, or else as the host sent it.
---@param path string
---@return integer[]
local function rows_of(path)
  return marks.rows(path) or changes.rows(path)
end

---The place a number of changes after or before one, across files and wrapping around.
---@param path string
---@param row integer
---@param step integer not 0
---@return acp.Place?, boolean around
local function find(path, row, step)
  local paths = changes.pending_paths()
  local forward = step > 0
  local left = math.abs(step)
  ---@type integer of the file in paths, or between two of them
  local at = 0.5
  for i, other in ipairs(paths) do
    at = other == path and i or other < path and i + 0.5 or at
  end
  local around, empty = false, 0
  local rows = vim.tbl_filter(function(other)
    return forward and other > row or not forward and other < row
  end, at % 1 == 0 and rows_of(path) or {})
  while empty <= #paths do
    if left <= #rows then
      return { path = paths[at] or path, row = rows[forward and left or #rows - left + 1] }, around
    end
    left = left - #rows
    at = forward and math.floor(at) + 1 or math.ceil(at) - 1
    if not paths[at] then
      around = true
      at = forward and 1 or #paths
    end
    rows = paths[at] and rows_of(paths[at]) or {}
    empty = #rows == 0 and empty + 1 or 0
  end
  return nil, false
end

---Shows a file in the current window.
---@param path string
---@return boolean
local function edit(path)
  local unsaved = vim.bo.modified and vim.bo.buftype == ''
  local hides = vim.o.hidden or vim.bo.bufhidden == 'hide' or vim.o.autowriteall
  if unsaved and not hides and #vim.fn.win_findbuf(api.nvim_get_current_buf()) == 1 then
    local name = vim.fn.fnamemodify(path, ':~:.')
    warn(("next is %s, but this buffer has unsaved text and 'hidden' is off"):format(name))
    return false
  end
  local ok, err = pcall(vim.cmd.edit, {
    args = { vim.fn.fnameescape(vim.fn.fnamemodify(path, ':~:.')) },
  })
  if not ok then
    warn((tostring(err):gsub('^.-:(E%d+:)', '%1')))
  end
  return ok
end

---Moves the cursor a number of changes on, or back if that is negative.
---@param step integer
---@param quiet? boolean where there is none, nothing is said
function M.go(step, quiet)
  local win = require('acp.ui.window').for_file()
  if not win then
    return warn('no window here shows files')
  end
  local path = marks.path(api.nvim_win_get_buf(win))
  local place, around = find(path or '', api.nvim_win_get_cursor(win)[1] - 1, step)
  if not place then
    return not quiet and warn('there are no pending changes')
  end
  api.nvim_set_current_win(win)
  vim.cmd("normal! m'")
  if place.path ~= path and not edit(place.path) then
    return
  end
  local row = math.min(place.row, api.nvim_buf_line_count(0) - 1)
  api.nvim_win_set_cursor(0, { row + 1, 0 })
  vim.cmd('normal! zv')
  if row == 0 then
    marks.make_room(0)
  end
  if around then
    local what = step > 0 and 'first' or 'last'
    api.nvim_echo({ { ('acp: wrapped around to the %s change'):format(what) } }, false, {})
  end
end

---The sessions with changes there, and the path; says so if there is none.
---@param first integer
---@param last integer
---@return integer[]? sessions, string? path
local function here(first, last)
  local buf = api.nvim_get_current_buf()
  local sessions = marks.sessions(buf, first - 1, last - 1)
  if #sessions == 0 then
    return warn('no pending change here')
  end
  return sessions, marks.path(buf)
end

---Waits until the buffer shows the decision. Then, by an option, moves the cursor to the next
---change, unless the user has left.
---@param done fun()
local function advance(done)
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local at = api.nvim_win_get_cursor(win)[1]
  marks.drawn(buf, function()
    local stayed = api.nvim_get_current_win() == win
      and api.nvim_get_current_buf() == buf
      and api.nvim_win_get_cursor(win)[1] == at
    if stayed and require('acp.config').get().review_advance and vim.fn.mode() == 'n' then
      M.go(1, true)
    end
    done()
  end)
end

---Decides a number of changes from the cursor on, or those in lines. Keys typed after it wait: they
---are about the resulting text.
---@param decision 'keep'|'reject'
---@param count integer
---@param first? integer
---@param last? integer
function M.decide(decision, count, first, last)
  local line = api.nvim_win_get_cursor(0)[1]
  local sessions, path = here(first or line, last or line)
  if not sessions then
    return
  end
  require('acp.ui.async_keys').await(function(done)
    for _, session in ipairs(sessions) do
      require('acp.rpc.host').request('decide_hunks', {
        session = session,
        path = path,
        decision = decision,
        lines = first ~= nil,
        first = first or line,
        last = last or line,
        count = count,
      }, function()
        if session == sessions[#sessions] then
          advance(done)
        end
      end)
    end
  end)
end

---Lets the user comment on lines.
---@param first? integer
---@param last? integer
local function comment(first, last)
  local line = api.nvim_win_get_cursor(0)[1]
  local sessions, path = here(first or line, last or line)
  if sessions then
    require('acp.review.comment').ask(sessions[1], path, first or line, last or line)
  end
end

---Leaves Visual mode, and returns the lines that were selected.
---@return integer first, integer last
local function selected()
  local from, to = vim.fn.line('v'), vim.fn.line('.')
  vim.cmd('normal! \27')
  return math.min(from, to), math.max(from, to)
end

---@class acp.HunkAction
---@field action string of the configuration
---@field plug string
---@field run fun(count: integer)
---@field visual? fun(first: integer, last: integer) of selected lines

---@type acp.HunkAction[]
local actions = {
  {
    action = 'review_keep',
    plug = '<Plug>(AcpReviewKeep)',
    run = function(count)
      M.decide('keep', count)
    end,
    visual = function(first, last)
      M.decide('keep', 1, first, last)
    end,
  },
  {
    action = 'review_reject',
    plug = '<Plug>(AcpReviewReject)',
    run = function(count)
      M.decide('reject', count)
    end,
    visual = function(first, last)
      M.decide('reject', 1, first, last)
    end,
  },
  { action = 'review_next', plug = '<Plug>(AcpReviewNext)', run = M.go },
  {
    action = 'review_previous',
    plug = '<Plug>(AcpReviewPrevious)',
    run = function(count)
      M.go(-count)
    end,
  },
  {
    action = 'review_comment',
    plug = '<Plug>(AcpReviewComment)',
    run = function()
      comment()
    end,
    visual = comment,
  },
}

---The keys of a buffer with changes, for acp.ui.keymap. The user's own mappings stay.
---@return acp.Key[]
function M.keys()
  local config = require('acp.config').get().keys
  local keys = {}
  for _, action in ipairs(actions) do
    local function add(mode, act)
      local function run()
        require('acp.review.key_hint').done()
        act()
      end
      table.insert(keys, { lhs = action.plug, mode = mode, run = run, action = action.action })
      local lhs = config[action.action]
      if lhs then
        local key = { lhs = lhs, mode = mode, run = run, action = action.action, yields = true }
        table.insert(keys, key)
      end
    end
    add('n', function()
      action.run(vim.v.count1)
    end)
    if action.visual then
      add('x', function()
        action.visual(selected())
      end)
    end
  end
  return keys
end

---@type table<string, fun(cmd: table)> by the word after `:Acp review`
M.commands = {
  next = function()
    M.go(1)
  end,
  previous = function()
    M.go(-1)
  end,
}
for _, decision in ipairs({ 'keep', 'reject' }) do
  M.commands[decision] = function(cmd)
    if cmd.range > 0 then
      M.decide(decision, 1, cmd.line1, cmd.line2)
    else
      M.decide(decision, 1)
    end
  end
end
for word, on in pairs({ ['marks on'] = true, ['marks off'] = false }) do
  M.commands[word] = function()
    marks.show(on)
  end
end

return M
