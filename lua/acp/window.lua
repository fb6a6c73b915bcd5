---How windows look that show something of ours, and no code of the user's.
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
  })
  M.set(win, options)
end

return M
