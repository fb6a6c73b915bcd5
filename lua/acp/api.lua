---The Lua API. Nothing here throws or waits: getters read what the host has told, everything else
---is a message to the host. Failures are returned as nil and a sentence.
---@class acp.Api
local M = {}

local last_id = 0

---@param what string
---@return fun(): nil, string
local function not_yet(what)
  return function()
    return nil, what .. ' is not there yet'
  end
end

---The agent an argument means: named, the configured default, or the first installed one.
---@param name string?
---@return table? agent, string? err
local function pick_agent(name)
  local config = require('acp.config').get()
  local host = require('acp.rpc.host')
  name = name or config.agent
  if name == 'demo' and not config.agents.demo then
    local argv, err = host.find()
    if not argv then
      return nil, err
    end
    local command = vim.list_extend(vim.deepcopy(argv), { 'demo-agent' })
    return { name = 'demo', title = 'Demo', command = command, install = 'Run :Acp build' }
  end
  if name then
    local agent = config.agents[name]
    if not agent then
      return nil, ('there is no agent %q; :Acp new <Tab> offers them'):format(name)
    end
    return vim.tbl_extend('force', agent, { name = name })
  end
  local installed = M._agents()[1]
  if installed and installed.installed then
    return vim.tbl_extend('force', config.agents[installed.name], { name = installed.name })
  end
  return nil, 'no agent is installed: :checkhealth acp, or :Acp new demo'
end

---The agents, installed ones first.
---@return {name: string, installed: boolean}[]
function M._agents()
  local list = {}
  for name, agent in pairs(require('acp.config').get().agents) do
    table.insert(list, { name = name, installed = vim.fn.executable(agent.command[1]) == 1 })
  end
  table.sort(list, function(a, b)
    if a.installed ~= b.installed then
      return a.installed
    end
    return a.name < b.name
  end)
  return list
end

---The name of the agent that is used where none is named.
---@return string? name, string? err
function M._default()
  local agent, err = pick_agent()
  return agent and agent.name, err
end

---@param agent table
---@return table spec what the host needs of it
local function spec(agent)
  local fields = {
    name = agent.name,
    title = agent.title,
    command = agent.command,
    cwd = agent.cwd and vim.fs.normalize(vim.fn.fnamemodify(agent.cwd, ':p')) or nil,
    install = agent.install,
    login = agent.login,
  }
  for _, key in ipairs({ 'env', 'quirks', 'options' }) do
    if agent[key] and next(agent[key]) then
      fields[key] = agent[key]
    end
  end
  return fields
end

---@type table<integer, {agent: table, host: integer}> how each session was started,
---and by which host
local launches = {}

---Forgets how a session was started that is closed.
---@param id integer
function M._forget(id)
  launches[id] = nil
end

---@param cwd string?
---@return string
local function folder(cwd)
  cwd = vim.fs.normalize(vim.fn.fnamemodify(cwd or vim.fn.getcwd(), ':p'))
  return #cwd > 1 and (cwd:gsub('/$', '')) or cwd
end

---Opens a session, a new one or one that the agent keeps.
---@param opts {agent?: string, cwd?: string, agent_session_id?: string, title?: string}
---@return integer? id, string? err
local function open(opts)
  local agent, err = pick_agent(opts.agent)
  if not agent then
    return nil, err
  end
  local host = require('acp.rpc.host')
  local ok, failure = host.ensure()
  if not ok then
    return nil, failure
  end
  local cwd = folder(opts.cwd)
  if last_id == 0 then
    require('acp.attention.desktop').watch()
    require('acp.ui.typing').watch()
  end
  last_id = last_id + 1
  local id = last_id
  launches[id] = { agent = spec(agent), host = host.starts }
  local mirror = require('acp.rpc.state')
  mirror.set({
    id = id,
    agent = agent.name,
    agent_title = agent.title,
    cwd = cwd,
    title = opts.title,
    agent_session_id = opts.agent_session_id,
    state = 'starting',
    tool_calls = 0,
    queued = 0,
    paused = false,
  })
  mirror.last = id
  require('acp.chat.buffers').ensure(id)
  host.notify('new', {
    session = id,
    agent = launches[id].agent,
    cwd = cwd,
    anywhere = opts.agent_session_id ~= nil and opts.cwd == nil,
    agent_session_id = opts.agent_session_id,
    title = opts.title,
  })
  require('acp.prompt.unsaved').watch()
  local layout = require('acp.chat.layout')
  if layout.windows(0) then
    layout.open(id, false)
  end
  return id
end

---Starts a session. It opens no window.
---@param opts? {agent?: string, cwd?: string}
---@return integer? id, string? err
function M.new(opts)
  opts = opts or {}
  return open({ agent = opts.agent, cwd = opts.cwd })
end

---Takes up a session that the agent keeps; the same one again when it is open already, whose agent
---is started again where it has ended. Without `cwd` in its folder, if that is known.
---@param opts {agent?: string, agent_session_id: string, cwd?: string, title?: string}
---@return integer? id, string? err
function M.resume(opts)
  if type(opts) ~= 'table' or type(opts.agent_session_id) ~= 'string' then
    return nil, 'acp.resume needs an agent_session_id'
  end
  local agent, err = pick_agent(opts.agent)
  if not agent then
    return nil, err
  end
  for _, session in ipairs(require('acp.rpc.state').list()) do
    if session.agent == agent.name and session.agent_session_id == opts.agent_session_id then
      local ok, failure = true, nil
      if session.state == 'dead' then
        ok, failure = M.restart({ session = session.id })
      end
      return ok and session.id or nil, failure
    end
  end
  return open(opts)
end

---Asks the host something about an agent, which may start it.
---@param method string
---@param name string?
---@param args table
---@param callback fun(result: any, err: string?)
---@return boolean? ok, string? err
local function ask_agent(method, name, args, callback)
  if type(callback) ~= 'function' then
    return nil, 'the answer needs a callback'
  end
  local agent, err = pick_agent(name)
  if not agent then
    return nil, err
  end
  local ok, failure = require('acp.rpc.host').ensure()
  if not ok then
    return nil, failure
  end
  args.agent = spec(agent)
  args.cwd = folder(args.cwd)
  require('acp.rpc.host').request(method, args, function(result, why)
    callback(why == nil and result or nil, why)
  end)
  return true
end

---The sessions that an agent keeps.
---@param agent string?
---@param callback fun(list: acp.Stored[]?, err: string?)
---@return boolean? ok, string? err
function M.stored(agent, callback)
  return ask_agent('list_stored', agent, {}, callback)
end

---Has an agent forget a session: an open one, which is closed, or a stored one.
---@param opts {session?: integer, agent?: string, agent_session_id?: string}
---@param callback fun(ok: boolean?, err: string?)
---@return boolean? ok, string? err
function M.delete(opts, callback)
  opts = opts or {}
  local mirror = require('acp.rpc.state')
  local id = opts.session
  local agent = pick_agent(opts.agent)
  for _, session in ipairs(mirror.list()) do
    local stored = session.agent_session_id
    if agent and stored and stored == opts.agent_session_id and session.agent == agent.name then
      id = session.id
    end
  end
  if not id and opts.agent_session_id then
    local args = { agent_session_id = opts.agent_session_id }
    return ask_agent('delete_stored', opts.agent, args, callback)
  end
  local err
  id, err = mirror.resolve(id)
  if not id then
    return nil, err
  end
  require('acp.rpc.host').request('delete', { session = id }, function(_, failure)
    callback(failure == nil or nil, failure)
  end)
  return true
end

---Logs in by one of the agent's ways; see `auth_methods` of the session.
---@param session integer?
---@param method_id string
---@return boolean? ok, string? err
function M.authenticate(session, method_id)
  local id, err = require('acp.rpc.state').resolve(session)
  if not id then
    return nil, err
  end
  for _, method in ipairs(require('acp.rpc.state').sessions[id].auth_methods or {}) do
    if method.id == method_id then
      require('acp.rpc.host').notify('authenticate', { session = id, method_id = method_id })
      return true
    end
  end
  return nil, ('the agent has no login %q'):format(tostring(method_id))
end

---@class (exact) acp.PromptOpts
---@field session? integer
---@field unsaved? 'send'|'ask'|'save'|'ignore' default: as configured

---@param method 'prompt'|'steer'
---@return fun(prompt: string|table[], opts?: acp.PromptOpts): boolean?, string?
local function words(method)
  return function(prompt, opts)
    local mirror = require('acp.rpc.state')
    local id, err = mirror.resolve(opts and opts.session)
    if not id then
      return nil, err
    end
    local session = mirror.sessions[id]
    if session.state == 'dead' then
      return nil, session.error or 'the session has ended. :Acp restart starts it again'
    end
    local blocks = prompt
    if type(prompt) == 'string' then
      blocks = vim.trim(prompt) ~= '' and { { type = 'text', text = prompt } } or {}
    elseif type(prompt) ~= 'table' or not vim.islist(prompt) then
      return nil, 'a prompt is a text or a list of content blocks'
    end
    err = require('acp.prompt.content_blocks').check(blocks, session)
    if err then
      return nil, err
    end
    local how = opts and opts.unsaved
    if how == nil then
      how = require('acp.config').get().unsaved
    elseif not vim.tbl_contains({ 'send', 'ask', 'save', 'ignore' }, how) then
      return nil, "unsaved is 'send', 'ask', 'save' or 'ignore'"
    end
    mirror.last = id
    if #blocks == 0 then
      how = 'ignore'
    end
    require('acp.prompt.unsaved').before(id, how, function(along, asked)
      if along == 'send' then
        local room = not asked and require('acp.prompt.unsaved').room() or nil
        blocks = vim.list_extend({ { type = 'unsaved', room = room } }, blocks)
      end
      require('acp.rpc.host').notify(method, { session = id, blocks = blocks })
    end)
    return true
  end
end

---Sends a prompt, or queues it while the agent is busy. An empty one lets a paused queue go on.
M.prompt = words('prompt')

---Puts words into the running turn, where the agent can be steered; else sends them as a prompt.
M.steer = words('steer')

---Puts a buffer, or lines of it, into the next prompt. Opens no window.
---@param opts? {buf?: integer, first?: integer, last?: integer, session?: integer}
---@return boolean? ok, string? err
function M.add(opts)
  opts = opts or {}
  local id, err = require('acp.rpc.state').resolve(opts.session)
  if not id then
    return nil, err
  end
  return require('acp.prompt.add').add(id, opts.buf or 0, opts.first, opts.last)
end

---@param method string
---@return fun(opts?: {session?: integer}): boolean?, string?
local function message(method)
  return function(opts)
    local id, err = require('acp.rpc.state').resolve(opts and opts.session)
    if not id then
      return nil, err
    end
    require('acp.rpc.host').notify(method, { session = id })
    return true
  end
end

---Ends the running turn; queued prompts stay and wait.
M.cancel = message('cancel')

---Ends a session for good. Its buffers stay.
M.close = message('close')

---Logs out, where the agent can.
M.logout = message('logout')

---Starts a session's agent again.
---@param opts? {session?: integer}
---@return boolean? ok, string? err
function M.restart(opts)
  local id, err = require('acp.rpc.state').resolve(opts and opts.session)
  if not id then
    return nil, err
  end
  local host = require('acp.rpc.host')
  if host.running() and launches[id].host == host.starts then
    host.notify('restart', { session = id })
    return true
  end
  local ok, failure = host.ensure()
  if not ok then
    return nil, failure
  end
  for other, launch in pairs(launches) do
    local session = require('acp.rpc.state').sessions[other]
    if session and launch.host ~= host.starts then
      launch.host = host.starts
      host.notify('new', {
        session = other,
        agent = launch.agent,
        cwd = session.cwd,
        agent_session_id = session.agent_session_id,
        title = session.title,
        retold = true,
        queue = session.queue,
        along = require('acp.prompt.unsaved').room(),
      })
      require('acp.chat.transcript').tell_visible(other)
    end
  end
  require('acp.prompt.unsaved').watch()
  return true
end

---@return acp.Session[]
function M.sessions()
  local list = vim.deepcopy(require('acp.rpc.state').list())
  for _, session in ipairs(list) do
    local bufs = require('acp.chat.buffers').get(session.id)
    if bufs then
      session.chat_buf, session.prompt_buf = bufs.chat, bufs.prompt
    end
  end
  return list
end

---@param session? integer
---@return table[]? calls, string? err
function M.tool_calls(session)
  local mirror = require('acp.rpc.state')
  local id, err = mirror.resolve(session)
  if not id then
    return nil, err
  end
  return vim.deepcopy(mirror.calls[id] or {})
end

---@param session integer?
---@param id string
---@param callback fun(call: table?, err: string?)
---@return boolean? ok, string? err
function M.tool_call(session, id, callback)
  local sid, err = require('acp.rpc.state').resolve(session)
  if not sid then
    return nil, err
  end
  require('acp.rpc.host').request(
    'get_tool_call',
    { session = sid, id = id },
    function(call, failure)
      callback(call, failure or (call == nil and ('there is no tool call %s'):format(id) or nil))
    end
  )
  return true
end

---@return table[]
function M.permissions()
  local list = {}
  for _, p in ipairs(require('acp.rpc.state').permissions()) do
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
  for _, p in ipairs(require('acp.rpc.state').permissions()) do
    if p.id == id then
      for _, option in ipairs(p.options) do
        if option_id == nil or option.id == option_id then
          require('acp.rpc.host').notify(
            'respond',
            { session = p.session, id = id, option = option_id }
          )
          return true
        end
      end
      if option_id == nil then
        require('acp.rpc.host').notify('respond', { session = p.session, id = id })
        return true
      end
      return nil, ('the request has no option %q'):format(option_id)
    end
  end
  return nil, 'there is no such request; it may be answered already'
end

---The files that the agent has changed in a session, in the order first changed.
---@param opts? {session?: integer}
---@return acp.ChangedFile[]? files, string? err
function M.changes(opts)
  local id, err = require('acp.rpc.state').resolve(opts and opts.session)
  if not id then
    return nil, err
  end
  return require('acp.review.changes').get(id)
end

---The file of a session's record that a path means.
---@param session integer
---@param path string
---@return acp.ChangedFile?
local function changed_file(session, path)
  local full = vim.fn.fnamemodify(path, ':p')
  local real = vim.uv.fs_realpath(full) or vim.fs.normalize(full)
  for _, file in ipairs(require('acp.review.changes').get(session)) do
    if file.path == path or file.path == full or file.path == real then
      return file
    end
  end
end

---@param what 'keep'|'reject'
---@param opts? {session?: integer, path?: string, hunk?: integer}
---@return boolean? ok, string? err
local function decide(what, opts)
  opts = opts or {}
  local id, err = require('acp.rpc.state').resolve(opts.session)
  if not id then
    return nil, err
  end
  local args = { session = id, ['do'] = what }
  if opts.path then
    local file = changed_file(id, opts.path)
    if not file then
      return nil, ('the agent has not changed %s'):format(opts.path)
    end
    args.path = file.path
    if opts.hunk then
      local hunk = file.hunks[opts.hunk]
      if not hunk then
        return nil, ('%s has no change %s'):format(opts.path, tostring(opts.hunk))
      end
      hunk.state = nil
      args = vim.tbl_extend('error', args, hunk, { hunk = opts.hunk })
    end
  elseif opts.hunk then
    return nil, 'a change is named by its path and its number'
  end
  require('acp.rpc.host').request('decide', args, function() end)
  return true
end

---Keeps changes of the agent's: a hunk by its number in changes(), a file, or all. A hunk that was
---rejected comes back.
---@param opts? {session?: integer, path?: string, hunk?: integer}
---@return boolean? ok, string? err
function M.keep(opts)
  return decide('keep', opts)
end

---Takes changes of the agent's out of buffer and disk: a hunk by its number in changes(), a file,
---or all that is not decided.
---@param opts? {session?: integer, path?: string, hunk?: integer}
---@return boolean? ok, string? err
function M.reject(opts)
  return decide('reject', opts)
end

---Undoes what the last turn has changed, and the one before it when called again; with `again` the
---last one that was undone has its changes again. What the user has changed since stays.
---@param opts? {session?: integer, again?: boolean}
---@return boolean? ok, string? err
function M.undo_turn(opts)
  opts = opts or {}
  local id, err = require('acp.rpc.state').resolve(opts.session)
  if not id then
    return nil, err
  end
  require('acp.review.undo').run(id, opts.again == true)
  return true
end

---What a session can be set to: modes, models and whatever else its agent offers.
---@param session? integer
---@return acp.SessionOption[]? options, string? err
function M.options(session)
  local mirror = require('acp.rpc.state')
  local id, err = mirror.resolve(session)
  if not id then
    return nil, err
  end
  return vim.deepcopy(mirror.sessions[id].options or {})
end

---Gives an option another value: a choice's, or true and false.
---@param session integer?
---@param option string an id, or a category such as 'mode' or 'model'
---@param value string|boolean
---@return boolean? ok, string? err
function M.set_option(session, option, value)
  local id, err = require('acp.rpc.state').resolve(session)
  if not id then
    return nil, err
  end
  require('acp.rpc.host').notify(
    'set_option',
    { session = id, id = option, value = tostring(value) }
  )
  return true
end

---Has a window follow what the agents read and edit, goes on after a pause, or ends it.
---@param on? boolean default: true
---@return boolean? ok, string? err
function M.follow(on)
  return require('acp.follow.window').set(on)
end

---The commands of a session, the agent's own among them, in the order they began.
---@param opts? {session?: integer}
---@return acp.Terminal[]? list, string? err
function M.terminals(opts)
  local id, err = require('acp.rpc.state').resolve(opts and opts.session)
  if not id then
    return nil, err
  end
  return require('acp.terminal.view').list(id)
end

---What was said with a session's agent.
---@param opts? {session?: integer, file?: string} file: record from now on, and what is in memory
---@param callback fun(entries: {dir: string, t: integer, msg: string}[]?, err: string?)
---@return boolean? ok, string? err
function M.traffic(opts, callback)
  opts = opts or {}
  local mirror = require('acp.rpc.state')
  local id, err = mirror.resolve(opts.session)
  if not id then
    return nil, err
  end
  local file = opts.file and vim.fn.fnamemodify(opts.file, ':p') or nil
  require('acp.rpc.host').request(
    'traffic',
    { agent = mirror.sessions[id].agent, file = file },
    callback
  )
  return true
end

---A word for the status line: which sessions wait for the user, and how many work.
---@return string
function M.statusline()
  local mirror = require('acp.rpc.state')
  local waiting, working = mirror.waiting(), 0
  for id, session in pairs(mirror.sessions) do
    if session.state == 'running' and not vim.list_contains(waiting, id) then
      working = working + 1
    end
  end
  local parts = {}
  if #waiting > 0 then
    local names = vim.tbl_map(mirror.name, waiting)
    local who = vim.tbl_count(mirror.sessions) > 1 and (' (%s)'):format(table.concat(names, ', '))
    table.insert(parts, #waiting .. ' waiting' .. (who or ''))
  end
  if working > 0 then
    table.insert(parts, working .. ' working')
  end
  return #parts > 0 and ('acp: ' .. table.concat(parts, ', ')) or ''
end

---Ends the host, its agents and all windows, so that the plugin can be loaded anew.
function M.deactivate()
  require('acp.deactivate')()
end

for _, name in ipairs({
  'elicitations',
  'answer',
  'on_request',
}) do
  M[name] = not_yet('acp.' .. name)
end

return M
