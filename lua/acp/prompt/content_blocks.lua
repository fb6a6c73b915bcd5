---Content blocks of a prompt, as users pass them to the API.
local M = {}

---The fields that a block must have, all of them strings, by its type.
local required = {
  text = { 'text' },
  image = { 'mimeType', 'data' },
  audio = { 'mimeType', 'data' },
  resource_link = { 'uri', 'name' },
  resource = {},
  file = { 'path' },
  excerpt = { 'name', 'title', 'description' }, -- acp.prompt.context makes these two
  diff = {},
}

---@param value any
---@return boolean
local function is_line(value)
  return type(value) == 'number' and value >= 1 and value % 1 == 0
end

---@param block any
---@return string? err
local function check(block)
  local fields = type(block) == 'table' and required[block.type]
  if not fields then
    return 'a content block needs a type: text, image, audio, resource_link, resource or file'
  end
  for _, name in ipairs(fields) do
    if type(block[name]) ~= 'string' then
      return ('a content block of type %s needs %s, a string'):format(block.type, name)
    end
  end
  local resource = block.resource
  if
    block.type == 'resource'
    and not (
      type(resource) == 'table'
      and type(resource.uri) == 'string'
      and (type(resource.text) == 'string' or type(resource.blob) == 'string')
    )
  then
    return 'a content block of type resource needs resource, with uri and text or blob'
  end
  if
    block.type == 'file'
    and (block.first ~= nil or block.last ~= nil)
    and not (is_line(block.first) and is_line(block.last) and block.first <= block.last)
  then
    return 'a content block of type file needs first and last, lines from 1 on, or neither'
  end
end

---@param blocks table[]
---@param session acp.Session
---@return string? err why they cannot be sent
function M.check(blocks, session)
  for _, block in ipairs(blocks) do
    local err = check(block)
    if err then
      return err
    end
    if session.takes and session.takes[block.type] == false then
      return ('%s takes no content blocks of type %s'):format(session.agent_title, block.type)
    end
  end
end

return M
