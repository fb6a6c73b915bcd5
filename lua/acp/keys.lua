---What the keys of a buffer do, in a float that takes the focus and closes with it.
local M = {}

local api = vim.api

---What each action of the configuration does, in the order in which it is listed.
---@type {[1]: string, [2]: string}[]
local actions = {
  { 'send', 'send the prompt' },
  { 'send_insert', 'send the prompt' },
  { 'prompt', 'type in the prompt' },
  { 'allow', 'allow what waits for your answer' },
  { 'reject', 'refuse it' },
  { 'cancel', 'end the turn' },
  { 'history_previous', 'the prompt sent before' },
  { 'history_next', 'the next one; the draft' },
  { 'drop_unsaved', 'leave unsaved text out, or take it in' },
  { 'toggle', 'open or close a block' },
  { 'open', 'open a block' },
  { 'close', 'close a block' },
  { 'open_all', 'open all blocks' },
  { 'close_all', 'close all blocks' },
  { 'next_message', 'the next message' },
  { 'previous_message', 'the message before' },
  { 'next_call', 'the next tool call' },
  { 'previous_call', 'the tool call before' },
  { 'jump', 'to the file and line that is named' },
  { 'inspect', 'all that is known of a tool call' },
  { 'whole', 'the block whole, in a split' },
  { 'yank_code', 'yank the block of code' },
  { 'diff', 'the diff of the tool call' },
  { 'terminal', 'the terminal of the tool call' },
  { 'plan', 'the plan' },
  { 'mode', 'choose the mode' },
  { 'model', 'choose the model' },
  { 'options', 'choose among all options' },
  { 'diff_allow', 'allow what is asked' },
  { 'diff_refuse', 'refuse it' },
  { 'review_reject', 'refuse the hunk, or the selected ones' },
  { 'review_keep', 'keep it' },
  { 'review_edit', 'edit what would be written' },
  { 'review_next', 'the next hunk' },
  { 'review_previous', 'the hunk before' },
  { 'diff_next_file', 'the next file' },
  { 'diff_previous_file', 'the file before' },
  { 'diff_close', 'close the diff' },
}

---@type table<string, {[1]: integer, [2]: string}> place in the list and words, by action
local known = {}
for i, action in ipairs(actions) do
  known[action[1]] = { i, action[2] }
end

---Shows the keys of the current buffer.
local function show()
  local rows, seen = {}, {}
  for mode, where in pairs({ n = '', x = '', i = ' (Insert mode)' }) do
    for _, map in ipairs(api.nvim_buf_get_keymap(0, mode)) do
      local action = (map.desc or ''):match('^acp: (.*)')
      local lhs = map.lhs:gsub('<lt>', '<')
      if action and action ~= 'help' and not vim.startswith(lhs, '<Plug>') then
        local at, words = unpack(known[action] or { #actions + 1, action })
        words = words .. where
        if not seen[lhs .. words] then
          seen[lhs .. words] = true
          table.insert(rows, { at, lhs, words })
        end
      end
    end
  end
  table.sort(rows, function(a, b)
    return a[1] < b[1] or a[1] == b[1] and a[2] < b[2]
  end)
  local width, lines = 1, {}
  for _, row in ipairs(rows) do
    table.insert(lines, (' %-8s %s '):format(row[2], row[3]))
    width = math.max(width, api.nvim_strwidth(lines[#lines]))
  end
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].bufhidden = false, 'wipe'
  width = math.min(width, vim.o.columns - 2)
  local height = math.max(1, math.min(#lines, vim.o.lines - 5))
  local win = api.nvim_open_win(buf, true, {
    relative = 'editor',
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = ' Keys ',
  })
  vim.wo[win].wrap = false
  local function close()
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
  end
  for _, lhs in ipairs({ 'q', '<Esc>', '<CR>', 'g?' }) do
    vim.keymap.set('n', lhs, close, { buffer = buf, nowait = true, desc = 'acp: close the list' })
  end
  api.nvim_create_autocmd('WinLeave', { buffer = buf, once = true, callback = close })
end

---Gives a buffer the key that shows its keys.
---@param buf integer
function M.map(buf)
  require('acp.bufs').map(buf, 'n', 'help', '<Plug>(AcpHelp)', show)
end

return M
