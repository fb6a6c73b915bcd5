---Keys of which some take a while: what is typed behind a jump that the host must find first waits
---until the cursor is there, so that it is about the place the user means.
local M = {}

---So long, in ms, keys that are not ours wait at most; ours wait as long as it takes.
local limit = 1000

---@param over fun(): boolean
local function await(over)
  if not over() then
    vim.wait(limit, over, 1)
  end
end

---Starts what takes a while, and has all that was typed behind it wait for it.
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

---@alias acp.Step fun(done: fun()) calls done when the next one may run

---@class acp.Steps the first of them is running
local Steps = {}
Steps.__index = Steps

---@return acp.Steps
function M.new()
  return setmetatable({}, Steps)
end

---@param self acp.Steps
local function run(self)
  local step = self[1]
  local ok, err = pcall(step, function()
    if self[1] == step then
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

---Runs a step when those before it are done: now, where there is none. What is typed behind it
---waits.
---@param step acp.Step
function Steps:add(step)
  table.insert(self, step)
  if #self == 1 then
    run(self)
  end
  await(function()
    return #self == 0
  end)
end

---Forgets the one that is running, and all that wait for it.
function Steps:drop()
  for i = #self, 1, -1 do
    self[i] = nil
  end
end

return M
