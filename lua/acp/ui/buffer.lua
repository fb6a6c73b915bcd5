---Our buffers: how they are made, and their keys, which yield to the user's.
local M = {}

local api = vim.api

---@type table<integer, table<string, boolean>> by buffer: the keys that the user has mapped in it,
---each behind its mode
local theirs = {}

---Leaves to the user the keys that they mapped for a buffer's filetype. Mappings made later,
---wherever a language server attaches, are not meant for it.
---@param buf integer
local function yield(buf)
  local keys = {}
  for _, mode in ipairs({ 'n', 'x', 'i' }) do
    for _, map in ipairs(api.nvim_buf_get_keymap(buf, mode)) do
      keys[mode .. vim.fn.keytrans(map.lhsraw)] = true
    end
  end
  theirs[buf] = next(keys) and keys
end

---Whether a key of a buffer is the user's.
---@param buf integer
---@param mode string
---@param lhs string
---@return boolean
function M.yielded(buf, mode, lhs)
  local keys = theirs[buf]
  local raw = keys and api.nvim_replace_termcodes(lhs, true, true, true)
  return raw ~= nil and keys[mode .. vim.fn.keytrans(raw)] == true
end

---Maps a key of a buffer unless it is the user's.
---@param buf integer
---@param modes string|string[]
---@param lhs string
---@param rhs string|fun()
---@param opts vim.keymap.set.Opts
function M.set(buf, modes, lhs, rhs, opts)
  for _, mode in ipairs(type(modes) == 'table' and modes or { modes }) do
    if not M.yielded(buf, mode, lhs) then
      vim.keymap.set(mode, lhs, rhs, opts)
    end
  end
end

---Makes a buffer. An existing one of its name is renamed.
---@param name string
---@param filetype string
---@param session? integer whose it is
---@return integer buf
function M.create(name, filetype, session)
  local buf = api.nvim_create_buf(false, true)
  local old = -1
  if vim.fn.bufexists(name) == 1 then -- which looks for no pattern
    old = vim.fn.bufnr('^' .. vim.fn.escape(name, '[]*?\\') .. '$')
  end
  if old ~= -1 and api.nvim_buf_is_loaded(old) then
    pcall(api.nvim_buf_set_name, old, name .. ' (old)')
  elseif old ~= -1 then
    pcall(api.nvim_buf_delete, old, { force = true })
  end
  pcall(api.nvim_buf_set_name, buf, name)
  vim.b[buf].acp_session = session
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].textwidth, vim.bo[buf].wrapmargin = 0, 0 -- what is typed there is no text of a file
  vim.bo[buf].filetype = filetype
  yield(buf)
  return buf
end

---Sets the text of a new buffer, which |u| does not undo.
---@param buf integer
---@param lines string[]
function M.fill(buf, lines)
  vim.bo[buf].undolevels = -1
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].undolevels = -123456 -- the global one
end

---The `<Plug>` key of an action of the configuration.
---@param action string
---@return string
function M.plug(action)
  local name = action:gsub('_(%a)', string.upper):gsub('^%a', string.upper)
  return '<Plug>(Acp' .. name .. ')'
end

---Runs a `<Plug>`-able action for an action name of the configuration.
---@param buf integer
---@param mode string|string[]
---@param action string
---@param plug string
---@param fn fun()
---@param opts? vim.keymap.set.Opts
function M.map(buf, mode, action, plug, fn, opts)
  local lhs = require('acp.config').get().keys[action]
  local desc = opts and opts.desc or require('acp.config').desc(action)
  vim.keymap.set(mode, plug, fn, { buffer = buf, desc = desc })
  if lhs then
    opts = vim.tbl_extend('force', opts or {}, { buffer = buf, remap = true, desc = desc })
    M.set(buf, mode, lhs, plug, opts)
  end
end

return M
