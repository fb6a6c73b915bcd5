---What the keys of a buffer do, in a float that takes the focus and closes with it.
local M = {}

local api = vim.api

---The keys of the current buffer by what they do, as their mappings say it.
---@param offered table<string, fun(): boolean?> actions that are listed only at times
---@return {[1]: integer, [2]: string, [3]: string}[] rows place in the list, keys and words
local function rows_here(offered)
  local ranks, rows = {}, {}
  local config = require('acp.config')
  local cannot = {}
  for action, is_offered in pairs(offered) do
    cannot[config.words[action]] = not is_offered()
  end
  for i, action in ipairs(config.actions) do
    local desc = config.desc(action[1])
    ranks[desc] = ranks[desc] or i
  end
  for mode, where in pairs({ n = '', x = '', i = ' (Insert mode)' }) do
    for _, map in ipairs(api.nvim_buf_get_keymap(0, mode)) do
      local words = (map.desc or ''):match('^acp: (.*)')
      local lhs = map.lhs:gsub('<lt>', '<')
      local listed = words and words ~= config.words.help and not cannot[words]
      if listed and not vim.startswith(lhs, '<Plug>') then
        local row = rows[words .. where]
          or { ranks[map.desc] or #config.actions, {}, words .. where }
        if not vim.tbl_contains(row[2], lhs) then
          table.insert(row[2], lhs)
        end
        rows[words .. where] = row
      end
    end
  end
  local list = {}
  for _, row in pairs(rows) do
    table.sort(row[2])
    table.insert(list, { row[1], table.concat(row[2], ' '), row[3] })
  end
  table.sort(list, function(a, b)
    return a[1] < b[1] or a[1] == b[1] and a[2] < b[2]
  end)
  return list
end

---Shows the keys of the current buffer.
---@param offered table<string, fun(): boolean?>
local function show(offered)
  local rows = rows_here(offered)
  local room = 0
  for _, row in ipairs(rows) do
    room = math.max(room, api.nvim_strwidth(row[2]))
  end
  local lines = {}
  for _, row in ipairs(rows) do
    local gap = (' '):rep(room - api.nvim_strwidth(row[2]) + 2)
    table.insert(lines, ' ' .. row[2] .. gap .. row[3])
  end
  local buf = api.nvim_create_buf(false, true)
  require('acp.ui.window').over(buf, lines, {
    title = ' Keys ',
    keys = { 'q', '<Esc>', '<CR>', 'g?' },
    desc = 'acp: close the list',
    hang = room + 3,
  })
end

---Gives a buffer the key that shows its keys.
---@param buf integer
---@param offered? table<string, fun(): boolean?> actions that are listed only at times
function M.map(buf, offered)
  require('acp.ui.buffer').map(buf, 'n', 'help', '<Plug>(AcpHelp)', function()
    show(offered or {})
  end)
end

return M
