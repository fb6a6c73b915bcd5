---The Lua API. Nothing here throws or waits: getters read what the host has sent, everything else
---is a message to the host. Failures are returned as nil and a sentence.
---@class acp.Api
local M = {}

local state = require('acp.rpc.state')

---Starts the host, for which the features are needed.
local function start()
  require('acp.features')
  return require('acp.session.start')
end

---Starts a session. It opens no window.
---@param opts? {agent?: string, cwd?: string, directories?: string[], protocol?: 1|2}
---@return integer? id, string? err
function M.new(opts)
  return start().new(opts)
end

---Resumes a session that the agent keeps; if it is already open, returns that one, after restarting
---its agent if it has ended. Without `cwd`, in the session's folder, if that is known.
---@param opts {agent?: string, agent_session_id: string, cwd?: string, title?: string}
---@return integer? id, string? err
function M.resume(opts)
  return start().resume(opts)
end

---The sessions that an agent keeps.
---@param agent string?
---@param callback fun(list: acp.Stored[]?, err: string?)
---@return boolean? ok, string? err
function M.stored(agent, callback)
  return start().stored(agent, callback)
end

---Makes an agent delete a session: an open one, which is closed, or a stored one.
---@param opts {session?: integer, agent?: string, agent_session_id?: string}
---@param callback fun(ok: boolean?, err: string?)
---@return boolean? ok, string? err
function M.delete(opts, callback)
  return start().delete(opts, callback)
end

---Makes a session that continues from where another one is, and leaves that as it is, if the agent
---can. It opens no window.
---@param opts? {session?: integer}
---@return integer? id, string? err
function M.fork(opts)
  require('acp.features')
  return require('acp.session.fork').fork({ session = opts and opts.session })
end

---Sets your title of a session, in all lists and, if it keeps titles, in its agent.
---@param opts {session?: integer, title: string}
---@param callback? fun(title: string?, err: string?)
---@return boolean? ok, string? err
function M.rename(opts, callback)
  return require('acp.session.stored').rename(opts, callback)
end

---The lines of all transcripts that contain a text, those of the latest session first.
---@param text string
---@param callback fun(list: acp.Found[]?, err: string?)
---@return boolean? ok, string? err
function M.search(text, callback)
  require('acp.features')
  return require('acp.history.search').search(text, callback)
end

---Exports a session in Markdown: writes it to a file, or passes the text to the callback.
---@param opts? acp.ExportOpts
---@param callback? fun(result: {path?: string, text?: string}?, err: string?)
---@return boolean? ok, string? err
function M.export(opts, callback)
  return require('acp.history.export').export(opts, callback)
end

---Logs in by one of the agent's ways; see `auth_methods` of the session.
---@param session integer?
---@param method_id string
---@return boolean? ok, string? err
function M.authenticate(session, method_id)
  return require('acp.session.login').authenticate(session, method_id)
end

---Sends a prompt, or queues it while the agent is busy. An empty one resumes a paused queue.
---@param prompt string|table[] a text, or content blocks
---@param opts? acp.PromptOpts
---@return boolean? ok, string? err
function M.prompt(prompt, opts)
  return require('acp.prompt.send').prompt(prompt, opts)
end

---Puts words into the running turn, if the agent can be steered; otherwise sends them as a prompt.
---@param prompt string|table[] a text, or content blocks
---@param opts? acp.PromptOpts
---@return boolean? ok, string? err
function M.steer(prompt, opts)
  return require('acp.prompt.send').steer(prompt, opts)
end

---Puts a buffer, or lines of it, into the next prompt; or the diagnostics there, or the quickfix
---list. Opens no window.
---@param opts? acp.AddOpts
---@return boolean? ok, string? err
function M.add(opts)
  opts = opts or {}
  local id, err = state.resolve(opts.session)
  if not id then
    return nil, err
  end
  return require('acp.prompt.add').add(id, opts)
end

---@param method string
---@return fun(opts?: {session?: integer}): boolean?, string?
local function message(method)
  return function(opts)
    local id, err = state.resolve(opts and opts.session)
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

---Logs out, if the agent can.
M.logout = message('logout')

---Restarts a session's agent.
---@param opts? {session?: integer}
---@return boolean? ok, string? err
function M.restart(opts)
  return start().restart(opts)
end

---@return acp.Session[]
function M.sessions()
  local list = vim.deepcopy(state.list())
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
  local id, err = state.resolve(session)
  if not id then
    return nil, err
  end
  return vim.deepcopy(state.calls[id] or {})
end

---@param session integer?
---@param id string
---@param callback fun(call: table?, err: string?)
---@return boolean? ok, string? err
function M.tool_call(session, id, callback)
  local sid, err = state.resolve(session)
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

---The open permission requests of all sessions, oldest first.
---@return acp.Permission[]
function M.permissions()
  return require('acp.permission.requests').list()
end

---Answers a permission request; without an option it is cancelled, and the turn with it.
---@param id integer
---@param option_id string?
---@return boolean? ok, string? err
function M.respond(id, option_id)
  return require('acp.permission.requests').respond(id, option_id)
end

---The open questions of all agents, oldest first.
---@return acp.Elicitation[]
function M.elicitations()
  return require('acp.elicitation.questions').list()
end

---Answers a question. A mistake in the content of a form is reported, and leaves the question open.
---@param id integer
---@param answer {action: 'accept'|'decline'|'cancel', content?: table<string, any>}
---@return boolean? ok, string? err
function M.answer(id, answer)
  return require('acp.elicitation.questions').answer(id, answer)
end

---The files that the agent has changed in a session, in the order first changed.
---@param opts? {session?: integer}
---@return acp.ChangedFile[]? files, string? err
function M.changes(opts)
  local id, err = state.resolve(opts and opts.session)
  if not id then
    return nil, err
  end
  return require('acp.review.changes').get(id)
end

---Keeps the agent's changes: a hunk by its number in changes(), a file, or all. A hunk that was
---rejected comes back.
---@param opts? {session?: integer, path?: string, hunk?: integer}
---@return boolean? ok, string? err
function M.keep(opts)
  return require('acp.review.changes').decide('keep', opts)
end

---Removes the agent's changes from buffer and disk: a hunk by its number in changes(), a file, or
---everything pending.
---@param opts? {session?: integer, path?: string, hunk?: integer}
---@return boolean? ok, string? err
function M.reject(opts)
  return require('acp.review.changes').decide('reject', opts)
end

---Undoes what the last turn changed, and the one before it when called again; with `again`, redoes
---the last undone turn. What the user has changed since stays.
---@param opts? {session?: integer, again?: boolean}
---@return boolean? ok, string? err
function M.undo_turn(opts)
  opts = opts or {}
  local id, err = state.resolve(opts.session)
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
  return require('acp.session.options').get(session)
end

---Sets an option: to the value of a choice, or true or false.
---@param session integer?
---@param option string an id, or a category such as 'mode' or 'model'
---@param value string|boolean
---@return boolean? ok, string? err
function M.set_option(session, option, value)
  return require('acp.session.options').set(session, option, value)
end

---Makes a window follow what the agents read and edit, resumes after a pause, or stops.
---@param on? boolean default: true
---@return boolean? ok, string? err
function M.follow(on)
  return require('acp.follow.window').set(on)
end

---The commands of a session, the agent's own among them, in the order they began.
---@param opts? {session?: integer}
---@return acp.Terminal[]? list, string? err
function M.terminals(opts)
  local id, err = state.resolve(opts and opts.session)
  if not id then
    return nil, err
  end
  return require('acp.terminal.view').list(id)
end

---The messages to and from a session's agent.
---@param opts? {session?: integer, file?: string} file: record from now on, and what is in memory
---@param callback fun(entries: {dir: string, t: integer, msg: string}[]?, err: string?)
---@return boolean? ok, string? err
function M.traffic(opts, callback)
  opts = opts or {}
  local id, err = state.resolve(opts.session)
  if not id then
    return nil, err
  end
  local file = opts.file and vim.fn.fnamemodify(opts.file, ':p') or nil
  require('acp.rpc.host').request(
    'traffic',
    { agent = state.sessions[id].agent, file = file },
    callback
  )
  return true
end

---The agents that are installed or can be; the network is not used.
---@param callback fun(list: acp.RegistryAgent[]?, err: string?)
---@return boolean? ok, string? err
function M.agents(callback)
  require('acp.features')
  return require('acp.registry.agents').list({}, callback)
end

---Installs an agent of the registry, or another version of it. Start it by its id.
---@param id string
---@param opts? acp.InstallOpts
---@param callback? fun(err: string?, agent: acp.RegistryAgent?)
---@return boolean? ok, string? err
function M.install(id, opts, callback)
  require('acp.features')
  return require('acp.registry.agents').install(id, opts, callback)
end

---Removes an agent that was installed from the registry.
---@param id string
---@param callback? fun(err: string?, agent: acp.RegistryAgent?)
---@return boolean? ok, string? err
function M.uninstall(id, callback)
  require('acp.features')
  return require('acp.registry.agents').uninstall(id, callback)
end

---A text for the status line: which sessions wait for the user, and how many are working.
---@return string
function M.statusline()
  return require('acp.attention.statusline').word()
end

---Ends the host, its agents and all windows, so that the plugin can be reloaded.
function M.deactivate()
  require('acp.deactivate')()
end

---Gives your tool to agents that start from now on.
---@param tool acp.Tool
---@return boolean? ok, string? err
function M.tool(tool)
  return require('acp.editortools').add(tool)
end

---Serves agents' requests for a method of their own with a function.
---@param method string
---@param handler? acp.RequestHandler without one they are answered as unknown again
---@return boolean? ok, string? err
function M.on_request(method, handler)
  return require('acp.extension.requests').on(method, handler)
end

return M
