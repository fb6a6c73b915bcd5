---The float of the oldest open permission request or question. It never takes the focus, and can be
---answered from anywhere.
local M = {}

local api = vim.api
local safe_state = require('acp.ui.safe_state')
local diff_view = require('acp.diff.view')
local pending_write = require('acp.permission.pending_write')
local state = require('acp.rpc.state')
local wrap = require('acp.ui.wrap')

---@type integer? the float
local win
---@type integer? what it shows
local shown
---@type fun()? brings the line below it up to date
local footer_anew
---@type table<integer, 'closed'|'swept'> requests whose float the user has closed: itself, or with
---all other windows
local dismissed = {}

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

---@class acp.Answer a row of an answer
---@field text string
---@field nth? integer which one
---@field first? boolean whether it has the number

---The content of the float: the rows of the question, of which it shows a page, and below them the
---answers, which are always visible.
---@class acp.Float
---@field request acp.OpenPermission
---@field rows acp.Row[]
---@field options acp.Answer[]
---@field width integer
---@field page integer how many rows it shows of what is asked
---@field from integer the first of them, from 0

---@type table<integer, integer> where the user has scrolled to, by request
local scrolled = {}

---@param request acp.OpenPermission
---@param lines string[] what is asked
---@param marks integer[]
---@param width integer
---@return acp.Float
local function compose(request, lines, marks, width)
  ---@type acp.Answer[]
  local options = {}
  for i, option in ipairs(request.options) do
    local number = (' %d '):format(i)
    for j, row in ipairs(wrap.rows({ option.label }, {}, math.max(1, width - #number - 1))) do
      local head = j == 1 and number or (' '):rep(#number)
      table.insert(options, { text = head .. row.text .. ' ', nth = i, first = j == 1 })
    end
  end
  if #options == 0 then
    local none = { 'It offers no answer. :Acp cancel ends the turn.' }
    for _, row in ipairs(wrap.rows(none, {}, width - 2)) do
      table.insert(options, { text = ' ' .. row.text })
    end
  end
  local rows = wrap.rows(lines, marks, width - 2)
  local page = math.max(3, most() - #options - 1)
  if #rows > page then
    page = math.max(1, page - 1) -- a line says that there is more
  end
  page = math.min(page, #rows)
  local from = math.min(scrolled[request.id] or 0, #rows - page)
  return {
    request = request,
    rows = rows,
    options = options,
    width = width,
    page = page,
    from = from,
  }
end

---@param float acp.Float
---@return string[] lines, integer[] marks, integer first row of the answers
local function page(float)
  local lines, marks = {}, {}
  for i = 1, float.page do
    local row = float.rows[float.from + i]
    table.insert(lines, ' ' .. row.text .. ' ')
    for m = 1, #row.marks, 3 do
      local col, end_col, group = unpack(row.marks, m, m + 2)
      vim.list_extend(marks, { i - 1, col + 1, end_col + 1, group })
    end
  end
  if float.page < #float.rows then
    local more = (' … %d–%d of %d lines · <C-f> on, <C-b> back, in here '):format(
      float.from + 1,
      float.from + float.page,
      #float.rows
    )
    table.insert(lines, wrap.cut(more, float.width))
  end
  if #lines > 0 then
    table.insert(lines, '')
  end
  local first = #lines
  for _, row in ipairs(float.options) do
    table.insert(lines, row.text)
  end
  return lines, marks, first
end

---Fills the buffer of the float.
---@param buf integer
---@param float acp.Float
---@return integer first row of the answers
local function draw(buf, float)
  local highlight = require('acp.ui.highlight')
  local lines, marks, first = page(float)
  vim.bo[buf].modifiable = true
  api.nvim_buf_clear_namespace(buf, highlight.ns, 0, -1)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  highlight.set(buf, marks, 0)
  if float.page < #float.rows then
    local opts = { end_col = #lines[float.page + 1], hl_group = 'AcpMore' }
    api.nvim_buf_set_extmark(buf, highlight.ns, float.page, 0, opts)
  end
  for i, row in ipairs(float.options) do
    if row.first then
      local opts = { end_col = 1 + #tostring(row.nth), hl_group = 'AcpOptionKey' }
      api.nvim_buf_set_extmark(buf, highlight.ns, first + i - 1, 1, opts)
    end
  end
  return first
end

---@param float acp.Float
---@return integer buf
local function fill(float)
  local request = float.request
  local what = 'permission-' .. request.id
  local buf = require('acp.chat.buffers').create(what, 'acp-permission', request.session)
  vim.bo[buf].bufhidden = 'wipe'
  local first = draw(buf, float)
  ---@param n? integer
  local function answer(n)
    local option = n and request.options[n]
    if option then
      require('acp.notify').warn_if(require('acp.permission.requests').choose(request, option.id))
    end
  end
  for i = 1, math.min(9, #request.options) do
    vim.keymap.set('n', tostring(i), function()
      answer(i)
    end, { buffer = buf, nowait = true, desc = ('acp: give answer %d'):format(i) })
  end
  vim.keymap.set('n', '<CR>', function()
    local row = float.options[api.nvim_win_get_cursor(0)[1] - first]
    answer(row and row.nth)
  end, { buffer = buf, desc = 'acp: give the answer of this line' })
  if request.files then
    vim.keymap.set('n', 'D', function()
      diff_view.ask(request)
    end, { buffer = buf, nowait = true, desc = 'acp: show the diff' })
  end
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    local opts = { buffer = buf, nowait = true, desc = 'acp: close, and answer later' }
    vim.keymap.set('n', lhs, '<Cmd>close<CR>', opts)
  end
  if float.page < #float.rows then
    ---@param by integer rows
    local function turn(by)
      local last = #float.rows - float.page
      float.from = math.max(0, math.min(float.from + by, last))
      scrolled[request.id] = float.from
      draw(buf, float)
    end
    local keys = { ['<C-f>'] = 1, ['<PageDown>'] = 1, ['<C-b>'] = -1, ['<PageUp>'] = -1 }
    for lhs, by in pairs(keys) do
      vim.keymap.set('n', lhs, function()
        turn(by * float.page)
      end, {
        buffer = buf,
        nowait = true,
        desc = by > 0 and 'acp: turn the page' or 'acp: turn the page back',
      })
    end
  end
  return buf
end

---The area beside the chat, so that the float does not cover the conversation.
---@return integer right the column where it ends
local function right_edge()
  local chat = require('acp.chat.layout').windows(0)
  if chat and api.nvim_win_get_config(chat).relative == '' then
    local col = api.nvim_win_get_position(chat)[2]
    if col > 40 then
      return col - 1
    end
  end
  return vim.o.columns
end

---@class acp.Spot what should be seen of a row of the screen
---@field row integer
---@field col integer the last cell of it
---@field weight integer

---What should stay visible: the cursor, the changes in diffs, and the lines above them.
---@param diffs integer[] windows
---@return acp.Spot[]
local function spots(diffs)
  local pos = vim.fn.screenpos(0, vim.fn.line('.'), vim.fn.col('.'))
  local list = { { row = pos.row, col = pos.curscol, weight = 4 } }
  for _, each in ipairs(diffs) do
    local info, at = vim.fn.getwininfo(each)[1], api.nvim_win_get_cursor(each)
    local cells = vim.fn.virtcol({ at[1], '$' }, false, each) - 1
    local width = math.min(info.textoff + cells, info.width)
    local row = vim.fn.screenpos(each, at[1], at[2] + 1).row
    table.insert(list, { row = row, col = info.wincol + width - 1, weight = 2 })
    if vim.b[info.bufnr].acp_diff then
      local opts = { winid = each, use_winbar = true }
      local bar = vim.trim(api.nvim_eval_statusline(vim.wo[each].winbar, opts).str)
      local last = info.wincol + wrap.cells(bar)
      table.insert(list, { row = info.winrow, col = last, weight = 1 })
    end
  end
  return list
end

---Where the float goes vertically.
---@param height integer with its border
---@param left integer its first column
---@return string anchor, integer row
local function vertical(height, left)
  local bottom = vim.o.lines - vim.o.cmdheight - 1
  local diffs = diff_view.windows()
  if #diffs == 0 then
    local cursor = vim.fn.screenpos(0, vim.fn.line('.'), vim.fn.col('.')).row
    if cursor > 0 and cursor <= vim.o.lines / 2 then
      return 'SE', bottom
    end
    return 'NE', 1
  end
  local seen = spots(diffs)
  -- Preferably at the top, else at the bottom, else somewhere in between.
  local rows = { 2, math.max(2, bottom - height + 1) }
  for row = 3, bottom - height do
    table.insert(rows, row)
  end
  local best, least = 2, math.huge
  for _, row in ipairs(rows) do
    local sum = 0
    for _, spot in ipairs(seen) do
      local hidden = spot.row >= row and spot.row < row + height and spot.col >= left
      sum = sum + (hidden and spot.weight or 0)
    end
    if sum < least then
      best, least = row, sum
    end
  end
  return 'NE', best - 1
end

---The keys and commands that answer, below the float.
---@param request acp.OpenPermission
---@param count integer
---@param focused boolean
---@param below? boolean whether some answers are out of sight
---@return string
local function footer_of(request, count, focused, below)
  local parts = {}
  if #request.options > 0 then
    local many = below or #request.options > 9
    local of = many and ' of ' .. #request.options or ''
    table.insert(parts, ':Acp permit N' .. of)
  end
  if request.files then
    table.insert(parts, focused and 'D diff' or ':Acp diff')
  end
  if request.since then
    table.insert(parts, 'waits ' .. pending_write.clock(request))
  end
  if count > 1 then
    table.insert(parts, '1 of ' .. count)
  end
  return #parts > 0 and ' ' .. table.concat(parts, ' · ') .. ' ' or ''
end

---Who asks for what. If several sessions have the same agent, it says which one.
---@param request acp.OpenPermission
---@return string
local function heading_of(request)
  local session, name = state.sessions[request.session], wrap.flat(state.name(request.session))
  local agent = session and wrap.flat(session.agent_title)
  if not agent or name == agent or not vim.startswith(request.heading, agent) then
    return request.heading
  end
  local title = session.title and (' (%s)'):format(wrap.cut(session.title, 30)) or ''
  return name .. title .. request.heading:sub(#agent + 1)
end

---Whether the user is in another float, such as a picker's, which must not be covered. One for
---code, as in zen-mode, or a chat's does not count.
---@return boolean
local function in_another_float()
  return api.nvim_get_current_win() ~= win
    and api.nvim_win_get_config(0).relative ~= ''
    and vim.bo.buftype ~= ''
    and not vim.list_contains({ 'acp-chat', 'acp-prompt' }, vim.bo.filetype)
end

---The float's zindex: behind all others while the user is in one of them.
---@return integer zindex
local function depth()
  local lowest = 60
  for _, other in ipairs(in_another_float() and api.nvim_tabpage_list_wins(0) or {}) do
    local config = api.nvim_win_get_config(other)
    if config.relative ~= '' and other ~= win then
      lowest = math.min(lowest, config.zindex - 1)
    end
  end
  return math.max(1, lowest)
end

---Moves behind the float that the user has entered, or to the front again.
local function step()
  if win and api.nvim_win_is_valid(win) then
    local zindex = depth()
    if api.nvim_win_get_config(win).zindex ~= zindex then
      api.nvim_win_set_config(win, { zindex = zindex })
    end
  end
end

---Says that requests are waiting that the user cannot see.
local function notify_waiting()
  local n = #state.requests()
  local waits = n == 1 and 'a request waits' or n .. ' requests wait'
  require('acp.notify').info(waits .. ' for your answer: :Acp permissions shows it')
end

---@param request acp.OpenPermission
---@param asks string[]
---@param title string
---@param footer string
---@return integer width that shows all of it, within limits
local function width_of(request, asks, title, footer)
  local width = math.max(wrap.cells(title), wrap.cells(footer), 24)
  for _, line in ipairs(asks) do
    width = math.max(width, #line > 400 and 100 or wrap.cells(line) + 2)
  end
  for i, option in ipairs(request.options) do
    width = math.max(width, wrap.cells(i .. option.label) + 3)
  end
  if #request.options == 0 then
    width = math.max(width, 50)
  end
  if #asks > math.max(3, most() - #request.options - 1) then
    width = math.max(width, 60) -- for what it says of its pages
  end
  return math.max(8, math.min(width, right_edge() - 4, 100))
end

---@param request acp.OpenPermission
---@param count integer
local function open(request, count)
  local brief = diff_view.shows(request.id)
  local asks = brief and request.brief or request.lines
  local edge = right_edge()
  local footer = footer_of(request, count, false)
  local title = ' ' .. heading_of(request) .. ' '
  local width = width_of(request, asks, title, footer)
  title = wrap.cut(title, width)
  local float = compose(request, asks, brief and request.brief_marks or request.marks, width)
  local buf = fill(float)
  local rows = api.nvim_buf_line_count(buf)
  local height = math.min(rows, most())
  footer = footer_of(request, count, false, rows > height)
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
    zindex = depth(),
    noautocmd = true,
  })
  require('acp.ui.window').plain(opened, {
    wrap = false,
    winhighlight = 'FloatBorder:AcpToolWaiting,FloatTitle:AcpToolWaiting',
  })
  win, shown = opened, request.id
  function footer_anew()
    local focused = api.nvim_get_current_win() == opened
    local now = footer_of(request, count, focused, rows > height)
    api.nvim_win_set_config(opened, { footer = now, footer_pos = 'right' })
  end
  api.nvim_create_autocmd({ 'WinEnter', 'WinLeave' }, {
    buffer = buf,
    callback = function(args)
      local now = footer_of(request, count, args.event == 'WinEnter', rows > height)
      api.nvim_win_set_config(opened, { footer = now, footer_pos = 'right' })
    end,
  })
  local tab = api.nvim_get_current_tabpage()
  api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(opened),
    once = true,
    callback = function()
      if shown == request.id then
        local swept = api.nvim_get_current_win() ~= opened
        dismissed[request.id] = swept and 'swept' or 'closed'
        win, shown = nil, nil
        vim.schedule(function()
          if not api.nvim_tabpage_is_valid(tab) then
            -- Closing a tab is no word about the request.
            dismissed[request.id] = nil
            M.update()
          elseif swept and dismissed[request.id] then
            notify_waiting()
          end
        end)
      end
    end,
  })
end

---Updates how long a write has waited.
local function tick()
  if win and api.nvim_win_is_valid(win) and footer_anew and safe_state.now() then
    footer_anew()
  end
end

---Updates the float to the open requests, now or as soon as windows may be changed.
function M.update()
  diff_view.update()
  if not safe_state.now() then
    return safe_state.wait(M.update)
  end
  local open_requests = state.requests()
  for _, list in ipairs({ dismissed, scrolled }) do
    for id in pairs(list) do
      if
        not vim.iter(open_requests):any(function(request)
          return request.id == id
        end)
      then
        list[id] = nil
      end
    end
  end
  local requests = vim.tbl_filter(function(request)
    return not dismissed[request.id]
  end, open_requests)
  local keep = shown
  local entered = win == api.nvim_get_current_win() and api.nvim_win_get_cursor(win)
  shown = nil
  close()
  if requests[1] then
    open(requests[1], #requests)
  end
  if entered and win and requests[1].id == keep then
    api.nvim_set_current_win(win)
    pcall(api.nvim_win_set_cursor, win, entered)
  end
  if requests[1] and requests[1].id ~= keep then
    M.watch()
    if in_another_float() then
      local waits = heading_of(requests[1]) .. ', and waits for you'
      require('acp.notify').info(wrap.cut(waits, math.max(20, vim.o.columns - 20)))
    end
  end
  pending_write.watch(tick)
end

---Keeps the float in the user's tab and on the screen, and reopens it when they go to a chat.
function M.watch()
  local group = api.nvim_create_augroup('acp_permission_float', {})
  api.nvim_create_autocmd({ 'TabEnter', 'VimResized' }, {
    group = group,
    desc = 'Place the permission float',
    callback = vim.schedule_wrap(M.update),
  })
  -- A new window gets its buffer after it was entered; some open without any event but a mode.
  api.nvim_create_autocmd({ 'WinEnter', 'BufEnter', 'ModeChanged' }, {
    group = group,
    desc = 'Keep the permission float out of other floats',
    callback = step,
  })
  api.nvim_create_autocmd('WinEnter', {
    group = group,
    desc = 'Show a request again in the chat',
    callback = function()
      vim.schedule(function()
        if vim.list_contains({ 'acp-chat', 'acp-prompt' }, vim.bo.filetype) then
          M.show('swept')
        end
      end)
    end,
  })
end

---Shows the float that the user closed again.
---@param only? 'swept' no other than what went with all windows
---@return boolean whether there was one
function M.show(only)
  local found = false
  for id, how in pairs(dismissed) do
    if not only or how == only then
      dismissed[id], found = nil, true
    end
  end
  if found then
    M.update()
  end
  return found
end

---Hides the float of a request that the user is about to answer elsewhere.
---@param id integer
function M.hide(id)
  dismissed[id] = 'closed'
  M.update()
end

---@return integer? win
function M.win()
  return win
end

diff_view.changed:add(M.update)
state.died:add(M.update)

return M
