-- Writes what doc/acp.txt says about options, keys and agents, and lua/acp/types.lua about options,
-- from the tables that define them.
--
--   nvim -l scripts/doc.lua          brings the files up to date
--   nvim -l scripts/doc.lua --check  fails when they are not

vim.opt.runtimepath:prepend('.')

local path = 'doc/acp.txt'

---@param text string
---@param indent string
---@return string[] lines
local function wrap(text, indent)
  local lines, line = {}, indent
  for word in text:gmatch('%S+') do
    if #line + #word > 76 then
      table.insert(lines, (line:gsub('%s+$', '')))
      line = indent
    end
    line = line .. word .. ' '
  end
  table.insert(lines, (line:gsub('%s+$', '')))
  return lines
end

---@return string[]
local function options()
  local lines = {}
  for _, option in ipairs(require('acp.config').schema) do
    local tag = ('*acp-config-%s*'):format(option.key)
    table.insert(lines, option.key .. (' '):rep(math.max(1, 78 - #option.key - #tag)) .. tag)
    vim.list_extend(lines, wrap(option.doc, '    '))
    vim.list_extend(lines, wrap('Takes ' .. option.expected .. '.', '    '))
    local default = vim.inspect(option.default, { newline = ' ', indent = '' })
    vim.list_extend(lines, wrap('Default: `' .. default .. '`', '    '))
    table.insert(lines, '')
  end
  return lines
end

---@return string[]
local function agents()
  local names = vim.tbl_keys(require('acp.agents'))
  table.sort(names)
  local lines = {}
  for _, name in ipairs(names) do
    local agent = require('acp.agents')[name]
    table.insert(lines, ('    %-10s %s'):format(name, table.concat(agent.command, ' ')))
  end
  return lines
end

---Where the actions of `keys` have their key; some have it in several places, with words of their
---own there.
---@type {[1]: string, [integer]: string|string[]}[]
local places = {
  {
    'In the prompt',
    'send',
    'send_insert',
    'history_previous',
    'history_next',
    'drop_unsaved',
    'paste_image',
  },
  {
    'In the prompt and the transcript',
    'allow',
    'reject',
    'cancel',
    'mode',
    'model',
    'options',
    'help',
  },
  {
    'In the transcript',
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
    'diff',
    'terminal',
    'plan',
    'yank_code',
    'edit_prompt',
    'fork_prompt',
    'cancel_call',
    'prompt',
    'review_keep',
  },
  {
    'In the diff of a request',
    'diff_allow',
    'diff_refuse',
    'review_reject',
    'review_keep',
    'review_next',
    'review_previous',
    'review_edit',
    'diff_next_file',
    'diff_previous_file',
    'diff_close',
    'help',
  },
  {
    'In a file that an agent has changed',
    'review_keep',
    'review_reject',
    'review_next',
    'review_previous',
    'review_comment',
  },
  {
    'In the review',
    'page_keep',
    'page_reject',
    'page_comment',
    'review_keep',
    'review_reject',
    'review_comment',
    'review_next',
    'review_previous',
    'diff_next_file',
    'diff_previous_file',
    { 'diff', 'show the file beside the text you accepted' },
    { 'open_all', 'open all files' },
    { 'close_all', 'close all files' },
    'review_open',
    'review_fold',
    'review_undo',
    'review_send',
    'review_close',
    'help',
  },
  {
    'On the page of agents',
    'agent_start',
    'agent_install',
    'agent_cancel',
    'agent_pin',
    'agent_rollback',
    'agent_remove',
    'agent_page',
    'agent_refresh',
    'agent_close',
    'help',
  },
  { 'In the transcript of another session', 'history_resume' },
  {
    'In a file with conflicts',
    'conflict_theirs',
    'conflict_mine',
    'conflict_both',
    'conflict_next',
    'conflict_previous',
  },
}

---@return string[]
local function keys()
  local config = require('acp.config')
  local defaults, placed = {}, {}
  for _, option in ipairs(config.schema) do
    defaults = option.key == 'keys' and option.default or defaults
  end
  local lines = {}
  for _, place in ipairs(places) do
    if #lines > 0 then
      table.insert(lines, '')
    end
    table.insert(lines, '  ' .. place[1] .. ' ~')
    for i = 2, #place do
      local item = place[i]
      local action = item[1] or item
      local words = item[2] or config.words[action]
      placed[action] = true
      words = words .. (action:match('_insert$') and ', in Insert mode' or '')
      table.insert(lines, ('    %-19s %-7s  %s'):format(action, defaults[action], words))
    end
  end
  for action in vim.spairs(defaults) do
    assert(placed[action], ('scripts/doc.lua does not say where the key of %s is'):format(action))
  end
  return lines
end

local old = vim.fn.readfile(path)
local new = {}

---@param line string
local function add(line)
  if line:match('^{options}') then
    vim.list_extend(new, options())
  elseif line:match('^  {keys}') then
    vim.list_extend(new, keys())
  elseif line:match('^    {agents}') then
    vim.list_extend(new, agents())
  else
    table.insert(new, line)
  end
end

-- The generated parts lie between lines that do not change.
local parts = {
  { 'A mistake is told in one message that names the key; the rest is used.', '^==', '{options}' },
  { 'Known without configuration, and found on the PATH: >', '^<', '    {agents}' },
  { 'that keep, refuse and comment are about the selected lines.', '^`za` opens', '  {keys}' },
}
local i = 1
while i <= #old do
  local line = old[i]
  add(line)
  for _, part in ipairs(parts) do
    if line == part[1] then
      if part[3] ~= '    {agents}' then
        table.insert(new, '')
      end
      add(part[3])
      if part[3] == '  {keys}' then
        table.insert(new, '')
      end
      repeat
        i = i + 1
      until i > #old or old[i]:match(part[2])
      i = i - 1
    end
  end
  i = i + 1
end

---@param file string
---@param before string[]
---@param after string[]
local function bring(file, before, after)
  if vim.deep_equal(before, after) then
    return
  end
  if _G.arg[1] == '--check' then
    io.stderr:write(file .. ' does not say what the code says: run `make doc`\n')
    os.exit(1)
  end
  vim.fn.writefile(after, file)
end

bring(path, old, new)

---The classes of the configuration and of its keys.
---@return string[]
local function classes()
  local lines = { '---@class acp.Config' }
  for _, option in ipairs(require('acp.config').schema) do
    vim.list_extend(lines, wrap(option.doc, '---'))
    table.insert(lines, ('---@field %s? %s'):format(option.key, option.type))
  end
  vim.list_extend(lines, { '', '---False is no key.', '---@class acp.Keys' })
  local names = vim.tbl_keys(require('acp.config').get().keys)
  table.sort(names)
  for _, name in ipairs(names) do
    local words = require('acp.config').words[name]
    table.insert(lines, ('---@field %s? string|false %s'):format(name, words))
  end
  return lines
end

local types = vim.fn.readfile('lua/acp/types.lua')
local first, last = 0, 0
for row, line in ipairs(types) do
  first = line:match('^%-%- Written from') and row or first
  last = line:match('^%-%- End of what is written') and row or last
end
local typed = vim.list_slice(types, 1, first)
vim.list_extend(typed, classes())
vim.list_extend(typed, vim.list_slice(types, last))
bring('lua/acp/types.lua', types, typed)
