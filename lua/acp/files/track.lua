--- The files of the loaded buffers while sessions are open. The host gets their names and watches
--- the disk; Neovim itself neither reloads them nor asks about them. Without a session none of this
--- exists, and 'autoread' is the user's.

local M = {}

local api, uv = vim.api, vim.uv

--- Larger files, in bytes, are left to Neovim: the user is told that they have changed.
local max_size

---@class (exact) acp.TrackedBuffer
---@field name string
---@field disk? acp.buffers.Disk with which the buffer was last in step
---@field part? boolean the user wrote a part of the buffer over the file
---@field wrote? integer when the user wrote the whole buffer last, by |uv.now()|
---@field stale? acp.buffers.Disk what the user knows of, and Neovim does not
---@field given_up? acp.buffers.Disk with which the buffer could not catch up
---@field autoread? boolean the user's own value in this buffer

---@class (exact) acp.LargeFile
---@field name string
---@field disk acp.buffers.Disk which the buffer has
---@field told? boolean that the disk is another one

--- Whether the host itself has just written a file.
M.saving = false

---@type table<integer, acp.TrackedBuffer>? nil while no session is open
local tracked
---@type table<integer, acp.LargeFile> those with larger files
local large = {}
---@type table<string, acp.buffers.Disk> files when Neovim began to write them, by real path
local before = {}
---@type table<string, acp.buffers.Disk> files as the user has last written them, by real path
local saved = {}
--- What buffers had that the user has closed right after writing them, by real path: by the time
--- that the host looks, an agent may have changed the file.
---@type table<string, acp.buffers.Info>
local left = {}
--- How long that is kept, in ms, and up to which size, in bytes: more would take a moment.
local left_for, left_size = 2000, 1048576
--- What buffers with unsaved text had before they took over what the disk has, by real path. Should
--- the host die before it has noted that, the next one could not tell the user's lines from the
--- agent's.
---@type table<string, { text: string, disk: acp.buffers.Disk, lost?: boolean }>
local overtaken = {}
local reporting = false
--- What Neovim is told to do about a file that has changed.
local choice = ''

---@param path string
---@param disk acp.buffers.Disk
---@return boolean
function M.disk_is(path, disk)
  local stat = uv.fs_stat(path)
  if not stat or not disk.exists then
    return not stat and not disk.exists
  end
  return stat.mtime.sec == disk.sec and stat.mtime.nsec == disk.nsec and stat.size == disk.size
end

---@param path string
---@return acp.buffers.Disk
function M.disk_now(path)
  local stat = uv.fs_stat(path)
  if not stat then
    return { exists = false }
  end
  return { exists = true, sec = stat.mtime.sec, nsec = stat.mtime.nsec, size = stat.size }
end

---@param buf integer
---@return acp.TrackedBuffer?
function M.get(buf)
  return tracked and tracked[buf]
end

--- The state of the disk after the user last wrote there in this Neovim, from any buffer.
---@param path string real path
---@return acp.buffers.Disk?
function M.written(path)
  return saved[path]
end

--- What the user has written of a file, where they have closed its buffer a moment ago.
---@param path string real path
---@return acp.buffers.Info?
function M.left(path)
  return left[path]
end

--- The unsaved text that a buffer had before it took over what the disk has, for a host that died
--- right then.
---@param path string real path
---@return string?
function M.overtaken(path)
  local had = overtaken[path]
  return had and had.lost and M.disk_is(path, had.disk) and had.text or nil
end

--- A buffer with unsaved text is about to take over what the disk has.
---@param buf integer
---@param path string real path
---@param disk acp.buffers.Disk
function M.takes_over(buf, path, disk)
  if api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) > left_size then
    return
  end
  local text = require('acp.files.text').lines({ buf = buf, first = 0, last = -1 }).text
  local had = { text = text, disk = disk }
  overtaken[path] = had
  vim.defer_fn(function()
    if overtaken[path] == had and not had.lost then
      overtaken[path] = nil
    end
  end, left_for)
end

--- Sends the host all files, if they differ from what it knows.
local function report_now()
  if not reporting then
    return
  end
  reporting = false
  local files = {}
  for _, b in pairs(tracked or {}) do
    table.insert(files, { name = b.name, disk = b.disk })
  end
  for _, b in pairs(large) do
    table.insert(files, { name = b.name, large = true })
  end
  require('acp.rpc.host').notify('track', { files = files })
end

--- Sends the host all files, once for all present changes.
local function report()
  if not reporting then
    reporting = true
    vim.schedule(report_now)
  end
end

---@param name? string the file to look at; default: all
local function check(name)
  require('acp.rpc.host').notify('check', { name = name })
end

---@param buf integer
---@return boolean
local function is_large(buf)
  return api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) > max_size
end

--- The user now knows what the disk has of a large file.
---@param buf integer
local function know(buf)
  local b = large[buf]
  if b then
    b.disk, b.told = M.disk_now(b.name), nil
  end
end

--- Whether the file of a large buffer has changed without the user knowing. They are told once,
--- until they have read or written it.
---@param buf integer
---@return boolean
function M.passed(buf)
  local b = large[buf]
  if not b or b.told or M.disk_is(b.name, b.disk) then
    return false
  end
  b.told = true
  return true
end

---@param group integer
---@param buf integer
local function add(group, buf)
  local bo = vim.bo[buf]
  local name = api.nvim_buf_get_name(buf)
  if
    not tracked
    or tracked[buf]
    or large[buf]
    or not (api.nvim_buf_is_loaded(buf) and bo.buftype == '')
    or name:sub(1, 1) ~= '/'
  then
    return
  end
  if is_large(buf) then
    large[buf] = { name = name, disk = M.disk_now(name) }
    report()
    return
  end
  tracked[buf] = {
    name = name,
    autoread = api.nvim_buf_call(buf, function()
      return api.nvim_get_option_value('autoread', { scope = 'local' })
    end),
  }
  bo.autoread = false
  -- For each buffer: one for all would silence Neovim about the others too.
  api.nvim_create_autocmd('FileChangedShell', {
    group = group,
    buffer = buf,
    desc = 'Have the host compare the file',
    callback = function()
      vim.v.fcs_choice = choice
      local b = M.get(buf)
      if b and choice == '' and not (b.disk and M.disk_is(b.name, b.disk)) then
        b.disk = b.disk or { exists = false } -- not what Neovim has read
        check(b.name)
      end
    end,
  })
  report()
end

--- Keeps for a moment what the user has written from a buffer that they close.
---@param buf integer
local function keep(buf)
  local b = M.get(buf)
  local bo = vim.bo[buf]
  local recent = b and b.wrote and uv.now() - b.wrote < left_for
  if not b or not recent or bo.modified or vim.v.exiting ~= vim.NIL then
    return
  end
  if not b.disk.exists or b.disk.size > left_size then -- it was gone before anybody could look
    return
  end
  local path = require('acp.rpc.path').real(b.name)
  local info = require('acp.files.text').whole(buf)
  info.empty = b.disk.size == 0 -- nobody may look into it now
  left[path] = info
  vim.defer_fn(function()
    if left[path] == info then
      left[path] = nil
    end
  end, left_for)
end

---@param buf integer
local function remove(buf)
  if large[buf] then
    large[buf] = nil
    report()
  end
  local b = M.get(buf)
  if not b then
    return
  end
  tracked[buf] = nil
  if api.nvim_buf_is_valid(buf) then
    vim.bo[buf].autoread = b.autoread
  end
  report()
end

---@param event { buf: integer, file: string }
---@return acp.TrackedBuffer? buffer of which the event's file is the file
---@return string path of the event's file, the real one where there is such a file
local function own(event)
  local b = M.get(event.buf)
  local file = vim.fn.fnamemodify(event.file, ':p')
  local path = require('acp.rpc.path').real(file)
  if b and (file == b.name or path == require('acp.rpc.path').real(b.name)) then
    return b, path
  end
  return nil, path
end

--- Notes what the disk has before Neovim writes it.
---@param event { buf: integer, file: string }
local function note_before(event)
  local _, path = own(event)
  before[path] = M.disk_now(path)
end

--- Notes what the disk has after Neovim has written it. The autocommands fire even if nothing was
--- written, as when the user said no.
---@param event { buf: integer, file: string }
---@param part boolean
---@return acp.TrackedBuffer? written the buffer, where the file is its own
local function note_written(event, part)
  local b, path = own(event)
  local was = before[path]
  before[path] = nil
  if was and M.disk_is(path, was) then
    return
  end
  local disk = M.disk_now(path)
  if not M.saving then
    saved[path] = disk
  end
  if b then
    b.disk, b.part = disk, part or nil
    b.wrote = not M.saving and not part and uv.now() or nil
  elseif not M.saving and path:sub(1, 1) == '/' then
    require('acp.rpc.host').notify('file_saved', { name = path, disk = disk })
  end
  return b
end

--- Lets a buffer catch up with the disk before Neovim writes it.
---@param event { buf: integer, file: string }
local function before_write(event)
  local b = own(event)
  if not b then
    return note_before(event)
  end
  local function in_step()
    return M.get(event.buf) ~= b or M.disk_is(b.name, b.disk)
  end
  if b.disk and not in_step() and not (b.given_up and M.disk_is(b.name, b.given_up)) then
    report_now()
    require('acp.files.catch_up').now(event.buf, b.name, in_step)
    b.given_up = not in_step() and M.disk_now(b.name) or nil
  end
  if b.stale and M.disk_is(b.name, b.stale) then
    api.nvim_buf_call(event.buf, function()
      M.expect(event.buf, b.stale)
    end)
  end
  note_before(event)
end

--- Checks whether a buffer's file changed after Neovim read it, before it was tracked.
---@param buf integer
local function look(buf)
  local b = M.get(buf)
  if b and not b.disk then
    pcall(vim.cmd, 'silent! ' .. buf .. 'checktime')
    b.disk = b.disk or M.disk_now(b.name)
  end
end

--- Begins to track the loaded files.
---@param limit integer larger ones, in bytes, are left to Neovim
local function start(limit)
  if tracked then
    return
  end
  tracked, max_size = {}, limit
  local group = api.nvim_create_augroup('acp_track', {})
  local function on(events, desc, callback)
    api.nvim_create_autocmd(events, { group = group, desc = desc, callback = callback })
  end
  on({ 'BufReadPost', 'BufNewFile', 'BufEnter', 'BufFilePost' }, 'Track a file', function(event)
    local b = M.get(event.buf)
    local name = api.nvim_buf_get_name(event.buf)
    local renamed = b and b.name ~= name
    if renamed then
      require('acp.rpc.host').notify('file_renamed', { from = b.name, to = name })
    end
    local read = event.event == 'BufReadPost'
    local was = large[event.buf]
    if was and (read or was.name ~= name) or renamed or read and b and is_large(event.buf) then
      api.nvim_clear_autocmds({ group = group, buffer = event.buf })
      remove(event.buf)
    end
    add(group, event.buf)
    b = M.get(event.buf)
    if b and (event.event == 'BufReadPost' or event.event == 'BufNewFile') then
      b.disk, b.part = M.disk_now(b.name), nil
      -- If it was tracked before:
      require('acp.rpc.host').notify('reread', { name = b.name, disk = b.disk })
    elseif b and not b.disk then
      vim.schedule(function() -- no autocommand would come now
        look(event.buf)
      end)
    end
  end)
  local function on_write()
    return api.nvim_create_autocmd('BufWritePre', {
      group = group,
      desc = 'Take over what others have written',
      nested = true, -- M.expect needs an autocommand
      callback = before_write,
    })
  end
  -- Once before the user's formatters, and once after them, as they may take their time.
  on_write()
  local last = on_write()
  on({ 'BufEnter', 'InsertEnter', 'CmdlineEnter' }, 'Come last before a write', function()
    pcall(api.nvim_del_autocmd, last)
    last = on_write()
  end)
  on('BufWritePost', 'Note what the user wrote', function(event)
    add(group, event.buf)
    know(event.buf)
    local b = note_written(event, false)
    if b and not M.saving then
      report_now() -- of a new name, before the agent can do anything to the file
      require('acp.rpc.host').notify('file_saved', { name = b.name, disk = b.disk })
    end
  end)
  on({ 'FileWritePre', 'FileAppendPre' }, 'Note what is there before', note_before)
  on({ 'FileWritePost', 'FileAppendPost' }, 'Note what the user wrote', function(event)
    note_written(event, true)
  end)
  on('BufUnload', 'Track a file no longer', function(event)
    keep(event.buf)
    if M.get(event.buf) or large[event.buf] then
      api.nvim_clear_autocmds({ group = group, buffer = event.buf })
      remove(event.buf)
    end
  end)
  on('FocusGained', 'Have the host compare the files', function()
    check()
  end)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    add(group, buf)
    look(buf)
  end
  report()
end

--- Stops tracking: 'autoread' is the user's again.
local function stop()
  if not tracked then
    return
  end
  api.nvim_del_augroup_by_name('acp_track')
  for _, buf in ipairs(vim.tbl_keys(tracked)) do
    remove(buf)
  end
  -- The next host asks what the user had saved of a turn that was cut short, and had not.
  tracked, large, before = nil, {}, {}
  for path, had in pairs(overtaken) do
    overtaken[path] = not had.lost and had or nil
    had.lost = true
  end
  require('acp.files.dirty').forget()
  require('acp.files.by_path').forget()
end

--- Makes Neovim take the file now on the disk for the one that it last read or wrote itself. It
--- does so if an autocommand has written the file in its place; the one here writes nothing.
---@param buf integer the current buffer
---@return boolean renewed not while an autocommand runs within which there are no others
local function renew(buf)
  local written = false
  local id = api.nvim_create_autocmd('FileAppendCmd', {
    buffer = buf,
    callback = function()
      written = true
    end,
  })
  local cpoptions = vim.go.cpoptions
  vim.go.cpoptions = cpoptions:gsub('A', '') -- /dev/null would become the alternate file
  -- Without the autocommand the buffer would go behind the file: it is tried elsewhere first.
  pcall(vim.cmd, 'silent lockmarks 1write! >> /dev/null')
  vim.go.cpoptions = cpoptions
  local ok = written and pcall(vim.cmd, 'silent lockmarks write! >>')
  api.nvim_del_autocmd(id)
  return ok
end

--- The user knows what is on the disk, whether the buffer has that text or deliberately another:
--- Neovim asks nothing at the next `:write`, as long as the disk does not change.
---@param buf integer the current buffer
---@param disk acp.buffers.Disk
function M.expect(buf, disk)
  local ok = not disk.exists or renew(buf)
  local b = M.get(buf)
  if b then
    b.stale = not ok and disk or nil
  end
end

--- The host has written a buffer's text, without autocommands.
---@param buf integer
function M.wrote(buf)
  know(buf)
  local b = M.get(buf)
  if b then
    b.disk, b.part = M.disk_now(b.name), nil
  end
end

--- The buffer's text is in step with what the disk has.
---@param buf integer the current buffer
---@param disk acp.buffers.Disk
function M.in_step(buf, disk)
  M.expect(buf, disk)
  know(buf)
  local b = M.get(buf)
  if b then
    b.disk, b.part = disk, nil
  end
end

--- Makes Neovim check a buffer's file, whether the buffer is tracked or not. It asks nothing, and
--- reads it only if told to.
---@param buf integer
---@param how? 'edit' read it anew
local function checktime(buf, how)
  local bo = vim.bo[buf]
  local autoread = api.nvim_buf_call(buf, function()
    return api.nvim_get_option_value('autoread', { scope = 'local' })
  end)
  bo.autoread = false
  choice = how or ''
  local id = api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      vim.v.fcs_choice = choice
    end,
  })
  pcall(vim.cmd, 'silent! ' .. buf .. 'checktime')
  pcall(api.nvim_del_autocmd, id)
  choice = ''
  if api.nvim_buf_is_loaded(buf) then
    bo.autoread = autoread
  end
end

--- The host has changed a buffer's file, whose text must not be read: Neovim notes the time and the
--- mode.
---@param buf integer
function M.look(buf)
  local b = M.get(buf)
  if b then
    b.disk = M.disk_now(b.name)
  end
  checktime(buf)
end

--- Makes Neovim reload a file whose bytes only Neovim understands.
---@param buf integer
function M.reload(buf)
  checktime(buf, 'edit')
end

--- The host has sessions, or no longer has any.
---@param args { on: boolean, max_size?: integer }
function M.watch(args)
  if args.on then
    start(args.max_size)
  else
    stop()
    require('acp.rpc.state').watch_limit = nil
  end
end

require('acp.rpc.host').ended:add(stop)

return M
