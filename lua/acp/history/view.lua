---The transcript of a session in a buffer, to read: no agent is started for it.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp_history')

---@class acp.Kept: acp.Stored
---@field agent string
---@field agent_title string
---@field path string

---Goes to the line for which a window has opened the buffer, which was empty: the one that the user
---chose, or that of the quickfix list.
---@param buf integer
local function jump(buf)
  local list = vim.fn.getqflist({ idx = 0, items = 0 })
  local item = list.items[list.idx]
  local line = vim.b[buf].acp_line or item and item.bufnr == buf and item.lnum
  vim.b[buf].acp_line = nil
  if not line then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if api.nvim_win_get_cursor(win)[1] == 1 then
      api.nvim_win_set_cursor(win, { math.min(line, api.nvim_buf_line_count(buf)), 0 })
      api.nvim_win_call(win, function()
        vim.cmd('normal! zvzz')
      end)
    end
  end
end

---@param buf integer
---@param lines string[]
local function set(buf, lines)
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
end

---Says how to resume the session, once the transcript is there and its session is known.
---@param buf integer
local function complete(buf)
  if vim.b[buf].acp_history and vim.b[buf].acp_filled then
    api.nvim_buf_clear_namespace(buf, ns, 0, -1)
    local key = require('acp.config').get().keys.history_resume
    api.nvim_buf_set_extmark(buf, ns, 0, 0, {
      virt_text = { { (key or ':Acp resume') .. ' resumes it', 'AcpMore' } },
      virt_text_pos = 'eol',
    })
    jump(buf)
  end
end

---Fills the buffer of a transcript, which is named after it.
---@param buf integer
function M.read(buf)
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'nofile', 'hide', false
  vim.bo[buf].undolevels = -1
  set(buf, {})
  local host = require('acp.rpc.host')
  local ok, err = host.ensure()
  if not ok then
    return set(buf, { err or '' })
  end
  require('acp.ui.buffer').map(buf, 'n', 'history_resume', '<Plug>(AcpHistoryResume)', function()
    M.resume(buf)
  end)
  vim.b[buf].acp_lang, vim.b[buf].acp_filled = 'markdown', false
  host.request('show_history', { buf = buf, path = api.nvim_buf_get_name(buf) }, function(kept, why)
    if not api.nvim_buf_is_loaded(buf) then
      return
    elseif why then
      return set(buf, { why })
    end
    vim.b[buf].acp_history = kept
    complete(buf)
  end)
end

require('acp.chat.block_window').filled:add(complete)

---Makes transcripts that no window shows reload the next time: their sessions may have gone on.
function M.forget_hidden()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if vim.b[buf].acp_history and #vim.fn.win_findbuf(buf) == 0 then
      api.nvim_buf_delete(buf, { unload = true })
    end
  end
end

---Shows a transcript in a code window.
---@param path string
---@param line? integer to be at
function M.open(path, line)
  M.forget_hidden()
  local buf = vim.fn.bufadd(path)
  vim.b[buf].acp_line = line
  local shown = vim.fn.bufwinid(buf)
  if shown ~= -1 then
    api.nvim_set_current_win(shown)
    vim.cmd("normal! m'")
    return vim.cmd.edit() -- the session may have gone on
  end
  api.nvim_set_current_win(require('acp.ui.window').code())
  vim.cmd("normal! m'")
  if not pcall(api.nvim_win_set_buf, 0, buf) then -- what it has would be lost
    api.nvim_open_win(buf, true, { split = 'above', win = 0 })
  end
end

---Resumes the session whose transcript is in a buffer.
---@param buf integer
---@return boolean whether it is one
function M.resume(buf)
  local kept = vim.b[buf].acp_history
  if not kept then
    return false
  end
  local id, err = require('acp.session.start').resume({
    agent = kept.agent,
    agent_session_id = kept.agent_session_id,
    cwd = kept.cwd,
    title = kept.title,
  })
  if id then
    require('acp.chat.layout').open(id, true)
  else
    require('acp.notify').warn_if(err)
  end
  return true
end

return M
