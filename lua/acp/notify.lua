---The one door to vim.notify().
local M = {}

local levels = vim.log.levels

---@param text string
---@param level? integer one of vim.log.levels; default: INFO
function M.notify(text, level)
  vim.notify('acp: ' .. text, level)
end

---@param text string
function M.info(text)
  M.notify(text, levels.INFO)
end

---@param text string
function M.warn(text)
  M.notify(text, levels.WARN)
end

---@param text string
function M.error(text)
  M.notify(text, levels.ERROR)
end

---A number of things, in words.
---@param n integer
---@param noun string
---@return string
function M.count(n, noun)
  return ('%d %s%s'):format(n, noun, n == 1 and '' or 's')
end

---Warns about an error, if there is one.
---@param err? string
function M.warn_if(err)
  if err then
    M.warn(err)
  end
end

return M
