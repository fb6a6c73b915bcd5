---The buffers of the sessions: a transcript that only the host writes, and a prompt that is the
---user's. They belong to a session; windows come and go.
local M = {}

local api = vim.api

---@class acp.Buffers
---@field chat integer
---@field prompt integer
---@field base integer lines of the chat that an earlier host has written
---@field unsent integer lines at the end of the chat that are of prompts which wait
---@field visible boolean what the host was told
---@field seq integer the last edit that the chat shows
---@field width? integer cells of the narrowest window, as the host was told

---@type table<integer, acp.Buffers> by session
local bufs = {}

---How many transcripts of closed sessions may still be read while no window shows them.
local kept = 10
---@type integer[] these, the oldest first
local closed = {}

---@type table<integer, table<string, boolean>> by buffer: the keys that the user has mapped in it,
---each behind its mode
local theirs = {}

---Leaves to the user the keys that they have mapped for a buffer's filetype. What maps keys later,
---wherever a language server attaches, is not meant for it.
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

---Maps a key of a buffer where it is not the user's.
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

---The name of a session's buffer. What it is comes last, where every tabline shows it.
---@param what string
---@param id integer the session
---@return string
function M.name(what, id)
  local session = require('acp.rpc.state').sessions[id]
  local agent = session and session.agent:gsub('[^%w._-]', '_') or 'agent'
  return ('acp://%s-%d/%s'):format(agent, id, what)
end

---@param what string 'chat', 'prompt', …
---@param filetype string
---@param id integer the session
---@return integer buf
function M.create(what, filetype, id)
  local name = M.name(what, id)
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
  vim.b[buf].acp_session = id
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].textwidth, vim.bo[buf].wrapmargin = 0, 0 -- what is typed there is no text of a file
  vim.bo[buf].filetype = filetype
  yield(buf)
  if package.loaded['acp.chat.mksession'] then
    require('acp.chat.mksession').replace(buf, ('-%d/%s'):format(id, what))
  end
  return buf
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

---The buffers of a session, if it has any.
---@param id integer
---@return acp.Buffers?
function M.get(id)
  return bufs[id]
end

---@return fun(): integer, acp.Buffers
function M.each()
  return pairs(bufs)
end

---The buffers of a session, made anew where the user has wiped or unloaded them.
---@param id integer
---@return acp.Buffers
function M.ensure(id)
  local b = bufs[id] or { base = 0, unsent = 0, visible = false, seq = 0 }
  bufs[id] = b
  if not (b.chat and api.nvim_buf_is_loaded(b.chat)) then
    local again = b.chat ~= nil
    b.chat = require('acp.chat.transcript').create(id)
    if again then
      b.base, b.unsent = 0, 0
      require('acp.rpc.host').notify('redraw', { session = id, why = 'the buffer was wiped' })
    end
  end
  if not (b.prompt and api.nvim_buf_is_loaded(b.prompt)) then
    b.prompt = require('acp.prompt.buffer').create(id)
  end
  return b
end

---Leaves of a closed session's buffer its text: nothing hears of it, and nothing draws it. Without
---a text it goes.
---@param buf integer
local function strip(buf)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    vim.lsp.buf_detach_client(buf, client.id)
  end
  require('acp.ui.highlight').detach(buf)
  if package.loaded['acp.ui.image'] then
    require('acp.ui.image').detach(buf)
  end
  for _, autocmd in ipairs(api.nvim_get_autocmds({ buffer = buf })) do
    pcall(api.nvim_del_autocmd, autocmd.id)
  end
  api.nvim_buf_clear_namespace(buf, -1, 0, -1)
  if api.nvim_buf_line_count(buf) == 1 and api.nvim_buf_get_lines(buf, 0, 1, true)[1] == '' then
    return api.nvim_buf_delete(buf, { force = true })
  end
  for _, mode in ipairs({ 'n', 'x', 'i' }) do
    for _, map in ipairs(api.nvim_buf_get_keymap(buf, mode)) do
      if (map.desc or ''):match('^acp: ') or (map.rhs or ''):match('^<Plug>%(Acp') then
        api.nvim_buf_del_keymap(buf, mode, map.lhs)
      end
    end
  end
end

---Lets a closed session's transcript be read until there are too many of them.
---@param buf integer
local function keep(buf)
  table.insert(closed, buf)
  local oldest = #closed > kept and table.remove(closed, 1)
  if oldest and api.nvim_buf_is_loaded(oldest) then
    if #vim.fn.win_findbuf(oldest) > 0 then
      vim.bo[oldest].bufhidden = 'wipe' -- the user has it before them
    else
      api.nvim_buf_delete(oldest, { force = true })
    end
  end
end

---Forgets the buffers of a closed session, as soon as no window shows them.
---@param id integer
function M.close(id)
  local b = bufs[id]
  if not b then
    return
  end
  local loaded = vim.tbl_filter(api.nvim_buf_is_loaded, { b.chat, b.prompt })
  for _, buf in ipairs(loaded) do
    if #vim.fn.win_findbuf(buf) > 0 then
      api.nvim_create_autocmd({ 'BufHidden', 'BufUnload' }, {
        buffer = buf,
        once = true,
        desc = 'Forget the buffers of a closed session',
        callback = vim.schedule_wrap(function()
          M.close(id)
        end),
      })
      return
    end
  end
  bufs[id] = nil
  require('acp.prompt.buffer').forget(id)
  vim.tbl_map(strip, loaded)
  keep(b.chat)
end

return M
