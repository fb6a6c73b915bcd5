-- Writes what doc/acp.txt says of options and agents from the tables that define them.
--
--   nvim -l scripts/doc.lua          brings the file up to date
--   nvim -l scripts/doc.lua --check  fails when it is not

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
    if option.later then
      table.insert(lines, '    Not there yet: it is checked, and does nothing.')
    end
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

local old = vim.fn.readfile(path)
local new = {}

---@param line string
local function add(line)
  if line:match('^{options}') then
    vim.list_extend(new, options())
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
}
local i = 1
while i <= #old do
  local line = old[i]
  add(line)
  for _, part in ipairs(parts) do
    if line == part[1] then
      if part[3] == '{options}' then
        table.insert(new, '')
      end
      add(part[3])
      repeat
        i = i + 1
      until i > #old or old[i]:match(part[2])
      i = i - 1
    end
  end
  i = i + 1
end

if table.concat(old, '\n') == table.concat(new, '\n') then
  return
end
if _G.arg[1] == '--check' then
  io.stderr:write(path .. ' does not say what the code says: run `make doc`\n')
  os.exit(1)
end
vim.fn.writefile(new, path)
