--- Which lines of a buffer have become others since the host got its text: so that only they cross
--- once more.

local M = {}

local api = vim.api

---@class (exact) acp.dirty.Range lines of that text which are others now; none where `first` is nil
---@field tick integer
---@field first? integer 0-based
---@field old_last? integer exclusive, of that text
---@field last? integer exclusive, of the text now

---@type table<integer, acp.dirty.Range> by buffer
local ranges = {}
local generation = 0 -- counts forgets: what was attached before listens no more

--- Takes note of lines that become others.
---@param r acp.dirty.Range
---@param first integer
---@param old_last integer
---@param last integer
local function widen(r, first, old_last, last)
  if not r.first then
    r.first, r.old_last, r.last = first, old_last, last
    return
  end
  local reach = math.max(r.last, old_last)
  r.first = math.min(r.first, first)
  r.old_last = r.old_last + reach - r.last
  r.last = reach + last - old_last
end

--- The host gets the text of a buffer as it is now.
---@param buf integer
function M.told(buf)
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
      widen(ranges[buf], first, old_last, last)
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

--- No agent reads any more.
function M.forget()
  ranges = {}
  generation = generation + 1
end

--- The lines that are others than at a changedtick; nil where that is not known.
---@param buf integer
---@param tick integer
---@return acp.dirty.Range?
function M.since(buf, tick)
  local r = ranges[buf]
  return r and r.first and r.tick == tick and r or nil
end

return M
