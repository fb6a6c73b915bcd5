---What the host has sent about the sessions: small copies that the API's getters read. The host
---updates it before it fires an event.
local M = {}

local signal = require('acp.rpc.signal')

---A session has changed. Gets its id and its previous state, which is nil for a new one.
M.changed = signal()

---What a session waits for has changed. Gets its id.
M.permissions_changed = signal()

---What a session's agent asks has changed. Gets its id.
M.elicitations_changed = signal()

---A session is closed and about to be forgotten. Gets its id.
M.closing = signal()

---A session is forgotten. Gets its id.
M.closed = signal()

---The host has ended, and all sessions are dead. Gets the ids of those that were not, and why.
M.died = signal()

---A permission request as the host sends it.
---@class acp.OpenPermission: acp.Permission
---@field options {id: string, name: string, kind: string, label: string}[]
---@field allow? string the id of the option that allows, where one plainly does
---@field reject? string and of the one that refuses
---@field allow_always? string the one that allows from now on
---@field reject_always? string and that refuses
---@field heading string
---@field lines string[]
---@field marks integer[]
---@field files? integer how many it would change, where it has a diff
---@field waited? number of a write that waits: for how long, in seconds, when it was told
---@field since? number the same as a time, in ms of vim.uv.now()
---@field selection? {looked: integer, refused: integer[]}[] the hunks refused, by file
---@field brief? string[] the lines while the diff is open beside
---@field brief_marks? integer[]

---A question as the host sends it.
---@class acp.OpenElicitation: acp.Elicitation
---@field heading string
---@field lines string[]
---@field marks integer[]
---@field options {id: string, name: string, kind: string, label: string}[]
---@field allow? string the id of the option that goes on, where there is one
---@field reject string and of the one that declines
---@field fill_in string and of the one that opens the form
---@field form? {lines: string[], fields: integer[], notes: {row: integer, text: string}[]}

---@type table<integer, acp.Session>
M.sessions = {}
---@type table<integer, acp.ToolCall[]>
M.calls = {}
---@type table<integer, acp.OpenPermission[]>
local permissions = {}
---@type table<integer, acp.OpenElicitation[]>
local elicitations = {}
---@type table<integer, integer> when a turn began, by session, in ms of vim.uv.now()
M.since = {}
---@type integer? the session used last
M.last = nil
---@type string? why the disk cannot be watched
M.watch_limit = nil

local busy = { running = true, requires_action = true }

---@param session acp.Session
function M.set(session)
  local id = session.id
  if busy[session.state] then
    M.since[id] = M.since[id] or vim.uv.now()
  else
    M.since[id] = nil
  end
  local before = M.sessions[id]
  M.sessions[id] = session
  M.changed:emit(id, before)
end

---@param id integer
function M.forget(id)
  M.closing:emit(id)
  M.sessions[id], M.calls[id], permissions[id], M.since[id] = nil, nil, nil, nil
  elicitations[id] = nil
  if M.last == id then
    M.last = nil
  end
  M.closed:emit(id)
end

---@param id integer
---@param calls {at: integer, call: acp.ToolCall}[]
function M.set_calls(id, calls)
  M.calls[id] = M.calls[id] or {}
  for _, c in ipairs(calls) do
    M.calls[id][c.at] = c.call
  end
end

---@param id integer
---@param list acp.OpenPermission[]
function M.set_permissions(id, list)
  for _, request in ipairs(list) do
    if request.waited then
      request.since = vim.uv.now() - 1000 * request.waited
    end
  end
  permissions[id] = list
  M.permissions_changed:emit(id)
end

---@param id integer
---@param list acp.OpenElicitation[]
function M.set_elicitations(id, list)
  elicitations[id] = list
  M.elicitations_changed:emit(id)
end

---@param ... table<integer, table[]>
---@return table[] all that is in these, oldest first
local function by_age(...)
  local all = {}
  for _, by_session in ipairs({ ... }) do
    for _, list in pairs(by_session) do
      vim.list_extend(all, list)
    end
  end
  table.sort(all, function(a, b)
    return a.id < b.id
  end)
  return all
end

---The open permission requests of all sessions, oldest first.
---@return acp.OpenPermission[]
function M.permissions()
  return by_age(permissions)
end

---The open questions of all sessions, oldest first.
---@return acp.OpenElicitation[]
function M.elicitations()
  return by_age(elicitations)
end

---Everything that agents are waiting for, oldest first.
---@return (acp.OpenPermission|acp.OpenElicitation)[]
function M.requests()
  return by_age(permissions, elicitations)
end

---@param id integer?
---@return acp.OpenElicitation? question an open one
function M.elicitation(id)
  for _, question in ipairs(M.elicitations()) do
    if question.id == id then
      return question
    end
  end
end

---@param id integer?
---@return acp.OpenPermission? request an open one
function M.permission(id)
  for _, request in ipairs(M.permissions()) do
    if request.id == id then
      return request
    end
  end
end

---The user's name of a session: its agent, and its number if another session has the same agent.
---@param id integer
---@return string
function M.name(id)
  local session = M.sessions[id]
  local title = session and session.agent_title or 'The agent'
  for other, s in pairs(M.sessions) do
    if session and other ~= id and s.agent_title == title then
      return title .. ' ' .. id
    end
  end
  return title
end

---@return integer[] the sessions that wait for the user, in their order
function M.waiting()
  local ids = {}
  for id, session in pairs(M.sessions) do
    local asks = #(permissions[id] or {}) + #(elicitations[id] or {})
    if session.state == 'requires_action' or asks > 0 then
      table.insert(ids, id)
    end
  end
  table.sort(ids)
  return ids
end

---@return acp.Session[] ordered by id
function M.list()
  local list = vim.tbl_values(M.sessions)
  table.sort(list, function(a, b)
    return a.id < b.id
  end)
  return list
end

---The session meant by an argument: itself, else that of the current buffer, else the last used.
---@param id any
---@return integer? id, string? err
function M.resolve(id)
  if id ~= nil then
    if M.sessions[id] then
      return id
    end
    return nil, ('there is no session %s'):format(tostring(id))
  end
  local here = vim.b.acp_session
  if here and M.sessions[here] then
    return here
  end
  if M.last and M.sessions[M.last] then
    return M.last
  end
  return nil, 'there is no session. :Acp new starts one'
end

---Which events anybody hears: firing the others costs Neovim more than all else of a burst of
---tool calls.
---@return fun(name: string): boolean
local function hearing()
  local names, all = {}, false
  for _, autocmd in ipairs(vim.api.nvim_get_autocmds({ event = 'User' })) do
    local plain = autocmd.pattern:match('^[%w_.:/-]*')
    names[autocmd.pattern] = true
    -- What is no name may stand for any that begins so.
    all = all or plain ~= autocmd.pattern and plain:sub(1, 3) == ('Acp'):sub(1, #plain)
  end
  return function(name)
    return all or names[name] ~= nil
  end
end

---@param name string
---@param data table
local function fire(name, data)
  vim.api.nvim_exec_autocmds('User', { pattern = name, modeline = false, data = data })
end

---Fires events. Who hears one may begin to hear those that follow.
---@param events {name: string, data: table}[]
function M.fire_all(events)
  local heard, from_here = hearing(), false
  for _, event in ipairs(events) do
    if event.name == 'AcpSessionClosed' then
      M.forget(event.data.session)
    end
    from_here = from_here or heard(event.name)
    if from_here then
      -- Scheduled, so that what users hang on it neither runs inside a batch nor can fail it.
      vim.schedule(function()
        fire(event.name, event.data)
      end)
    end
  end
end

---The host has ended, and with it every agent.
---@param why string
function M.host_died(why)
  permissions, elicitations, M.watch_limit = {}, {}, nil
  local ids, in_turn = {}, {}
  for id, session in pairs(M.sessions) do
    M.calls[id] = nil
    if session.state ~= 'dead' then
      table.insert(ids, id)
      table.insert(in_turn, busy[session.state] and id or nil)
      session.state, session.error = 'dead', why
      M.since[id] = nil
    end
  end
  M.died:emit(ids, why)
  for _, id in ipairs(in_turn) do
    fire('AcpTurnEnd', { session = id, stop_reason = 'error', error = why })
  end
end

return M
