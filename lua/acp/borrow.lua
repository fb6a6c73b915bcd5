---Keys that a buffer of the user's has for a while. The user's own of the same name come back.
local M = {}

---@class acp.Borrowed
---@field mode string
---@field lhs string
---@field had? table the user's own mapping of the buffer, as |maparg()| gives it
---@field run fun()

---Maps keys, in Normal mode where they name none.
---@param buf integer
---@param keys {mode?: string, lhs: string, run: fun(), desc: string}[]
---@return acp.Borrowed[]
function M.map(buf, keys)
  local borrowed = {}
  for _, key in ipairs(keys) do
    local had
    local mode = key.mode or 'n'
    vim.api.nvim_buf_call(buf, function()
      had = vim.fn.maparg(key.lhs, mode, false, true)
    end)
    had = had.buffer == 1 and had or nil
    table.insert(borrowed, { mode = mode, lhs = key.lhs, had = had, run = key.run })
    local opts = { buffer = buf, nowait = true, desc = 'acp: ' .. key.desc }
    vim.keymap.set(mode, key.lhs, key.run, opts)
  end
  return borrowed
end

---Takes them away, but for those that somebody has mapped anew.
---@param buf integer
---@param borrowed acp.Borrowed[]
function M.unmap(buf, borrowed)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  vim.api.nvim_buf_call(buf, function()
    for _, key in ipairs(borrowed) do
      local is = vim.fn.maparg(key.lhs, key.mode, false, true)
      if is.buffer == 1 and is.callback == key.run then
        vim.keymap.del(key.mode, key.lhs, { buffer = buf })
        if key.had then
          vim.fn.mapset(key.mode, false, key.had)
        end
      end
    end
  end)
end

return M
