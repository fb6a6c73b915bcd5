---The float that shows the oldest open permission request. It never takes the focus; it is
---answered from anywhere.
local M = {}

local api = vim.api
local idle = require('acp.idle')

---@type integer? the float
local win
---@type integer? what it shows
local shown
---@type table<integer, true> requests whose float the user has closed
local dismissed = {}
---@type boolean an update waits for Neovim to be idle
local waiting = false

local function close()
  if win and api.nvim_win_is_valid(win) then
    local buf = api.nvim_win_get_buf(win)
    api.nvim_win_close(win, true)
    pcall(api.nvim_buf_delete, buf, { force = true })
  end
  win, shown = nil, nil
end

---How many lines a float can have.
---@return integer
local function most()
  return math.max(1, vim.o.lines - vim.o.cmdheight - 4)
end

---What is asked and the answers; where not all of it fits, less of what is asked.
---@param request acp.Permission
---@param asks string[] what is asked
---@return string[] lines, integer first row of the options, integer shown lines of what is asked
local function compose(request, asks)
  local room = math.max(3, most() - #request.options - 1)
  local kept = #asks > room and room - 1 or #asks
  local lines = {}
  for i = 1, kept do
    table.insert(lines, ' ' .. asks[i] .. ' ')
  end
  if kept < #asks then
    table.insert(lines, (' … +%d lines '):format(#asks - kept))
  end
  if #lines > 0 then
    table.insert(lines, '')
  end
  local first = #lines
  for i, option in ipairs(request.options) do
    table.insert(lines, (' %d %s '):format(i, (option.name:gsub('%s+', ' '))))
  end
  if #request.options == 0 then
    table.insert(lines, ' It offers no answer. :Acp cancel ends the turn. ')
  end
  return lines, first, kept
end

---@param request acp.Permission
---@param lines string[]
---@param first integer
---@param kept integer
---@param asked_marks integer[] of the lines kept
---@return integer buf
local function fill(request, lines, first, kept, asked_marks)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  local highlight = require('acp.highlight')
  local marks = {}
  for i = 1, #asked_marks, 4 do
    local row, col, end_col, group = unpack(asked_marks, i, i + 3)
    if row < kept then
      vim.list_extend(marks, { row, col + 1, end_col + 1, group })
    end
  end
  highlight.set(buf, marks, 0)
  for i = 1, #request.options do
    local row = first + i - 1
    api.nvim_buf_set_extmark(
      buf,
      highlight.ns,
      row,
      1,
      { end_col = 1 + #tostring(i), hl_group = 'AcpOptionKey' }
    )
  end
  vim.b[buf].acp_session = request.session
  local function answer(n)
    local option = request.options[n]
    if option then
      require('acp').respond(request.id, option.id)
    end
  end
  for i = 1, math.min(9, #request.options) do
    vim.keymap.set('n', tostring(i), function()
      answer(i)
    end, { buffer = buf, nowait = true })
  end
  vim.keymap.set('n', '<CR>', function()
    answer(api.nvim_win_get_cursor(0)[1] - first)
  end, { buffer = buf })
  if request.files then
    vim.keymap.set('n', 'D', function()
      require('acp.diff').ask(request)
    end, { buffer = buf, nowait = true })
  end
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', lhs, '<Cmd>close<CR>', { buffer = buf, nowait = true })
  end
  return buf
end

---The area beside the chat, so that the float does not cover the conversation.
---@return integer right the column where it ends
local function right_edge()
  local chat = require('acp.layout').windows(0)
  if chat and api.nvim_win_get_config(chat).relative == '' then
    local col = api.nvim_win_get_position(chat)[2]
    if col > 40 then
      return col - 1
    end
  end
  return vim.o.columns
end

---Whether a window's cursor is in an area of the screen.
---@param of integer
---@param row integer the first row of the area, 1-based
---@param end_row integer exclusive
---@param col integer the first column
---@return boolean
local function cursor_in(of, row, end_row, col)
  local at = api.nvim_win_get_cursor(of)
  local pos = vim.fn.screenpos(of, at[1], at[2] + 1)
  return pos.row >= row and pos.row < end_row and pos.curscol >= col
end

---Where the float goes vertically: away from the cursor, and from where a diff changes.
---@param height integer with its border
---@param left integer its first column
---@return string anchor, integer row
local function vertical(height, left)
  local bottom = vim.o.lines - vim.o.cmdheight - 1
  local diffs = require('acp.diff').windows()
  if #diffs == 0 then
    local cursor = vim.fn.screenpos(0, vim.fn.line('.'), vim.fn.col('.')).row
    if cursor > 0 and cursor <= vim.o.lines / 2 then
      return 'SE', bottom
    end
    return 'NE', 1
  end
  ---@param row integer
  ---@return integer how much is covered that should be seen
  local function cost(row)
    local sum = cursor_in(0, row, row + height, left) and 2 or 0
    for _, each in ipairs(diffs) do
      sum = sum + (cursor_in(each, row, row + height, left) and 1 or 0)
    end
    return sum
  end
  if cost(2) <= cost(bottom - height + 1) then
    return 'NE', 1
  end
  return 'SE', bottom
end

---The keys and commands that answer, below the float.
---@param request acp.Permission
---@param count integer
---@param focused boolean
---@return string
local function footer_of(request, count, focused)
  return (' :Acp permit N%s%s '):format(
    request.files and (focused and ' · D diff' or ' · :Acp diff') or '',
    count > 1 and (' · 1 of ' .. count) or ''
  )
end

---@param request acp.Permission
---@param count integer
local function open(request, count)
  local brief = require('acp.diff').shows(request.id)
  local lines, first, kept = compose(request, brief and request.brief or request.lines)
  local buf = fill(request, lines, first, kept, brief and request.brief_marks or request.marks)
  local edge = right_edge()
  local footer = footer_of(request, count, false)
  local title = ' ' .. request.heading .. ' '
  local width = math.max(vim.fn.strdisplaywidth(title), vim.fn.strdisplaywidth(footer), 24)
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  width = math.max(1, math.min(width, edge - 4, 100))
  local rows = 0
  for _, line in ipairs(lines) do
    rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  local height = math.min(rows, most())
  local anchor, row = vertical(height + 2, edge - width - 1)
  local opened = api.nvim_open_win(buf, false, {
    relative = 'editor',
    anchor = anchor,
    row = row,
    col = edge,
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = title,
    footer = footer,
    footer_pos = 'right',
    zindex = 60,
    noautocmd = true,
  })
  api.nvim_set_option_value('wrap', true, { scope = 'local', win = opened })
  api.nvim_set_option_value(
    'winhighlight',
    'FloatBorder:AcpToolWaiting,FloatTitle:AcpToolWaiting',
    { scope = 'local', win = opened }
  )
  if height < rows and #request.options + 3 <= height then
    -- Long lines are wrapped: the answers are what must be seen.
    api.nvim_win_set_cursor(opened, { #lines, 0 })
  end
  win, shown = opened, request.id
  api.nvim_create_autocmd({ 'WinEnter', 'WinLeave' }, {
    buffer = buf,
    callback = function(args)
      local now = footer_of(request, count, args.event == 'WinEnter')
      api.nvim_win_set_config(opened, { footer = now, footer_pos = 'right' })
    end,
  })
  local tab = api.nvim_get_current_tabpage()
  api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(opened),
    once = true,
    callback = function()
      if shown == request.id then
        dismissed[request.id] = true
        win, shown = nil, nil
        vim.schedule(function()
          if not api.nvim_tabpage_is_valid(tab) then
            -- Closing a tab is no word about the request.
            dismissed[request.id] = nil
            M.update()
          end
        end)
      end
    end,
  })
end

local group = api.nvim_create_augroup('acp_permission', {})

---Brings the float up to date with the open requests, now or as soon as Neovim is idle.
function M.update()
  require('acp.diff').update()
  if not idle.windows() then
    if not waiting then
      waiting = true
      api.nvim_create_autocmd({ 'SafeState', 'CmdlineLeave', 'CmdwinLeave', 'ModeChanged' }, {
        group = group,
        callback = function()
          api.nvim_clear_autocmds({ group = group })
          vim.schedule(function()
            waiting = false
            M.update()
          end)
        end,
      })
    end
    return
  end
  local requests = vim.tbl_filter(function(request)
    return not dismissed[request.id]
  end, require('acp.mirror').permissions())
  local keep = shown
  shown = nil
  close()
  if requests[1] then
    open(requests[1], #requests)
  end
  if requests[1] and requests[1].id ~= keep then
    M.watch()
  end
end

---Keeps the float in the tab and the screen that the user looks at.
function M.watch()
  api.nvim_create_autocmd({ 'TabEnter', 'VimResized' }, {
    group = api.nvim_create_augroup('acp_permission_place', {}),
    desc = 'Place the permission float',
    callback = vim.schedule_wrap(M.update),
  })
end

---Shows the float again that the user has closed.
function M.show()
  dismissed = {}
  M.update()
end

---@return integer? win
function M.win()
  return win
end

return M
