---Lines of a change that are not in the buffer, as chunks of virtual text.
local M = {}

local api = vim.api

---Removes the excess filler lines above the first line of the current window.
local function remove_filler()
  local view = vim.fn.winsaveview()
  if view.topfill > 0 then
    local row = view.topline - 1
    local fill = api.nvim_win_text_height(0, { start_row = row, end_row = row }).fill
    if view.topfill > fill then
      vim.fn.winrestview({ topfill = fill })
    end
  end
end

---@type table<integer, true> buffers that have had virtual lines
local guarded = {}

---To be called before virtual lines are drawn in a buffer, by whoever draws some.
---
---Neovim 0.10 never ends drawing a window with a closed fold at its top that is to have more lines
---above than there are: another window shows virtual lines above the fold, and they go, or the line
---that they are at. So no window goes into a redraw with more.
---@param buf integer
function M.guard(buf)
  local name = 'acp_virtual_guard'
  if vim.fn.has('nvim-0.12') == 1 then
    return
  end
  guarded[buf] = true
  if api.nvim_get_namespaces()[name] then
    return
  end
  api.nvim_set_decoration_provider(api.nvim_create_namespace(name), {
    on_start = function()
      for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
        if guarded[api.nvim_win_get_buf(win)] then
          api.nvim_win_call(win, remove_filler)
        end
      end
    end,
  })
end

---Sorts the changed words of several lines.
---@param flat integer[] index of the line from 0, start, end, and so on
---@return table<integer, integer[][]> start and end of each, by line
function M.words(flat)
  local words = vim.defaulttable()
  for i = 1, #flat, 3 do
    table.insert(words[flat[i]], { flat[i + 1], flat[i + 2] })
  end
  return words
end

---@param buf integer
---@return integer[] how far it is from each tab stop to the next; the last one goes on
local function stops(buf)
  local widths = vim.tbl_map(tonumber, vim.split(vim.bo[buf].vartabstop, ',', { trimempty = true }))
  return #widths > 0 and widths or { vim.bo[buf].tabstop }
end

---@param widths integer[]
---@param cell integer
---@return integer cells to the next tab stop
local function to_stop(widths, cell)
  local stop = 0
  for _, width in ipairs(widths) do
    stop = stop + width
    if stop > cell then
      return stop - cell
    end
  end
  local last = widths[#widths]
  return last - (cell - stop) % last
end

---Text with blanks for its tabs, as a buffer would show it: virtual text has no tab stops.
---@param text string
---@param buf integer
---@param cell? integer where it begins
---@return string text, integer cell where it ends
function M.untabbed(text, buf, cell)
  cell = cell or 0
  if not text:find('\t', 1, true) then
    return text, cell + api.nvim_strwidth(text)
  end
  local widths, parts = stops(buf), {}
  for part, tab in text:gmatch('([^\t]*)(\t?)') do
    cell = cell + api.nvim_strwidth(part)
    local blanks = tab == '' and 0 or to_stop(widths, cell)
    cell = cell + blanks
    table.insert(parts, part .. (' '):rep(blanks))
  end
  return table.concat(parts), cell
end

---@param text string
---@param words integer[][] start and end of each
---@param group string
---@param word_group string
---@param buf integer whose line it was
---@return table[] chunks of the line, filled up to the right edge
function M.line(text, words, group, word_group, buf)
  local chunks, at, cell = {}, 0, 0
  local function add(to, hl)
    if to > at then
      local part
      part, cell = M.untabbed(text:sub(at + 1, to), buf, cell)
      table.insert(chunks, { part, hl })
      at = to
    end
  end
  for _, word in ipairs(words) do
    add(word[1], group)
    add(word[2], word_group)
  end
  add(#text, group)
  table.insert(chunks, { (' '):rep(vim.o.columns), group })
  return chunks
end

return M
