---Tells the host about the windows on each chat: whether there are any, and how wide they are.
local M = {}

local api = vim.api
local bufs = require('acp.chat.buffers')
local host = require('acp.rpc.host')
local winbar = require('acp.chat.winbar')

---Tells the host whether a window shows the chat.
---@param id integer
function M.report_visible(id)
  local b = bufs.get(id)
  if not b then
    return
  end
  local visible = api.nvim_buf_is_valid(b.chat) and #vim.fn.win_findbuf(b.chat) > 0
  if visible ~= b.visible then
    b.visible = visible
    host.notify('visible', { session = id, visible = visible })
  end
end

---Tells the host the text width of the narrowest window on a chat; 0 if there is none.
---@param id integer
function M.report_width(id)
  local b = bufs.get(id)
  if not b or not api.nvim_buf_is_valid(b.chat) then
    return
  end
  local width = 0
  for _, win in ipairs(vim.fn.win_findbuf(b.chat)) do
    local room = api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff
    width = width == 0 and room or math.min(width, room)
  end
  if width ~= b.width then
    b.width = width
    host.notify('width', { session = id, width = width })
  end
end

---Tells the host everything about the windows on a chat.
---@param id integer
function M.report(id)
  M.report_visible(id)
  M.report_width(id)
end

api.nvim_create_autocmd('WinResized', {
  group = api.nvim_create_augroup('acp_visible', {}),
  desc = 'Tell the host how wide the chats are, and fit the lines above them',
  callback = function()
    for id in bufs.each() do
      M.report_width(id)
    end
    winbar.refresh()
  end,
})

---Tells the host when windows on a chat open and close.
---@param buf integer
---@param id integer session
function M.attach(buf, id)
  api.nvim_create_autocmd('WinScrolled', {
    buffer = buf,
    callback = function()
      winbar.refresh(id)
    end,
  })
  api.nvim_create_autocmd({ 'BufWinEnter', 'BufWinLeave', 'BufHidden' }, {
    buffer = buf,
    callback = function()
      vim.schedule(function()
        M.report(id)
        winbar.refresh(id)
      end)
    end,
  })
end

return M
