--- Which lines of a buffer have changed since the host got its text, so that only they are sent
--- again.

local M = {}

local api = vim.api

---@class (exact) acp.DirtyLines: acp.Range
---@field tick integer the changedtick of that text

---@type table<integer, acp.DirtyLines> by buffer
local ranges = {}
local generation = 0 -- counts forgets: what was attached before listens no more

--- The host gets the text of a buffer as it is now.
---@param buf integer
function M.sent(buf)
  local known = ranges[buf] ~= nil
  ranges[buf] = { tick = api.nvim_buf_get_changedtick(buf) }
  if known then
    return
  end
  local mine = generation
  api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, old_last, last)
      if mine ~= generation then
        return true
      end
      require('acp.ui.ranges').grow(ranges[buf], first, old_last, last)
    end,
    on_reload = function()
      if mine == generation then
        ranges[buf] = { tick = -1 }
      end
    end,
    on_detach = function()
      if mine == generation then
        ranges[buf] = nil
      end
    end,
  })
end

--- Forgets everything: no agent reads any more.
function M.forget()
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
