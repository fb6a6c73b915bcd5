---The lines of files, as their buffers have them or else the disk.
local M = {}

local api = vim.api

---The buffer that has a file loaded.
---@param path string
---@return integer?
function M.buf(path)
  local buf = vim.fn.bufnr('^' .. vim.fn.escape(path, '[]*?\\{},$') .. '$')
  return buf ~= -1 and api.nvim_buf_is_loaded(buf) and buf or nil
end

---@param path string
---@return string? text nil where it cannot be read
local function read(path)
  local file = io.open(path, 'rb')
  if not file then
    return nil
  end
  local text = file:read('*a')
  file:close()
  return text
end

---@param path string
---@return string[]? lines nil where it cannot be read
function M.lines(path)
  local buf = M.buf(path)
  if buf then
    return api.nvim_buf_get_lines(buf, 0, -1, false)
  end
  local text = read(path)
  return text and vim.split(text, '\n', { plain = true })
end

---The whole text of a file: lines end in LF, and the last one too where the file has that.
---@param path string
---@return string? text nil where it cannot be read
function M.whole(path)
  local buf = M.buf(path)
  if buf then
    local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
    local empty = #lines == 1 and lines[1] == ''
    return table.concat(lines, '\n') .. (vim.bo[buf].eol and not empty and '\n' or '')
  end
  local text = read(path)
  local _, lines = (text or ''):gsub('\n', '')
  local _, returns = (text or ''):gsub('\r\n', '')
  if text and lines > 0 and lines == returns then
    text = text:gsub('\r\n', '\n')
  end
  return text
end

---How long Neovim may be kept at once, in ns.
local slice = 8e6

---Does something for each item, a few at a time, so that the editor goes on.
---@generic T
---@param items T[]
---@param each fun(item: T)
---@param done fun()
---@return fun() cancel
function M.sliced(items, each, done)
  local i, stopped = 0, false
  local function go_on()
    if stopped then
      return
    end
    local began = vim.uv.hrtime()
    while i < #items do
      i = i + 1
      each(items[i])
      if vim.uv.hrtime() - began > slice then
        vim.defer_fn(go_on, 1)
        return
      end
    end
    done()
  end
  go_on()
  return function()
    stopped = true
  end
end

return M
