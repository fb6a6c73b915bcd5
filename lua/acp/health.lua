---`:checkhealth acp`. It starts nothing.
local M = {}

local health = vim.health

local function check_neovim()
  health.start('Neovim')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok(tostring(vim.version()))
  else
    health.error('Neovim 0.10 or newer is needed')
  end
end

local function check_config()
  health.start('Configuration')
  local problems = require('acp.config').problems()
  if #problems == 0 then
    health.ok('the configuration has no mistakes')
  end
  for _, problem in ipairs(problems) do
    health.error(problem)
  end
end

local function check_host()
  health.start('Host')
  local host = require('acp.rpc.host')
  local argv, err = host.find()
  if not argv then
    health.error(err, { ':Acp build' })
  else
    local result =
      vim.system(vim.list_extend(vim.deepcopy(argv), { 'version' }), { text = true }):wait(5000)
    local version = vim.trim(result.stdout or '')
    local api = version:match('api (%x+)')
    if result.code ~= 0 or not api then
      health.error(('%s does not run'):format(argv[1]), { ':Acp build' })
    elseif api ~= host.api then
      health.error(
        ('%s: %s, but the plugin needs revision %s'):format(argv[1], version, host.api),
        { ':Acp build' }
      )
    else
      health.ok(('%s: %s'):format(argv[1], version))
    end
  end
  health.info(
    host.running() and 'it is running' or 'it is not running; it starts with the first session'
  )
  local limit = require('acp.rpc.state').watch_limit
  if limit then
    health.warn(
      ('the disk cannot be watched (%s)'):format(limit)
        .. ': changes are found when a turn ends and when Neovim gets the focus',
      { 'On Linux, raise fs.inotify.max_user_watches and fs.inotify.max_user_instances' }
    )
  end
  health.info('log: ' .. host.log_file())
  local program = require('acp.prompt.clipboard').program()
  health.info(
    program and ('%s pastes images from the clipboard'):format(program)
      or 'pasting an image needs wl-paste (wl-clipboard), xclip or pngpaste'
  )
  if vim.fn.executable('go') == 0 then
    health.info('Go is not installed: :Acp build downloads the released host, with a checksum')
  end
  if vim.fn.has('win32') == 1 then
    health.error(host.no_windows)
  end
end

---@param bytes integer
---@return string
local function size(bytes)
  for _, unit in ipairs({ { 2 ^ 30, 'GB' }, { 2 ^ 20, 'MB' }, { 2 ^ 10, 'KB' } }) do
    if bytes >= 0.99995 * unit[1] then -- "1.0 MB" rather than "1024.0 KB"
      return ('%.1f %s'):format(bytes / unit[1], unit[2])
    end
  end
  return bytes .. ' bytes'
end

---Whether logs and saved data can be written; see host/unwritable.go.
local function check_folders()
  for _, which in ipairs({ 'log', 'state', 'data', 'cache' }) do
    local dir = vim.fn.stdpath(which) --[[@as string]]
    while not vim.uv.fs_stat(dir) and dir ~= vim.fs.dirname(dir) do
      dir = vim.fs.dirname(dir)
    end
    if vim.fn.filewritable(dir) ~= 2 then
      health.warn(
        ("%s cannot be written: stdpath('%s') is in it"):format(dir, which),
        { 'Nothing is logged or saved there' }
      )
    end
  end
end

---What is kept for undo and review, and of the history; see host/checkpoint and host/history.
local function check_data()
  health.start('Data')
  check_folders()
  local dir = vim.fs.joinpath(vim.fn.stdpath('data'), 'acp')
  local bytes, sessions, transcripts, said = 0, 0, 0, 0
  for name, kind in vim.fs.dir(dir, { depth = 3 }) do
    if kind == 'file' then
      local stat = vim.uv.fs_stat(vim.fs.joinpath(dir, name))
      bytes = bytes + (stat and stat.size or 0)
      if name:match('^transcripts/') then
        transcripts, said = transcripts + 1, said + (stat and stat.size or 0)
      end
      if name:match('^records/%x+$') then
        sessions = sessions + 1
      end
    end
  end
  health.info(
    ('%s: %s, with the changes of %d session%s; at most 1 GB, and 200 sessions'):format(
      dir,
      size(bytes),
      sessions,
      sessions == 1 and '' or 's'
    )
  )
  health.info(
    ('%s of it are the transcripts of %d session%s; at most 256 MB'):format(
      size(said),
      transcripts,
      transcripts == 1 and '' or 's'
    )
  )
  for _, session in ipairs(require('acp.rpc.state').list()) do
    local lacks = session.lacks
    if lacks then
      health.warn(
        ('copies of the files of session %d, in %s, are not complete: %s%s'):format(
          session.id,
          vim.fn.fnamemodify(session.cwd, ':~'),
          lacks.why,
          lacks.files ~= '' and (' (%s)'):format(lacks.files) or ''
        ),
        { 'What commands of the agent change in them cannot be undone, and may not be seen' }
      )
    end
  end
end

---Which of the configured servers an agent cannot take, even before it has a session.
local function check_servers_of_agents()
  local servers = require('acp.mcp.servers')
  local config, taken, running = require('acp.config').get(), servers.taken(), {}
  for _, session in ipairs(require('acp.rpc.state').list()) do
    running[session.agent] = true -- what it goes without was said
  end
  for _, agent in ipairs(require('acp.session.start').agents()) do
    local known, unknown = taken[agent.name], {}
    local own = config.agents[agent.name].mcp_servers
    for name, server in vim.spairs(servers.of(config.mcp_servers, own) or {}) do
      local kind = servers.kind(server)
      if not known then
        if kind ~= 'stdio' then -- which all agents take
          table.insert(unknown, name)
        end
      elseif not running[agent.name] and not vim.tbl_contains(known.kinds, kind) then
        local line = '%s cannot take %s: %s%s takes no servers of the type %s'
        local version = known.version and (' ' .. known.version) or ''
        local text = line:format(agent.name, name, agent.name, version, kind)
        health.warn(text, { 'See :help acp-mcp' })
      end
    end
    if agent.installed and #unknown > 0 then
      local line = 'whether %s can take %s is known once it has been started'
      health.info(line:format(agent.name, table.concat(unknown, ', ')))
    end
  end
end

local function check_servers()
  health.start('MCP servers')
  local whole = true
  for _, session in ipairs(require('acp.rpc.state').list()) do
    for _, left in ipairs(session.left_out or {}) do
      whole = false
      local line = '%s, in session %d of %s: %s'
      local text = line:format(left.name, session.id, session.agent, left.why)
      health.warn(text, { 'See :help acp-mcp' })
    end
  end
  for _, session in ipairs(require('acp.rpc.state').list()) do
    local which = ('session %d of %s'):format(session.id, session.agent)
    if session.editor_tools == 'connected' then
      health.ok(("%s has connected to the editor's tools"):format(which))
    elseif session.editor_tools == 'offered' then
      local text = "%s has not used the editor's tools, or cannot reach them"
      health.info(text:format(which))
    end
  end
  if whole then
    health.ok('every session has all of its servers')
  end
  check_servers_of_agents()
end

function M.check()
  check_neovim()
  check_config()
  check_host()
  check_data()
  require('acp.registry.health').check()
  check_servers()
end

return M
