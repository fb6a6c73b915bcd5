---The configuration: one schema for defaults, validation and documentation.
local M = {}

---@class acp.Option
---@field key string
---@field type string for language servers
---@field default any
---@field check fun(value: any): boolean
---@field expected string what `check` accepts, in words
---@field doc string
---@field parts? string[] the keys it has, else those of its default
---@field problem? fun(value: any): string? what is wrong with a value that `check` accepts
---@field part? fun(key: any, value: any): string? of a table: what was expected of a wrong part

---@param ... any
---@return fun(value: any): boolean
local function one_of(...)
  local values = { ... }
  return function(value)
    return vim.tbl_contains(values, value)
  end
end

---@param ... string
---@return fun(value: any): boolean
local function type_of(...)
  local types = { ... }
  return function(value)
    return vim.tbl_contains(types, type(value))
  end
end

---@param value any
---@return boolean
local function strings(value)
  if not vim.islist(value) then
    return false
  end
  for _, item in ipairs(value) do
    if type(item) ~= 'string' then
      return false
    end
  end
  return true
end

---What a rule of `permissions` can match.
M.rule_fields = { 'agent', 'kind', 'path', 'command', 'tool' }

---@param value any
---@return boolean
local function texts(value)
  if type(value) == 'string' then
    return true
  end
  if not vim.islist(value) or #value == 0 then
    return false
  end
  return vim.iter(value):all(function(item)
    return type(item) == 'string'
  end)
end

---What is wrong with a list of rules. A list with a mistake is not used at all: a later rule could
---allow what the faulty one should stop.
---@param list table
---@return string? problem
local function check_rules(list)
  for i, rule in ipairs(list) do
    local where = ('permissions[%d]'):format(i)
    if type(rule) ~= 'table' or vim.islist(rule) and #rule > 0 then
      return ('%s: expected a rule, got %s'):format(where, vim.inspect(rule))
    end
    for key, value in pairs(rule) do
      if vim.tbl_contains(M.rule_fields, key) then
        if not texts(value) then
          local expected = '%s.%s: expected a string or a list of strings, got %s'
          return expected:format(where, key, vim.inspect(value))
        end
      elseif key ~= 'action' then
        return ('%s.%s: no such field'):format(where, tostring(key))
      end
    end
    if not vim.tbl_contains({ 'allow', 'reject', 'ask' }, rule.action) then
      local expected = "%s.action: expected 'allow', 'reject' or 'ask', got %s"
      return expected:format(where, vim.inspect(rule.action))
    end
  end
end

local layouts = { 'right', 'left', 'bottom', 'tab', 'float', 'current' }

---The actions of `keys`, in the order of a list of keys: name, default key, and what it does, as
---|:map| and which-key show it.
M.actions = {
  { 'send', '<CR>', 'send the prompt' },
  { 'send_insert', '<C-s>', 'send the prompt' },
  { 'prompt', 'i', 'type in the prompt' },
  { 'allow', 'ga', 'allow the oldest request' },
  { 'reject', 'gr', 'refuse the oldest request' },
  { 'cancel', '<C-c>', 'end the turn' },
  { 'history_previous', '<C-p>', 'bring back the previous prompt' },
  { 'history_next', '<C-n>', 'bring back the next prompt, then the draft' },
  { 'drop_unsaved', 'gX', 'leave out unsaved text, or include it' },
  { 'paste_image', 'gI', 'paste the image of the clipboard' },
  { 'toggle', '<CR>', 'open or close the block' },
  { 'open', 'zo', 'open the block' },
  { 'close', 'zc', 'close the block' },
  { 'open_all', 'zR', 'open all blocks' },
  { 'close_all', 'zM', 'close all blocks' },
  { 'next_message', ']]', 'go to the next message' },
  { 'previous_message', '[[', 'go to the previous message' },
  { 'next_call', ']t', 'go to the next tool call' },
  { 'previous_call', '[t', 'go to the previous tool call' },
  { 'jump', 'gd', 'go to the named file' },
  { 'inspect', 'K', 'show everything about the tool call' },
  { 'whole', 'gO', 'show the whole block' },
  { 'yank_code', 'gy', 'yank the code block' },
  { 'edit_prompt', 'gE', 'edit and resend this prompt' },
  { 'fork_prompt', 'gF', 'fork the session before this prompt' },
  { 'cancel_call', 'g<C-c>', 'cancel this tool call alone, if the agent can' },
  { 'diff', 'gD', 'show the diff' },
  { 'terminal', 'gs', 'show the terminal' },
  { 'plan', 'gp', 'show the plan' },
  { 'mode', 'gm', 'choose the mode' },
  { 'model', 'gM', 'choose the model' },
  { 'options', 'go', 'choose among all options' },
  { 'diff_allow', 'ga', 'allow the request' },
  { 'diff_refuse', 'gr', 'refuse the request' },
  { 'page_keep', 'a', 'keep the hunk, the lines, the file or all' },
  { 'page_reject', 'x', 'refuse the hunk, the lines, the file or all' },
  { 'page_comment', 'c', 'comment on the lines' },
  { 'review_reject', 'g<', 'refuse the change' },
  { 'review_keep', 'g>', 'keep the change' },
  { 'review_comment', 'gC', 'comment on the lines' },
  { 'review_edit', 'gE', 'edit the text to be written' },
  { 'review_open', '<CR>', 'go to the place in the file' },
  { 'review_next', ']v', 'go to the next change' },
  { 'review_previous', '[v', 'go to the previous change' },
  { 'diff_next_file', ']f', 'go to the next file' },
  { 'diff_previous_file', '[f', 'go to the previous file' },
  { 'review_undo', 'u', 'undo the last decision' },
  { 'review_fold', '<Tab>', 'open or close the file' },
  { 'review_send', '<C-s>', 'send the comments and refusals' },
  { 'review_close', 'q', 'close the review' },
  { 'diff_close', 'q', 'close the diff' },
  { 'conflict_theirs', 'c>', "take the agent's lines" },
  { 'conflict_mine', 'c<', 'keep your lines' },
  { 'conflict_both', 'c=', 'keep the lines of both' },
  { 'conflict_next', ']x', 'go to the next conflict' },
  { 'conflict_previous', '[x', 'go to the previous conflict' },
  { 'agent_start', '<CR>', 'start the agent' },
  { 'agent_install', 'i', 'install the agent, or its newest version' },
  { 'agent_cancel', '<C-c>', 'cancel the installation' },
  { 'agent_pin', 'p', 'pin the version, or unpin it' },
  { 'agent_rollback', 'b', 'go back to the previous version' },
  { 'agent_remove', 'x', 'remove the agent' },
  { 'agent_page', 'gx', "open the agent's page" },
  { 'agent_refresh', 'r', 'refresh the index of agents' },
  { 'agent_close', 'q', 'close the page' },
  { 'history_resume', 'gR', 'resume the session' },
  { 'help', 'g?', 'show the keys of this buffer' },
}

---What the keys do, by action.
---@type table<string, string>
M.words = {}

---@type table<string, string>
local default_keys = {}

for _, action in ipairs(M.actions) do
  default_keys[action[1]], M.words[action[1]] = action[2], action[3]
end

---@type acp.Option[]
M.schema = {
  {
    key = 'agent',
    type = 'string',
    default = nil,
    check = type_of('string', 'nil'),
    expected = 'the name of an agent',
    doc = 'The default agent; without it, the first installed one.',
  },
  {
    key = 'agents',
    type = 'table<string, acp.AgentConfig>',
    default = {},
    check = type_of('table'),
    expected = 'a table of agents by name',
    doc = 'Agents to add to the built-in ones, or changes to these.',
  },
  {
    key = 'layout',
    type = 'acp.Position|acp.Layout',
    default = 'right',
    check = function(value)
      if type(value) == 'table' then
        return vim.tbl_contains(layouts, value.position or 'right')
      end
      return vim.tbl_contains(layouts, value)
    end,
    expected = "'right', 'left', 'bottom', 'tab', 'float', 'current', "
      .. 'or a table with position, width, height',
    doc = 'Where the chat opens. Widths and heights below 1 are shares of the screen.',
  },
  {
    key = 'diff',
    type = "'split'|'inline'|'tab'|'chat'",
    default = 'split',
    check = one_of('split', 'inline', 'tab', 'chat'),
    expected = "'split', 'inline', 'tab' or 'chat'",
    doc = 'Where the diff of a permission request is shown: beside the code, in the file itself, '
      .. 'in a tab, or in the chat alone. It opens when you pause.',
  },
  {
    key = 'review',
    type = "'after'|'before'|false",
    default = 'after',
    check = one_of('after', 'before', false),
    expected = "'after', 'before' or false",
    doc = 'When you review changes: before the client writes them, see |acp-before|, or '
      .. 'afterwards.',
  },
  {
    key = 'review_advance',
    type = 'boolean',
    default = false,
    check = type_of('boolean'),
    expected = 'true or false',
    doc = 'Whether keeping or refusing a change moves the cursor to the next one, see '
      .. '|acp-marks| and |acp-review|.',
  },
  {
    key = 'history',
    type = 'boolean',
    default = true,
    check = type_of('boolean'),
    expected = 'true or false',
    doc = 'Whether transcripts are kept, for `:Acp resume` and `:Acp search`, see |acp-history|.',
  },
  {
    key = 'follow',
    type = "false|'window'",
    default = false,
    check = one_of(false, 'window'),
    expected = "false or 'window'",
    doc = 'Whether a window follows the agent, see |acp-follow|.',
  },
  {
    key = 'unsaved',
    type = "'send'|'ask'|'save'|'ignore'",
    default = 'send',
    check = one_of('send', 'ask', 'save', 'ignore'),
    expected = "'send', 'ask', 'save' or 'ignore'",
    doc = 'What happens to unsaved text before a prompt, see |acp-unsaved|.',
  },
  {
    key = 'unsaved_max',
    type = 'integer',
    default = 256 * 1024,
    check = function(value)
      return type(value) == 'number' and value >= 1
    end,
    expected = 'a number of bytes',
    doc = 'How many bytes of unsaved text a prompt sends without asking, if `unsaved` is '
      .. "'send'.",
  },
  {
    key = 'write',
    type = "'plain'|'autocmds'",
    default = 'plain',
    check = one_of('plain', 'autocmds'),
    expected = "'plain' or 'autocmds'",
    doc = "How the agent's writes to a buffer are saved: without your |BufWritePre| autocommands, "
      .. 'or as by your own |:write|, see |acp-write|.',
  },
  {
    key = 'permissions',
    type = 'acp.Rule[]',
    default = {},
    check = vim.islist,
    problem = check_rules,
    expected = 'a list of rules',
    doc = 'Rules that answer permission requests; the first match wins. See |acp-rules|.',
  },
  {
    key = 'private',
    type = 'string[]',
    default = { '**/.env', '**/.env.*', '**/.git/**' },
    check = strings,
    expected = 'a list of globs',
    doc = 'Files that no rule of `permissions` and no lasting answer allows: you are asked each '
      .. 'time, also when an agent reads or writes them through its client. See |acp-paths|.',
  },
  {
    key = 'notify',
    type = 'boolean|fun(text: string)',
    default = true,
    check = type_of('boolean', 'function'),
    expected = 'true, false or a function',
    doc = 'Whether to notify when something waits and Neovim has no focus.',
  },
  {
    key = 'mcp_servers',
    type = 'table<string, acp.McpServer|false>',
    default = {},
    check = type_of('table'),
    expected = 'a table of MCP servers',
    doc = 'MCP servers for all agents, see |acp-mcp|.',
  },
  {
    key = 'editor',
    type = 'acp.EditorConfig',
    default = { tools = 'read', tasks = {}, transport = 'stdio', instructions = true },
    check = type_of('table'),
    part = function(key, value)
      if key == 'tools' then
        local ok = value == false or value == 'read' or value == 'write' or strings(value)
        return not ok and "'read', 'write', false or a list of names of tools" or nil
      end
      if key == 'transport' then
        return value ~= 'stdio' and value ~= 'http' and "'stdio' or 'http'" or nil
      elseif key == 'instructions' then
        return type(value) ~= 'boolean' and 'true or false' or nil
      end
      local ok = type(value) == 'table'
        and vim.iter(pairs(value)):all(function(name, command)
          local line = type(command) == 'string' and command ~= ''
          return type(name) == 'string' and (line or strings(command) and #command > 0)
        end)
      return not ok and 'a table of commands by name' or nil
    end,
    expected = "a table with tools ('read', 'write', false or a list of names), tasks "
      .. "(commands by name), transport ('stdio' or 'http') and instructions (a boolean)",
    doc = 'What agents may ask of Neovim and its language servers, the commands that they may '
      .. "run if `tools` is 'write', and how they get the tools, see |acp-editor-tools|.",
  },
  {
    key = 'registry',
    type = 'string|false',
    default = 'https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json',
    check = type_of('string', 'boolean'),
    expected = 'a URL, or false',
    doc = 'The address of the index of agents, see |acp-agents-page|; `false` keeps the plugin '
      .. 'off the network.',
  },
  {
    key = 'keys',
    type = 'acp.Keys',
    default = default_keys,
    check = type_of('table'),
    part = function(_, lhs)
      return lhs ~= false and type(lhs) ~= 'string' and 'a key, or false for none' or nil
    end,
    expected = 'a table of keys by action, false for none',
    doc = 'Keys in the buffers of the chat, of diffs and of the review, and in files with '
      .. 'conflicts, by action.',
  },
  {
    key = 'nerd_font',
    type = 'boolean',
    default = false,
    check = type_of('boolean'),
    expected = 'true or false',
    doc = 'Whether your font has the icons of a Nerd Font.',
  },
  {
    key = 'host',
    type = 'acp.HostConfig',
    default = { command = nil, log_level = 'info' },
    check = type_of('table'),
    part = function(key, value)
      if key == 'url' then
        return type(value) ~= 'string' and 'a URL' or nil
      elseif key == 'command' then
        return not (strings(value) and #value > 0) and 'a list of strings' or nil
      end
      local levels = { 'debug', 'info', 'warn', 'error' }
      return not vim.tbl_contains(levels, value) and "'debug', 'info', 'warn' or 'error'" or nil
    end,
    parts = { 'command', 'log_level', 'url' },
    expected = 'a table with command (a list of strings), '
      .. "log_level ('debug', 'info', 'warn', 'error') and url",
    doc = 'The host program: its command, how much it logs, and the address of the folder from '
      .. 'which `:Acp build` downloads it if there is no Go.',
  },
}

---The description of an action's mapping.
---@param action string
---@return string
function M.desc(action)
  return 'acp: ' .. M.words[action]
end

---@class acp.ResolvedConfig: acp.Config checked, with defaults
---@field agents table<string, acp.Agent>
---@field unsaved_max number
---@field keys table<string, string|false>
---@field host acp.HostConfig
---@field editor acp.EditorConfig

---@type acp.ResolvedConfig?
local current
---@type string[] what is wrong with it
local problems = {}

---The fields of an agent in the configuration, and their types; false is checked separately.
---@type table<string, string|false>
M.agent_fields = {
  title = 'string',
  command = false,
  install = 'string',
  login = 'string',
  env = 'table',
  cwd = false,
  protocol = false,
  options = 'table',
  mcp_servers = 'table',
  paths = 'table',
  quirks = 'table',
  system_prompt = false,
}

---Agents' fields, checked one by one so that one mistake costs one agent.
---@param name any
---@param agent any
---@return string? problem
local function check_agent(name, agent)
  local where = ('agents.%s'):format(name)
  if type(name) ~= 'string' then
    return where .. ': expected a name for the agent, got none'
  end
  if type(agent) ~= 'table' then
    return ('%s: expected a table, got %s'):format(where, type(agent))
  end
  local builtin = require('acp.agents')[name]
  if agent.command == nil and not builtin and not require('acp.installed').has(name) then
    return ('%s.command: expected a list of strings, got nothing'):format(where)
  end
  if agent.command ~= nil and (not strings(agent.command) or #agent.command == 0) then
    return ('%s.command: expected a list of strings, got %s'):format(
      where,
      vim.inspect(agent.command)
    )
  end
  for field, value in pairs(agent) do
    local expected = M.agent_fields[field]
    if expected == nil then
      return ('%s.%s: no such field'):format(where, tostring(field))
    elseif expected and type(value) ~= expected then
      return ('%s.%s: expected a %s, got %s'):format(where, field, expected, type(value))
    end
  end
  local prompt = agent.system_prompt
  if type(prompt) == 'table' then
    local mode = prompt.mode or 'append'
    if type(prompt.text) ~= 'string' or (mode ~= 'append' and mode ~= 'override') then
      local expected =
        "%s.system_prompt: expected a text, and the mode 'append' or 'override', got %s"
      return expected:format(where, vim.inspect(prompt, { newline = ' ', indent = '' }))
    end
  elseif prompt ~= nil and type(prompt) ~= 'string' then
    return ('%s.system_prompt: expected a text, got %s'):format(where, type(prompt))
  end
  if agent.cwd ~= nil and type(agent.cwd) ~= 'string' then
    return ('%s.cwd: expected a path, got %s'):format(where, type(agent.cwd))
  end
  if agent.protocol ~= nil and agent.protocol ~= 1 and agent.protocol ~= 2 then
    return ('%s.protocol: expected 1 or 2, got %s'):format(where, vim.inspect(agent.protocol))
  end
end

---@param value any
---@return string
local function shown(value)
  return vim.inspect(value, { newline = ' ', indent = '' })
end

---Leaves out the wrong parts of a table, so that one mistake costs no more than itself.
---@param option acp.Option
---@param value table
---@param wrong string[]
---@return table
local function right_parts(option, value, wrong)
  local parts = {}
  for key, part in pairs(value) do
    local name = ('%s.%s'):format(option.key, tostring(key))
    local known = vim.tbl_contains(option.parts or vim.tbl_keys(option.default), key)
    local expected = known and option.part(key, part)
    if not known then
      table.insert(wrong, name .. ': no such option')
    elseif expected then
      table.insert(wrong, ('%s: expected %s, got %s'):format(name, expected, shown(part)))
    else
      parts[key] = part
    end
  end
  return parts
end

---@param opts any
---@return acp.ResolvedConfig config, string[] problems
local function build(opts)
  local config, wrong = {}, {}
  if type(opts) == 'function' then
    local ok, result = pcall(opts)
    if not ok then
      table.insert(wrong, 'the configuration: the function failed: ' .. tostring(result))
    end
    opts = ok and result or nil
  end
  if opts ~= nil and type(opts) ~= 'table' then
    table.insert(wrong, ('the configuration: expected a table, got %s'):format(type(opts)))
    opts = nil
  end
  opts = opts or {}
  local known = {}
  for _, option in ipairs(M.schema) do
    known[option.key] = true
    local value = opts[option.key]
    if value ~= nil and not option.check(value) then
      local told = ('%s: expected %s, got %s'):format(option.key, option.expected, shown(value))
      table.insert(wrong, told)
      value = nil
    elseif value ~= nil and option.problem and option.problem(value) then
      table.insert(wrong, option.problem(value))
      value = nil
    elseif value ~= nil and option.part then
      value = right_parts(option, value, wrong)
    end
    if value == nil then
      value = vim.deepcopy(option.default)
    elseif type(option.default) == 'table' and not vim.islist(option.default) then
      value = vim.tbl_extend('keep', value, option.default)
    end
    config[option.key] = value
  end
  for key in pairs(opts) do
    if not known[key] then
      table.insert(wrong, ('%s: no such option'):format(tostring(key)))
    end
  end
  local right_servers = require('acp.mcp.servers').right
  config.mcp_servers = right_servers('mcp_servers', config.mcp_servers, wrong)
  local agents = vim.deepcopy(require('acp.agents'))
  for name, agent in pairs(config.agents) do
    local problem = check_agent(name, agent)
    if problem then
      table.insert(wrong, problem)
    else
      local merged = vim.tbl_extend('force', agents[name] or {}, agent)
      merged.title = merged.title or name
      if agent.mcp_servers then
        local where = ('agents.%s.mcp_servers'):format(name)
        merged.mcp_servers = right_servers(where, agent.mcp_servers, wrong)
      end
      merged.install = merged.install
        or ('Check agents.%s.command in your configuration.'):format(name)
      agents[name] = merged
    end
  end
  require('acp.installed').add(agents, config.agents)
  config.agents = agents
  if config.agent and config.agent ~= 'demo' and not agents[config.agent] then
    table.insert(wrong, ('agent: there is no agent %q'):format(config.agent))
    config.agent = nil
  end
  table.sort(wrong)
  return config, wrong
end

---Rereads the user's options.
function M.reset()
  current = nil
end

---@return table|fun(): table|nil
local function given()
  if vim.g.acp_setup then
    return vim.g.acp_setup()
  end
  return vim.g.acp
end

---The configuration in force. Mistakes in it are reported once, in one message.
---@return acp.ResolvedConfig
function M.get()
  if not current then
    current, problems = build(given())
    if #problems > 0 then
      -- Scheduled: inside of vim.cmd() Neovim makes a Lua error of an error message.
      local told = 'mistakes in the configuration: ' .. table.concat(problems, '; ')
      vim.schedule(function()
        require('acp.notify').error(told)
      end)
    end
  end
  return current
end

---What is wrong with the configuration, without telling the user again.
---@return string[]
function M.problems()
  local _, wrong = build(given())
  return wrong
end

return M
