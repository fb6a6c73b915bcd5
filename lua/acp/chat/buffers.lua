---The buffers of the sessions: a transcript that only the host writes, and a prompt that is the
---user's. They belong to a session; windows come and go.
local M = {}

local api = vim.api
local host = require('acp.rpc.host')
local signal = require('acp.rpc.signal')
local state = require('acp.rpc.state')

---A session's buffer was created. Gets it and what its name ends in.
M.created = signal()

---A chat or a prompt gets its keys. Gets its buffer, 'chat' or 'prompt', and its session.
M.keys = signal()

---A chat or a prompt was reloaded, as by |:edit|. Gets its buffer, 'chat' or 'prompt', and its
---session.
M.reread = signal()

---The buffers of a closed session are forgotten. Gets its id.
M.forgotten = signal()

---@type {chat: (fun(id: integer): integer), prompt: (fun(id: integer): integer)} what makes them
M.makers = {}

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

---The name of a session's buffer. Its kind comes last, where every tabline shows it.
---@param what string
---@param id integer the session
---@return string
function M.name(what, id)
  local session = state.sessions[id]
  local agent = session and session.agent:gsub('[^%w._-]', '_') or 'agent'
  return ('acp://%s-%d/%s'):format(agent, id, what)
end

---@param what string 'chat', 'prompt', …
---@param filetype string
---@param id integer the session
---@return integer buf
function M.create(what, filetype, id)
  local buf = require('acp.ui.buffer').create(M.name(what, id), filetype, id)
  M.created:emit(buf, ('-%d/%s'):format(id, what))
  return buf
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

---The buffers of a session, recreated if the user has wiped or unloaded them.
---@param id integer
---@return acp.Buffers
function M.ensure(id)
  local b = bufs[id] or { base = 0, unsent = 0, visible = false, seq = 0 }
  bufs[id] = b
  if not (b.chat and api.nvim_buf_is_loaded(b.chat)) then
    local again = b.chat ~= nil
    b.chat = M.makers.chat(id)
    if again then
      b.base, b.unsent = 0, 0
      host.notify('redraw', { session = id, why = 'the buffer was wiped out' })
    end
  end
  if not (b.prompt and api.nvim_buf_is_loaded(b.prompt)) then
    b.prompt = M.makers.prompt(id)
  end
  return b
end

---Leaves only the text of a closed session's buffer: nothing watches it or draws it. An empty
---buffer is deleted.
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

---Keeps a closed session's transcript readable until there are too many of them.
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
  M.forgotten:emit(id)
  vim.tbl_map(strip, loaded)
  keep(b.chat)
end

state.closed:add(M.close)

return M
