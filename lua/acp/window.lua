---Which windows are the user's for code, and how those look that show something of ours.
local M = {}

local api = vim.api

---Sets options of a window, for the buffer that it shows now.
---@param win integer
---@param options table<string, any>
function M.set(win, options)
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { scope = 'local', win = win })
  end
end

---Whether a window shows a file, or what may become one, and is none that plugins use otherwise.
---@param win integer
---@return boolean
function M.is_code(win)
  return api.nvim_win_get_config(win).relative == ''
    and vim.bo[api.nvim_win_get_buf(win)].buftype == ''
    and not vim.wo[win].previewwindow
end

---Takes away what windows have for code, then sets options.
---@param win integer
---@param options table<string, any>
function M.plain(win, options)
  M.set(win, {
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    statuscolumn = '',
    colorcolumn = '',
    cursorline = false,
    list = false,
    scrollbind = false,
    cursorbind = false,
  })
  M.set(win, options)
end

return M
