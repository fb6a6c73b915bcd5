---The lines of files: from their buffers, otherwise from the disk.
local M = {}

local api = vim.api

---The buffer that has a file loaded.
---@param path string
---@return integer?
function M.buf(path)
  for _, buf in ipairs(api.nvim_list_bufs()) do -- bufnr() takes a pattern, which is slow
    if api.nvim_buf_get_name(buf) == path and api.nvim_buf_is_loaded(buf) then
      return buf
    end
  end
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

---How many more lines of a file are read than are asked for, as mostly the following ones are next.
local ahead = 200

---The buffers that have files loaded, by path.
---@return table<string, integer>
function M.bufs()
  local bufs = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) then
      bufs[vim.fs.normalize(api.nvim_buf_get_name(buf))] = buf
    end
  end
  return bufs
end

---Returns a function that reads single lines of many files, as they are now.
---@return fun(path: string, row: integer): string? line nil where there is none
function M.reader()
  local bufs, files = M.bufs(), {}
  return function(path, row)
    if bufs[path] then
      return api.nvim_buf_get_lines(bufs[path], row, row + 1, false)[1]
    end
    local lines = files[path]
    if not lines or row >= #lines and not lines.whole then
      local ok, list = pcall(vim.fn.readfile, path, '', row + ahead)
      lines = ok and list or {}
      lines.whole = #lines < row + ahead
      files[path] = lines
    end
    return lines[row + 1]
  end
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
local slice = 4e6

---Does something for each item, a few at a time, to keep the editor responsive.
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
