---The agents that are installed or can be: requests to the host about them, and their progress.
local M = {}

local host = require('acp.rpc.host')
local notify = require('acp.notify')
local signal = require('acp.rpc.signal')

---@class acp.RegistryAgent
---@field id string
---@field name string
---@field description string
---@field page string
---@field installed? {version?: string, path: string, by: 'path'|'acp'}
---@field newest? string
---@field running_version? string
---@field previous? string
---@field pinned boolean
---@field said? string by the agent when it was tried
---@field fits boolean this machine
---@field login? boolean it is known to have one
---@field account? string who is logged in there, as far as a session tells

---@class acp.IndexAbout
---@field date string
---@field failure? string why it is no newer one

---@class acp.InstallOpts
---@field version? string default: the newest
---@field unverified? boolean also an archive without a checksum

---Something about the agents has changed.
M.changed = signal()

---Whether the page is open, which shows progress.
---@return boolean
function M.on_page()
  return false
end

---@type table<string, string> how far what is being installed is, by id
M.under_way = {}

---@param agent table as the host tells it
---@return acp.RegistryAgent
local function told(agent)
  local function some(text)
    return text ~= '' and text or nil
  end
  return {
    id = agent.id,
    name = agent.name,
    description = agent.description,
    page = agent.page,
    installed = some(agent.version) and { version = agent.version, path = agent.path, by = 'acp' },
    newest = some(agent.newest),
    running_version = some(agent.running),
    previous = some(agent.previous),
    pinned = agent.pinned,
    said = some(agent.said),
    fits = agent.fits,
    login = agent.login or nil,
  }
end

---Adds what is on the PATH, which comes first.
---@param list acp.RegistryAgent[]
---@return acp.RegistryAgent[]
local function with_path(list)
  local by_id = {}
  for _, agent in ipairs(list) do
    by_id[agent.id] = agent
  end
  local installed = require('acp.installed')
  local ours = installed.folder()
  local accounts = {}
  for _, session in ipairs(require('acp.rpc.state').list()) do
    accounts[session.agent] = session.state == 'auth_required' and 'not logged in'
      or require('acp.session.login').account(session)
  end
  for name, agent in pairs(require('acp.config').get().agents) do
    local path = vim.fn.exepath(agent.command[1])
    local listed = by_id[agent.registry or name]
    if listed then
      local heard = path ~= '' and installed.heard(name, agent)
      listed.login = listed.login or agent.login ~= nil or nil
      listed.said = heard and heard.said or listed.said
      listed.account = accounts[name] or listed.account
    end
    if path ~= '' and not vim.startswith(path, ours) then
      local id = agent.registry or name
      local entry = by_id[id]
      if not entry then
        entry =
          { id = id, name = agent.title, description = '', page = '', pinned = false, fits = false }
        by_id[id] = entry
        table.insert(list, entry)
      end
      local heard = installed.heard(name, agent)
      entry.installed, entry.said = { path = path, by = 'path' }, heard and heard.said
      entry.account = accounts[name] or entry.account
    end
  end
  local function rank(agent)
    return agent.installed and (agent.installed.by == 'path' and 1 or 2) or 3
  end
  table.sort(list, function(a, b)
    if rank(a) ~= rank(b) then
      return rank(a) < rank(b)
    end
    return a.name:lower() < b.name:lower()
  end)
  return list
end

---@param method string
---@param args table
---@param callback fun(result: any, err: string?)
---@return boolean? ok, string? err
local function ask(method, args, callback)
  local ok, err = host.ensure()
  if not ok then
    return nil, err
  end
  host.request(method, args, callback)
  return true
end

---@return string url "" keeps off the network
local function url()
  return require('acp.config').get().registry or ''
end

---The agents: with `online` the index is fetched if it is old, with `fetch` in any case.
---@param opts {online?: boolean, fetch?: boolean}
---@param callback fun(list: acp.RegistryAgent[]?, err: string?, about: acp.IndexAbout?)
---@return boolean? ok, string? err
function M.list(opts, callback)
  local args = { url = (opts.online or opts.fetch) and url() or '', fetch = opts.fetch == true }
  return ask('list_agents', args, function(result, err)
    if err then
      return callback(nil, err)
    end
    local about = { date = result.date, failure = result.failure ~= '' and result.failure or nil }
    callback(with_path(vim.tbl_map(told, result.agents or {})), nil, about)
  end)
end

---@param callback? fun(err: string?, agent: acp.RegistryAgent?)
---@return fun(result: any, err: string?)
local function after(callback)
  return function(result, err)
    require('acp.config').reset()
    M.changed:emit()
    if callback then
      callback(err, not err and type(result) == 'table' and told(result) or nil)
    end
  end
end

---@param id string
---@param opts? acp.InstallOpts
---@param callback? fun(err: string?, agent: acp.RegistryAgent?)
---@return boolean? ok, string? err
function M.install(id, opts, callback)
  opts = opts or {}
  local args = {
    id = id,
    version = opts.version or '',
    unverified = opts.unverified == true,
    url = url(),
  }
  return ask('install_agent', args, function(result, err)
    if result and result.ask then
      err = result.ask .. '. Install it with unverified = true if you trust it'
    end
    after(callback)(result and result.agent, err)
  end)
end

---Installs an agent, after asking the user for any consent needed.
---@param agent acp.RegistryAgent
---@param version? string
function M.install_asking(agent, version)
  local function run(unverified)
    local args = { id = agent.id, version = version or '', unverified = unverified, url = url() }
    local _, problem = ask('install_agent', args, function(result, err)
      if result and result.ask then
        return vim.ui.select({ 'No', 'Yes, I trust it' }, {
          prompt = result.ask .. '. Install it?',
        }, function(_, choice)
          if choice == 2 then
            run(true)
          end
        end)
      end
      after(function(failure, now)
        if failure then
          return notify.error(failure)
        end
        local text = '%s %s is installed: :Acp new %s'
        notify.info(text:format(now.name, now.installed.version, now.id))
      end)(result and result.agent, err)
    end)
    notify.warn_if(problem)
  end
  run(false)
end

---@param id string
---@param callback? fun(err: string?, agent: acp.RegistryAgent?)
---@return boolean? ok, string? err
function M.uninstall(id, callback)
  return ask('uninstall_agent', { id = id }, after(callback))
end

---@param id string
---@param callback? fun(err: string?, agent: acp.RegistryAgent?)
function M.rollback(id, callback)
  return ask('rollback_agent', { id = id }, after(callback))
end

---@param id string
---@param pinned boolean
---@param callback? fun(err: string?, agent: acp.RegistryAgent?)
function M.pin(id, pinned, callback)
  return ask('pin_agent', { id = id, pinned = pinned }, after(callback))
end

---@param id string
function M.cancel(id)
  host.notify('cancel_install', { id = id })
end

---Notes the progress of an installation.
---@param id string
---@param text string "" when it is over
function M.progress(id, text)
  M.under_way[id] = text ~= '' and text or nil
  M.changed:emit()
  if #vim.api.nvim_list_uis() > 0 and not M.on_page() then
    local line = text ~= '' and ('acp: %s: %s'):format(id, text) or ''
    vim.api.nvim_echo(
      { { vim.fn.strcharpart(line, 0, math.max(1, vim.o.columns - 12)) } },
      false,
      {}
    )
  end
end

return M
