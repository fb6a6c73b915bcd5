---The keys of a file that an agent has changed, shown once per Neovim: after a line of the first
---file with marks on the screen, until one of them is used or nothing is marked there.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp_hint_keys')

---@type integer? the buffer that says them
local at
local said = false

---@type {[1]: string, [2]: string}[] actions, and what their keys do
local offered = {
  { 'review_keep', 'keep' },
  { 'review_reject', 'refuse' },
  { 'review_next', 'next' },
}

---@param taken acp.MappedKey[] the keys of the buffer
---@return string?
local function words(taken)
  local keys, parts = require('acp.config').get().keys, {}
  for _, each in ipairs(offered) do
    local lhs = keys[each[1]]
    for _, key in ipairs(lhs and taken or {}) do
      if key.lhs == lhs and key.mode == 'n' then
        table.insert(parts, lhs .. ' ' .. each[2])
      end
    end
  end
  return parts[1] and table.concat(parts, ' · ')
end

---Shows the keys in a buffer whose changes are drawn, if they were not shown yet.
---@param buf integer
---@param taken acp.MappedKey[]? the keys of the buffer
---@param rows_of fun(): integer[] the rows of its changes
function M.offer(buf, taken, rows_of)
  if said or not taken then
    return
  end
  local text = words(taken)
  local wins = vim.tbl_filter(function(win)
    return api.nvim_win_get_buf(win) == buf and api.nvim_win_get_config(win).relative == ''
  end, vim.list_extend({ api.nvim_get_current_win() }, api.nvim_tabpage_list_wins(0)))
  local window = require('acp.ui.window')
  local row = text and wins[1] and window.row_with(wins[1], rows_of(), api.nvim_strwidth(text) + 3)
  if row then
    said, at = true, buf
    api.nvim_buf_set_extmark(buf, ns, row, 0, {
      virt_text = { { ' ' .. text, 'AcpReviewHint' } },
      virt_text_pos = 'eol',
      hl_mode = 'combine',
    })
  end
end

---Removes the hint: the user knows the keys, or there is nothing to use them for.
---@param buf? integer only from this one
function M.done(buf)
  if at and api.nvim_buf_is_valid(at) and (not buf or buf == at) then
    api.nvim_buf_clear_namespace(at, ns, 0, -1)
    at = nil
  end
  said = said or not buf
end

return M
