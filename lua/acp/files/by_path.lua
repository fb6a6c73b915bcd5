--- Which buffer shows a file, without checking every buffer: there may be a thousand of them, and
--- an agent reads file after file.

local M = {}

local api = vim.api
local real = require('acp.rpc.path').real

---@class (exact) acp.NamedBuffer
---@field name string
---@field path? string where the name leads, where it is a file's

---@type table<integer, acp.NamedBuffer>
local known = {}
---@type table<string, integer[]> the buffers of a path
local paths = {}
---@type table<string, integer> the buffer of a name
local names = {}
---@type table<integer, true> those to be looked at again
local stale = {}
---@type table<integer, true> those that may get a name without an event, as the first buffer does
local unnamed = {}
---@type integer? the newest of those that were looked at; nil: nothing is watched
local newest

---@param buf integer
local function drop(buf)
  local was = known[buf]
  local path = was and was.path
  known[buf], stale[buf], unnamed[buf] = nil, nil, nil
  if was and names[was.name] == buf then
    names[was.name] = nil
  end
  if path then
    local rest = vim.tbl_filter(function(other)
      return other ~= buf
    end, paths[path])
    paths[path] = #rest > 0 and rest or nil
  end
end

---@param buf integer
local function note(buf)
  drop(buf)
  if not api.nvim_buf_is_valid(buf) then
    return
  end
  local name = api.nvim_buf_get_name(buf)
  local path = name:sub(1, 1) == '/' and real(name) or nil
  known[buf], names[name] = { name = name, path = path }, buf
  if path then
    paths[path] = paths[path] or {}
    table.insert(paths[path], buf)
    table.sort(paths[path])
  elseif name == '' then
    unnamed[buf] = true
  end
end

--- The names may lead to other files now.
local function look_at_all()
  known, paths, names, stale, unnamed, newest = {}, {}, {}, {}, {}, 0
end

local function watch()
  look_at_all()
  local group = api.nvim_create_augroup('acp_by_path', {})
  local function on(events, callback)
    api.nvim_create_autocmd(
      events,
      { group = group, desc = 'Note which buffer shows a file', callback = callback }
    )
  end
  on({ 'BufFilePost', 'BufReadPost', 'BufNewFile', 'BufWritePost', 'BufEnter' }, function(event)
    stale[event.buf] = true
  end)
  on('BufWipeout', function(event)
    drop(event.buf)
  end)
  on({ 'FocusGained', 'DirChanged' }, look_at_all)
end

--- Looks again at the buffers of a path whose names do not lead there any more, as a symbolic link
--- has come or gone.
---@param path string real path
local function follow_links(path)
  local named = names[path]
  if named and known[named].path ~= path then
    note(named)
  end
  for _, buf in ipairs(vim.list_slice(paths[path] or {})) do
    local name = known[buf].name
    if name ~= path and real(name) ~= path then
      note(buf)
    end
  end
end

--- The loaded buffer that shows a file; one that is not a file, by its 'buftype', only if no other
--- does.
---@param path string real path
---@return integer?
function M.find(path)
  if not newest then
    watch()
  end
  local last = vim.fn.bufnr('$')
  for buf = newest + 1, last do
    note(buf)
  end
  newest = last
  for buf in pairs(unnamed) do
    if not api.nvim_buf_is_valid(buf) or api.nvim_buf_get_name(buf) ~= '' then
      stale[buf] = true
    end
  end
  for buf in next, stale do
    note(buf)
  end
  follow_links(path)
  local special
  for _, buf in ipairs(paths[path] or {}) do
    if api.nvim_buf_is_loaded(buf) then
      if api.nvim_get_option_value('buftype', { buf = buf }) == '' then
        return buf
      end
      special = special or buf
    end
  end
  return special
end

--- Forgets everything: nobody asks any more.
function M.forget()
  if newest then
    api.nvim_del_augroup_by_name('acp_by_path')
    look_at_all()
    newest = nil
  end
end

return M
