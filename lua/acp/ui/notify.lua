---What the user is told in words, where messages go.
local M = {}

---@param text string
function M.tell(text)
  vim.notify('acp: ' .. text)
end

---@param text string
function M.warn(text)
  vim.notify('acp: ' .. text, vim.log.levels.WARN)
end

---Warns of what has failed, if anything has.
---@param err? string
function M.complain(err)
  if err then
    M.warn(err)
  end
end

return M
