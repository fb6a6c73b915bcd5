---The text for the user's status line.
local M = {}

local state = require('acp.rpc.state')

---@return string which sessions wait for the user, and how many work; '' where none does
function M.word()
  local waiting, working = state.waiting(), 0
  for id, session in pairs(state.sessions) do
    if session.state == 'running' and not vim.list_contains(waiting, id) then
      working = working + 1
    end
  end
  local parts = {}
  if #waiting > 0 then
    local names = vim.tbl_map(state.name, waiting)
    local who = vim.tbl_count(state.sessions) > 1 and (' (%s)'):format(table.concat(names, ', '))
    table.insert(parts, #waiting .. ' waiting' .. (who or ''))
  end
  if working > 0 then
    table.insert(parts, working .. ' working')
  end
  return #parts > 0 and ('acp: ' .. table.concat(parts, ', ')) or ''
end

return M
