---A block of the transcript in a window of its own: whole in a split, or everything known about a
---tool call in a float.
local M = {}

local api = vim.api

---A buffer that the host fills is complete. Gets it.
M.filled = require('acp.rpc.signal')()

---The largest buffer that gets a filetype, in bytes: what a filetype enables reads all of it.
local limit = 512 * 1024

---Gives a buffer that is complete its filetype.
---@param buf integer
local function colour(buf)
  local lang = vim.b[buf].acp_lang
  if vim.b[buf].acp_filled and lang and lang ~= '' then
    local lines = api.nvim_buf_line_count(buf)
    if api.nvim_buf_get_offset(buf, lines) <= limit then
      vim.bo[buf].filetype = vim.filetype.match({ filename = 'x.' .. lang }) or lang
    end
  end
end

---Shows input, output and times of the tool call under the cursor in a float. Asked again, the
---cursor goes there.
function M.inspect()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local cursor = api.nvim_win_get_cursor(win)
  require('acp.rpc.host').request('inspect', require('acp.chat.cursor').here(), function(call)
    local moved = api.nvim_get_current_win() ~= win
      or api.nvim_get_current_buf() ~= buf
      or not vim.deep_equal(api.nvim_win_get_cursor(win), cursor)
    if moved or api.nvim_get_mode().mode ~= 'n' then
      return -- the user is elsewhere by now
    end
    if not call or #call.lines == 0 then
      return require('acp.notify').info('no tool call here')
    end
    local float = vim.lsp.util.open_floating_preview(call.lines, '', {
      border = 'rounded',
      title = ' Tool call ',
      focus_id = 'acp_call',
      max_width = math.floor(vim.o.columns * 0.8),
      max_height = math.max(5, math.floor(vim.o.lines * 0.6)),
    })
    if float and api.nvim_buf_is_valid(float) and not vim.b[float].acp_call then
      vim.b[float].acp_call = true
      require('acp.ui.highlight').set(float, call.marks, 0)
    end
  end)
end

---Shows a block whole in a split. The host sends its lines.
---@param method string by which it is asked for
---@param args table
---@param none fun() called where there is none
local function show(method, args, none)
  local win = api.nvim_get_current_win()
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  args.buf = buf
  require('acp.rpc.host').request(method, args, function(block)
    if not block or not api.nvim_win_is_valid(win) then
      pcall(api.nvim_buf_delete, buf, { force = true })
      return none()
    elseif api.nvim_get_mode().mode ~= 'n' then
      return api.nvim_buf_delete(buf, { force = true }) -- the user is at something else by now
    end
    -- A number keeps blocks of the same name apart.
    pcall(api.nvim_buf_set_name, buf, ('acp://block/%d/%s'):format(buf, block.name))
    vim.bo[buf].bufhidden = 'wipe'
    local ok, split = pcall(api.nvim_open_win, buf, true, { split = 'above', win = win })
    if not ok then
      return pcall(api.nvim_buf_delete, buf, { force = true })
    end
    require('acp.ui.window').set(split, { wrap = true, number = false, winfixheight = false })
    vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, desc = 'acp: close the block' })
    vim.b[buf].acp_lang = block.lang
    colour(buf)
  end)
end

---Shows the block under the cursor whole.
function M.open()
  show('whole', require('acp.chat.cursor').here(), function()
    require('acp.notify').info('no block here')
  end)
end

---Shows the output of a command that the agent sends as text: of the call under the cursor, or else
---of the last one of a session.
---@param session integer
function M.output(session)
  local here = vim.bo.filetype == 'acp-chat' and vim.b.acp_session == session
  local args = here and require('acp.chat.cursor').here()
    or { session = session, row = -1, seq = 0 }
  vim.cmd.stopinsert()
  show('output', args, function()
    require('acp.notify').warn('no command has run in this session')
  end)
end

---Appends lines; fails if the buffer is gone.
---@param e {buf: integer, lines: string[], marks: integer[], done: boolean}
function M.fill(e)
  local buf = e.buf
  local last = api.nvim_buf_line_count(buf)
  local first = last == 1 and api.nvim_buf_get_lines(buf, 0, 1, false)[1] == ''
  local from = first and 0 or last
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, from, -1, false, e.lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  require('acp.ui.highlight').set(buf, e.marks, from)
  if e.done then
    vim.b[buf].acp_filled = true
    colour(buf)
    M.filled:emit(buf)
  end
end

return M
