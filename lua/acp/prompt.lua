---The prompt's window grows with its text, and its buffer remembers what was sent.
local M = {}

local api = vim.api

---How high a prompt is at least, and at most as a share of the screen.
local least, most = 4, 0.4

---@type table<integer, string[]> what was sent, by session, oldest first
local history = {}
---@type table<integer, {at: integer, draft: string[]}> where in it the user is, by session
local browsing = {}

---Fits the windows of a prompt to its text.
---@param buf integer
function M.fit(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if api.nvim_win_get_config(win).relative == '' then
      local rows = api.nvim_win_text_height(win, {}).all + 1 -- and the winbar
      local height = math.max(least, math.min(rows, math.floor(vim.o.lines * most)))
      if api.nvim_win_get_height(win) ~= height then
        api.nvim_win_set_height(win, height)
      end
    end
  end
end

---@param id integer session
---@param text string
function M.remember(id, text)
  browsing[id] = nil
  local sent = history[id] or {}
  history[id] = sent
  if text ~= '' and sent[#sent] ~= text then
    table.insert(sent, text)
  end
end

---Puts an earlier prompt into the buffer, to be edited and sent again; the draft comes back after
---the last one.
---@param id integer session
---@param buf integer
---@param by integer -1 is the one before
function M.browse(id, buf, by)
  local sent = history[id] or {}
  local state = browsing[id]
    or { at = #sent + 1, draft = api.nvim_buf_get_lines(buf, 0, -1, false) }
  local at = state.at + by
  if at < 1 or at > #sent + 1 then
    return
  end
  state.at = at
  browsing[id] = state
  local lines = at > #sent and state.draft or vim.split(sent[at], '\n')
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  M.fit(buf)
end

return M
