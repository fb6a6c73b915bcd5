---Forks: new sessions that go on from where another one is, or was.
local M = {}

local state = require('acp.rpc.state')

---Why a session cannot be forked.
---@param session acp.Session
---@param before? integer
---@return string?
local function hindered(session, before)
  if session.state == 'starting' or session.state == 'auth_required' then
    return ('%s is not ready yet'):format(session.agent_title)
  elseif session.state == 'dead' then
    return session.error or 'the session has ended'
  elseif not session.forks then
    return ('%s cannot fork sessions'):format(session.agent_title)
  elseif before and not session.forks_before then
    local text = '%s cannot fork a session before an earlier prompt; :Acp fork takes all of it'
    return text:format(session.agent_title)
  elseif before == 1 then
    return 'this is the first prompt: :Acp new starts a new session'
  elseif not before and (session.state == 'running' or session.state == 'requires_action') then
    local text = '%s is working: the session can be forked when the turn is over'
    return text:format(session.agent_title)
  end
end

---Makes a session that goes on from where another one is, and leaves that as it is.
---@param opts? {session?: integer, before?: integer} before which of its prompts, from 1
---@return integer? id, string? err
function M.fork(opts)
  opts = opts or {}
  local id, err = state.resolve(opts.session)
  if not id then
    return nil, err
  end
  local session = state.sessions[id]
  local why = hindered(session, opts.before)
  if why then
    return nil, why
  end
  return require('acp.session.start').fork(session, opts.before)
end

---Forks a session before the prompt under the cursor of its chat, which is taken into the new one
---to be edited and sent.
function M.here()
  local again = require('acp.prompt.again')
  again.here(function(id, earlier)
    local fork, err = M.fork({ session = id, before = earlier.prompt })
    if fork then
      require('acp.chat.layout').open(fork, true)
      again.take(fork, earlier)
    else
      require('acp.notify').warn_if(err)
    end
  end)
end

return M
