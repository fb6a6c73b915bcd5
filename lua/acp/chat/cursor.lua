---Where the cursor is in a transcript, as the host counts its lines.
local M = {}

local bufs = require('acp.chat.buffers')

---How many lines of a chat an earlier host wrote.
---@param id integer
---@return integer
function M.base(id)
  local b = bufs.get(id)
  return b and b.base or 0
end

---What a message to the host says about the line under the cursor.
---@return {session: integer, row: integer, seq: integer}
function M.here()
  local id = vim.b.acp_session
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1 - M.base(id)
  return { session = id, row = row, seq = bufs.get(id).seq }
end

return M
