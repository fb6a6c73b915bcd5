---The line above a diff: its file, its counts, and its keys.
local M = {}

local hunks = require('acp.diff.hunk_selection')

---@class acp.DiffKey
---@field action string in the configuration
---@field plug string
---@field run fun()
---@field hint? string
---@field otherwise? string the key in a file's buffer where the usual one would be in the way
---@field modes? string[] else Normal mode

---What is said about a diff besides its texts: name, counts, and which file of how many.
---@param diff acp.Diff
---@param what string what is shown of the file
---@param lhs? table<string, string|false> the keys by action; those of the configuration
---@return string[] parts of a line
function M.facts(diff, what, lhs)
  local file = diff.files[diff.at]
  lhs = lhs or require('acp.config').get().keys
  local name = ('%s · %s'):format(file.name, what)
  local counts = {}
  for sign, n in pairs({ ['+'] = file.added, ['−'] = file.removed }) do
    table.insert(counts, n > 0 and sign .. n or nil)
  end
  table.sort(counts)
  if #counts > 0 then
    name = name .. '  ' .. table.concat(counts, ' ')
  end
  local _, refused = hunks.refused(diff)
  if refused > 0 then
    name = ('%s  %d of %d refused'):format(name, refused, hunks.count(diff))
  end
  local facts = { name }
  if diff.note ~= '' and diff.form ~= 'sentence' then
    name = file.name -- what is wrong matters more than the rest
    if refused > 0 then
      name = ('%s  %d of %d refused'):format(name, refused, hunks.count(diff))
    end
    facts = { name, '⚠ ' .. diff.note }
  end
  if #diff.files > 1 then
    facts[1] = ('%s  %d of %d'):format(name, diff.at, #diff.files)
    local more = diff.files[diff.at + 1] ~= nil
    local key = lhs[more and 'diff_next_file' or 'diff_previous_file']
    table.insert(facts, key and key .. (more and ' next' or ' previous') or nil)
  end
  return facts
end

---The command that allows or refuses the request of a diff.
---@param diff acp.Diff
---@param which 'allow'|'reject'
---@return string?
local function command(diff, which)
  local r = require('acp.rpc.state').permission(diff.permission)
  for i, option in ipairs(r and r.options or {}) do
    if option.id == r[which] then
      return ':Acp permit ' .. i
    end
  end
end

---The keys that end a diff, in words.
---@param diff acp.Diff
---@param keys acp.DiffKey[] its keys
---@param lhs? table<string, string|false> the keys by action; those of the configuration
---@return string[]
function M.hints(diff, keys, lhs)
  local config = require('acp.config').get().keys
  local hints = {}
  for _, key in ipairs(keys) do
    local is = (lhs or config)[key.action]
    if config[key.action] and not is then -- it has no key there
      local answers = { diff_allow = 'allow', diff_refuse = 'reject' }
      is = answers[key.action] and command(diff, answers[key.action])
    end
    if key.hint and is then
      table.insert(hints, is .. ' ' .. key.hint)
    end
  end
  return hints
end

return M
