---How a lower module tells higher ones that something has happened: they add functions, it emits.

---@class acp.Signal
---@field [integer] fun(...: any)
local Signal = {}
Signal.__index = Signal

---Calls a function whenever the signal is emitted, after those that were added before.
---@param fn fun(...: any)
function Signal:add(fn)
  table.insert(self, fn)
end

---@param ... any
function Signal:emit(...)
  for _, fn in ipairs(self) do
    fn(...)
  end
end

---@return acp.Signal
return function()
  return setmetatable({}, Signal)
end
