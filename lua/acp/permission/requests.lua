---The open permission requests as users of the Lua API see them, and their answers.
local M = {}

local host = require('acp.rpc.host')
local state = require('acp.rpc.state')

---@return acp.Permission[]
function M.list()
  local list = {}
  for _, p in ipairs(state.permissions()) do
    table.insert(list, {
      id = p.id,
      session = p.session,
      title = p.title,
      description = p.description,
      tool_call_id = p.tool_call_id ~= '' and p.tool_call_id or nil,
      command = p.command,
      cwd = p.cwd,
      options = vim.tbl_map(function(option)
        return { id = option.id, name = option.name, kind = option.kind }
      end, p.options),
    })
  end
  return list
end

---Answers a permission request; without an option it is cancelled, and the turn with it.
---@param id integer
---@param option_id string?
---@return boolean? ok, string? err
function M.respond(id, option_id)
  local request = state.permission(id)
  if not request then
    return nil, 'no such request; it may have been answered already'
  end
  local known = option_id == nil
    or vim.iter(request.options):any(function(option)
      return option.id == option_id
    end)
  if not known then
    return nil, ('the request has no option %q'):format(option_id)
  end
  host.notify('respond', { session = request.session, id = id, option = option_id })
  return true
end

---Answers a permission request or a question with one of the float's options.
---@param request acp.OpenPermission|acp.OpenElicitation
---@param option string its id
---@return string? err
function M.choose(request, option)
  if request.mode then
    return require('acp.elicitation.questions').choose(request, option)
  end
  local _, err = M.respond(request.id, option)
  return err
end

---Answers the oldest request of the chat in use, or else the oldest of all, by kind.
---@param what 'allow'|'reject'
---@param always? boolean the one that holds from now on
---@return string? err
function M.answer(what, always)
  local request
  for _, each in ipairs(state.requests()) do
    if each.session == vim.b.acp_session then
      request = each
      break
    end
    request = request or each
  end
  if not request then
    return 'nothing waits for your answer; :Acp review decides about changes'
  end
  local option = request[always and what .. '_always' or what]
  if not option then
    local lasting = always and 'always ' or ''
    return ('no option to %s%s it. :Acp permit N gives another'):format(lasting, what)
  end
  return M.choose(request, option)
end

---Maps the keys that answer in a buffer of the chat. They begin longer mappings of Neovim's own,
---which are not waited for here.
---@param buf integer
function M.map(buf)
  local buffer = require('acp.ui.buffer')
  for action, plug in pairs({ allow = '<Plug>(AcpAllow)', reject = '<Plug>(AcpReject)' }) do
    buffer.map(buf, 'n', action, plug, function()
      require('acp.notify').warn_if(M.answer(action))
    end, { nowait = true })
  end
end

return M
