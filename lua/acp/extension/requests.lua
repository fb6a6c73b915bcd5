---Requests for methods that the protocol does not have, served by the user's functions.
local M = {}

local host = require('acp.rpc.host')

---@alias acp.RequestHandler fun(params: any, respond: fun(result: any, err?: string))

---@type table<string, acp.RequestHandler>
local handlers = {}

local function announce()
  local methods = vim.tbl_keys(handlers)
  table.sort(methods)
  host.notify('serve_requests', { methods = methods })
end

host.started:add(announce)

---Serves requests for a method with a function or, without one, answers them as unknown.
---@param method string
---@param handler? acp.RequestHandler
---@return boolean? ok, string? err
function M.on(method, handler)
  if type(method) ~= 'string' or method == '' then
    return nil, 'the method must be a string'
  end
  if handler ~= nil and not vim.is_callable(handler) then
    return nil, 'the handler must be a function'
  end
  handlers[method] = handler
  announce()
  return true
end

---@param result any
---@return string? json, string? err
local function encode(result)
  if result == nil or type(result) == 'table' and next(result) == nil then
    return '{}'
  end
  local ok, json = pcall(vim.json.encode, result)
  if not ok then
    return nil, 'the answer is not JSON: ' .. json
  end
  return json
end

---@param request {id: integer, method: string, params: string}
function M.serve(request)
  local function respond(result, err)
    local json
    if err == nil then
      json, err = encode(result)
    end
    host.notify('answer_extension', {
      id = request.id,
      result = json or '',
      error = err and tostring(err) or '',
    })
  end
  local handler = handlers[request.method]
  if not handler then
    return host.notify('answer_extension', { id = request.id, unknown = true })
  end
  local params
  if request.params ~= '' then
    params = vim.json.decode(request.params, { luanil = { object = true, array = true } })
  end
  local ok, err = pcall(handler, params, respond)
  if not ok then
    local why = tostring(err):gsub('^.-:%d+: ', ''):match('[^\n]*')
    respond(nil, why)
    require('acp.notify').error(('your function for %s failed: %s'):format(request.method, why))
  end
end

return M
