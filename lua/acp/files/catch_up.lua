---When the user writes a buffer whose file another program has just changed, the host first brings
---that change into the buffer: both texts are written, and Neovim has nothing to ask.
local M = {}

local uv = vim.uv
local safe_state = require('acp.ui.safe_state')

---How long the user waits at most, in ms. A file that is being written is waited for 300 ms.
M.patience = 1000

---How often, as the disk may change again meanwhile.
local tries = 3

---@type integer? the buffer that is being written
M.writing = nil

---Waits until a buffer is in step with its file. If that takes too long, or is impossible, Neovim
---asks the user.
---@param buf integer
---@param name string
---@param in_step fun(): boolean
function M.now(buf, name, in_step)
  local stat = uv.fs_stat(name)
  -- The host waits for Neovim while it has a batch run here, which may write a buffer itself. What
  -- is no file, or none any more, Neovim knows how to treat.
  if M.writing or require('acp.rpc.ops').running or not stat or stat.type ~= 'file' then
    return
  end
  local till = uv.hrtime() / 1e6 + M.patience
  M.writing, safe_state.held = buf, true
  for _ = 1, tries do
    local left, answered, again = math.ceil(till - uv.hrtime() / 1e6), false, false
    if left <= 0 then
      break
    end
    require('acp.rpc.host').request('catch_up', { name = name }, function(result)
      answered, again = true, result == true
    end)
    local ok = vim.wait(left, function()
      return answered or in_step()
    end, 10)
    if not ok or in_step() or not again then
      break
    end
  end
  M.writing, safe_state.held = nil, false
end

return M
