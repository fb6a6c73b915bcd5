---The windows of a chat in a tab: where they open, how they look, how they close.
local M = {}

local api = vim.api

---@return {position: string, width?: number, height?: number}
local function layout_of()
  local layout = require('acp.config').get().layout
  local spec = type(layout) == 'table' and layout or { position = layout }
  return { position = spec.position or 'right', width = spec.width, height = spec.height }
end

---@param win integer
local function style_chat(win)
  if layout_of().position ~= 'current' then
    require('acp.chat.foreign_buffer').own(win)
  end
  require('acp.ui.window').plain(win, {
    signcolumn = 'yes:1',
    wrap = true,
    linebreak = true,
    breakindent = true,
    spell = false,
    winfixwidth = true,
    foldenable = false,
    scrolloff = 0,
    smoothscroll = true, -- else a paragraph that does not fit above the last line is not there
  })
end

---@param win integer
local function style_prompt(win)
  require('acp.chat.foreign_buffer').own(win)
  require('acp.ui.window').plain(win, { wrap = true, linebreak = true, winfixheight = true })
end

---@param win integer
---@return boolean
local function is_float(win)
  return api.nvim_win_get_config(win).relative ~= ''
end

---The chat and prompt windows of a tab, whatever session they show.
---@param tab integer
---@return integer? chat, integer? prompt
function M.windows(tab)
  local chat, prompt
  for _, win in ipairs(api.nvim_tabpage_list_wins(tab)) do
    local buf = api.nvim_win_get_buf(win)
    local filetype = vim.bo[buf].filetype
    if vim.b[buf].acp_session then
      chat = filetype == 'acp-chat' and not chat and win or chat
      prompt = filetype == 'acp-prompt' and not prompt and win or prompt
    end
  end
  return chat, prompt
end

---@param share number|nil
---@param total integer
---@param default integer
---@return integer
local function size(share, total, default)
  local n = share or default
  if n < 1 then
    n = n * total
  end
  return math.max(1, math.min(total - 2, math.floor(n)))
end

---How wide a chat beside the code is, or how high one below it, on a screen of that size.
---@param total integer columns or lines
---@return integer? size nil where the layout has none
local function extent(total)
  local spec = layout_of()
  if spec.position == 'bottom' then
    return size(spec.height, total, 0.45)
  elseif spec.position == 'right' or spec.position == 'left' then
    return size(spec.width, total, math.max(40, math.min(80, math.floor(total * 0.42))))
  end
end

---@return string 'height' or 'width', which of a chat's window the layout gives
local function dimension()
  return layout_of().position == 'bottom' and 'height' or 'width'
end

---How large the screen is in that dimension.
---@return integer
local function screen()
  return dimension() == 'height' and vim.o.lines or vim.o.columns
end

---@param win integer
---@return integer
local function size_of(win)
  return api['nvim_win_get_' .. dimension()](win)
end

---Notes how large a chat is on which screen.
---@param win integer
local function note_size(win)
  if extent(screen()) and not is_float(win) then
    vim.w[win].acp_size = { screen = screen(), size = size_of(win) }
  end
end

---How many lines the text of a prompt has in a float, without its border.
local float_prompt = 4

---Where the floats of a chat and its prompt are, on a screen as it is now.
---@return vim.api.keyset.win_config chat, vim.api.keyset.win_config prompt
local function floats()
  local spec = layout_of()
  local width = size(spec.width, vim.o.columns, 0.8)
  local height = size(spec.height, vim.o.lines, 0.8)
  local chat = {
    relative = 'editor',
    width = width,
    height = math.max(1, height - float_prompt - 3),
    row = math.max(0, math.floor((vim.o.lines - height) / 2)),
    col = math.floor((vim.o.columns - width) / 2),
    border = 'rounded',
  }
  local below = { row = chat.row + chat.height + 2, height = float_prompt }
  return chat, vim.tbl_extend('force', chat, below)
end

---Opens a window for the chat as the layout says, without focus.
---@param buf integer
---@return integer win
local function open_chat(buf)
  local spec = layout_of()
  local position = spec.position
  local win
  if position == 'current' then
    win = api.nvim_get_current_win()
    api.nvim_win_set_buf(win, buf)
  elseif position == 'tab' then
    vim.cmd('tab split')
    win = api.nvim_get_current_win()
    api.nvim_win_set_buf(win, buf)
  elseif position == 'float' then
    win = api.nvim_open_win(buf, false, (floats()))
  else
    win = api.nvim_open_win(buf, false, {
      split = position == 'bottom' and 'below' or position,
      win = -1,
      [dimension()] = extent(screen()),
    })
  end
  style_chat(win)
  local vertical = position == 'left' or position == 'right'
  if vertical and vim.o.equalalways and vim.o.eadirection ~= 'ver' then
    vim.cmd('horizontal wincmd =') -- the width comes from all windows, not from the one beside it
  end
  note_size(win)
  return win
end

---Opens a window for the chat above its prompt, whose window is open without it.
---@param buf integer
---@param prompt integer window
---@return integer win
local function open_above(buf, prompt)
  local win = api.nvim_open_win(buf, false, { split = 'above', win = prompt })
  api.nvim_win_set_height(prompt, 4)
  style_chat(win)
  note_size(win)
  return win
end

---Gives the chat of this tab its share of a resized screen: what the layout says, or in proportion
---what the user has changed it to.
local function follow_screen()
  local chat, prompt = M.windows(0)
  for i, config in ipairs({ floats() }) do
    local win = ({ chat, prompt })[i]
    if win and is_float(win) then
      api.nvim_win_set_config(win, config)
    end
  end
  local was = chat and vim.w[chat].acp_size
  if not was or was.screen == screen() then
    return
  end
  local wanted = extent(screen())
  if was.size ~= extent(was.screen) then
    wanted = size(was.size / was.screen, screen(), 1)
  end
  api['nvim_win_set_' .. dimension()](chat, wanted)
  note_size(chat)
end

local group = api.nvim_create_augroup('acp_layout', {})
api.nvim_create_autocmd({ 'VimResized', 'TabEnter' }, {
  group = group,
  desc = 'Give the chat its share of the screen',
  callback = follow_screen,
})
api.nvim_create_autocmd('WinResized', {
  group = group,
  desc = 'Note how large the user has made the chat',
  callback = function()
    local chat = M.windows(0)
    local was = chat and vim.w[chat].acp_size
    if was and was.screen == screen() then
      note_size(chat)
    end
  end,
})

---@param chat integer window
---@param buf integer
---@return integer win
local function open_prompt(chat, buf)
  local win
  if is_float(chat) then
    win = api.nvim_open_win(buf, false, (select(2, floats())))
  else
    win = api.nvim_open_win(buf, false, { split = 'below', win = chat, height = 4 })
  end
  style_prompt(win)
  return win
end

---Shows a chat or a prompt in a window that was made for something else.
---@param win integer
---@param buf integer
function M.place(win, buf)
  api.nvim_win_set_buf(win, buf)
  if vim.bo[buf].filetype == 'acp-chat' then
    style_chat(win)
    require('acp.ui.page').to_end(buf, { win })
  elseif vim.bo[buf].filetype == 'acp-prompt' then
    style_prompt(win)
  end
end

---Shows a session in this tab, in its chat windows or in new ones.
---@param id integer
---@param focus boolean whether the cursor goes to the prompt
function M.open(id, focus)
  local b = require('acp.chat.buffers').ensure(id)
  local chat, prompt = M.windows(0)
  if chat then
    if api.nvim_win_get_buf(chat) ~= b.chat then
      api.nvim_win_set_buf(chat, b.chat)
      style_chat(chat)
    end
  else
    local docked = prompt and not is_float(prompt)
    chat = docked and open_above(b.chat, prompt) or open_chat(b.chat)
    require('acp.ui.page').to_end(b.chat, { chat })
  end
  if prompt then
    if api.nvim_win_get_buf(prompt) ~= b.prompt then
      api.nvim_win_set_buf(prompt, b.prompt)
      style_prompt(prompt)
    end
  else
    prompt = open_prompt(chat, b.prompt)
  end
  if focus then
    api.nvim_set_current_win(prompt)
  end
  require('acp.chat.visible').report_visible(id)
  require('acp.chat.winbar').refresh(id)
end

---What the last window of Neovim shows instead of ours: what it showed before, or else the user's
---last used buffer.
---@param win integer
---@return integer? buf
local function users_buffer(win)
  local alternate = api.nvim_win_call(win, function()
    return vim.fn.bufnr('#')
  end)
  local last, used
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
    local buf = info.bufnr
    if vim.b[buf].acp_session == nil and vim.bo[buf].buftype == '' then
      if buf == alternate then
        return buf
      end
      if not used or info.lastused > used then
        last, used = buf, info.lastused
      end
    end
  end
  return last
end

---Closes the chat's windows in this tab; their sessions go on.
---@return boolean closed
function M.hide()
  local chat, prompt = M.windows(0)
  local wins = {}
  table.insert(wins, prompt)
  table.insert(wins, chat)
  for _, win in ipairs(wins) do
    local others = vim.tbl_filter(function(other)
      return other ~= win and api.nvim_win_get_config(other).relative == ''
    end, api.nvim_tabpage_list_wins(0))
    if #others > 0 or #api.nvim_list_tabpages() > 1 then
      api.nvim_win_close(win, true)
    else
      require('acp.chat.foreign_buffer').leave(win)
      api.nvim_win_set_buf(win, users_buffer(win) or api.nvim_create_buf(true, false))
    end
  end
  return #wins > 0
end

---Closes a floating chat in this tab, which would cover the code that the user goes to.
function M.uncover()
  local chat = M.windows(0)
  if chat and is_float(chat) then
    M.hide()
  end
end
require('acp.chat.foreign_buffer').uncover = M.uncover

return M
