---The hunks of a diff on the screen: where they are, which one the user means, and which are
---refused.
local M = {}

local api = vim.api

M.ns = api.nvim_create_namespace('acp_diff_hunks')

---How many selectable hunks a diff has.
---@param diff acp.Diff
---@return integer
function M.count(diff)
  return #diff.hunks / 4
end

---Where a hunk is in the lines of one side; without lines there, the line that follows.
---@param diff acp.Diff
---@param side 1|2 the old or the new text
---@param n integer
---@return integer row 1-based, integer count
local function at(diff, side, n)
  local i = 4 * (n - 1) + 2 * side
  return diff.hunks[i - 1], diff.hunks[i]
end

---How Neovim compares the windows of a diff, as options of |vim.diff()|.
---@return table
local function comparison()
  local opts = { result_type = 'indices' }
  for _, item in ipairs(vim.split(vim.o.diffopt, ',')) do
    opts.algorithm = item:match('^algorithm:(.*)') or opts.algorithm
    opts.indent_heuristic = item == 'indent-heuristic' or opts.indent_heuristic
    opts.ignore_whitespace_change = item == 'iwhite' or opts.ignore_whitespace_change
    opts.ignore_whitespace = item == 'iwhiteall' or opts.ignore_whitespace
    opts.ignore_whitespace_change_at_eol = item == 'iwhiteeol'
      or opts.ignore_whitespace_change_at_eol
    opts.ignore_blank_lines = item == 'iblank' or opts.ignore_blank_lines
  end
  return opts
end

---Whether Neovim, which compares two whole texts by itself, shows the same hunks: it may match
---equal lines differently.
---@param diff acp.Diff
---@return boolean
function M.agrees(diff)
  local texts = {}
  for side, buf in ipairs(diff.texts.bufs) do
    local rows = diff.texts.rows[side]
    local lines = rows > 0 and api.nvim_buf_get_lines(buf, 0, rows, false) or {}
    texts[side] = #lines > 0 and table.concat(lines, '\n') .. '\n' or ''
  end
  local compare = vim.text and vim.text.diff or vim.diff
  local i = 0
  for _, is in ipairs(compare(texts[1], texts[2], comparison())) do
    for side = 0, 2, 2 do
      local row, count = is[side + 1], is[side + 2]
      row = count == 0 and row + 1 or row
      if diff.hunks[i + side + 1] ~= row or diff.hunks[i + side + 2] ~= count then
        return false
      end
    end
    i = i + 4
  end
  return i == #diff.hunks
end

---The hunks that lines of one side touch. A hunk without lines on that side is touched by the lines
---above and below it, if nothing else is there.
---@param diff acp.Diff
---@param side 1|2
---@param first integer
---@param last integer
---@return integer? first, integer? last
function M.touched(diff, side, first, last)
  local from, to, from_near, to_near
  for n = 1, M.count(diff) do
    local row, count = at(diff, side, n)
    if count > 0 and row <= last and row + count - 1 >= first then
      from, to = from or n, n
    elseif count == 0 and row - 1 <= last and row >= first then
      from_near, to_near = from_near or n, n
    end
  end
  if first ~= last and from_near then
    return math.min(from or from_near, from_near), math.max(to or to_near, to_near)
  end
  return from or from_near, to or to_near
end

---The row of a side where the cursor goes for a hunk.
---@param diff acp.Diff
---@param side 1|2
---@param n integer
---@param last integer how many lines there are
---@return integer
function M.row(diff, side, n, last)
  return math.max(1, math.min((at(diff, side, n)), last))
end

---The first hunk after a row, or the last one before it.
---@param diff acp.Diff
---@param side 1|2
---@param row integer
---@param last integer how many lines there are
---@param by 1|-1
---@return integer?
function M.neighbour(diff, side, row, last, by)
  local n = M.count(diff)
  for i = by > 0 and 1 or n, by > 0 and n or 1, by do
    if (M.row(diff, side, i, last) - row) * by > 0 then
      return i
    end
  end
end

---Which hunks of a diff are refused, as last told by the host; nil if that is about a later state
---of the change.
---@param diff acp.Diff
---@return table<integer, true>? refused, integer count
function M.refused(diff)
  local set, count = {}, 0
  for _, request in ipairs(require('acp.rpc.state').permissions()) do
    local selection = request.id == diff.permission
      and request.selection
      and request.selection[diff.at]
    if selection and selection.looked > diff.looked then
      return nil, 0
    end
    for _, n in ipairs(selection and selection.looked == diff.looked and selection.refused or {}) do
      set[n] = true
      count = count + 1
    end
  end
  return set, count
end

---The first hunk that ends at or after a row.
---@param diff acp.Diff
---@param side 1|2
---@param row integer
---@return integer
local function first_from(diff, side, row)
  local low, high = 1, M.count(diff) + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    local start, count = at(diff, side, middle)
    if start + count - 1 < row then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

---Marks the refused hunks in the windows of both sides, but only visible ones: there may be
---thousands.
---@param wins integer[]
---@param diff acp.Diff
---@param refused table<integer, true>
function M.paint(wins, diff, refused)
  for side, win in ipairs(wins) do
    local buf = api.nvim_win_get_buf(win)
    api.nvim_buf_clear_namespace(buf, M.ns, 0, -1)
    local top, bottom = vim.fn.line('w0', win), vim.fn.line('w$', win)
    for n = first_from(diff, side, top), M.count(diff) do
      local row, count = at(diff, side, n)
      if row > bottom then
        break
      end
      if refused[n] and count > 0 then
        local last = math.min(row + count - 1, api.nvim_buf_line_count(buf))
        local opts = { end_row = last, hl_eol = true, strict = false }
        opts.hl_group, opts.priority = 'AcpReviewRefused', 200
        api.nvim_buf_set_extmark(buf, M.ns, row - 1, 0, opts)
        if side == 2 then
          opts.hl_group, opts.hl_eol, opts.priority = 'AcpStrikethrough', false, 201
          api.nvim_buf_set_extmark(buf, M.ns, row - 1, 0, opts)
        end
        api.nvim_buf_set_extmark(buf, M.ns, row - 1, 0, {
          sign_text = '✗',
          sign_hl_group = 'AcpReviewRefusedSign',
        })
      end
    end
  end
end

return M
