---Pictures below the lines that name them, if a plugin for images is there: snacks.nvim or
---image.nvim. Without one there is only the line.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp_image')

---@class acp.Picture
---@field path string
---@field close? fun() while it is shown

---@type table<integer, table<integer, acp.Picture>> by buffer and extmark
local pictures = {}

---@param path string
---@param buf integer
---@param row integer 0-based
---@return fun()? close
local function with_snacks(path, buf, row)
  local snacks = require('snacks')
  if not snacks.image.supports_terminal() then
    return
  end
  local placement = snacks.image.placement.new(buf, path, {
    pos = { row + 1, 0 },
    inline = true,
    max_width = 60,
    max_height = 20,
  })
  return function()
    placement:close()
  end
end

---@param path string
---@param buf integer
---@param row integer 0-based
---@return fun()? close
local function with_image_nvim(path, buf, row)
  local win = vim.fn.bufwinid(buf)
  if win == -1 then
    return
  end
  local image = require('image').from_file(path, {
    buffer = buf,
    window = win,
    inline = true,
    with_virtual_padding = true,
    x = 4,
    y = row,
    max_height_window_percentage = 50,
  })
  if not image then
    return
  end
  image:render()
  return function()
    image:clear()
  end
end

---@param buf integer
---@param mark integer
---@param picture acp.Picture
local function show(buf, mark, picture)
  if picture.close or not api.nvim_buf_is_loaded(buf) or not vim.uv.fs_stat(picture.path) then
    return
  end
  local row = api.nvim_buf_get_extmark_by_id(buf, ns, mark, {})[1]
  for _, with in ipairs(row and { with_snacks, with_image_nvim } or {}) do
    local ok, close = pcall(with, picture.path, buf, row)
    if ok and close then
      picture.close = close
      return
    end
  end
end

---Shows a picture below a line, now or when its file is there.
---@param buf integer
---@param row integer 0-based
---@param path string
function M.add(buf, row, path)
  if not pictures[buf] then
    pictures[buf] = {}
    api.nvim_create_autocmd('BufUnload', {
      buffer = buf,
      once = true,
      desc = 'Remove the pictures from the chat',
      callback = function()
        M.detach(buf)
      end,
    })
  end
  local mark = api.nvim_buf_set_extmark(buf, ns, row, 0, {})
  local picture = { path = path }
  pictures[buf][mark] = picture
  -- Later, as plugins do more than an edit of the chat should wait for.
  vim.schedule(function()
    show(buf, mark, picture)
  end)
end

---Removes all pictures of a buffer.
---@param buf integer
function M.detach(buf)
  M.clear(buf, 0, -1)
  pictures[buf] = nil
end

---Removes pictures with their lines.
---@param buf integer
---@param row integer 0-based
---@param end_row integer exclusive; -1 is the end
function M.clear(buf, row, end_row)
  if not pictures[buf] or not next(pictures[buf]) then
    return
  end
  local last = end_row == -1 and -1 or { end_row - 1, -1 }
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, ns, { row, 0 }, last, {})) do
    local picture = pictures[buf][mark[1]]
    pictures[buf][mark[1]] = nil
    api.nvim_buf_del_extmark(buf, ns, mark[1])
    if picture and picture.close then
      pcall(picture.close)
      picture.close = nil
    end
  end
end

---A file is there now.
---@param path string
function M.saved(path)
  for buf, list in pairs(pictures) do
    for mark, picture in pairs(list) do
      if picture.path == path then
        vim.schedule(function()
          show(buf, mark, picture)
        end)
      end
    end
  end
end

return M
