---The line above our windows, their 'winbar'. If another plugin sets the winbar of all windows, as
---lualine does, it keeps it, and our line is shown in the text instead.
local M = {}

local api = vim.api

---@class acp.Bar
---@field buf integer that the window showed
---@field text string what was set, as 'winbar' has it
---@field lost boolean another plugin has the line
---@field instead fun(text: string) shows what the line says where it is not seen

---@type table<integer, acp.Bar> by window
local bars = {}
local watching = false

---@param win integer
---@return string
local function current(win)
  return api.nvim_get_option_value('winbar', { scope = 'local', win = win })
end

---Notices lines that others have set, when the screen is drawn.
local function watch()
  if watching then
    return
  end
  watching = true
  api.nvim_set_decoration_provider(api.nvim_create_namespace('acp_bar'), {
    on_start = function()
      for win, bar in pairs(bars) do
        if not api.nvim_win_is_valid(win) or api.nvim_win_get_buf(win) ~= bar.buf then
          bars[win] = nil
        elseif not bar.lost and current(win) ~= bar.text then
          bar.lost = true
          vim.schedule(function()
            if bars[win] == bar then
              bar.instead(bar.text)
            end
          end)
        end
      end
    end,
  })
end

---Sets the line of a window, or shows it elsewhere.
---@param win integer
---@param text string as 'winbar' takes it
---@param instead fun(text: string)
function M.set(win, text, instead)
  local buf, bar = api.nvim_win_get_buf(win), bars[win]
  if not bar or bar.buf ~= buf then
    bar = { buf = buf, text = current(win), lost = false, instead = instead }
    bars[win] = bar
    watch()
  end
  bar.lost = bar.lost or current(win) ~= bar.text
  bar.instead = instead
  if bar.text ~= text then
    bar.text = text
    if not bar.lost then
      api.nvim_set_option_value('winbar', text, { scope = 'local', win = win })
    end
  end
  if bar.lost then
    instead(text)
  end
end

---Whether another plugin has the line of a window.
---@param win integer
---@return boolean
function M.lost(win)
  return bars[win] ~= nil and bars[win].lost
end

---Removes the line of a window, if it is ours.
---@param win integer
function M.drop(win)
  local bar = bars[win]
  bars[win] = nil
  if bar and api.nvim_win_is_valid(win) and not bar.lost and current(win) == bar.text then
    api.nvim_set_option_value('winbar', '', { scope = 'local', win = win })
  end
end

---What a line says, as chunks of virtual text.
---@param win integer
---@param text string
---@param width integer
---@return {[1]: string, [2]: string}[]
function M.chunks(win, text, width)
  local opts = { winid = win, use_winbar = true, highlights = true, maxwidth = width }
  local line = api.nvim_eval_statusline(text, opts)
  local chunks = {}
  for i, at in ipairs(line.highlights) do
    local last = line.highlights[i + 1]
    table.insert(chunks, { line.str:sub(at.start + 1, last and last.start or nil), at.group })
  end
  return chunks
end

local ns = api.nvim_create_namespace('acp_bar_text')

---Shows what a line says after the text, near the cursor of its window.
---@param win integer
---@param text string
function M.at_cursor(win, text)
  local buf, room = api.nvim_win_get_buf(win), 2
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  local chunks = M.chunks(win, text, api.nvim_win_get_width(win))
  for _, chunk in ipairs(chunks) do
    room = room + api.nvim_strwidth(chunk[1])
  end
  table.insert(chunks, 1, { ' ', 'AcpWinbar' })
  local row = require('acp.ui.window').row_with(win, {}, room)
  row = row or api.nvim_win_get_cursor(win)[1] - 1
  api.nvim_buf_set_extmark(buf, ns, row, 0, {
    virt_text = chunks,
    virt_text_pos = 'eol',
  })
end

---Takes it away again.
---@param buf integer
function M.clear(buf)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  end
end

return M
