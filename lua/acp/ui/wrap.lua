---Wraps lines into rows of a width, with their highlights.
local M = {}

local api = vim.api

---@class acp.Row
---@field text string
---@field marks integer[] column, end column, group, and so on

---How many cells a text takes, in whichever window: strdisplaywidth() also counts what 'linebreak'
---and 'showbreak' of the current one would add.
---@param text string
---@return integer
function M.cells(text)
  if not text:find('%c') then
    return api.nvim_strwidth(text)
  end
  local sum, stop = 0, vim.bo.tabstop
  for plain, control in text:gmatch('(%C*)(%c?)') do
    sum = sum + api.nvim_strwidth(plain) + 2 * #control -- as in ^A
    if control == '\t' then
      sum = sum - 2 + stop - (sum - 2) % stop
    end
  end
  return sum
end

---Where the row that begins at a byte ends, in cells of `width` at most; after a space where there
---is one in its second half.
---@param line string
---@param from integer first byte, from 1
---@param width integer
---@param anywhere? boolean not only after a space
---@return integer last byte
local function row_end(line, from, width, anywhere)
  local cells, at, space = 0, from, nil
  local plain = line:sub(from, from + width)
  if not plain:find('[^ -~]') then
    if #plain <= width then
      return #line
    end
    local last = not anywhere and plain:sub(1, width):match('^.*() ') or 0
    return from - 1 + (last > width / 2 and last or width)
  end
  while at <= #line do
    local stop = at + vim.str_utf_end(line, at)
    local char = line:sub(at, stop)
    cells = cells + M.cells(char)
    if cells > width and at > from then
      return space or at - 1
    end
    if char == ' ' and cells > width / 2 and not anywhere then
      space = stop
    end
    at = stop + 1
  end
  return #line
end

---The highlights of the bytes [from, to) of a line.
---@param marks integer[][] column, end column, group
---@param from integer
---@param to integer
---@return integer[]
local function within(marks, from, to)
  local found = {}
  for _, mark in ipairs(marks) do
    local col, end_col = math.max(mark[1], from), math.min(mark[2], to)
    if col < end_col then
      vim.list_extend(found, { col - from, end_col - from, mark[3] })
    end
  end
  return found
end

---@param lines string[]
---@param marks integer[] row, column, end column, group, and so on
---@param width integer in cells
---@return acp.Row[]
function M.rows(lines, marks, width)
  local by_line = {}
  for i = 1, #marks, 4 do
    local row = marks[i]
    by_line[row] = by_line[row] or {}
    table.insert(by_line[row], { marks[i + 1], marks[i + 2], marks[i + 3] })
  end
  local rows = {}
  for i, line in ipairs(lines) do
    local from = 1
    repeat
      local last = row_end(line, from, width)
      table.insert(rows, {
        text = line:sub(from, last),
        marks = within(by_line[i - 1] or {}, from - 1, last),
      })
      from = last + 1
    until from > #line
  end
  return rows
end

---An agent's text on one line outside a buffer.
---@param text string
---@return string
function M.flat(text)
  return (text:gsub('%c+', ' '))
end

---A text on one line, cut to a width, with a mark where something is missing.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  text = M.flat(text)
  if M.cells(text) <= width then
    return text
  end
  local last = row_end(text, 1, math.max(1, width - 1), true)
  return text:sub(1, last) .. '…'
end

---How an item is shown among those that the user chooses from: a line of the screen, after a
---number.
---@param text string
---@return string
function M.item(text)
  return M.cut(text, math.max(20, vim.o.columns - 8))
end

---A line of as many parts as fit.
---@param parts string[] the first is always there
---@param room integer cells
---@return string
function M.fit(parts, room)
  local line = ' ' .. parts[1]
  for i = 2, #parts do
    local longer = line .. ' · ' .. parts[i]
    if M.cells(longer) < room then
      line = longer
    elseif vim.startswith(parts[i], '⚠') then
      -- What is wrong is told, if only its beginning.
      line = vim.fn.printf('%.' .. math.max(0, room - 3) .. 'S', longer) .. '…'
    end
  end
  return line .. ' '
end

return M
