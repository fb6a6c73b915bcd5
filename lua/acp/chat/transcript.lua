---The transcript: a page of the host's, and its keys.
local M = {}

local api = vim.api
local buffer = require('acp.ui.buffer')
local bufs = require('acp.chat.buffers')
local cursor = require('acp.chat.cursor')
local host = require('acp.rpc.host')
local state = require('acp.rpc.state')

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
    buffer.map(buf, 'n', action, '<Plug>(Acp' .. plug .. ')', function()
      navigate.fold(action)
    end)
  end
  buffer.set(buf, 'n', 'za', '<Plug>(AcpToggleBlock)', {
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
    buffer.map(buf, { 'n', 'x' }, action, '<Plug>(Acp' .. to[1] .. ')', function()
      navigate.jump(to[2], to[3])
    end)
  end
  buffer.map(buf, 'n', 'jump', '<Plug>(AcpJump)', navigate.open)
  buffer.map(buf, 'n', 'inspect', '<Plug>(AcpInspect)', function()
    require('acp.chat.block_window').inspect()
  end)
  buffer.map(buf, 'n', 'whole', '<Plug>(AcpWhole)', function()
    require('acp.chat.block_window').open()
  end)
  buffer.map(buf, 'n', 'yank_code', '<Plug>(AcpYankCode)', navigate.yank_code)
  buffer.map(buf, 'n', 'review_keep', '<Plug>(AcpReviewKeep)', function()
    host.notify('keep_due', cursor.here())
  end, { desc = 'acp: keep all changes, on the line that counts them' })
  buffer.map(buf, 'n', 'cancel_call', '<Plug>(AcpCancelCall)', function()
    host.notify('cancel_call', cursor.here())
  end)
  buffer.map(buf, 'n', 'plan', '<Plug>(AcpPlan)', navigate.plan)
  bufs.keys:emit(buf, 'chat', id)
  require('acp.ui.key_help').map(buf, {
    cancel_call = function()
      return state.sessions[id] and state.sessions[id].cancels
    end,
  })
  local function type_there()
    require('acp.chat.layout').open(id, true)
    local last = api.nvim_buf_line_count(0)
    api.nvim_win_set_cursor(0, { last, 0 })
    vim.cmd('startinsert!')
  end
  buffer.map(buf, 'n', 'prompt', '<Plug>(AcpPrompt)', type_there)
  for _, lhs in ipairs({ 'a', 'A', 'I', 'o', 'O' }) do
    -- Whoever wants to type: the transcript is not theirs.
    local desc = require('acp.config').desc('prompt')
    buffer.set(buf, 'n', lhs, type_there, { buffer = buf, desc = desc })
  end
  require('acp.chat.visible').attach(buf, id)
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
  return { buf = b.chat, name = 'chat', base = b.base, stays_at_end = true, bare = as_it_is }
end

---How many of the last lines belong to waiting prompts.
---@param args {session: integer, rows: integer}
function M.unsent(args)
  local b = bufs.get(args.session)
  if b then
    b.unsent = args.rows
  end
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
  if stays and not state.since[e.session] then
    require('acp.chat.winbar').refresh(e.session) -- more may be below; in a turn the clock does it
  end
end

---What an earlier host wrote stays above what the next one will write, which begins with the
---waiting prompts.
---@param id integer
---@param why string
local function host_died(id, why)
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
  b.visible, b.width = false, nil -- the next host knows nothing of the windows
end

bufs.reread:add(function(buf, what, id)
  if what == 'chat' then
    local b = bufs.get(id)
    b.base, b.seq = 0, 0
    require('acp.ui.highlight').attach(buf)
    host.notify('redraw', { session = id, why = 'the buffer was reloaded' })
  end
end)

state.died:add(function(ids, why)
  for _, id in ipairs(ids) do
    host_died(id, why)
  end
end)

return M
