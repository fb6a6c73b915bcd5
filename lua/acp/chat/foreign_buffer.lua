---Files that open in a window of a chat, as by a picker called there: they move to a code window,
---like everything that the user opens from a chat.
local M = {}

local api = vim.api

---Moves what would cover the code out of the way; the layout knows how.
function M.uncover() end

---Shows again what a window is for, and in a code window the file that opened there.
---@param win integer
---@param home integer the buffer it is for
---@param file integer buffer
local function move(win, home, file)
  if
    not api.nvim_win_is_valid(win)
    or api.nvim_win_get_buf(win) ~= file
    or not api.nvim_buf_is_loaded(home)
  then
    return
  end
  local went = api.nvim_get_current_win() == win
  local view = api.nvim_win_call(win, vim.fn.winsaveview)
  api.nvim_win_set_buf(win, home)
  if not went then
    return
  end
  M.uncover()
  local code = require('acp.ui.window').code()
  api.nvim_set_current_win(code)
  if api.nvim_win_get_buf(code) ~= file then
    vim.cmd("normal! m'")
    if not pcall(api.nvim_win_set_buf, code, file) then -- what it has would be lost
      api.nvim_open_win(file, true, { split = 'above', win = code })
    end
  end
  api.nvim_win_set_cursor(0, { view.lnum, view.col })
  vim.cmd('normal! zvzz')
end

---A window is for the buffer that it shows now, a chat or its prompt.
---@param win integer
function M.own(win)
  local home = api.nvim_win_get_buf(win)
  vim.w[win].acp_home = home
end

---A window is no longer for a buffer of ours.
---@param win integer
function M.leave(win)
  vim.w[win].acp_home = nil
end

api.nvim_create_autocmd('BufEnter', {
  group = api.nvim_create_augroup('acp_foreign_buffer', {}),
  desc = 'Show files that open in a chat in a code window',
  callback = function(event)
    local win, file = api.nvim_get_current_win(), event.buf
    local home = vim.w[win].acp_home
    if not home or vim.bo[file].buftype ~= '' or vim.g.SessionLoad then
      return
    end
    vim.schedule(function()
      require('acp.ui.safe_state').soon(function()
        move(win, home, file)
      end)
    end)
  end,
})

return M
