---Positions: agents name a line and a symbol, servers a line and units of their own encoding.
local M = {}

local new = vim.fn.has('nvim-0.11') == 1

---Whether a row, or a unit of a line, from a server is valid.
---@param n any
---@return boolean
function M.counts(n)
  return type(n) == 'number' and n >= 0 and n <= 2 ^ 32 and n % 1 == 0
end

---How many units of an encoding the first bytes of a line are.
---@param line string
---@param byte integer from 0
---@param encoding string utf-8, utf-16 or utf-32
---@return integer
function M.units(line, byte, encoding)
  byte = math.min(byte, #line)
  if encoding == 'utf-8' then
    return byte
  elseif new then
    return vim.str_utfindex(line, encoding, byte, false)
  end
  local chars, pairs_of_bytes = vim.str_utfindex(line, byte)
  return encoding == 'utf-32' and chars or pairs_of_bytes
end

---At which byte a unit of an encoding begins.
---@param line string
---@param unit integer from 0
---@param encoding string
---@return integer byte from 0, at most the line's length
function M.byte(line, unit, encoding)
  if encoding == 'utf-8' then
    return math.min(unit, #line)
  end
  local ok, byte
  if new then
    ok, byte = pcall(vim.str_byteindex, line, encoding, unit, false)
  else
    ok, byte = pcall(vim.str_byteindex, line, unit, encoding == 'utf-16')
  end
  return ok and math.min(byte, #line) or #line
end

---@param char string
local function of_word(char)
  return char ~= '' and (char:find('[%w_]') ~= nil or char:byte() >= 128)
end

---Where a word is in a line; if it never occurs as a whole word, its first place at all.
---@param line string
---@param word string
---@return integer? byte from 0
---@return integer count how often it stands there
local function in_line(line, word)
  local first, any, count, from = nil, nil, 0, 1
  while true do
    local at, last = line:find(word, from, true)
    if not at then
      break
    end
    local before = of_word(word:sub(1, 1)) and of_word(line:sub(at - 1, at - 1))
    local after = of_word(word:sub(-1)) and of_word(line:sub(last + 1, last + 1))
    any = any or at - 1
    if not before and not after then
      first, count = first or at - 1, count + 1
    end
    from = last + 1
  end
  return first or any, count
end

---How far from the named line a symbol is looked for: agents count lines badly.
local near = 20

---The lines at which a symbol is looked for: the named one, those near it, and last those near it
---that look like comments, about which servers know nothing.
---@param lines string[]
---@param line integer
---@return integer[]
function M.near(lines, line)
  local list, comments = { line }, {}
  for distance = 1, near do
    for _, at in ipairs({ line - distance, line + distance }) do
      if lines[at] then
        local comment = lines[at]:find('^%s*[/#*]') or lines[at]:find('^%s*%-%-')
        table.insert(comment and comments or list, at)
      end
    end
  end
  return vim.list_extend(list, comments)
end

---Where a symbol is.
---@param lines string[] of the file
---@param args {line?: integer, symbol?: string, column?: integer}
---@return {line: integer, byte: integer, note?: string}? place from 0
---@return string? err
function M.find(lines, args)
  local line = args.line or 1
  if line < 1 or line > #lines then
    return nil, ('the file has %d lines, not %d'):format(#lines, line)
  end
  local symbol = args.symbol
  if not symbol or symbol == '' then
    local text = lines[line]
    local byte = args.column and args.column > 0 and math.min(args.column - 1, #text)
      or #text:match('^%s*')
    return { line = line - 1, byte = byte }
  end
  -- Of a.b.c the last part is what is asked for.
  local word = symbol:match('([%w_\128-\255]+)%W*$') or symbol
  for _, at in ipairs(M.near(lines, line)) do
    local text = lines[at]
    local byte, count = in_line(text, word)
    if byte then
      local note
      local whole = word ~= symbol and text:find(symbol, 1, true)
      if whole then
        byte = whole - 1 + #symbol:match('^(.*)' .. vim.pesc(word))
      elseif count > 1 and args.column and args.column > 0 then
        byte = math.min(args.column - 1, #text)
      elseif count > 1 then
        note = ('%s is there %d times on line %d: the first one is taken'):format(word, count, at)
      end
      if at ~= line then
        note = ('%s is not on line %d: taken from line %d'):format(word, line, at)
      end
      return { line = at - 1, byte = byte, note = note }
    end
  end
  return nil, ('%s is neither on line %d nor near it'):format(word, line)
end

return M
