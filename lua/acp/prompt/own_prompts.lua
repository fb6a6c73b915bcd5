---The user's own prompts: Markdown files in `.acp/prompts/` of the project and `acp/prompts/` of
---the configuration folder, called like the agent's commands. An agent's command of the same name
---wins; `/my:name` is always the user's.
local M = {}

---How large one may be, in bytes, and how many are read.
local largest, most = 100 * 1024, 500

---@class acp.OwnPrompt
---@field name string
---@field description string
---@field hint string of its arguments
---@field body string
---@field whose 'project'|'yours'

---@param path string
---@return string? text
local function read(path)
  local stat = vim.uv.fs_stat(path)
  local file = stat and stat.type == 'file' and io.open(path, 'rb') or nil -- a pipe would block
  local text = file and file:read(largest + 1)
  if file then
    file:close()
  end
  return text and #text <= largest and text:gsub('\r\n', '\n') or nil
end

---Separates the fields before the text. A value is one line, or the indented lines below.
---@param text string
---@return table<string, string> fields, string body
local function parse(text)
  local head, body
  if vim.startswith(text, '---\n') then
    head, body = ('\n' .. text:sub(5) .. '\n'):match('^(.-)\n%-%-%-[ \t]*\n(.*)$')
  end
  local fields, last = {}, nil
  for line in vim.gsplit(head or '', '\n', { plain = true }) do
    local key, value = line:match('^([%w_-]+):%s*(.-)%s*$')
    if key then
      last = key
      value = value:match('^"(.*)"$') or value:match("^'(.*)'$") or value
      fields[key] = value:match('^[|>][+-]?$') and '' or value
    elseif last and line:match('^%s+%S') then
      fields[last] = vim.trim(fields[last] .. ' ' .. vim.trim(line))
    end
  end
  return fields, vim.trim(body or text)
end

---@param folder string
---@param whose 'project'|'yours'
---@param into table<string, acp.OwnPrompt> by name
local function collect(folder, whose, into)
  local found = {}
  for name in vim.fs.dir(folder, { depth = 4 }) do
    if name:match('^%S+%.md$') and #found < most then
      table.insert(found, name)
    end
  end
  for _, file in ipairs(found) do
    local name, text = file:sub(1, -4), read(vim.fs.joinpath(folder, file))
    if text and not into[name] then
      local fields, body = parse(text)
      into[name] = {
        name = name,
        description = fields.description or '',
        hint = fields['argument-hint'] or '',
        body = body,
        whose = whose,
      }
    end
  end
end

---@param cwd string of the session
---@return table<string, acp.OwnPrompt> by name
local function all(cwd)
  local prompts = {}
  collect(vim.fs.joinpath(cwd, '.acp', 'prompts'), 'project', prompts)
  local config = vim.fn.stdpath('config') --[[@as string]]
  collect(vim.fs.joinpath(config, 'acp', 'prompts'), 'yours', prompts)
  return prompts
end

---@param session acp.Session
---@param name string
---@return boolean
local function is_agents(session, name)
  return vim.iter(session.commands or {}):any(function(command)
    return command.name == name
  end)
end

---The user's prompts, each under the name that calls it.
---@param session acp.Session
---@return acp.OwnPrompt[]
function M.list(session)
  local list = vim.tbl_values(all(session.cwd))
  for _, prompt in ipairs(list) do
    if is_agents(session, prompt.name) then
      prompt.name = 'my:' .. prompt.name
    end
  end
  table.sort(list, function(a, b)
    return a.name < b.name
  end)
  return list
end

---The words after a command, split as in a shell.
---@param args string
---@return string[]
local function split(args)
  local words, at = {}, 1
  while true do
    at = args:find('%S', at)
    if not at then
      return words
    end
    local quote, word = args:match('^(["\'])(.-)%1', at)
    word = word or args:match('^%S+', at)
    table.insert(words, word)
    at = at + #word + (quote and 2 or 0)
  end
end

---@param body string
---@param args string
---@return string
local function fill(body, args)
  local words, used = split(args), false
  local filled = body:gsub('%$(%w+)', function(name)
    local n = name:match('^[1-9]$')
    if name == 'ARGUMENTS' or n then
      used = true
      return n and (words[tonumber(n)] or '') or args
    end
  end)
  return used and filled or vim.trim(filled .. '\n\n' .. args)
end

---Expands a prompt that calls one of the user's; all others stay as they are.
---@param text string
---@param session acp.Session
---@return string? text, string? err
function M.expand(text, session)
  local called, args = text:match('^/(%S+)%s*(.-)%s*$')
  if not called then
    return text
  end
  local mine = called:match('^my:(.+)$')
  local prompt = all(session.cwd)[mine or called]
  if not prompt then
    if mine then
      return nil, ('you have no prompt %s'):format(mine)
    end
    return text
  end
  if not mine and is_agents(session, called) then
    local sentence = '/%s is a command of %s. Your own prompt of that name is /my:%s'
    require('acp.notify').info(sentence:format(called, session.agent_title, called))
    return text
  end
  local filled = fill(prompt.body, args)
  if filled == '' then
    return nil, ('the prompt /%s is empty'):format(called)
  end
  return filled
end

return M
