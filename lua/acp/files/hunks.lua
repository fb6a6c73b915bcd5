--- Changes a buffer's text hunk by hunk: marks, extmarks, folds and cursors stay where they can,
--- and undo has the change as steps of its own.

local M = {}

local api = vim.api

--- A hunk of up to so many lines that keeps their number is edited line by line, which keeps more
--- places.
local max_pairs = 1000

local diff = vim.text.diff or vim.diff ---@diagnostic disable-line: deprecated

---One undo step.
---@class (exact) acp.buffers.Step
---@field hunks acp.buffers.Hunk[] in order
---@field eol? boolean whether the last line ends; nil where there is none

---@class (exact) acp.buffers.Hunk
---@field [1] integer first row, 0-based
---@field [2] integer number of lines that it removes
---@field [3] string[] lines that it adds

--- Whether a buffer has no line at all, not even an empty one.
---@param buf integer
---@return boolean
function M.is_empty(buf)
  if api.nvim_buf_line_count(buf) > 1 or api.nvim_buf_get_lines(buf, 0, 1, false)[1] ~= '' then
    return false
  end
  return api.nvim_buf_call(buf, function()
    return vim.fn.wordcount().bytes == 0
  end)
end

---@param byte? integer
---@return boolean whether it is one of a UTF-8 character's bytes after the first
local function is_continuation(byte)
  return byte ~= nil and byte >= 0x80 and byte < 0xC0
end

--- Length of the common prefix, which ends between two characters of both.
---@param a string
---@param b string
---@return integer
local function common_prefix(a, b)
  local n, max = 0, math.min(#a, #b)
  while n < max and a:byte(n + 1) == b:byte(n + 1) do
    n = n + 1
  end
  while n > 0 and is_continuation(a:byte(n + 1)) do
    n = n - 1
  end
  return n
end

--- Length of the common suffix, at most max, which begins with a character.
---@param a string
---@param b string
---@param max integer
---@return integer
local function common_suffix(a, b, max)
  local n = 0
  while n < max and a:byte(#a - n) == b:byte(#b - n) do
    n = n + 1
  end
  while n > 0 and is_continuation(a:byte(#a - n + 1)) do
    n = n - 1
  end
  return n
end

--- Replaces whole lines, touching only what is between their common prefix and suffix.
---@param buf integer
---@param row integer 0-based
---@param old string[] the lines there, at least one
---@param new string[] at least one
local function replace_lines(buf, row, old, new)
  local old_last, new_last = old[#old], new[#new]
  local prefix = common_prefix(old[1], new[1])
  local suffix = common_suffix(
    old_last,
    new_last,
    math.min(#old_last - (#old == 1 and prefix or 0), #new_last - (#new == 1 and prefix or 0))
  )
  new[#new] = new_last:sub(1, #new_last - suffix)
  new[1] = new[1]:sub(prefix + 1)
  api.nvim_buf_set_text(buf, row, prefix, row + #old - 1, #old_last - suffix, new)
end

---@param buf integer
---@param row integer 0-based
---@return boolean whether a window has a closed fold that begins at row
local function is_folded(buf, row)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local first = api.nvim_win_call(win, function()
      return vim.fn.foldclosed(row + 1)
    end)
    if first == row + 1 then
      return true
    end
  end
  return false
end

--- Inserts lines. On Neovim 0.12 nvim_buf_set_lines adds them to a closed fold that begins at row.
---@param buf integer
---@param row integer 0-based
---@param lines string[]
local function insert_lines(buf, row, lines)
  if is_folded(buf, row) then
    for i, line in ipairs(lines) do
      lines[i] = line:gsub('%z', '\n')
    end
    if vim.fn.appendbufline(buf, row, lines) == 0 then
      return
    end
  end
  api.nvim_buf_set_lines(buf, row, row, true, lines)
end

--- Applies one hunk. Rows above it stay right, so hunks are applied from the last to the first.
---@param buf integer
---@param row integer 0-based
---@param old string[] the lines there that it replaces
---@param new string[] what they become
local function apply_hunk(buf, row, old, new)
  if #old == 0 then
    insert_lines(buf, row, new)
  elseif #new == 0 then
    api.nvim_buf_set_lines(buf, row, row + #old, true, {})
  elseif #old == #new and #old <= max_pairs then
    for i = #old, 1, -1 do
      if old[i] ~= new[i] then
        replace_lines(buf, row + i - 1, { old[i] }, { new[i] })
      end
    end
  else
    replace_lines(buf, row, old, new)
  end
end

---@class (exact) acp.buffers.Mark
---@field name string
---@field row integer 0-based
---@field col integer

---@param buf integer
---@return acp.buffers.Mark[] the marks a to z
local function local_marks(buf)
  local marks = {}
  for _, mark in ipairs(vim.fn.getmarklist(buf)) do
    local name = mark.mark:match("^'(%l)$")
    if name then
      table.insert(marks, { name = name, row = mark.pos[2] - 1, col = mark.pos[3] - 1 })
    end
  end
  return marks
end

--- Puts the marks of a hunk's lines back, which Neovim deletes with a removed line and 0.10 also
--- with a changed one. The hunks below have been applied, those above have not: rows are right.
---@param buf integer
---@param marks acp.buffers.Mark[]
---@param first integer 0-based
---@param removed integer
---@param added integer
local function restore_marks(buf, marks, first, removed, added)
  for _, mark in ipairs(marks) do
    if mark.row >= first and mark.row < first + removed then
      local row = first + math.min(mark.row - first, math.max(added - 1, 0))
      row = math.min(row, api.nvim_buf_line_count(buf) - 1)
      local line = api.nvim_buf_get_lines(buf, row, row + 1, true)[1]
      api.nvim_buf_set_mark(buf, mark.name, row + 1, math.min(mark.col, #line), {})
    end
  end
end

--- Replaces lines by others, pairing those that are alike.
---@param buf integer
---@param marks acp.buffers.Mark[]
---@param row integer 0-based
---@param removed integer
---@param new string[]
local function replace_alike(buf, marks, row, removed, new)
  local old = api.nvim_buf_get_lines(buf, row, row + removed, true)
  local parts = { { removed == 0 and 0 or 1, removed, #new == 0 and 0 or 1, #new } }
  if removed > 0 and #new > 0 and removed + #new > 2 then
    parts = diff(table.concat(old, '\n') .. '\n', table.concat(new, '\n') .. '\n', {
      result_type = 'indices',
      algorithm = 'histogram',
      linematch = 60,
    }) --[[@as integer[][] ]]
  end
  for i = #parts, 1, -1 do
    local from, less, first, more = unpack(parts[i])
    local at = row + (less == 0 and from or from - 1)
    apply_hunk(
      buf,
      at,
      vim.list_slice(old, from, from + less - 1),
      vim.list_slice(new, first, first + more - 1)
    )
    restore_marks(buf, marks, at, less, more)
  end
end

--- Ends the current undo step, so that what follows is one of its own. Also while inserting.
function M.break_undo()
  vim.cmd('let &l:undolevels = &l:undolevels')
end

--- Applies a step, as an undo step of its own.
---@param buf integer the current buffer
---@param step acp.buffers.Step
---@return boolean changed whether there was anything to do
function M.take(buf, step)
  if #step.hunks > 0 then
    M.break_undo()
    if M.is_empty(buf) then
      api.nvim_buf_set_lines(buf, 0, -1, true, step.hunks[1][3])
    else
      local marks = local_marks(buf)
      for i = #step.hunks, 1, -1 do
        replace_alike(buf, marks, unpack(step.hunks[i]))
      end
    end
    M.break_undo()
  end
  local eol_changed = step.eol ~= nil and vim.bo[buf].endofline ~= step.eol
  if eol_changed then
    vim.bo[buf].endofline = step.eol
  end
  return #step.hunks > 0 or eol_changed
end

--- Replaces lines of a buffer, as one undo step.
---@param buf integer
---@param first integer 0-based
---@param last integer exclusive
---@param lines string[]
---@param noeol boolean the last one is to have no newline, where it becomes the last of the file
---@return integer first the row of the first new line
function M.replace(buf, first, last, lines, noeol)
  return api.nvim_buf_call(buf, function()
    M.break_undo()
    if M.is_empty(buf) then
      first = 0
      api.nvim_buf_set_lines(buf, 0, -1, true, lines)
    elseif first ~= last or #lines > 0 then
      local marks = local_marks(buf)
      apply_hunk(buf, first, api.nvim_buf_get_lines(buf, first, last, true), vim.list_slice(lines))
      restore_marks(buf, marks, first, last - first, #lines)
    end
    if noeol and first + #lines == api.nvim_buf_line_count(buf) then
      vim.bo[buf].endofline = false
    end
    M.break_undo()
    return first
  end)
end

return M
