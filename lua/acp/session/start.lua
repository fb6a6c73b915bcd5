---Starting, resuming and deleting sessions: which agent an argument means, and what the host needs
---to know about it.
local M = {}

local host = require('acp.rpc.host')
local state = require('acp.rpc.state')
local unsaved = require('acp.prompt.unsaved')

local last_id = 0

---The agent that an argument means: the named one, the configured default, or the first installed
---one.
---@param name string?
---@return table? agent, string? err
local pick_agent
function pick_agent(name)
  local config = require('acp.config').get()
  name = name or config.agent
  if name == 'demo' and not config.agents.demo then
    local argv, err = host.find()
    if not argv then
      return nil, err
    end
    local command = vim.list_extend(vim.deepcopy(argv), { 'demo-agent', '--protocol', '2' })
    return { name = 'demo', title = 'Demo', command = command, install = 'Run :Acp build' }
  end
  if name then
    local agent = config.agents[name]
    if not agent then
      return nil, ('there is no agent %q; :Acp new <Tab> lists them'):format(name)
    end
    local pinned, err = require('acp.installed').as_locked(agent)
    if not pinned then
      return nil, err
    end
    return vim.tbl_extend('force', pinned, { name = name })
  end
  local installed = M.agents()[1]
  if installed and installed.installed then
    return pick_agent(installed.name)
  end
  return nil,
    'no agent is installed: :Acp agents installs one, :Acp new demo shows what it looks like'
end

---The agents, installed ones first.
---@return {name: string, installed: boolean}[]
function M.agents()
  local list = {}
  for name, agent in pairs(require('acp.config').get().agents) do
    if not agent.same_as then
      table.insert(list, { name = name, installed = vim.fn.executable(agent.command[1]) == 1 })
    end
  end
  table.sort(list, function(a, b)
    if a.installed ~= b.installed then
      return a.installed
    end
    return a.name < b.name
  end)
  return list
end

---The name of the agent that is used if none is named.
---@return string? name, string? err
function M.default()
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
    protocol = agent.protocol,
  }
  for _, key in ipairs({ 'env', 'quirks', 'options', 'paths' }) do
    if agent[key] and next(agent[key]) then
      fields[key] = agent[key]
    end
  end
  local prompt = agent.system_prompt
  fields.system_prompt = type(prompt) == 'string' and { text = prompt } or prompt
  local servers = require('acp.mcp.servers')
  fields.mcp_servers = servers.of(require('acp.config').get().mcp_servers, agent.mcp_servers)
  return fields
end

---@type table<integer, {agent: table, host: integer, directories?: string[]}> how each session
---was started, and by which host
local launches = {}

state.closed:add(function(id)
  launches[id] = nil
end)

---@param cwd string?
---@return string
local function folder(cwd)
  cwd = vim.fs.normalize(vim.fn.fnamemodify(cwd or vim.fn.getcwd(), ':p'))
  return #cwd > 1 and (cwd:gsub('/$', '')) or cwd
end

---@param dirs? string[]
---@return string[]? absolute; nil for none
---@return string? err
local function folders(dirs)
  local all = {}
  for _, dir in ipairs(dirs or {}) do
    local absolute = folder(dir)
    if vim.fn.isdirectory(absolute) == 0 then
      return nil, ('%s is not a folder'):format(dir)
    end
    table.insert(all, absolute)
  end
  return #all > 0 and all or nil
end

---@class acp.OpenOpts
---@field agent? string
---@field cwd? string
---@field directories? string[] where the agent works too
---@field agent_session_id? string
---@field title? string
---@field protocol? 1|2
---@field fork? integer the session that it is made from
---@field before? integer which of its prompts it is not to have any more, from 1

---Opens a session, a new one or one that the agent keeps.
---@param opts acp.OpenOpts
---@return integer? id, string? err
local function open(opts)
  local directories, no_folder = folders(opts.directories)
  if no_folder then
    return nil, no_folder
  end
  local agent, err = pick_agent(opts.agent)
  if not agent then
    return nil, err
  end
  if opts.protocol then
    agent = vim.tbl_extend('force', agent, { protocol = opts.protocol })
  end
  local ok, failure = host.ensure()
  if not ok then
    return nil, failure
  end
  local cwd = opts.fork and opts.cwd or folder(opts.cwd)
  if last_id == 0 then
    require('acp.attention.desktop').watch()
    require('acp.ui.typing').watch()
  end
  last_id = last_id + 1
  local id = last_id
  local source = launches[opts.fork]
  launches[id] = {
    agent = source and source.agent or spec(agent),
    host = host.starts,
    directories = source and source.directories or directories,
  }
  state.set({
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
  state.last = id
  require('acp.chat.buffers').ensure(id)
  host.notify('new', {
    session = id,
    agent = launches[id].agent,
    cwd = cwd,
    directories = directories,
    anywhere = opts.agent_session_id ~= nil and opts.cwd == nil,
    agent_session_id = opts.agent_session_id,
    title = opts.title,
    fork = opts.fork,
    before = opts.before,
  })
  unsaved.watch()
  local layout = require('acp.chat.layout')
  if layout.windows(0) then
    layout.open(id, false)
  end
  return id
end

---Restarts a session's agent.
---@param opts? {session?: integer}
---@return boolean? ok, string? err
function M.restart(opts)
  local id, err = state.resolve(opts and opts.session)
  if not id then
    return nil, err
  end
  if host.running() and launches[id].host == host.starts then
    host.notify('restart', { session = id })
    return true
  end
  local ok, failure = host.ensure()
  if not ok then
    return nil, failure
  end
  for other, launch in pairs(launches) do
    local session = state.sessions[other]
    if session and launch.host ~= host.starts then
      launch.host = host.starts
      host.notify('new', {
        session = other,
        agent = launch.agent,
        cwd = session.cwd,
        directories = launch.directories,
        agent_session_id = session.agent_session_id,
        title = session.title,
        retold = true,
        queue = vim.list_extend(vim.deepcopy(session.ahead or {}), session.queue or {}),
        along = unsaved.room(),
      })
      require('acp.chat.visible').report(other)
    end
  end
  unsaved.watch()
  return true
end

---Starts a session. It opens no window.
---@param opts? {agent?: string, cwd?: string, directories?: string[], protocol?: 1|2}
---@return integer? id, string? err
function M.new(opts)
  opts = opts or {}
  if opts.protocol and opts.protocol ~= 1 and opts.protocol ~= 2 then
    return nil, 'the protocol must be 1 or 2'
  end
  return open({
    agent = opts.agent,
    cwd = opts.cwd,
    directories = opts.directories,
    protocol = opts.protocol,
  })
end

---Forks a session from another one, whose agent is running.
---@param session acp.Session
---@param before? integer which of its prompts it is not to have any more, from 1
---@return integer? id, string? err
function M.fork(session, before)
  return open({ agent = session.agent, cwd = session.cwd, fork = session.id, before = before })
end

---Resumes a session that the agent keeps; if it is already open, returns that one, after restarting
---its agent if it has ended. Without `cwd`, in the session's folder, if that is known.
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
  for _, session in ipairs(state.list()) do
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
    return nil, 'a callback is needed for the answer'
  end
  local agent, err = pick_agent(name)
  if not agent then
    return nil, err
  end
  local ok, failure = host.ensure()
  if not ok then
    return nil, failure
  end
  args.agent = spec(agent)
  args.cwd = folder(args.cwd)
  host.request(method, args, function(result, why)
    callback(why == nil and result or nil, why)
  end)
  return true
end

---The sessions that an agent keeps: either the archived ones or the others.
---@param agent string?
---@param callback fun(list: acp.Stored[]?, err: string?)
---@param archived? boolean
---@return boolean? ok, string? err
function M.stored(agent, callback, archived)
  return ask_agent('list_stored', agent, { archived = archived }, callback)
end

---The session that is meant, if it is open: the one with a stored id, or else the one named.
---@param opts {session?: integer, agent?: string, agent_session_id?: string}
---@return integer?
local function meant(opts)
  local agent = pick_agent(opts.agent)
  for _, session in ipairs(state.list()) do
    local stored = session.agent_session_id
    if agent and stored and stored == opts.agent_session_id and session.agent == agent.name then
      return session.id
    end
  end
  return opts.session
end

---Asks the host for something about an open session.
---@param method string
---@param id? integer
---@param callback fun(ok: boolean?, err: string?)
---@return boolean? ok, string? err
local function ask_of_open(method, id, callback)
  local session, err = state.resolve(id)
  if not session then
    return nil, err
  end
  host.request(method, { session = session }, function(_, failure)
    callback(failure == nil or nil, failure)
  end)
  return true
end

---Archives a session, an open one, which is closed, or a stored one; or brings a stored one back.
---@param opts {session?: integer, agent?: string, agent_session_id?: string, archived?: boolean}
---@param callback fun(ok: boolean?, err: string?)
---@return boolean? ok, string? err
function M.archive(opts, callback)
  local archived = opts.archived ~= false
  local id = meant(opts)
  if opts.agent_session_id and not (id and archived) then
    local args = { agent_session_id = opts.agent_session_id, archived = archived }
    return ask_agent('archive_stored', opts.agent, args, callback)
  end
  return ask_of_open('archive', id, callback)
end

---Makes an agent delete a session: an open one, which is closed, or a stored one.
---@param opts {session?: integer, agent?: string, agent_session_id?: string}
---@param callback fun(ok: boolean?, err: string?)
---@return boolean? ok, string? err
function M.delete(opts, callback)
  opts = opts or {}
  local id = meant(opts)
  if not id and opts.agent_session_id then
    local args = { agent_session_id = opts.agent_session_id }
    return ask_agent('delete_stored', opts.agent, args, callback)
  end
  return ask_of_open('delete', id, callback)
end

return M
