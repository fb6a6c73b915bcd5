--- What a read has to know of a file's buffer. While an agent reads a file, the host is told when
--- that changes, and what it is then: the next read does not wait for Neovim, which may be drawing.

local M = {}

local api, uv = vim.api, vim.uv
local by_path = require('acp.files.by_path')
local dirty = require('acp.files.dirty')
local hunks = require('acp.files.hunks')
local host = require('acp.rpc.host')
local text = require('acp.files.text')
local track = require('acp.files.track')

--- How long after an agent has asked changes are told, in ms.
local patience = 10000

---@class (exact) acp.Followed
---@field path string
---@field asked integer when an agent asked last, by |uv.now()|
---@field told boolean the host has what holds now
---@field due? boolean it is about to get it

---@type table<integer, acp.Followed> by buffer
local followed = {}
--- Counts when what the host has holds no longer, so that it can tell an answer from before that.
local changes = 0
---@type integer?
local group

--- What the host has of a buffer, or of all, holds no longer.
---@param buf? integer
local function pass(buf)
  changes = changes + 1
  host.notify('passed', { buf = buf, changes = changes })
end

--- What the host has of any buffer may not hold any longer.
local function pass_all()
  if next(followed) then
    followed = {}
    pass()
  end
end

--- What a read has to know of a buffer, without its lines: agents read so often that each option
--- counts.
---@param path string real path
---@param buf integer
---@return acp.buffers.Info
local function describe(path, buf)
  local of = { buf = buf }
  local function option(name)
    return api.nvim_get_option_value(name, of)
  end
  local info = {
    buf = buf,
    changedtick = api.nvim_buf_get_changedtick(buf),
    lines = api.nvim_buf_line_count(buf),
    empty = hunks.is_empty(buf),
    newline = option('endofline') or (option('fixendofline') and not option('binary')),
    written = track.written(path),
    changes = changes,
  }
  if option('buftype') ~= '' then
    info.buftype = option('buftype')
  elseif option('modified') then
    info.modified = true
  else
    info.format, info.encoding = option('fileformat'), option('fileencoding')
  end
  return info
end

--- Tells the host what holds now.
---@param buf integer
---@param f acp.Followed
local function report(buf, f)
  f.due = nil
  if followed[buf] ~= f or f.told then
    return
  end
  followed[buf] = nil
  if by_path.find(f.path) ~= buf then
    return
  end
  local info = describe(f.path, buf)
  if info.buftype then
    return
  elseif info.modified then
    info.known, info.patch = text.unsent(buf)
    if not info.known then
      return
    end
  end
  followed[buf], f.told = f, true
  host.notify('ahead', { path = f.path, info = info })
end

dirty.changed:add(function(buf)
  local f = followed[buf]
  if not f then
    return
  end
  if f.told then
    f.told = false
    pass(buf)
  end
  if uv.now() - f.asked > patience then
    followed[buf] = nil
  elseif not f.due then
    f.due = true
    vim.schedule(function()
      report(buf, f)
    end)
  end
end)

--- The host gets what a read has to know of a buffer, and from now on what changes of it.
---@param path string real path
---@param buf integer
local function follow(path, buf)
  if not group then
    group = api.nvim_create_augroup('acp_read', {})
    local function on(events, pattern)
      api.nvim_create_autocmd(
        events,
        { group = group, pattern = pattern, desc = 'Know what reads know', callback = pass_all }
      )
    end
    on({ 'BufFilePost', 'BufReadPost', 'BufNewFile', 'BufEnter', 'FocusGained', 'DirChanged' })
    on({ 'BufWritePost', 'FileWritePost', 'FileAppendPost' })
    on('OptionSet', {
      'endofline',
      'fixendofline',
      'binary',
      'buftype',
      'modified',
      'fileformat',
      'fileencoding',
    })
  end
  dirty.watch(buf)
  local f = followed[buf] or { path = path }
  f.asked, f.told = uv.now(), true
  followed[buf] = f
end

--- What a read has to know about a file's buffer, with the requested lines if it has unsaved text.
---@param args acp.buffers.Ask
---@return acp.buffers.Info
function M.read(args)
  local buf = by_path.find(args.path)
  if not buf then
    return { buf = 0, written = track.written(args.path) }
  end
  local info = describe(args.path, buf)
  info.overtaken = track.overtaken(args.path)
  if info.modified then
    info.slice, info.patch = text.asked_for(buf, info.changedtick, args, info.lines)
  end
  return info
end

--- M.read for an agent, which will read more of the file soon.
---@param args acp.buffers.Ask
---@return acp.buffers.Info
function M.follow(args)
  local info = M.read(args)
  if info.buf > 0 and not info.buftype then
    follow(args.path, info.buf)
  end
  return info
end

dirty.forgotten:add(function()
  pass_all()
  if group then
    api.nvim_del_augroup_by_id(group)
    group = nil
  end
end)

return M
