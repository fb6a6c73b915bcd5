---What `:checkhealth acp` says about the agents: where each is, what it said of itself when it was
---last started, who is logged in, and what to do. It starts none.
local M = {}

local health = vim.health
local installed = require('acp.installed')

---@param name string
---@param agent acp.Agent
---@return string
local function found(name, agent)
  local path = vim.fn.exepath(agent.command[1])
  if agent.version then
    return ('%s: version %s, installed by :Acp agents: %s'):format(name, agent.version, path)
  end
  local named = agent.command[1]:find('/', 1, true) -- in the configuration
  return ('%s: %s%s'):format(name, named and '' or 'on the PATH: ', path)
end

---@param sessions acp.Session[] of one agent
local function check_sessions(sessions)
  for _, session in ipairs(sessions) do
    local which = ('%s, session %d'):format(session.agent, session.id)
    local account = require('acp.session.login').account(session)
    if session.state == 'auth_required' or session.login == 'unauthenticated' then
      health.warn(('%s: %s'):format(session.agent, 'not logged in'), { ':Acp auth' })
    elseif account then
      health.ok(('%s: %s'):format(session.agent, account))
    end
    if session.state == 'dead' then
      local why = session.error or 'it has ended'
      health.warn(('%s: %s'):format(which, why), { ':Acp restart' })
    elseif session.protocol then
      health.ok(
        ('%s speaks version %d of the protocol in session %d'):format(
          session.agent,
          session.protocol,
          session.id
        )
      )
    end
  end
end

---@param name string
---@param agent acp.Agent
local function check_handshake(name, agent)
  local heard = installed.heard(name, agent)
  if not heard then
    return health.info(
      ('%s: not started from here yet, so its version and login are not known: :Acp new %s'):format(
        name,
        name
      )
    )
  end
  local when = heard.at:gsub('T(%d+:%d+).*', ' %1 UTC')
  health.info(('%s: last handshake %s: %s'):format(name, when, heard.said))
  local logins = type(heard.logins) == 'table' and table.concat(heard.logins, ', ') or ''
  health.info(
    logins ~= '' and ('%s: logins it offers, by :Acp auth: %s'):format(name, logins)
      or ('%s: offers no login from here'):format(name)
  )
  local can = type(heard.can) == 'table' and table.concat(heard.can, ', ') or ''
  health.info(('%s: %s'):format(name, can ~= '' and 'it ' .. can or 'no capabilities are known'))
end

---@return table<string, acp.Session[]>
local function by_agent()
  local all = {}
  for _, session in ipairs(require('acp.rpc.state').list()) do
    all[session.agent] = all[session.agent] or {}
    table.insert(all[session.agent], session)
  end
  return all
end

function M.check()
  health.start('Agents')
  local config, sessions, any = require('acp.config').get(), by_agent(), false
  for _, one in ipairs(require('acp.session.start').agents()) do
    local agent = config.agents[one.name]
    local _, wanted = installed.as_locked(agent)
    if not one.installed then
      local text = '%s: no %s on the PATH. %s'
      health.info(text:format(one.name, agent.command[1], agent.install))
    else
      any = true
      health.ok(found(one.name, agent))
      check_handshake(one.name, agent)
    end
    if wanted then
      health.warn(wanted, { ':Acp agents' })
    end
    check_sessions(sessions[one.name] or {})
    sessions[one.name] = nil
  end
  for _, others in pairs(sessions) do -- the demo, and what was taken out of the configuration
    check_sessions(others)
  end
  for _, id in ipairs(installed.broken()) do
    health.error(
      ('%s was installed by :Acp agents, and its files are gone'):format(id),
      { ':Acp agents, then i on its line reinstalls it' }
    )
  end
  if not any then
    health.warn('no agent is installed', { ':Acp agents', ':Acp new demo shows how it looks' })
  end
end

return M
