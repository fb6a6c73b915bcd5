---Code actions: listed under ids that are valid as long as the text is the same, and what they
---would change.
local M = {}

local api = vim.api
local edits = require('acp.editortools.lsp.edits')
local servers = require('acp.editortools.lsp.servers')

---@class acp.CodeAction
---@field client integer
---@field action table
---@field buf integer
---@field tick integer

---@type table<string, acp.CodeAction>
local offered = {}
local last = 0

---How many actions keep their ids.
local held = 300

---Gives the actions of answers ids.
---@param answers acp.ServerAnswer[]
---@param buf integer
---@return {id: string, title: string, kind?: string}[]
function M.offer(answers, buf)
  local list = {}
  for _, answer in ipairs(answers) do
    for _, action in ipairs(type(answer.result) == 'table' and answer.result or {}) do
      local usable = type(action) == 'table' and type(action.title) == 'string'
      if usable and not action.disabled then
        last = last + 1
        local id = 'a' .. last
        offered['a' .. (last - held)] = nil
        offered[id] = {
          client = answer.client.id,
          action = action,
          buf = buf,
          tick = vim.b[buf].changedtick,
        }
        table.insert(list, { id = id, title = action.title, kind = action.kind })
      end
    end
  end
  return list
end

---@class acp.Capture what becomes of a server's edits while a command of ours runs
---@field found acp.Answered[]
---@field err? string
---@field given_up? boolean its edits are refused: nobody waits for them any more

---@param client vim.lsp.Client
---@param edit table
---@return acp.Answered
function M.answered(client, edit)
  return { edit = edit, encoding = client.offset_encoding, client = client.id }
end

---@type table<integer, acp.Capture> by client
local captures = {}
---@type table<integer, true> clients whose edits come through here
local guarded = {}

---How long edits of a command that was cancelled before it was done are refused, in ms.
local late = 30000

---Routes a server's edits through here, permanently: they are passed on unchanged, except those of
---our commands.
---@param client vim.lsp.Client
local function guard(client)
  if guarded[client.id] then
    return
  end
  guarded[client.id] = true
  ---@param method string
  ---@param ours fun(capture: acp.Capture, params: table): table
  local function through(method, ours)
    local before = client.handlers[method]
    client.handlers[method] = function(err, params, ...)
      local capture = captures[client.id]
      if capture then
        return ours(capture, params)
      end
      return (before or vim.lsp.handlers[method])(err, params, ...)
    end
  end
  through('workspace/applyEdit', function(capture, params)
    if capture.given_up then
      return { applied = false, failureReason = 'it was cancelled' }
    end
    table.insert(capture.found, M.answered(client, params.edit))
    local _, err = edits.of(capture.found)
    capture.err = capture.err or err
    return { applied = err == nil, failureReason = err }
  end)
  through('window/showDocument', function()
    return { success = false } -- the user is not taken anywhere
  end)
end

---Runs a server's command, and captures what it would change instead of changing it.
---@param client vim.lsp.Client
---@param command table
---@param before acp.Answered[] what is changed before it
---@param buf integer
---@param limit integer
---@param done fun(found: acp.Answered[]?, err: string?)
---@return fun() cancel
local function run_command(client, command, before, buf, limit, done)
  if vim.lsp.commands[command.command] or client.commands[command.command] then
    done(nil, 'this action runs a command of the editor, which agents cannot do')
    return function() end
  elseif captures[client.id] then
    done(nil, 'the language server is busy with another action: try again in a moment')
    return function() end
  end
  guard(client)
  local capture = { found = before } ---@type acp.Capture
  captures[client.id] = capture
  local function give_up()
    capture.given_up = true
    vim.defer_fn(function()
      captures[client.id] = nil
    end, late)
  end
  local stop = servers.ask(
    { client },
    'workspace/executeCommand',
    function()
      return { command = command.command, arguments = command.arguments }
    end,
    buf,
    limit,
    function(_, partial)
      if partial then
        give_up()
        return done(nil, 'the language server did not do it')
      end
      captures[client.id] = nil
      if capture.err then
        return done(nil, capture.err)
      end
      done(capture.found)
    end
  )
  return function()
    stop()
    give_up()
  end
end

---@param id string
---@return string? title
function M.title(id)
  return offered[id] and offered[id].action.title
end

---What an action would change.
---@param id string
---@param limit integer in ms
---@param done fun(found: acp.Planned[]?, err: string?)
---@return fun() cancel
function M.edits(id, limit, done)
  local stop = function() end
  local known = offered[id]
  local client = known and vim.lsp.get_client_by_id(known.client)
  local ends = vim.uv.now() + limit
  ---@return integer
  local function left()
    return math.max(1, ends - vim.uv.now())
  end
  if not known or not client then
    done(nil, ('there is no action %s: ask code_actions first'):format(id))
    return stop
  elseif not api.nvim_buf_is_valid(known.buf) or vim.b[known.buf].changedtick ~= known.tick then
    done(nil, 'the text has changed since: ask code_actions again')
    return stop
  end
  ---@param found acp.Answered[]?
  ---@param err string?
  local function finish(found, err)
    if not found then
      return done(nil, err)
    end
    done(edits.of(found))
  end
  ---@param action table
  local function apply(action)
    local found = action.edit and { M.answered(client, action.edit) } or {}
    local command = type(action.command) == 'table' and action.command
      or type(action.command) == 'string' and action
    if not command then
      return finish(found)
    end
    stop = run_command(client, command, found, known.buf, left(), finish)
  end
  local action = known.action
  if not action.edit and servers.can(client, 'codeAction/resolve', known.buf) then
    stop = servers.ask(
      { client },
      'codeAction/resolve',
      function()
        return action
      end,
      known.buf,
      left(),
      function(answers)
        local resolved = answers[1] and answers[1].result
        apply(type(resolved) == 'table' and resolved or action)
      end
    )
  else
    apply(action)
  end
  return function()
    stop()
  end
end

return M
