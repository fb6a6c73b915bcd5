---The buffers of the sessions: a transcript that only the host writes, and a prompt that is the
---user's. They belong to a session; windows come and go.
local M = {}

local api = vim.api

---@class acp.Buffers
---@field chat integer
---@field prompt integer
---@field base integer lines of the chat that an earlier host has written
---@field visible boolean what the host was told
---@field seq integer the last edit that the chat shows
---@field width? integer cells of the narrowest window, as the host was told

---@type table<integer, acp.Buffers> by session
local bufs = {}

---@param name string
---@param filetype string
---@param id integer
---@return integer buf
function M.create(name, filetype, id)
  local buf = api.nvim_create_buf(false, true)
  local old = vim.fn.bufnr('^' .. vim.fn.escape(name, '[]*?\\') .. '$')
  if old ~= -1 and api.nvim_buf_is_loaded(old) then
    pcall(api.nvim_buf_set_name, old, name .. ' (old)')
  elseif old ~= -1 then
    pcall(api.nvim_buf_delete, old, { force = true })
  end
  pcall(api.nvim_buf_set_name, buf, name)
  vim.b[buf].acp_session = id
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].filetype = filetype
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
function M.map(buf, mode, action, plug, fn)
  local lhs = require('acp.config').get().keys[action]
  vim.keymap.set(mode, plug, fn, { buffer = buf, desc = 'acp: ' .. action })
  if lhs then
    vim.keymap.set(mode, lhs, plug, { buffer = buf, remap = true, desc = 'acp: ' .. action })
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
  local b = bufs[id] or { base = 0, visible = false, seq = 0 }
  bufs[id] = b
  if not (b.chat and api.nvim_buf_is_loaded(b.chat)) then
    local again = b.chat ~= nil
    b.chat = require('acp.chat').create(id)
    if again then
      b.base = 0
      require('acp.host').notify('redraw', { session = id, why = 'the buffer was wiped' })
    end
  end
  if not (b.prompt and api.nvim_buf_is_loaded(b.prompt)) then
    b.prompt = require('acp.prompt').create(id)
  end
  return b
end

return M
