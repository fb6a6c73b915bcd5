---Paths of files as the host knows them: real ones.
local M = {}

local uv = vim.uv

---The real path of a file, even if its last components do not exist yet.
---@param path string absolute
---@return string
function M.real(path)
  local real = uv.fs_realpath(path)
  if real then
    return real
  end
  local dir, base = path:match('^(.*)/([^/]+)$')
  if not dir or dir == '' then
    return path
  end
  return M.real(dir) .. '/' .. base
end

---Whether two paths are of the same file, which exists.
---@param one string
---@param other string
---@return boolean
function M.same(one, other)
  local real = uv.fs_realpath(one)
  return real ~= nil and real == uv.fs_realpath(other)
end

return M
