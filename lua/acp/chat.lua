---The transcript: a buffer that only the host writes, and that never moves under its readers.
local M = {}

local api = vim.api
local bufs = require('acp.bufs')

---Tells the host whether somebody looks.
---@param id integer
function M.tell_visible(id)
  local b = bufs.get(id)
  if not b then
    return
  end
  local visible = api.nvim_buf_is_valid(b.chat) and #vim.fn.win_findbuf(b.chat) > 0
  if visible ~= b.visible then
    b.visible = visible
    require('acp.host').notify('visible', { session = id, visible = visible })
  end
end

---Tells the host how wide the narrowest window on a chat is, as text goes; 0 where there is none.
---@param id integer
function M.tell_width(id)
  local b = bufs.get(id)
  if not b or not api.nvim_buf_is_valid(b.chat) then
    return
  end
  local width = 0
  for _, win in ipairs(vim.fn.win_findbuf(b.chat)) do
    local room = api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff
    width = width == 0 and room or math.min(width, room)
  end
  if width ~= b.width then
    b.width = width
    require('acp.host').notify('width', { session = id, width = width })
  end
end

api.nvim_create_autocmd('WinResized', {
  group = api.nvim_create_augroup('acp_chat', {}),
  desc = 'Tell the host how wide the chats are, and fit the lines above them',
  callback = function()
    for id in bufs.each() do
      M.tell_width(id)
    end
    require('acp.winbar').refresh()
  end,
})

---@param id integer
---@return integer buf
function M.create(id)
  local buf = bufs.create('acp://chat/' .. id, 'acp-chat', id)
  vim.bo[buf].modifiable = false
  vim.bo[buf].undolevels = -1
  require('acp.highlight').attach(buf)
  local navigate = require('acp.navigate')
  for action, plug in pairs({
    toggle = 'ToggleBlock',
    open = 'OpenBlock',
    close = 'CloseBlock',
    open_all = 'OpenBlocks',
    close_all = 'CloseBlocks',
  }) do
    bufs.map(buf, 'n', action, '<Plug>(Acp' .. plug .. ')', function()
      navigate.fold(action)
    end)
  end
  vim.keymap.set('n', 'za', '<Plug>(AcpToggleBlock)', { buffer = buf, remap = true })
  for action, to in pairs({
    next_message = { 'NextMessage', 'message', true },
    previous_message = { 'PreviousMessage', 'message', false },
    next_call = { 'NextCall', 'call', true },
    previous_call = { 'PreviousCall', 'call', false },
  }) do
    bufs.map(buf, { 'n', 'x' }, action, '<Plug>(Acp' .. to[1] .. ')', function()
      navigate.jump(to[2], to[3])
    end)
  end
  bufs.map(buf, 'n', 'jump', '<Plug>(AcpJump)', navigate.open)
  bufs.map(buf, 'n', 'inspect', '<Plug>(AcpInspect)', function()
    require('acp.whole').inspect()
  end)
  bufs.map(buf, 'n', 'whole', '<Plug>(AcpWhole)', function()
    require('acp.whole').open()
  end)
  bufs.map(buf, 'n', 'diff', '<Plug>(AcpDiff)', function()
    require('acp.diff').ask()
  end)
  bufs.map(buf, 'n', 'yank_code', '<Plug>(AcpYankCode)', navigate.yank_code)
  bufs.map(buf, 'n', 'terminal', '<Plug>(AcpTerminal)', function()
    require('acp.terminal').open_here()
  end)
  bufs.map(buf, 'n', 'plan', '<Plug>(AcpPlan)', navigate.plan)
  require('acp.option').map(buf)
  bufs.map(buf, 'n', 'cancel', '<Plug>(AcpCancelTurn)', function()
    require('acp').cancel({ session = id })
  end)
  bufs.map(buf, 'n', 'prompt', '<Plug>(AcpPrompt)', function()
    require('acp.layout').open(id, true)
  end)
  api.nvim_create_autocmd('WinScrolled', {
    buffer = buf,
    callback = function()
      require('acp.winbar').refresh(id)
    end,
  })
  api.nvim_create_autocmd({ 'BufWinEnter', 'BufWinLeave', 'BufHidden' }, {
    buffer = buf,
    callback = function()
      vim.schedule(function()
        M.tell_visible(id)
        M.tell_width(id)
        require('acp.winbar').refresh(id)
      end)
    end,
  })
  return buf
end

---The windows on a buffer that follow its end, and those that are to stay.
---@param buf integer
---@return integer[] following, integer[] staying
local function windows(buf)
  local following, staying = {}, {}
  local last = api.nvim_buf_line_count(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local visual = win == api.nvim_get_current_win() and api.nvim_get_mode().mode:match('^[vV\22]')
    if api.nvim_win_get_cursor(win)[1] >= last and not visual then
      table.insert(following, win)
    else
      table.insert(staying, win)
    end
  end
  return following, staying
end

---A line of so many bytes is huge: Neovim measures all of it whenever it draws some of it, or moves
---the cursor in it, and longer still where it is indented.
local huge = 32 * 1024

---Brings windows to the end of a buffer. Of a line that fills half of the window or more it is the
---end that is worth seeing; in a huge one they stay.
---@param buf integer
---@param wins integer[]
function M.follow(buf, wins)
  local last = api.nvim_buf_line_count(buf)
  local len = #api.nvim_buf_get_lines(buf, last - 1, last, false)[1]
  for _, win in ipairs(wins) do
    local long = 2 * len > api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
    if len <= huge or api.nvim_win_get_cursor(win)[1] < last then
      api.nvim_win_set_cursor(win, { last, long and len <= huge and len or 0 })
    end
  end
end

---How a text is shown at the right edge; nil where there is no room for it beside the line.
---@param buf integer
---@param row integer
---@param text string
---@return string?
local function right_pos(buf, row, text)
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  local room = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    room = math.min(room, api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff)
  end
  if require('acp.wrap').cells(line .. text) > room then
    return nil
  end
  -- A window that becomes narrower later must not have its line covered.
  return vim.fn.has('nvim-0.11') == 1 and 'eol_right_align' or 'right_align'
end

---Has windows do without indents where a line is huge.
---@param buf integer
---@param e table
local function ease(buf, e)
  local is = e.append and e.col > huge
  for _, line in ipairs(e.lines) do
    is = is or #line > huge
  end
  for _, win in ipairs(is and vim.fn.win_findbuf(buf) or {}) do
    if vim.wo[win].breakindent then
      api.nvim_set_option_value('breakindent', false, { scope = 'local', win = win })
    end
  end
end

---Keeps windows on the lines that they were on, while lines around those are replaced: by their
---text, where it is still there.
---@param buf integer
---@param wins integer[]
---@param e table
---@param row integer the first line that is replaced
---@param end_row integer exclusive
---@param bare? fun(line: string): string what of a line tells it from others
---@return fun() restore
function M.hold(buf, wins, e, row, end_row, bare)
  bare = bare or function(line)
    return line
  end
  local held = {}
  for _, win in ipairs(wins) do
    local at = api.nvim_win_get_cursor(win)[1] - 1
    if at >= row and at < end_row then
      held[win] = {
        view = api.nvim_win_call(win, vim.fn.winsaveview),
        text = bare(api.nvim_buf_get_lines(buf, at, at + 1, false)[1]),
        at = at - row,
      }
    end
  end
  return function()
    for win, h in pairs(held) do
      local found
      for i, line in ipairs(e.lines) do
        local closer = not found or math.abs(i - 1 - h.at) < math.abs(found - h.at)
        if closer and bare(line) == h.text then
          found = i - 1
        end
      end
      -- Without lines in its place it is the one before: the head of what was closed.
      local to = row + (found or math.min(h.at, #e.lines - 1))
      local moved = to - (row + h.at)
      h.view.lnum = math.max(1, to + 1)
      h.view.topline = math.max(1, math.min(h.view.topline + moved, h.view.lnum))
      api.nvim_win_call(win, function()
        vim.fn.winrestview(h.view)
      end)
    end
  end
end

---Changes the chat as the host says; see transcript.Edit.
---@param e table
function M.edit(e)
  local b = bufs.get(e.session)
  if not b or not api.nvim_buf_is_loaded(b.chat) then
    return -- the user has wiped it; :Acp makes another one and has it drawn
  end
  local buf, base, ns = b.chat, b.base, require('acp.highlight').ns
  local have = api.nvim_buf_line_count(buf) - base
  local whole = e.count == 0
  if not whole and have ~= e.count then
    error(('the chat has %d lines, not %d'):format(have, e.count))
  end
  local following, staying = windows(buf)
  local views = {}
  for _, win in ipairs(whole and staying or {}) do
    views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  local row, end_row = e.row + base, e.end_row + base
  local highlight = require('acp.highlight')
  local restore = not whole and not e.append and M.hold(buf, staying, e, row, end_row)
  vim.bo[buf].modifiable = true
  local ok, err = pcall(function()
    if e.append then
      api.nvim_buf_set_text(buf, row - 1, e.col, row - 1, e.col, e.lines)
    else
      end_row = whole and have + base or end_row
      if end_row > row then
        api.nvim_buf_clear_namespace(buf, ns, row, end_row)
        require('acp.code').clear(buf, row, end_row)
        require('acp.image').clear(buf, row, end_row)
      end
      api.nvim_buf_set_lines(buf, row, end_row, true, e.lines)
    end
  end)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  if not ok then
    error(err, 0)
  end
  b.seq = e.seq
  highlight.splice(buf, row, end_row, e.append and #e.lines - 1 or #e.lines, have + base)
  api.nvim_buf_clear_namespace(buf, ns, e.mark_row + base, e.mark_end + base)
  highlight.replace(buf, e.mark_row + base, e.marks, e.append and row - 1 or row)
  for _, d in ipairs(e.decor) do
    local opts = { strict = false }
    if d.right ~= '' then
      local text = ' ' .. d.right .. ' '
      opts.virt_text_pos = right_pos(buf, d.row + base, text)
      opts.virt_text = opts.virt_text_pos and { { text, highlight.ids[d.right_group] } } or nil
      opts.hl_mode = 'combine'
    end
    if d.sign ~= '' then
      opts.sign_text = d.sign
      opts.sign_hl_group = highlight.ids[d.sign_group]
    end
    api.nvim_buf_set_extmark(buf, ns, d.row + base, 0, opts)
  end
  for _, c in ipairs(e.code) do
    if c.sides ~= '' then
      require('acp.code').add_diff(buf, c.row + base, c.end_row + base, c)
    else
      require('acp.code').add(buf, c.row + base, c.end_row + base, c.lang, c.col)
    end
  end
  for _, image in ipairs(e.images) do
    require('acp.image').add(buf, image.row + base, image.path)
  end
  ease(buf, e)
  if restore then
    restore()
  end
  if #following > 0 then
    M.follow(buf, following)
  end
  for win, view in pairs(views) do
    api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
  if #staying > 0 and not require('acp.mirror').since[e.session] then
    require('acp.winbar').refresh(e.session) -- more may be below; in a turn the clock does it
  end
end

---What an earlier host has written stays above what the next one will write.
---@param id integer
---@param why string
function M.host_died(id, why)
  local b = bufs.get(id)
  if not b or not api.nvim_buf_is_loaded(b.chat) then
    return
  end
  local last = api.nvim_buf_line_count(b.chat)
  vim.bo[b.chat].modifiable = true
  api.nvim_buf_set_lines(b.chat, last, -1, false, { '', '  ✗ ' .. why, '' })
  vim.bo[b.chat].modifiable = false
  b.base, b.seq = last + 2, 0
  b.visible = false
end

---What a message to the host says of the line under the cursor.
---@return {session: integer, row: integer, seq: integer}
function M.here()
  local id = vim.b.acp_session
  local row = api.nvim_win_get_cursor(0)[1] - 1 - M.base(id)
  return { session = id, row = row, seq = bufs.get(id).seq }
end

---How many lines of a chat an earlier host has written.
---@param id integer
---@return integer
function M.base(id)
  local b = bufs.get(id)
  return b and b.base or 0
end

return M
