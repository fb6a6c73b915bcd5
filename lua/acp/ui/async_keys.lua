---Keys that may take a while: keys typed after a jump that the host must look up wait until the
---cursor is there, so that they act on the place that the user means.
local M = {}

---How long, in ms, keys that are not ours wait at most; ours wait as long as it takes.
local limit = 1000

---@param over fun(): boolean
local function await(over)
  if not over() then
    vim.wait(limit, over, 1)
  end
end

---Starts something slow, and makes everything typed after it wait for it.
---@param start fun(done: fun())
function M.await(start)
  local over = false
  start(function()
    over = true
  end)
  await(function()
    return over
  end)
end

---@alias acp.QueuedKey fun(done: fun()) what a key does; calls done when the next one may run

---@class acp.KeyQueue the first of them is running
local Queue = {}
Queue.__index = Queue

---@return acp.KeyQueue
function M.new()
  return setmetatable({}, Queue)
end

---@param self acp.KeyQueue
local function run(self)
  local first = self[1]
  local ok, err = pcall(first, function()
    if self[1] == first then
      table.remove(self, 1)
      if self[1] then
        run(self)
      end
    end
  end)
  if not ok then
    self:drop()
    error(err, 0)
  end
end

---Runs a key's action when those before it are done; at once if there are none. What is typed after
---it waits.
---@param key acp.QueuedKey
function Queue:add(key)
  table.insert(self, key)
  if #self == 1 then
    run(self)
  end
  await(function()
    return #self == 0
  end)
end

---Forgets the running one, and all that wait for it.
function Queue:drop()
  for i = #self, 1, -1 do
    self[i] = nil
  end
end

return M
