---Gets the host program: builds it if Go and make are there, otherwise downloads the release for
---this version of the plugin, whose checksum the plugin has.
local M = {}

local notify = require('acp.notify')
local host = require('acp.rpc.host')

local systems = { Linux = 'linux', Darwin = 'darwin' }
local machines = { x86_64 = 'amd64', amd64 = 'amd64', aarch64 = 'arm64', arm64 = 'arm64' }

---How long a download may take when nobody sees its progress, in milliseconds.
local patience = 10 * 60 * 1000

---@param level 'info'|'error'
---@param text string
local function done(level, text)
  host.building = false
  notify[level](text)
end

---@param argv string[]
---@param opts vim.SystemOpts
---@param callback fun(result: {code: integer, stdout: string, stderr: string})
local function run(argv, opts, callback)
  opts.text = true
  local ok, err = pcall(vim.system, argv, opts, vim.schedule_wrap(callback))
  if not ok then
    vim.schedule(function()
      callback({ code = -1, stdout = '', stderr = tostring(err) })
    end)
  end
end

local function build()
  host.building = true
  notify.info('building the host …')
  run({ 'make', 'build' }, { cwd = host.root() }, function(result)
    if result.code == 0 then
      return done('info', 'the host was built. :Acp starts it')
    end
    done('error', 'the host could not be built:\n' .. vim.trim(result.stderr .. result.stdout))
  end)
end

---The released host for this machine.
---@return {url: string, size: integer, sha256: string}? file, string? err
local function released()
  local release = require('acp.release')
  local uname = vim.uv.os_uname()
  local platform = ('%s-%s'):format(
    systems[uname.sysname] or uname.sysname,
    machines[uname.machine] or uname.machine
  )
  local file = release.files[platform]
  if not release.version or release.revision ~= host.api then
    return nil, 'there is no released host of this version of the plugin'
  elseif not file then
    return nil, ('there is no released host for %s'):format(platform)
  end
  local base = require('acp.config').get().host.url
    or ('https://github.com/acp-nvim/acp-nvim/releases/download/v%s'):format(release.version)
  return {
    url = ('%s/acp-nvim-%s'):format(base:gsub('/$', ''), platform),
    size = file.size,
    sha256 = file.sha256,
  }
end

---@param path string
---@param file {sha256: string}
---@param callback fun(err?: string)
local function check(path, file, callback)
  local program = vim.fn.executable('sha256sum') == 1 and { 'sha256sum' }
    or { 'shasum', '-a', '256' }
  run(vim.list_extend(program, { path }), {}, function(result)
    local sum = result.stdout:match('^\\?(%x+)')
    if result.code ~= 0 or not sum then
      return callback(('its checksum could not be computed: %s'):format(vim.trim(result.stderr)))
    elseif sum ~= file.sha256 then
      return callback('its checksum is not the one that the plugin expects, so it is not used')
    end
    vim.uv.fs_chmod(path, 493) -- rwxr-xr-x
    run({ path, 'version' }, {}, function(said)
      local api = said.stdout:match('api (%x+)')
      callback(api ~= host.api and 'it does not run here' or nil)
    end)
  end)
end

---@type vim.SystemObj? the download under way
local curl

---Where the released host is downloaded to: it counts only when complete.
---@return string
local function unfinished()
  return ('%s.new-%d'):format(host.binary, vim.uv.os_getpid())
end

---@param have integer bytes
---@param of integer
local function progress(have, of)
  if #vim.api.nvim_list_uis() > 0 then
    local text = 'acp: downloading the host · %.1f of %.1f MB · :Acp build again cancels it'
    vim.api.nvim_echo({ { text:format(have / 2 ^ 20, of / 2 ^ 20) } }, false, {})
  end
end

---Writes what arrives, up to the expected size.
---@param fd integer of the file to write
---@param size integer
---@return fun(err?: string, data?: string) take, fun(): string? problem
local function taker(fd, size)
  local have, problem, shown = 0, nil, 0
  local function take(_, data)
    if not data or problem then
      return
    end
    have = have + #data
    local written, err = nil, nil
    if have <= size then
      written, err = vim.uv.fs_write(fd, data, -1)
    end
    if have > size then
      problem = 'it is too large'
    elseif written ~= #data then
      problem = ('it cannot be written: %s'):format(err or 'the disk is full')
    end
    if problem and curl then
      curl:kill('sigterm')
    elseif have - shown > 2 ^ 19 then
      shown = have
      vim.schedule(function()
        progress(have, size)
      end)
    end
  end
  return take, function()
    return problem
  end
end

---@param file {url: string, size: integer, sha256: string}
local function download(file)
  local new = unfinished()
  local function failed(why)
    vim.uv.fs_unlink(new)
    done('error', ('the host was not downloaded: %s. %s'):format(why, file.url))
  end
  host.building = true
  notify.info('downloading the host …')
  vim.fn.mkdir(vim.fs.dirname(host.binary), 'p')
  for _, left in ipairs(vim.fn.glob(host.binary .. '.new-*', true, true)) do
    local pid = tonumber(left:match('%d+$'))
    if not (pid and pcall(vim.uv.kill, pid, 0) and vim.uv.kill(pid, 0) == 0) then
      vim.uv.fs_unlink(left) -- of a Neovim that has ended meanwhile
    end
  end
  local fd, err = vim.uv.fs_open(new, 'w', 420) -- rw-r--r--
  if not fd then
    return failed(err)
  end
  local own = file.url:match('^http://127%.0%.0%.1[:/]') or file.url:match('^http://localhost[:/]')
  local argv = { 'curl', '--fail', '--silent', '--show-error', '--location', '--no-buffer' }
  vim.list_extend(argv, { '--proto', own and '=http,https' or '=https', file.url })
  vim.list_extend(
    argv,
    { '--connect-timeout', '20', '--speed-time', '30', '--speed-limit', '1000' }
  )
  local take, problem = taker(fd, file.size)
  local ok, started = pcall(vim.system, argv, { stdout = take }, function(result)
    vim.uv.fs_close(fd)
    curl = nil
    vim.schedule(function()
      if problem() then
        return failed(problem())
      elseif result.signal ~= 0 then
        return failed('the download was cancelled')
      elseif result.code ~= 0 then
        return failed(vim.trim((result.stderr or ''):gsub('^curl: ', '')))
      end
      check(new, file, function(why)
        local renamed, no = nil, why
        if not why then
          renamed, no = vim.uv.fs_rename(new, host.binary)
        end
        if not renamed then
          return failed(no)
        end
        done('info', 'the host is installed. :Acp starts it')
      end)
    end)
  end)
  if not ok then
    vim.uv.fs_close(fd)
    return failed(tostring(started))
  end
  curl = started
end

---If nobody is there to see it finish, Neovim waits for it: a plugin manager's build step.
local function wait_unattended()
  if #vim.api.nvim_list_uis() == 0 then
    vim.wait(patience, function()
      return not host.building
    end, 20)
  end
end

---@param how string '' builds or asks before it downloads, 'download' has been asked
function M.run(how)
  if curl then
    return curl:kill('sigterm')
  elseif host.building then
    return notify.info('the host is already being built; a message will say when it is done')
  elseif vim.fn.has('win32') == 1 then
    return notify.error(host.no_windows)
  end
  if how ~= 'download' and vim.fn.executable('go') == 1 and vim.fn.executable('make') == 1 then
    build()
    return wait_unattended()
  end
  local file, err = released()
  if not file then
    return notify.error(
      err .. ': building it needs Go (go.dev) and make; install them, then :Acp build'
    )
  elseif vim.fn.executable('curl') == 0 then
    return notify.error('the download needs curl; install it, or Go and make, then :Acp build')
  elseif how == 'download' then
    download(file)
    return wait_unattended()
  elseif #vim.api.nvim_list_uis() == 0 then
    return notify.error('Go is not installed: `:Acp build download` gets the released host')
  end
  vim.ui.select({ 'Download it', 'No' }, {
    prompt = ('Without Go and make the released host is used: %s, %.1f MB, SHA-256 %s. '):format(
      file.url,
      file.size / 2 ^ 20,
      file.sha256
    ),
  }, function(_, choice)
    if choice == 1 then
      download(file)
    end
  end)
end

return M
