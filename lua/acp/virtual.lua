---Lines of a change that the buffer does not have, as chunks of virtual text.
local M = {}

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

---@param text string
---@param words integer[][] start and end of each
---@param group string
---@param word_group string
---@param tab string
---@return table[] chunks of the line, filled up to the right edge
function M.line(text, words, group, word_group, tab)
  local chunks, at = {}, 0
  local function add(to, hl)
    if to > at then
      table.insert(chunks, { (text:sub(at + 1, to):gsub('\t', tab)), hl })
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
