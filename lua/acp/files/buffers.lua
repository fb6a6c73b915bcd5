--- Live buffers for the host's package `buffers`: the state of a file's buffer, its text in slices,
--- and one call that applies a text to it as minimal hunks and saves it. The host decides whether
--- to write, what, and what to merge.
---
--- Every function takes one table and returns one table with at least one key, and throws no
--- expected error. `moved = true` means that the host's knowledge was out of date, and nothing was
--- done.

local M = {}

local api, uv = vim.api, vim.uv
local track = require('acp.files.track')
local hunks = require('acp.files.hunks')
local read = require('acp.files.read')
local text = require('acp.files.text')

M.lines, M.read, M.follow = text.lines, read.read, read.follow

---@class (exact) acp.buffers.Info
---@field buf integer 0 when no loaded buffer shows the file
---@field changedtick? integer
---@field modified? boolean
---@field lines? integer number of lines
---@field empty? boolean no line at all, not even an empty one
---@field newline? boolean whether `:write` would end the last line
---@field format? 'unix'|'dos'|'mac'
---@field encoding? string
---@field bom? boolean
---@field readonly? boolean
---@field modifiable? boolean
---@field buftype? string
---@field disk? acp.buffers.Disk with which Neovim was last in step, where that is known
---@field written? acp.buffers.Disk as the user has last written the file
---@field part? boolean the user wrote a part of the buffer over the file
---@field left? acp.buffers.Info what the user closed right after writing it, where buf is 0
---@field overtaken? string unsaved text that it had, see acp.files.track
---@field elsewhere? integer process of another Neovim that has unsaved changes, where buf is 0
---@field slice? acp.buffers.Lines
---@field patch? acp.buffers.Patch instead of it: what the state that is known lacks
---@field known? integer the changedtick of that state, where nobody has asked
---@field changes? integer see acp.files.read
---@field state? string all of this but the text, to be told from another state

---@class (exact) acp.buffers.Patch
---@field first integer 0-based
---@field last integer exclusive
---@field text string what stands instead of these lines

---@class (exact) acp.buffers.Disk
---@field exists boolean
---@field sec? integer modification time
---@field nsec? integer
---@field size? integer

---@class (exact) acp.buffers.Write
---@field buf integer
---@field changedtick integer the buffer must still be at
---@field path string real path
---@field disk acp.buffers.Disk the disk must still be so
---@field steps acp.buffers.Step[]
---@field unsaved? boolean the disk has what it is to have already, and the buffer another text
---@field conflicts? acp.NewConflict[]
---@field differing? integer[] with `conflicts`: see acp.conflict
---@field text? string the agent's, with `conflicts` or where only Neovim knows the encoding
---@field save boolean whether the disk is to be written, having another text
---@field saved? boolean the host has done that, and the buffer gets the same text
---@field state? string the file's buffer must still be so, see acp.buffers.Info

--- Whether a buffer is no longer as the host knows it, or shows another file by now.
---@param args { buf: integer, changedtick: integer, path: string }
---@return boolean
local function moved(args)
  return text.moved(args) or require('acp.files.by_path').find(args.path) ~= args.buf
end

---@class (exact) acp.buffers.Written
---@field changed? boolean whether the buffer's text changed
---@field moved? boolean
---@field locked? boolean text cannot be changed now (|textlock|): try again later
---@field lossy? boolean the buffer's encoding has no form for the text; nothing was done
---@field err? string why nothing was done
---@field keys? string how the user decides the conflicts, in words
---@field writing? boolean the user writes the buffer now
---@field save? integer the changedtick at which the buffer is to be saved once more, by M.save
---@field tick? integer the changedtick at which the buffer has the text
---@field info? acp.buffers.Info what the buffer is then

--- Another Neovim that has unsaved changes of a file, by its swap file.
---@param path string
---@return integer? pid
local function elsewhere(path)
  local dir, base = path:match('^(.*)/([^/]+)$')
  for _, place in ipairs(vim.opt.directory:get()) do
    local name = place .. '/' .. base
    if place == '.' then
      name = dir .. '/.' .. base
    elseif place:sub(-2) == '//' then
      name = place:sub(1, -2) .. path:gsub('/', '%%')
    end
    for _, ext in ipairs({ '.swp', '.swo', '.swn' }) do
      local file = vim.fs.normalize(name) .. ext
      local info = uv.fs_stat(file) and vim.fn.swapinfo(file) or {}
      if info.dirty == 1 and info.pid ~= 0 and info.pid ~= uv.os_getpid() then
        return info.pid
      end
    end
  end
end

local state_fields = {
  'buf',
  'modified',
  'newline',
  'format',
  'encoding',
  'bom',
  'readonly',
  'modifiable',
  'buftype',
  'part',
}

---@param info acp.buffers.Info
---@return string
local function state(info)
  local values = {}
  for i, name in ipairs(state_fields) do
    values[i] = tostring(info[name])
  end
  for _, disk in ipairs({ info.disk or {}, info.written or {} }) do
    for _, name in ipairs({ 'exists', 'sec', 'nsec', 'size' }) do
      table.insert(values, tostring(disk[name]))
    end
  end
  return table.concat(values, ' ')
end

--- Everything about a file's buffer, with the requested lines.
---@param args acp.buffers.Ask
---@return acp.buffers.Info
function M.info(args)
  local buf = require('acp.files.by_path').find(args.path)
  if not buf then
    return {
      buf = 0,
      elsewhere = elsewhere(args.path),
      written = track.written(args.path),
      left = track.left(args.path),
    }
  end
  local bo = vim.bo[buf]
  local known = track.get(buf)
  local tick, lines = api.nvim_buf_get_changedtick(buf), api.nvim_buf_line_count(buf)
  local slice, patch
  if bo.buftype == '' then
    slice, patch = text.asked_for(buf, tick, args, lines)
  end
  local info = {
    slice = slice,
    patch = patch,
    buf = buf,
    changedtick = tick,
    modified = bo.modified,
    lines = lines,
    empty = hunks.is_empty(buf),
    newline = bo.endofline or (bo.fixendofline and not bo.binary),
    format = bo.fileformat,
    encoding = bo.fileencoding,
    bom = bo.bomb,
    readonly = bo.readonly,
    modifiable = bo.modifiable,
    buftype = bo.buftype,
    disk = known and known.disk,
    written = track.written(args.path),
    part = known and known.part,
  }
  info.state = state(info)
  return info
end

--- Writes the current buffer without BufWritePre and without a question, the last newline as
--- 'endofline' says. The caller has checked the disk.
---@param path? string default: the buffer's own
---@return boolean ok
---@return any err
local function write_file(path)
  local bo = vim.bo
  local fixeol = bo.fixendofline
  bo.fixendofline = false
  local ok, err = pcall(vim.cmd, {
    cmd = 'write',
    bang = true,
    args = { path },
    magic = { file = false, bar = false },
    mods = { silent = true, noautocmd = true, lockmarks = true },
  })
  bo.fixendofline = fixeol
  return ok, err
end

--- Marks every state in buf's undo history as differing from the disk, so that undo and redo set
--- 'modified' correctly. Neovim does so when it writes; this write goes nowhere.
local function forget_saved_states()
  local cpoptions = vim.go.cpoptions
  vim.go.cpoptions = cpoptions:gsub('[A+]', '') .. '+'
  write_file('/dev/null')
  vim.go.cpoptions = cpoptions
  vim.bo.modified = true
end

---@param buf integer
---@param new string
---@return boolean
local function encodable(buf, new)
  local fenc = vim.bo[buf].fileencoding
  if fenc == '' or fenc:match('^utf') or fenc:match('^ucs') then
    return true
  end
  local encoded = vim.iconv(new, 'utf-8', fenc)
  return encoded ~= nil and vim.iconv(encoded, fenc, 'utf-8') == new
end

---@param err any
---@return string
local function message(err)
  return (tostring(err):gsub('^.-(E%d+:)', '%1'))
end

--- Applies steps to the current buffer.
---@param buf integer the current buffer
---@param steps acp.buffers.Step[]
---@return boolean ok
---@return { changed: boolean, steps: integer } done
---@return any err
local function take_all(buf, steps)
  local done = { changed = false, steps = 0 }
  for _, step in ipairs(steps) do
    local tick = api.nvim_buf_get_changedtick(buf)
    local ok, changed = pcall(hunks.take, buf, step)
    if api.nvim_buf_get_changedtick(buf) ~= tick then
      done.steps = done.steps + 1
    end
    if not ok then
      return false, done, changed
    end
    done.changed = done.changed or changed
  end
  return true, done
end

--- Undoes the newest steps of the current buffer.
---@param steps integer
local function take_back(steps)
  for _ = 1, steps do
    vim.cmd('silent undo!')
  end
end

---@param err any
---@return acp.buffers.Written
local function failure(err)
  return tostring(err):match('E565') and { locked = true } or { err = message(err) }
end

---@param buf integer
local function fire_saved(buf)
  local was = track.saving
  track.saving = true
  pcall(api.nvim_exec_autocmds, 'BufWritePost', { buffer = buf, modeline = false })
  track.saving = was
end

--- The work of M.write, in the buffer as the current one.
---@param args acp.buffers.Write
---@return acp.buffers.Written
local function write_here(args)
  local buf = args.buf
  local modified, eol, view = vim.bo.modified, vim.bo.endofline, vim.fn.winsaveview()
  if args.saved then
    vim.bo.modified = true -- what the buffer has is no longer what the disk has, also after an undo
  end
  local ok, done, err = take_all(buf, args.steps)
  local saved = false
  if ok then
    if args.unsaved then
      track.in_step(buf, args.disk)
      forget_saved_states()
    elseif args.saved then
      track.in_step(buf, args.disk)
      vim.bo.modified, saved = false, true
    elseif args.save or done.changed or modified then
      saved, err = write_file()
      ok = saved
    end
  end
  if not ok then
    take_back(done.steps)
    vim.fn.winrestview(view)
    vim.bo.endofline, vim.bo.modified = eol, modified
    return failure(err)
  end
  local got = { changed = done.changed, tick = api.nvim_buf_get_changedtick(buf) }
  if args.conflicts then
    require('acp.files.conflict').set(buf, args.conflicts, args.differing, args.text)
    got.keys = require('acp.files.conflict').keys(buf)
  elseif done.changed or modified or saved then
    require('acp.files.conflict').clear(buf)
  end
  if saved then
    if require('acp.config').get().write == 'autocmds' then
      track.wrote(buf)
      got.save = got.tick
    else
      fire_saved(buf)
    end
  end
  return got
end

---@param args acp.buffers.Write
---@return acp.buffers.Written
function M.write(args)
  local buf = args.buf
  if moved(args) or not track.disk_is(args.path, args.disk) then
    return { moved = true }
  end
  if args.state and M.info({ path = args.path }).state ~= args.state then
    return { moved = true }
  end
  if args.text and not encodable(buf, args.text) then
    return { lossy = true }
  end
  local got = api.nvim_buf_call(buf, function()
    return write_here(args)
  end)
  if got.tick and api.nvim_buf_is_loaded(buf) then
    got.info = M.info({ path = args.path })
  end
  return got
end

---@class (exact) acp.buffers.Remove
---@field buf integer
---@field changedtick integer the buffer must still be at
---@field path string real path
---@field disk acp.buffers.Disk the disk must still be so

--- Removes a buffer's file, and the buffer too if no window shows it and it has no unsaved text.
---@param args acp.buffers.Remove
---@return { moved?: boolean, locked?: boolean, err?: string, wiped?: boolean }
function M.remove(args)
  local buf = args.buf
  if moved(args) or not track.disk_is(args.path, args.disk) then
    return { moved = true }
  end
  -- There is no such buffer: whether one may be deleted now is asked before the file is.
  local _, locked = pcall(api.nvim_buf_delete, -1, {})
  if tostring(locked):match('E565') then
    return { locked = true }
  end
  if args.disk.exists then
    local ok, err = uv.fs_unlink(args.path)
    if not ok then
      return { err = err }
    end
  end
  if not vim.bo[buf].modified and #vim.fn.win_findbuf(buf) == 0 then
    pcall(api.nvim_buf_delete, buf, { force = true })
  end
  if api.nvim_buf_is_loaded(buf) then
    require('acp.files.conflict').clear(buf) -- nothing of the agent's is left
    track.look(buf)
  end
  return { wiped = not api.nvim_buf_is_loaded(buf) }
end

--- Makes Neovim notice what the host has changed in a buffer's file besides its text.
---@param args { buf: integer }
---@return { noted: boolean }
function M.note(args)
  local loaded = api.nvim_buf_is_loaded(args.buf)
  if loaded then
    track.look(args.buf)
  end
  return { noted = loaded }
end

--- Whether a large file has changed on the disk without the user knowing.
---@param args { path: string }
---@return { passed: boolean }
function M.passed(args)
  local buf = require('acp.files.by_path').find(args.path)
  return { passed = buf ~= nil and track.passed(buf) }
end

---@class (exact) acp.buffers.Save
---@field path string real path
---@field buf integer
---@field changedtick integer the buffer must still be at
---@field changed boolean the agent's text has just changed the buffer

--- Saves a buffer as the user's `:write` does, after M.write. What autocommands do to the text
--- belongs to the same undo step. If they fail, the file is written without them.
---@param args acp.buffers.Save
---@return { moved?: boolean, took?: number, err?: string }
function M.save(args)
  if moved(args) or not vim.bo[args.buf].modifiable then
    return { moved = true }
  end
  return api.nvim_buf_call(args.buf, function()
    if args.changed then
      pcall(vim.cmd.undojoin)
    end
    local start = uv.hrtime()
    local was = track.saving
    track.saving = true
    local ok, err = pcall(vim.cmd, {
      cmd = 'write',
      bang = true,
      magic = { file = false, bar = false },
      mods = { silent = true, lockmarks = true },
    })
    track.saving = was
    local took = (uv.hrtime() - start) / 1e6
    if not api.nvim_buf_is_loaded(args.buf) then
      return { took = took }
    end
    if api.nvim_buf_get_changedtick(args.buf) ~= args.changedtick then
      hunks.break_undo()
    end
    if not ok then
      if vim.bo[args.buf].modified then
        write_file()
      end
      fire_saved(args.buf)
    end
    return { took = took, err = not ok and message(err):match('^[^\n]*') or nil }
  end)
end

--- Marks a buffer as unmodified: its text is what the disk has.
---@param args { buf: integer, changedtick: integer, path: string, disk: acp.buffers.Disk }
---@return acp.buffers.Written
function M.unmodified(args)
  if moved(args) or not track.disk_is(args.path, args.disk) then
    return { moved = true }
  end
  vim.bo[args.buf].modified = false
  return { changed = false }
end

---@class (exact) acp.buffers.Sync
---@field buf integer
---@field changedtick integer the buffer must still be at
---@field path string real path
---@field disk acp.buffers.Disk the disk must still be so
---@field step? acp.buffers.Step without: the buffer stays as it is
---@field conflicts? acp.NewConflict[] where the buffer has unsaved text after the step
---@field differing? integer[] with `conflicts`: see acp.conflict
---@field text? string what the disk has, with `conflicts`
---@field format? 'unix'|'dos' how the disk's lines end
---@field bom? boolean
---@field encoding? string where that is another one by now
---@field own boolean Neovim itself has left the disk so
---@field reload? boolean only Neovim can tell the disk's text

--- Sets an option of the current buffer that is not so yet.
---@param name string
---@param value any
local function set(name, value)
  if value ~= nil and vim.bo[name] ~= value then
    vim.bo[name] = value
  end
end

--- The work of M.sync, in the buffer as the current one.
---@param args acp.buffers.Sync
---@return acp.buffers.Written
local function sync_here(args)
  local buf, bo = args.buf, vim.bo
  local was = { modified = bo.modified, readonly = bo.readonly, modifiable = bo.modifiable }
  local done = { changed = false, steps = 0 }
  if args.step then
    if was.modified then
      track.takes_over(buf, args.path, args.disk)
    end
    local eol, view = bo.endofline, vim.fn.winsaveview()
    -- The file has changed, whether the user wants to or not.
    set('readonly', false)
    set('modifiable', true)
    -- The states of the undo history that are not modified are those that the disk has: this one is
    -- no longer.
    set('modified', true)
    local ok, err
    ok, done, err = take_all(buf, { args.step })
    if not ok then
      take_back(done.steps)
      vim.fn.winrestview(view)
      set('endofline', eol)
      set('modified', was.modified)
    end
    set('readonly', was.readonly)
    set('modifiable', was.modifiable)
    if not ok then
      return failure(err)
    end
    local function form()
      return bo.fileformat .. tostring(bo.bomb) .. bo.fileencoding
    end
    local was_form = form()
    set('fileformat', args.format)
    set('bomb', args.bom)
    set('fileencoding', args.encoding)
    local modified = args.conflicts ~= nil
    if was.modified or modified or was_form ~= form() then
      forget_saved_states()
    end
    set('modified', modified)
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  if args.conflicts then
    require('acp.files.conflict').set(buf, args.conflicts, args.differing, args.text)
  elseif args.step and (done.changed or was.modified) then
    require('acp.files.conflict').clear(buf)
  end
  if done.changed or not args.own then
    track.in_step(buf, args.disk)
  end
  return {
    changed = done.changed,
    tick = tick,
    keys = args.conflicts and require('acp.files.conflict').keys(buf),
    writing = args.conflicts and require('acp.files.catch_up').writing == buf,
  }
end

--- Brings what the disk has into a buffer, as one undo step. The disk is not touched.
---@param args acp.buffers.Sync
---@return acp.buffers.Written
function M.sync(args)
  local buf = args.buf
  if moved(args) or not track.disk_is(args.path, args.disk) then
    return { moved = true }
  end
  if args.reload then
    track.reload(buf)
    return { changed = api.nvim_buf_get_changedtick(buf) ~= args.changedtick }
  end
  return api.nvim_buf_call(buf, function()
    return sync_here(args)
  end)
end

return M
