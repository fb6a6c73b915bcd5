---The transcript: a page of the host's, its keys, and what the host is told of its windows.
local M = {}

local api = vim.api
local bufs = require('acp.chat.buffers')

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
    require('acp.rpc.host').notify('visible', { session = id, visible = visible })
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
    require('acp.rpc.host').notify('width', { session = id, width = width })
  end
end

api.nvim_create_autocmd('WinResized', {
  group = api.nvim_create_augroup('acp_chat', {}),
  desc = 'Tell the host how wide the chats are, and fit the lines above them',
  callback = function()
    for id in bufs.each() do
      M.tell_width(id)
    end
    require('acp.chat.winbar').refresh()
  end,
})

---@param id integer
---@return integer buf
function M.create(id)
  local buf = bufs.create('chat', 'acp-chat', id)
  vim.bo[buf].modifiable = false
  vim.bo[buf].undolevels = -1
  require('acp.ui.highlight').attach(buf)
  require('acp.ui.markdown').attach(buf)
  local navigate = require('acp.chat.navigate')
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
  bufs.set(buf, 'n', 'za', '<Plug>(AcpToggleBlock)', {
    buffer = buf,
    remap = true,
    desc = require('acp.config').desc('toggle'),
  })
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
    require('acp.chat.block_window').inspect()
  end)
  bufs.map(buf, 'n', 'whole', '<Plug>(AcpWhole)', function()
    require('acp.chat.block_window').open()
  end)
  bufs.map(buf, 'n', 'diff', '<Plug>(AcpDiff)', function()
    require('acp.diff.view').ask()
  end)
  bufs.map(buf, 'n', 'yank_code', '<Plug>(AcpYankCode)', navigate.yank_code)
  bufs.map(buf, 'n', 'terminal', '<Plug>(AcpTerminal)', function()
    require('acp.terminal.view').open_here()
  end)
  bufs.map(buf, 'n', 'review_keep', '<Plug>(AcpReviewKeep)', function()
    require('acp.rpc.host').notify('keep_due', M.here())
  end, { desc = 'acp: keep all changes, on the line that counts them' })
  bufs.map(buf, 'n', 'plan', '<Plug>(AcpPlan)', navigate.plan)
  require('acp.session.options').map(buf)
  require('acp.permission.float').map(buf)
  require('acp.ui.key_help').map(buf)
  bufs.map(buf, 'n', 'cancel', '<Plug>(AcpCancelTurn)', function()
    require('acp').cancel({ session = id })
  end)
  local function type_there()
    require('acp.chat.layout').open(id, true)
    local last = api.nvim_buf_line_count(0)
    api.nvim_win_set_cursor(0, { last, 0 })
    vim.cmd('startinsert!')
  end
  bufs.map(buf, 'n', 'prompt', '<Plug>(AcpPrompt)', type_there)
  for _, lhs in ipairs({ 'a', 'A', 'I', 'o', 'O' }) do
    -- Whoever wants to type: the transcript is not theirs.
    local desc = require('acp.config').desc('prompt')
    bufs.set(buf, 'n', lhs, type_there, { buffer = buf, desc = desc })
  end
  api.nvim_create_autocmd('WinScrolled', {
    buffer = buf,
    callback = function()
      require('acp.chat.winbar').refresh(id)
    end,
  })
  api.nvim_create_autocmd({ 'BufWinEnter', 'BufWinLeave', 'BufHidden' }, {
    buffer = buf,
    callback = function()
      vim.schedule(function()
        M.tell_visible(id)
        M.tell_width(id)
        require('acp.chat.winbar').refresh(id)
      end)
    end,
  })
  return buf
end

---@param line string
---@return string
local function as_it_is(line)
  return line
end

---@param b table the buffers of a session
---@return acp.Page
local function page_of(b)
  return { buf = b.chat, name = 'chat', base = b.base, follow = true, bare = as_it_is }
end

---Changes the chat as the host says.
---@param e acp.PageEdit
function M.edit(e)
  local b = bufs.get(e.session)
  if not b or not api.nvim_buf_is_loaded(b.chat) then
    return -- the user has wiped it; :Acp makes another one and has it drawn
  end
  local stays = require('acp.ui.page').edit(page_of(b), e)
  b.seq = e.seq
  if stays and not require('acp.rpc.state').since[e.session] then
    require('acp.chat.winbar').refresh(e.session) -- more may be below; in a turn the clock does it
  end
end

---What an earlier host has written stays above what the next one will write, which begins with
---the prompts that wait.
---@param id integer
---@param why string
function M.host_died(id, why)
  local b = bufs.get(id)
  if not b or not api.nvim_buf_is_loaded(b.chat) then
    return
  end
  local last = api.nvim_buf_line_count(b.chat)
  local row = last - b.unsent
  local lines = { '', '  ✗ ' .. why, '' }
  b.base = row + 2
  if row == 0 then
    table.remove(lines, 1)
  elseif b.unsent > 0 then
    table.remove(lines) -- they begin with an empty line, which stays
    b.base = row + 3
  end
  require('acp.ui.page').add(page_of(b), row, lines)
  b.seq = 0
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
