---The host process: finding it, starting it on first use, sending it messages, and cleaning up
---after it when it dies.
local M = {}

local signal = require('acp.rpc.signal')

---The host runs; it has not said hello yet.
M.started = signal()

---The host has ended. Gets why, unless that was asked for.
M.ended = signal()

---Whether its program is being built.
M.building = false

---The revision of the contract between plugin and host.
---@type string
M.api = require('acp.rpc.contract').revision

local root = vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h:h'))

---Where the plugin's own host program is.
---@type string
M.binary = vim.fs.joinpath(root, 'bin', 'acp-nvim')

---@type integer? the job and RPC channel
local channel
---@type integer? the number of its process
local host_pid
---@type boolean whether the host has said hello
local ready = false
---@type boolean whether it was told to end
local stopping = false
---@type table<integer, true> process groups that the host has started
local groups = {}
---@type string[] the last lines of its stderr
local stderr = {}
---@type table<integer, fun(result: any, err: string?)>
local callbacks = {}
local last_callback = 0

---How often the host was started: a host only knows the sessions opened since it started.
M.starts = 0

---What the host said of itself.
---@type {revision: string, version: string}?
M.info = nil

---@return string
function M.root()
  return root
end

---@return string
function M.log_file()
  return vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'acp.log')
end

M.no_windows = 'the host does not run on Windows; it does in WSL'

---The host's argv without its arguments, or nil with what to do.
---@return string[]? argv, string? err
function M.find()
  local command = require('acp.config').get().host.command
  if command then
    if vim.fn.executable(command[1]) == 0 then
      return nil, ('host.command: %s is not executable'):format(command[1])
    end
    return command
  end
  if vim.fn.executable(M.binary) == 1 then
    return { M.binary }
  end
  local found = vim.fn.exepath('acp-nvim')
  if found ~= '' then
    return { found }
  end
  if M.building then
    return nil, 'the host is being built; a message will say when it is done'
  elseif vim.fn.has('win32') == 1 then
    return nil, M.no_windows
  end
  return nil, 'the host program is missing. Run :Acp build'
end

---@return boolean
function M.running()
  return channel ~= nil
end

---Kills the process groups that are left of a host.
local function kill_groups()
  for pgid in pairs(groups) do
    pcall(vim.uv.kill, -pgid, 'sigkill')
  end
  groups = {}
end

---Kills what a host left behind that could not do so itself, wherever it went. Neovim does not
---wait.
local function sweep()
  local argv = vim.deepcopy((M.find()))
  if argv and host_pid then
    vim.list_extend(argv, { 'sweep', tostring(host_pid) })
    pcall(vim.fn.jobstart, argv, { detach = true })
  end
end

---@param code integer
local function on_exit(code)
  local was_ready = ready
  channel, ready, M.info = nil, false, nil
  kill_groups()
  if was_ready and code ~= 0 then
    sweep()
  end
  local waiting = callbacks
  callbacks = {}
  for _, callback in pairs(waiting) do
    callback(nil, 'the host has ended')
  end
  if stopping or vim.v.exiting ~= vim.NIL then
    stopping = false
    M.ended:emit()
    return
  end
  local words = vim.trim(table.concat(stderr, '\n'))
  local why
  if was_ready then
    why = ('the host ended (code %d). :Acp restart starts it again'):format(code)
    -- Its folder may not be writable.
    pcall(vim.fn.writefile, vim.split(words, '\n'), M.log_file(), 'a')
  else
    local last = words:match('[^\n]*$')
    last = last ~= '' and ': ' .. last or ''
    why = ('the host did not start (code %d)%s. Run :Acp build'):format(code, last)
  end
  require('acp.notify').error(why)
  M.ended:emit(why)
end

---Starts the host unless it is running.
---@return boolean ok, string? err
function M.ensure()
  if channel then
    return true
  end
  local argv, err = M.find()
  if not argv then
    return false, err
  end
  local config = require('acp.config').get()
  local command = vim.list_extend(vim.deepcopy(argv), {
    'host',
    '--api=' .. M.api,
    '--log=' .. M.log_file(),
    '--log-level=' .. (config.host.log_level or 'info'),
    '--cache=' .. vim.fs.joinpath(vim.fn.stdpath('cache'), 'acp'),
    '--state=' .. vim.fs.joinpath(vim.fn.stdpath('state'), 'acp'),
    '--data=' .. vim.fs.joinpath(vim.fn.stdpath('data'), 'acp'),
    '--nerd-font=' .. tostring(config.nerd_font),
  })
  stderr = {}
  local ok, job = pcall(vim.fn.jobstart, command, {
    rpc = true,
    on_stderr = function(_, data)
      vim.list_extend(stderr, data)
      stderr = vim.list_slice(stderr, math.max(1, #stderr - 20))
    end,
    on_exit = function(_, code)
      on_exit(code)
    end,
  })
  if not ok or job <= 0 then
    return false, ('the host program %s could not be started. Run :Acp build'):format(argv[1])
  end
  channel, host_pid = job, vim.fn.jobpid(job)
  M.starts = M.starts + 1
  M.started:emit()
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = vim.api.nvim_create_augroup('acp_host', {}),
    desc = 'End the host and its agents',
    callback = M.stop,
  })
  return true
end

---Ends the host and waits for it, half a second at most; whatever is left is killed.
function M.stop()
  local job = channel
  if not job then
    return
  end
  stopping = true
  pcall(vim.fn.chanclose, job)
  local late = vim.fn.jobwait({ job }, 500)[1] == -1
  pcall(vim.fn.jobstop, job)
  kill_groups()
  if late then
    sweep()
  end
end

---Sends a message to a running host.
---@param method string
---@param args table
function M.notify(method, args)
  if channel then
    pcall(vim.rpcnotify, channel, 'acp', method, args)
  end
end

---Sends a message whose answer `callback` gets.
---@param method string
---@param args table
---@param callback fun(result: any, err: string?)
function M.request(method, args, callback)
  if not channel then
    vim.schedule(function()
      callback(nil, 'the host is not running')
    end)
    return
  end
  last_callback = last_callback + 1
  callbacks[last_callback] = callback
  args.callback = last_callback
  M.notify(method, args)
end

---@param id integer
---@param result any |vim.NIL| is none
---@param err string?
function M.answer(id, result, err)
  local callback = callbacks[id]
  callbacks[id] = nil
  if result == vim.NIL then
    result = nil
  end
  if callback then
    vim.schedule(function()
      callback(result, err)
    end)
  end
end

---@param info {revision: string, version: string}
function M.hello(info)
  ready = true
  M.info = info
end

---@param pgid integer
---@param alive boolean
function M.group(pgid, alive)
  groups[pgid] = alive or nil
end

return M
