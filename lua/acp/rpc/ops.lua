---What the host has Neovim do: one function for a batch of operations, each of which may fail by
---itself. acp.features registers them.
local M = {}

local host = require('acp.rpc.host')
local state = require('acp.rpc.state')

---@type table<string, fun(args: table): any>
local ops = {}

---@param op string
---@param fn fun(args: table): any
function M.register(op, fn)
  ops[op] = fn
end

M.register('group', function(args)
  host.group(args.pgid, args.alive)
end)

M.register('callback', function(args)
  host.answer(args.id, args.result, args.error)
end)

M.register('notify', function(args)
  require('acp.notify')[args.level == 'warning' and 'warn' or args.level](args.text)
end)

M.register('session', state.set)

M.register('tool_calls', function(args)
  state.set_calls(args.session, args.calls)
end)

M.register('elicitations', function(args)
  state.set_elicitations(args.session, args.elicitations)
end)

M.register('permissions', function(args)
  state.set_permissions(args.session, args.permissions)
end)

M.register('events', function(args)
  state.fire_all(args.events)
end)

M.register('watch_limit', function(args)
  state.watch_limit = args.why
end)

---Whether a batch is being executed: the host waits for its end.
M.running = false

---Executes operations in order.
---@param batch {[1]: string, [2]: table}[] name and arguments
---@return {busy: number, answers: any[]} busy in milliseconds; an answer is {ok, value or error}
function M.batch(batch)
  local start = vim.uv.hrtime()
  local answers = {}
  M.running = true
  for i, op in ipairs(batch) do
    local ok, value = pcall(ops[op[1]], op[2])
    answers[i] = { ok, ok and value or (not ok and tostring(value)) or nil }
  end
  M.running = false
  return { busy = (vim.uv.hrtime() - start) / 1e6, answers = answers }
end

return M
