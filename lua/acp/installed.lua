---Which agents are installed from the registry, according to the data folder, which the host
---writes; see host/registry.
local M = {}

---@return string
function M.folder()
  return vim.fs.joinpath(vim.fn.stdpath('data') --[[@as string]], 'acp', 'agents')
end

---@param path string
---@return table? json nil where it cannot be read
function M.read(path)
  local file = io.open(path)
  if not file then
    return nil
  end
  local text = file:read('*a')
  file:close()
  local ok, json = pcall(vim.json.decode, text)
  return ok and type(json) == 'table' and json or nil
end

---How a version of an agent is started.
---@param id string
---@param version string
---@return acp.Agent? agent nil where it is not installed
function M.launch(id, version)
  local dir = vim.fs.joinpath(M.folder(), id, version)
  local launch = M.read(vim.fs.joinpath(dir, 'acp-launch.json'))
  if not launch or type(launch.command) ~= 'table' or not launch.command[1] then
    return nil
  end
  local command = vim.deepcopy(launch.command)
  command[1] = vim.fs.joinpath(dir, command[1])
  return {
    title = launch.title,
    command = command,
    env = launch.env,
    registry = id,
    version = version,
    install = (':Acp agents reinstalls %s.'):format(launch.title),
  }
end

M.lock_file = 'acp-agents.lock.json'

---The versions that the project of the current folder names in its lock file, by the agents' ids.
---@return table<string, string> versions
function M.locked()
  local found = vim.fs.find(M.lock_file, { upward = true, path = vim.fn.getcwd(), limit = 1 })[1]
  local lock = found and M.read(found)
  return lock and type(lock.agents) == 'table' and lock.agents or {}
end

---An agent in the version that the project names.
---@param agent acp.Agent
---@return acp.Agent? agent, string? err
function M.as_locked(agent)
  local version = agent.version and M.locked()[agent.registry]
  if not version or version == agent.version then
    return agent
  end
  local other = type(version) == 'string' and M.launch(agent.registry, version)
  if not other then
    local text = '%s wants %s %s, which is not installed: :Acp agents, then i on its line'
    return nil, text:format(M.lock_file, agent.registry, tostring(version))
  end
  return vim.tbl_extend('force', agent, other, { title = agent.title })
end

---What an agent said of itself when it was last started, by the name of its entry; see
---host/registry/heard.go.
---@class acp.Heard
---@field at string in UTC
---@field program string
---@field said string
---@field logins? string[]
---@field can? string[]

---@param name string
---@param agent acp.Agent
---@return acp.Heard? heard nil where the agent is another program by now
function M.heard(name, agent)
  local all = M.read(vim.fs.joinpath(M.folder(), 'handshakes.json'))
  local heard = all and all[name]
  local same = type(heard) == 'table'
    and type(heard.at) == 'string'
    and type(heard.said) == 'string'
    and type(heard.program) == 'string'
    and vim.fn.exepath(heard.program) == vim.fn.exepath(agent.command[1])
  return same and heard or nil
end

---The agents whose configured version is missing.
---@return string[] ids
function M.broken()
  local ids = {}
  for id, kind in vim.fs.dir(M.folder()) do
    local current = kind == 'directory' and M.read(vim.fs.joinpath(M.folder(), id, 'current.json'))
    local launch = current and M.launch(id, tostring(current.version))
    if current and (not launch or vim.fn.executable(launch.command[1]) == 0) then
      table.insert(ids, id)
    end
  end
  return ids
end

---Whether an agent is installed.
---@param id string
---@return boolean
function M.has(id)
  return vim.uv.fs_stat(vim.fs.joinpath(M.folder(), id, 'current.json')) ~= nil
end

---Adds what is installed to the agents. One on the PATH, or in the configuration, comes first.
---@param agents table<string, acp.Agent>
---@param configured table<string, table>
function M.add(agents, configured)
  ---@type table<string, string> names of the built-in agents by their ids in the registry
  local names = {}
  for name, agent in pairs(agents) do
    names[agent.registry or name] = name
  end
  for id, kind in vim.fs.dir(M.folder()) do
    local current = kind == 'directory' and M.read(vim.fs.joinpath(M.folder(), id, 'current.json'))
    local launch = current and M.launch(id, current.version)
    local name = names[id]
    local builtin = name and agents[name]
    if launch and not (configured[id] and configured[id].command) then
      local free = builtin
        and not (configured[name] and configured[name].command)
        and vim.fn.executable(builtin.command[1]) == 0
      if free then
        local env = vim.tbl_extend('force', launch.env or {}, builtin.env or {})
        local mine = { title = builtin.title, env = next(env) and env or nil }
        agents[name] = vim.tbl_extend('force', builtin, launch, mine)
        agents[name].login = nil -- the program that it names is not on the PATH either
      end
      if name ~= id then
        local same = builtin and { same_as = free and name or nil } or {}
        same.login = not free and builtin and builtin.login or nil
        agents[id] = vim.tbl_extend('force', launch, same, configured[id] or {})
      end
    end
  end
end

return M
