---Snippets of servers as plain text, for where nobody jumps from one placeholder to the next.
local M = {}

local plain

---A choice, from behind its bar to behind its brace: the first one is taken.
---@param text string
---@param at integer
---@return string first, integer next
local function choice(text, at)
  local last = text:find('|}', at, true) or #text + 1
  local first = {}
  while at < last do
    local char = text:sub(at, at)
    if char == ',' then
      break
    elseif char == '\\' then
      at = at + 1
      char = text:sub(at, at)
    end
    table.insert(first, char)
    at = at + 1
  end
  return table.concat(first), last + 2
end

---What stands in braces behind a $, from behind the opening one to behind the closing one.
---@param text string
---@param at integer
---@return string inner, integer next
local function braces(text, at)
  local name = text:match('^[%w_]*', at)
  at = at + #name
  local kind = text:sub(at, at)
  if kind == ':' then
    return plain(text, at + 1, true)
  elseif kind == '|' then
    return choice(text, at + 1)
  elseif kind == '/' then -- a transformation, of what is nothing
    local _, after = plain(text, at + 1, true)
    return '', after
  end
  return '', (text:find('}', at, true) or #text) + 1
end

---@param text string
---@param at integer
---@param nested boolean up to the brace that closes it
---@return string plain, integer next
function plain(text, at, nested)
  local out = {}
  while at <= #text do
    local char, after = text:sub(at, at), text:sub(at + 1, at + 1)
    if char == '\\' and after:find('[$}\\]') then
      table.insert(out, after)
      at = at + 2
    elseif char == '}' and nested then
      return table.concat(out), at + 1
    elseif char == '$' and after == '{' then
      local inner
      inner, at = braces(text, at + 2)
      table.insert(out, inner)
    elseif char == '$' and after:find('[%w_]') then
      at = at + 1 + #text:match('^[%w_]+', at + 1)
    else
      table.insert(out, char)
      at = at + 1
    end
  end
  return table.concat(out), at
end

---@param text string
---@return string
function M.plain(text)
  return (plain(text, 1, false))
end

return M
