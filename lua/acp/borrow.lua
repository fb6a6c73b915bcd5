---Keys and marks that a buffer of the user's has for a while. The user's own keys of the same name
---come back.
local M = {}

---@class acp.Key
---@field lhs string
---@field mode? string default: Normal mode
---@field run fun()
---@field desc string
---@field yields? boolean it is not taken where the user has mapped it, here or everywhere

---@class acp.Borrowed
---@field mode string
---@field lhs string
---@field had? table the user's own mapping of the buffer, as |maparg()| gives it
---@field run fun()

---Maps keys.
---@param buf integer
---@param keys acp.Key[]
---@return acp.Borrowed[]
function M.map(buf, keys)
  local borrowed = {}
  for _, key in ipairs(keys) do
    local mode = key.mode or 'n'
    local had
    vim.api.nvim_buf_call(buf, function()
      had = vim.fn.maparg(key.lhs, mode, false, true)
    end)
    if not key.yields or vim.tbl_isempty(had) then
      had = had.buffer == 1 and had or nil
      table.insert(borrowed, { lhs = key.lhs, mode = mode, had = had, run = key.run })
      -- A longer key of the user's that begins so is waited for, unless the key is wanted at once.
      local opts = { buffer = buf, nowait = not key.yields, desc = key.desc }
      vim.keymap.set(mode, key.lhs, key.run, opts)
    end
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

---Takes keys away, and all marks of namespaces.
---@param buf integer
---@param namespaces integer[]
---@param borrowed? acp.Borrowed[]
function M.clear(buf, namespaces, borrowed)
  if vim.api.nvim_buf_is_loaded(buf) then
    for _, ns in ipairs(namespaces) do
      vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
    end
    M.unmap(buf, borrowed or {})
  end
end

return M
