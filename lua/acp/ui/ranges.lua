---Which lines of a buffer have changed, gathered edit by edit.
local M = {}

---@class acp.Range lines that are others now; none where `first` is nil
---@field first? integer 0-based
---@field old_last? integer exclusive, of the text before all of the edits
---@field last? integer exclusive, of the text now

---Adds an edit, as reported by |nvim_buf_attach()|.
---@param range acp.Range
---@param first integer
---@param old_last integer
---@param last integer
function M.grow(range, first, old_last, last)
  if not range.first then
    range.first, range.old_last, range.last = first, old_last, last
    return
  end
  local reach = math.max(range.last, old_last)
  range.first = math.min(range.first, first)
  range.old_last = range.old_last + reach - range.last
  range.last = reach + last - old_last
end

---Whether rows touch others; two empty places do so where they are the same.
---@param first integer
---@param last integer exclusive
---@param from integer
---@param to integer exclusive
---@return boolean
function M.meet(first, last, from, to)
  if first == last or from == to then
    return first <= to and last >= from
  end
  return first < to and last > from
end

return M
