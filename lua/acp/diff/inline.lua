---A diff drawn in the file itself, over the live buffer, whose text does not change.
local M = {}

local api = vim.api
local label = require('acp.diff.label')
local windows = require('acp.diff.windows')
local virt_lines = require('acp.ui.virt_lines')
local ns = api.nvim_create_namespace('acp_inline')

---How many changes are drawn at once.
local slice = 300

---@class acp.InlineChange
---@field old_at integer the first old line, 1-based, or the one that follows
---@field new_at integer
---@field old string[]
---@field new string[]
---@field old_words integer[] index of the line from 0, start, end, and so on
---@field new_words integer[]

---@class acp.Inline: acp.DiffPlace
---@field owner acp.DiffOwner
---@field buf integer
---@field win integer
---@field back? integer the window that the user was taken from
---@field line integer of the first change
---@field above integer how many virtual lines stand above that
---@field opened? integer the window, where it was opened for this
---@field after? 'wipe'|'unload' what becomes of a buffer that was loaded for this
---@field before acp.Before
---@field has 'old'|'new' what the buffer has of each change
---@field refused table<integer, true> of the changes
---@field struck table<integer, true> those of the changes that are drawn so
---@field drawn table<integer, integer[]> the extmarks of the changes
---@field keys acp.MappedKey[]
---@field lhs table<string, string> the keys by action
---@field group integer
---@field note? integer the window that says where the change is, while it is off the screen
---@field over boolean
local Inline = {}
Inline.__index = Inline

---Whether the buffer has one side of the changes.
---@param buf integer
---@param diff acp.Diff
---@param side 'old'|'new'
---@return boolean
local function has(buf, diff, side)
  if api.nvim_buf_line_count(buf) ~= math.max(1, diff[side .. '_lines']) then
    return false
  end
  for _, change in ipairs(diff.changes) do
    local at, lines = change[side .. '_at'] - 1, change[side]
    if not vim.deep_equal(api.nvim_buf_get_lines(buf, at, at + #lines, false), lines) then
      return false
    end
  end
  return true
end

---The buffer of a file, loaded if necessary; `after` says what to do with it afterwards.
---@param path string
---@return integer? buf, 'wipe'|'unload'|nil after
local function find(path)
  if not vim.uv.fs_stat(path) then
    return
  end
  local real = require('acp.rpc.path').real
  local wanted = real(path)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(buf)
    if
      name:sub(1, 1) == '/'
      and api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].buftype == ''
      and real(name) == wanted
    then
      return buf
    end
  end
  local known = vim.fn.bufexists(path) == 1
  local buf = vim.fn.bufadd(vim.fn.fnamemodify(path, ':.')) -- which is its name on the screen
  local swap = api.nvim_create_autocmd('SwapExists', {
    callback = function()
      vim.v.swapchoice = 'e' -- it is only shown
    end,
  })
  local ok = pcall(vim.fn.bufload, buf)
  api.nvim_del_autocmd(swap)
  return ok and buf or nil, known and 'unload' or 'wipe'
end

---Unloads a buffer that was loaded for the diff, unless it is in use now.
---@param buf integer
---@param after 'wipe'|'unload'|nil
local function put_back(buf, after)
  if
    after
    and api.nvim_buf_is_loaded(buf)
    and not vim.bo[buf].modified
    and #vim.fn.win_findbuf(buf) == 0
    and not (after == 'wipe' and vim.bo[buf].buflisted)
  then
    api.nvim_buf_delete(buf, { unload = after == 'unload' })
  end
end

---A line that is refused, as virtual text.
---@param text string
---@param buf integer
---@param first boolean the first one says so
---@return table[] chunks
local function refused_line(text, buf, first)
  local struck = { 'AcpReviewRefused', 'AcpStrikethrough' }
  local chunks = { { (virt_lines.untabbed(text, buf)), struck } }
  table.insert(chunks, first and { '  ✗ refused', 'AcpReviewRefusedSign' } or nil)
  return chunks
end

---@param buf integer
---@param change acp.InlineChange
---@param side 'old'|'new' what the buffer has
---@param header table[]? chunks of a line above
---@param refused boolean
---@return integer[] extmarks
local function draw(buf, change, side, header, refused)
  local drawn = {}
  local function mark(row, col, opts)
    table.insert(drawn, api.nvim_buf_set_extmark(buf, ns, row, col, opts))
  end
  local other = side == 'old' and 'new' or 'old'
  local row = change[side .. '_at'] - 1
  local group = side == 'old' and 'AcpInlineDelete' or 'AcpInlineAdd'
  local words = virt_lines.words(change[side .. '_words'])
  for i, line in ipairs(change[side]) do
    mark(row + i - 1, 0, {
      end_row = row + i,
      hl_group = refused and 'AcpReviewRefused' or group,
      hl_eol = true,
      priority = 150,
      strict = false,
      virt_text = refused and i == 1 and #change[other] == 0 and {
        { '  ✗ refused', 'AcpReviewRefusedSign' },
      } or nil,
    })
    for _, word in ipairs(refused and {} or words[i - 1]) do
      mark(row + i - 1, math.min(word[1], #line), {
        end_col = math.min(word[2], #line),
        hl_group = group .. 'Word',
        priority = 151,
      })
    end
  end
  group = side == 'old' and 'AcpInlineAdd' or 'AcpInlineDelete'
  words = virt_lines.words(change[other .. '_words'])
  local lines = {}
  for i, line in ipairs(change[other]) do
    local chunks = refused and refused_line(line, buf, i == 1)
      or virt_lines.line(line, words[i - 1], group, group .. 'Word', buf)
    table.insert(lines, chunks)
  end
  local last = api.nvim_buf_line_count(buf)
  ---@param at integer
  ---@param above boolean
  ---@param virt table[]
  local function put(at, above, virt)
    if at >= last then
      at, above = last - 1, false
    end
    virt_lines.guard(buf)
    mark(at, 0, { virt_lines = virt, virt_lines_above = above })
  end
  -- What goes stands above what comes.
  local below = side == 'old' and #change.old > 0
  if header then
    put(row, true, below and { header } or vim.list_extend({ header }, lines))
  end
  if #lines > 0 and (below or not header) then
    put(below and row + #change.old - 1 or row, not below, lines)
  end
  return drawn
end

---Maps keys in the user's buffer, as long as the diff is shown.
---@param self acp.Inline
---@param diff acp.Diff
local function map(self, diff)
  local config = require('acp.config').get().keys
  local keys = {}
  for _, key in ipairs(self.owner.keys(diff)) do
    for _, mode in ipairs(key.modes or { 'n' }) do
      local mapped = { mode = mode, lhs = key.plug, run = key.run, action = key.action }
      table.insert(keys, mapped)
      if config[key.action] then
        local own = { lhs = config[key.action], otherwise = key.otherwise }
        table.insert(keys, vim.tbl_extend('force', mapped, own))
      end
    end
  end
  for _, key in ipairs(require('acp.ui.keymap').choose(self.buf, keys)) do
    if key.mode == 'n' and not vim.startswith(key.lhs, '<Plug>') then
      self.lhs[key.action] = key.lhs
    end
  end
  self.keys = require('acp.ui.keymap').map(self.buf, keys)
end

---The words about the change: its file, and the keys. If there is no room for the keys that answer,
---what is obvious is dropped.
---@param self acp.Inline
---@param diff acp.Diff
---@return string
local function words(self, diff)
  local hints = label.hints(diff, self.owner.keys(diff), self.lhs)
  local facts = label.facts(diff, diff.after, self.lhs)
  local room = api.nvim_win_get_width(self.win) - vim.fn.getwininfo(self.win)[1].textoff
  local name, line = facts[1], nil
  local file = diff.files[diff.at].name .. ' · '
  for _, known in ipairs({ '', file, file .. diff.after .. '  ' }) do
    if vim.startswith(name, known) then
      facts[1] = name:sub(#known + 1)
      line = require('acp.ui.wrap').fit(vim.list_extend(vim.list_slice(facts), hints), room)
    end
    if #hints < 2 or line:find(hints[2], 1, true) then
      break
    end
  end
  return line
end

---@param self acp.Inline
local function close_note(self)
  if self.note and api.nvim_win_is_valid(self.note) then
    api.nvim_win_close(self.note, true)
  end
  self.note = nil
end

---Where the changes are, if none of them is on the screen.
---@param self acp.Inline
---@return string? arrow, integer? line of the nearest one, 1-based
local function away(self)
  local first, last = vim.fn.line('w0', self.win), vim.fn.line('w$', self.win)
  local above, below
  for _, drawn in pairs(self.drawn) do
    local at = drawn[1] and api.nvim_buf_get_extmark_by_id(self.buf, ns, drawn[1], {})[1]
    local line = at and at + 1
    if line and line >= first and line <= last then
      return nil
    elseif line and line < first then
      above = math.max(above or line, line)
    elseif line then
      below = math.min(below or line, line)
    end
  end
  if below then
    return '↓', below
  end
  return above and '↑', above
end

---Whether the line with the keys is on the screen, which stands above the first change.
---@param self acp.Inline
---@return boolean
local function has_header(self)
  local drawn = self.drawn[1]
  local at = drawn and drawn[1] and api.nvim_buf_get_extmark_by_id(self.buf, ns, drawn[1], {})[1]
  if not at then
    return true
  end
  local first, last = vim.fn.line('w0', self.win), vim.fn.line('w$', self.win)
  local filled = api.nvim_win_call(self.win, vim.fn.winsaveview).topfill >= self.above
  return at + 1 <= last and (at + 1 > first or at + 1 == first and (filled or first == 1))
end

---The words over a window in which the line with the keys is off screen: where the change is, or
---that line, if another change is on the screen.
---@param self acp.Inline
---@param diff acp.Diff
---@return string?
local function note_words(self, diff)
  local arrow, line = away(self)
  if not arrow then
    return not has_header(self) and words(self, diff) or nil
  end
  local parts = { ('%s line %d: a change by the agent'):format(arrow, line) }
  local key = self.lhs[arrow == '↓' and 'review_next' or 'review_previous']
  table.insert(parts, key and key .. ' goes there')
  vim.list_extend(parts, label.hints(diff, self.owner.keys(diff), self.lhs))
  return require('acp.ui.wrap').fit(parts, api.nvim_win_get_width(self.win) - 1)
end

---Shows that over the window.
---@param self acp.Inline
---@param diff acp.Diff
local function show_note(self, diff)
  local valid = not self.over and api.nvim_win_is_valid(self.win)
  local here = valid and api.nvim_win_get_buf(self.win) == self.buf
  here = here and api.nvim_win_get_tabpage(self.win) == api.nvim_get_current_tabpage()
  local text = here and note_words(self, diff)
  if not text then
    return close_note(self)
  end
  local top = api.nvim_win_call(self.win, vim.fn.winline) > 1
  local config = {
    relative = 'win',
    win = self.win,
    row = top and 0 or api.nvim_win_get_height(self.win) - 1,
    col = 0,
    width = math.max(1, math.min(api.nvim_strwidth(text), api.nvim_win_get_width(self.win))),
    height = 1,
  }
  if not (self.note and api.nvim_win_is_valid(self.note)) then
    local buf = api.nvim_create_buf(false, true)
    vim.bo[buf].bufhidden = 'wipe'
    self.note = api.nvim_open_win(
      buf,
      false,
      vim.tbl_extend('error', config, {
        focusable = false,
        style = 'minimal',
        zindex = 30,
        noautocmd = true,
      })
    )
    require('acp.ui.window').plain(
      self.note,
      { winhighlight = 'NormalFloat:AcpInlineHeader', winbar = '' }
    )
  else
    api.nvim_win_set_config(self.note, config)
  end
  local buf = api.nvim_win_get_buf(self.note)
  if api.nvim_buf_get_lines(buf, 0, -1, false)[1] ~= text then
    api.nvim_buf_set_lines(buf, 0, -1, false, { text })
  end
end

---@param self acp.Inline
---@param diff acp.Diff
---@param i integer which change
local function draw_one(self, diff, i)
  for _, id in ipairs(self.drawn[i] or {}) do
    api.nvim_buf_del_extmark(self.buf, ns, id)
  end
  local above = i == 1 and { { words(self, diff), 'AcpInlineHeader' } } or nil
  self.struck[i] = self.refused[i]
  self.drawn[i] = draw(self.buf, diff.changes[i], self.has, above, self.refused[i] ~= nil)
end

---@param self acp.Inline
---@param diff acp.Diff
---@param from integer
local function draw_all(self, diff, from)
  if self.over or not api.nvim_buf_is_loaded(self.buf) then
    return
  end
  for i = from, math.min(#diff.changes, from + slice - 1) do
    draw_one(self, diff, i)
  end
  if from + slice <= #diff.changes then
    vim.defer_fn(function()
      draw_all(self, diff, from + slice)
    end, 5)
  end
end

---Scrolls to what is above the first line of the buffer, if the window begins there.
---@param self acp.Inline
local function make_room(self)
  if self.line == 1 and vim.fn.line('w0', self.win) == 1 then
    api.nvim_win_call(self.win, function()
      vim.fn.winrestview({ topline = 1, topfill = self.above })
    end)
  end
end

---Moves a window to the first change.
---@param self acp.Inline
local function go(self)
  local line = math.min(self.line, api.nvim_buf_line_count(self.buf))
  api.nvim_win_set_cursor(self.win, { line, 0 })
  api.nvim_win_call(self.win, function()
    vim.cmd('normal! zz')
  end)
  make_room(self)
end

function Inline:side()
  if api.nvim_get_current_win() == self.win then
    return self.has == 'old' and 1 or 2
  end
end

function Inline:paint(diff, refused)
  if self.over or not api.nvim_buf_is_loaded(self.buf) then
    return
  end
  self.refused = refused
  if self.drawn[1] then
    draw_one(self, diff, 1) -- its line above counts them
  end
  ---@param from integer
  local function redraw(from)
    local left = slice
    for i = from, #diff.changes do
      if self.over or self.refused ~= refused or left == 0 then
        break
      elseif self.drawn[i] and self.struck[i] ~= refused[i] then
        draw_one(self, diff, i)
        left = left - 1
      end
      from = i + 1
    end
    if left == 0 then
      vim.defer_fn(function()
        redraw(from)
      end, 5)
    end
  end
  redraw(2)
end

function Inline:swap()
  return false -- each file has its own window
end

function Inline:focus()
  if not api.nvim_win_is_valid(self.win) then
    return
  end
  local current = api.nvim_get_current_win()
  if current ~= self.win then
    self.back = current
    api.nvim_set_current_win(self.win)
  end
  go(self)
  windows.note_views(self.before)
end

function Inline:close()
  self.over = true
  close_note(self)
  api.nvim_clear_autocmds({ group = self.group })
  require('acp.ui.keymap').clear(self.buf, { ns }, self.keys)
  if self.back and api.nvim_win_is_valid(self.back) and api.nvim_get_current_win() == self.win then
    api.nvim_set_current_win(self.back)
  end
  if self.opened then
    windows.close({ self.opened }, { self.buf }, self.before.code or self.buf)
  end
  windows.restore(self.before)
  put_back(self.buf, self.after)
end

---Shows a diff over the file's buffer, in its window or in a new one.
---@param diff acp.Diff
---@param owner acp.DiffOwner
---@return acp.Inline? nil where the buffer has neither of the texts
function M.open(diff, owner)
  local buf, after = find(diff.path)
  if not buf then
    return nil
  end
  local side = has(buf, diff, 'old') and 'old' or has(buf, diff, 'new') and 'new'
  if not side then
    put_back(buf, after)
    return nil
  end
  local self = setmetatable({
    owner = owner,
    buf = buf,
    after = after,
    keys = {},
    lhs = {},
    has = side,
    refused = {},
    struck = {},
    drawn = {},
    over = false,
    before = windows.remember(diff.path),
    line = diff.first,
    group = api.nvim_create_augroup('acp_inline', {}),
  }, Inline)
  local win = windows.shows(diff.path)
  if not win then
    local code = windows.code(diff.path)
    self.opened = api.nvim_open_win(buf, false, {
      split = code and 'below' or 'above',
      win = code or -1,
      height = code and math.floor(api.nvim_win_get_height(code) * 0.6) or nil,
    })
    win = self.opened
  end
  self.win, self.wins = win, { win }
  windows.unbind(self.before)
  local first = diff.changes[1]
  self.above = first and #first.old > 0 and side == 'old' and 1
    or 1 + (first and #first[side == 'old' and 'new' or 'old'] or 0)
  map(self, diff)
  draw_all(self, diff, 1)
  if win ~= api.nvim_get_current_win() then
    go(self)
  else
    make_room(self)
  end
  windows.note_views(self.before)
  show_note(self, diff)
  local function update_note()
    show_note(self, diff)
  end
  api.nvim_create_autocmd({ 'WinScrolled', 'WinResized', 'BufWinEnter', 'TabEnter' }, {
    group = self.group,
    desc = 'Show where the change is that is off the screen',
    callback = vim.schedule_wrap(update_note),
  })
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    group = self.group,
    buffer = self.buf,
    desc = 'Show where the change is that an edit has moved',
    callback = vim.schedule_wrap(update_note),
  })
  api.nvim_create_autocmd('WinClosed', {
    group = self.group,
    pattern = tostring(win),
    callback = function()
      vim.schedule(function()
        if not self.over then
          owner.closed()
        end
      end)
    end,
  })
  return self
end

return M
