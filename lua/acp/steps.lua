---Keys of which some take a while: what is typed behind a jump that the host must find first waits
---until the cursor is there, so that it is about the place the user means.
local M = {}

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

---Runs a step when those before it are done: now, where there is none.
---@param step acp.Step
function Steps:add(step)
  table.insert(self, step)
  if #self == 1 then
    run(self)
  end
end

---Forgets the one that is running, and all that wait for it.
function Steps:drop()
  for i = #self, 1, -1 do
    self[i] = nil
  end
end

return M
