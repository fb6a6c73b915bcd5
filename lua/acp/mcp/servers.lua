---MCP servers of the configuration: what is wrong with them, and what the host needs.
local M = {}

---@class acp.McpServer
---@field command? string|string[] of a server that the agent runs; a list is command and arguments
---@field args? string[]
---@field env? table<string, string>
---@field type? 'stdio'|'http'|'sse'
---@field url? string of one that is reached over the network
---@field headers? table<string, string>

local kinds = {
  command = 'string',
  url = 'string',
  type = 'string',
  args = 'table',
  env = 'table',
  headers = 'table',
}

---@param name any
---@return string? problem
local function wrong_name(name)
  if type(name) ~= 'string' or name == '' then
    return 'expected a name for the server, got none'
  elseif name:find('__', 1, true) or name:find('/', 1, true) then
    return 'a name cannot have __ or /, which agents use in names of tools; choose another one'
  elseif name == 'ide' then
    return 'agents already have a server of that name; choose another one'
  end
end

---What is wrong with a server. Values are not shown: they may be secrets.
---@param server any
---@return string? problem
local function wrong(server)
  if type(server) ~= 'table' then
    return ('expected a table, got %s'):format(type(server))
  end
  for key, value in pairs(server) do
    local list = key == 'command' and type(value) == 'table' and #value > 0
    if not kinds[key] then
      return ('there is no field %s'):format(tostring(key))
    elseif type(value) ~= kinds[key] and not list then
      return ('%s: expected a %s, got %s'):format(key, kinds[key], type(value))
    elseif type(value) == 'table' then
      for _, item in pairs(value) do
        if type(item) == 'table' or type(item) == 'function' then
          return ('%s: expected strings, got a %s'):format(key, type(item))
        end
      end
    end
  end
  if (server.command ~= nil) == (server.url ~= nil) then
    return 'expected either a command or a url'
  end
  if server.type and not vim.tbl_contains({ 'stdio', 'http', 'sse' }, server.type) then
    return ("type: expected 'stdio', 'http' or 'sse', got %s"):format(vim.inspect(server.type))
  end
end

---The servers without a mistake; what is wrong with the others is added to `problems`.
---@param where string
---@param servers table<string, acp.McpServer|false>
---@param problems string[]
---@return table<string, acp.McpServer|false>
function M.right(where, servers, problems)
  local right = {}
  for name, server in pairs(servers) do
    local problem = wrong_name(name) or server and wrong(server)
    if problem then
      table.insert(problems, ('%s.%s: %s'):format(where, tostring(name), problem))
    else
      right[name] = server
    end
  end
  return right
end

---Which kinds of servers agents take, as they last said, which the host keeps (host/mcp/taken.go).
---@return table<string, {version?: string, kinds: string[]}> by the agents' names
function M.taken()
  local dir, agents = vim.fs.joinpath(vim.fn.stdpath('data'), 'acp', 'mcp'), {}
  for name, kind in vim.fs.dir(dir) do
    local file = kind == 'file' and io.open(vim.fs.joinpath(dir, name))
    if file then
      local ok, taken = pcall(vim.json.decode, file:read('*a'))
      file:close()
      if ok and type(taken) == 'table' and taken.agent and taken.kinds then
        agents[taken.agent] = taken
      end
    end
  end
  return agents
end

---@param server acp.McpServer
---@return 'stdio'|'http'|'sse' kind
function M.kind(server)
  return server.command and 'stdio' or server.type or 'http'
end

---@param map table
---@return table<string, string>? nil where it is empty, as Lua cannot tell that from a list
local function texts(map)
  local all = vim.tbl_map(tostring, map or {})
  return next(all) and all or nil
end

---The servers of an agent for the host: its own override those for all agents. `false` leaves one
---of those out.
---@param all table<string, acp.McpServer|false>
---@param own? table<string, acp.McpServer|false>
---@return table? servers nil for none
function M.of(all, own)
  local servers = {}
  for name, server in pairs(vim.tbl_extend('force', all, own or {})) do
    if server then
      local argv = type(server.command) == 'table' and vim.deepcopy(server.command)
        or { server.command }
      servers[name] = {
        type = server.type,
        url = server.url,
        command = table.remove(argv, 1),
        args = texts(vim.list_extend(argv, server.args or {})),
        env = texts(server.env),
        headers = texts(server.headers),
      }
    end
  end
  return next(servers) and servers or nil
end

return M
