---What the keys of a buffer do, in a float that takes the focus and closes with it.
local M = {}

local api = vim.api

---The actions of the configuration in the order in which their keys are listed.
local order = {
  'send',
  'send_insert',
  'prompt',
  'allow',
  'reject',
  'cancel',
  'history_previous',
  'history_next',
  'drop_unsaved',
  'paste_image',
  'toggle',
  'open',
  'close',
  'open_all',
  'close_all',
  'next_message',
  'previous_message',
  'next_call',
  'previous_call',
  'jump',
  'inspect',
  'whole',
  'yank_code',
  'edit_prompt',
  'fork_prompt',
  'cancel_call',
  'diff',
  'terminal',
  'plan',
  'mode',
  'model',
  'options',
  'diff_allow',
  'diff_refuse',
  'review_reject',
  'review_keep',
  'review_edit',
  'review_next',
  'review_previous',
  'diff_next_file',
  'diff_previous_file',
  'diff_close',
  'agent_start',
  'agent_install',
  'agent_cancel',
  'agent_pin',
  'agent_rollback',
  'agent_remove',
  'agent_page',
  'agent_refresh',
  'agent_close',
  'history_resume',
}

---The keys of the current buffer by what they do, as their mappings say it.
---@param offered table<string, fun(): boolean?> actions that are listed only at times
---@return {[1]: integer, [2]: string, [3]: string}[] rows place in the list, keys and words
local function rows_here(offered)
  local ranks, rows = {}, {}
  local cannot = {}
  for action, is_offered in pairs(offered) do
    cannot[require('acp.config').words[action]] = not is_offered()
  end
  for i, action in ipairs(order) do
    local desc = require('acp.config').desc(action)
    ranks[desc] = ranks[desc] or i
  end
  for mode, where in pairs({ n = '', x = '', i = ' (Insert mode)' }) do
    for _, map in ipairs(api.nvim_buf_get_keymap(0, mode)) do
      local words = (map.desc or ''):match('^acp: (.*)')
      local lhs = map.lhs:gsub('<lt>', '<')
      local listed = words and words ~= require('acp.config').words.help and not cannot[words]
      if listed and not vim.startswith(lhs, '<Plug>') then
        local row = rows[words .. where] or { ranks[map.desc] or #order + 1, {}, words .. where }
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
