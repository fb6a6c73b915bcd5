--- Which lines of a buffer have changed since the host got its text, so that only they are sent
--- again.

local M = {}

local api = vim.api

---@class (exact) acp.DirtyLines: acp.Range
---@field tick integer the changedtick of that text

---@type table<integer, acp.DirtyLines> by buffer
local ranges = {}
local generation = 0 -- counts forgets: what was attached before listens no more

--- Gets each buffer that is watched when it changes, in the middle of that.
M.changed = require('acp.rpc.signal')()

--- No buffer is watched any more.
M.forgotten = require('acp.rpc.signal')()

--- Watches a buffer.
---@param buf integer
function M.watch(buf)
  if ranges[buf] then
    return
  end
  ranges[buf] = { tick = -1 }
  local mine = generation
  api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, old_last, last)
      if mine ~= generation then
        return true
      end
      require('acp.ui.ranges').grow(ranges[buf], first, old_last, last)
      M.changed:emit(buf)
    end,
    on_reload = function()
      if mine == generation then
        ranges[buf] = { tick = -1 }
        M.changed:emit(buf)
      end
    end,
    on_detach = function()
      if mine == generation then
        ranges[buf] = nil
        M.changed:emit(buf)
      end
    end,
  })
end

--- The host gets the text of a buffer as it is now.
---@param buf integer
function M.sent(buf)
  M.watch(buf)
  ranges[buf] = { tick = api.nvim_buf_get_changedtick(buf) }
end

--- The changedtick at which the host got the text of a buffer.
---@param buf integer
---@return integer? tick
function M.sent_at(buf)
  local r = ranges[buf]
  return r and r.tick >= 0 and r.tick or nil
end

--- Forgets everything: no agent reads any more.
function M.forget()
  M.forgotten:emit()
  ranges = {}
  generation = generation + 1
end

--- The lines that differ from those at a changedtick; nil if that is not known.
---@param buf integer
---@param tick integer
---@return acp.DirtyLines?
function M.since(buf, tick)
  local r = ranges[buf]
  return r and r.first and r.tick == tick and r or nil
end

return M
