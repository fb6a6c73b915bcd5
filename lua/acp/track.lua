--- The files of the loaded buffers while sessions are open. The host is told of them and watches
--- the disk; Neovim itself neither reloads them nor asks about them. Without a session nothing of
--- this exists, and 'autoread' is the user's.

local M = {}

local api, uv = vim.api, vim.uv

--- Larger files, in bytes, are left to Neovim.
local max_size

---@class (exact) acp.track.Buffer
---@field name string
---@field disk? acp.buffers.Disk with which the buffer was last in step
---@field part? boolean the user wrote a part of the buffer over the file
---@field autoread? boolean the user's own value in this buffer

--- Whether it is the host that has just written a file: it knows.
M.saving = false

---@type table<integer, acp.track.Buffer>? nil while no session is open
local tracked
---@type table<string, integer> the tracked buffers by name
local named = {}
local telling = false
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
---@return acp.track.Buffer?
function M.get(buf)
  return tracked and tracked[buf]
end

--- The buffer whose name is a path, without a look at each buffer and the disk.
---@param path string
---@return integer?
function M.find(path)
  local buf = named[path]
  if buf and api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
    return buf
  end
end

--- Tells the host of all files, once for all changes of now.
local function tell()
  if telling then
    return
  end
  telling = true
  vim.schedule(function()
    telling = false
    local files = {}
    for _, b in pairs(tracked or {}) do
      table.insert(files, { name = b.name, disk = b.disk })
    end
    require('acp.host').notify('watch', { files = files })
  end)
end

---@param name? string the file to look at; default: all
local function check(name)
  require('acp.host').notify('check', { name = name })
end

---@param group integer
---@param buf integer
local function add(group, buf)
  local bo = vim.bo[buf]
  local name = api.nvim_buf_get_name(buf)
  if
    not tracked
    or tracked[buf]
    or not (api.nvim_buf_is_loaded(buf) and bo.buftype == '')
    or not (bo.buflisted or vim.b[buf].acp_follow)
    or name:sub(1, 1) ~= '/'
    or api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) > max_size
  then
    return
  end
  tracked[buf] = {
    name = name,
    autoread = api.nvim_buf_call(buf, function()
      return api.nvim_get_option_value('autoread', { scope = 'local' })
    end),
  }
  named[name] = buf
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
  tell()
end

---@param buf integer
local function remove(buf)
  local b = M.get(buf)
  if not b then
    return
  end
  tracked[buf] = nil
  if named[b.name] == buf then -- another buffer may have got the name
    named[b.name] = nil
  end
  if api.nvim_buf_is_valid(buf) then
    vim.bo[buf].autoread = b.autoread
  end
  tell()
end

---@param event { buf: integer, file: string }
---@return acp.track.Buffer? buffer of which the event's file is the file
local function own(event)
  local b = M.get(event.buf)
  local file = vim.fn.fnamemodify(event.file, ':p')
  if b and (file == b.name or uv.fs_realpath(file) == uv.fs_realpath(b.name)) then
    return b
  end
end

--- Begins to track the loaded files.
---@param limit integer larger ones, in bytes, are left to Neovim
function M.start(limit)
  if tracked then
    return
  end
  tracked, max_size = {}, limit
  local group = api.nvim_create_augroup('acp_track', {})
  local function on(events, desc, callback)
    api.nvim_create_autocmd(events, { group = group, desc = desc, callback = callback })
  end
  on({ 'BufReadPost', 'BufEnter', 'BufFilePost' }, 'Track a file', function(event)
    local b = M.get(event.buf)
    if b and b.name ~= api.nvim_buf_get_name(event.buf) then
      api.nvim_clear_autocmds({ group = group, buffer = event.buf })
      remove(event.buf)
    end
    add(group, event.buf)
    b = M.get(event.buf)
    if b and event.event == 'BufReadPost' then
      b.disk, b.part = M.disk_now(b.name), nil
    end
  end)
  on('BufWritePost', 'Note what the user wrote', function(event)
    add(group, event.buf)
    local b = own(event)
    if b then
      b.disk, b.part = M.disk_now(b.name), nil
      if not M.saving then
        require('acp.host').notify('saved', { name = b.name })
      end
    end
  end)
  on({ 'FileWritePost', 'FileAppendPost' }, 'Note what the user wrote', function(event)
    local b = own(event)
    if b then
      b.disk, b.part = M.disk_now(b.name), true
    end
  end)
  on('BufUnload', 'Track a file no longer', function(event)
    if M.get(event.buf) then
      api.nvim_clear_autocmds({ group = group, buffer = event.buf })
      remove(event.buf)
    end
  end)
  on('FocusGained', 'Have the host compare the files', function()
    check()
  end)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    add(group, buf)
    if M.get(buf) then
      pcall(vim.cmd, 'silent! ' .. buf .. 'checktime') -- it may have changed since it was read
    end
  end
  tell()
end

--- Ends it: 'autoread' is the user's again.
function M.stop()
  if not tracked then
    return
  end
  api.nvim_del_augroup_by_name('acp_track')
  for _, buf in ipairs(vim.tbl_keys(tracked)) do
    remove(buf)
  end
  tracked = nil
end

--- The buffer's text is in step with what the disk has: Neovim takes note of the time.
---@param buf integer
---@param disk acp.buffers.Disk
function M.in_step(buf, disk)
  local b = M.get(buf)
  if b then
    b.disk, b.part = disk, nil
    vim.cmd('silent! ' .. buf .. 'checktime')
  end
end

--- Has Neovim look at a buffer's file, whether the buffer is tracked or not. It asks nothing, and
--- does not read it unless told so.
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

--- The host has changed a buffer's file, whose text is not to be read: Neovim takes note of the
--- time and the mode.
---@param buf integer
function M.look(buf)
  local b = M.get(buf)
  if b then
    b.disk = M.disk_now(b.name)
  end
  checktime(buf)
end

--- Has Neovim read the file anew, whose bytes only Neovim understands.
---@param buf integer
function M.reload(buf)
  checktime(buf, 'edit')
end

return M
