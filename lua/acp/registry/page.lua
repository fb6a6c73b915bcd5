---The page of agents: a line for each, and keys to install, start and remove them.
local M = {}

local agents = require('acp.registry.agents')
local notify = require('acp.notify')
local api = vim.api
local space = api.nvim_create_namespace('acp_agents')

---@type integer?
local buf
---@type acp.RegistryAgent[]
local list = {}
---@type acp.IndexAbout?
local about
---@type table<integer, acp.RegistryAgent> by line
local rows = {}

---@return boolean
function M.visible()
  return buf ~= nil and api.nvim_buf_is_valid(buf) and vim.fn.bufwinid(buf) ~= -1
end

---@param agent acp.RegistryAgent
---@param locked? string the version that the project names
---@return string
local function state(agent, locked)
  local parts = {}
  local installed = agent.installed
  if agents.under_way[agent.id] then
    return agents.under_way[agent.id]
  elseif not installed then
    table.insert(parts, agent.fits and agent.newest or 'not for this machine')
    if agent.fits and agent.login then
      table.insert(parts, 'needs a login')
    end
  elseif installed.by == 'path' then
    table.insert(parts, 'on the PATH')
  else
    table.insert(parts, installed.version)
    if agent.pinned then
      table.insert(parts, 'pinned')
    elseif agent.newest and agent.newest ~= installed.version then
      table.insert(parts, ('newest %s'):format(agent.newest))
    end
    if agent.running_version and agent.running_version ~= installed.version then
      table.insert(parts, ('%s runs'):format(agent.running_version))
    end
  end
  if installed and agent.account then
    table.insert(parts, agent.account)
  end
  if locked and not (installed and installed.version == locked) then
    table.insert(parts, ('the project needs %s'):format(locked))
  end
  return table.concat(parts, ' · ')
end

local function draw()
  if not buf or not api.nvim_buf_is_valid(buf) then
    return
  end
  local win = vim.fn.bufwinid(buf)
  local before = win ~= -1 and rows[api.nvim_win_get_cursor(win)[1]]
  local width = (win ~= -1 and api.nvim_win_get_width(win) or vim.o.columns) - 1
  local wrap = require('acp.ui.wrap')
  local lines, marks = {}, {}
  rows = {}
  local function head(text)
    table.insert(lines, text)
    table.insert(marks, { #lines - 1, 0, #text, 'Title' })
  end
  local dated = about and (' · index of %s'):format(about.date) or ' · …'
  head('Agents' .. dated .. ' · g? lists the keys')
  if about and about.failure then
    local why = 'This is the last index fetched: ' .. about.failure
    for _, row in ipairs(wrap.rows({ why }, {}, width)) do
      table.insert(lines, row.text)
      table.insert(marks, { #lines - 1, 0, #row.text, 'WarningMsg' })
    end
  end
  local locked = require('acp.installed').locked()
  local room = 0
  for _, agent in ipairs(list) do
    room = math.max(room, api.nvim_strwidth(agent.name))
  end
  room = math.min(room, 22)
  ---@type table<boolean, integer> the room of the states, of what is installed and what is not
  local wide = { [true] = 0, [false] = 0 }
  local states = {}
  for _, agent in ipairs(list) do
    local there = agent.installed ~= nil
    states[agent.id] = state(agent, locked[agent.id])
    local cells = agents.under_way[agent.id] and 0 or api.nvim_strwidth(states[agent.id])
    wide[there] = math.max(wide[there], math.min(cells, 30))
  end
  local part
  for _, agent in ipairs(list) do
    local now = agent.installed and 'Installed' or 'Available'
    if now ~= part then
      part = now
      table.insert(lines, '')
      head(now)
    end
    local name = wrap.cut(agent.name, room)
    local pad = (' '):rep(room - api.nvim_strwidth(name) + 2)
    local what = states[agent.id]
    local text = agent.installed and agent.said or agent.description
    local line = '  ' .. name .. pad .. what
    if text and text ~= '' and not agents.under_way[agent.id] then
      local lacks = wide[agent.installed ~= nil] - api.nvim_strwidth(what)
      line = line .. (' '):rep(math.max(0, lacks) + 2) .. text
    end
    table.insert(lines, (wrap.cut(line:gsub('[%c]', ' '), width)))
    rows[#lines] = agent
    local at = #('  ' .. name .. pad)
    table.insert(marks, { #lines - 1, 2, 2 + #name, 'Identifier' })
    table.insert(marks, { #lines - 1, at, math.min(#lines[#lines], at + #what), 'Comment' })
  end
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  for row, agent in pairs(before and rows or {}) do
    if agent.id == before.id then
      api.nvim_win_set_cursor(win, { row, 2 })
    end
  end
  api.nvim_buf_clear_namespace(buf, space, 0, -1)
  for _, m in ipairs(marks) do
    api.nvim_buf_set_extmark(buf, space, m[1], m[2], { end_col = m[3], hl_group = m[4] })
  end
end

---@param opts {online?: boolean, fetch?: boolean}
local function reload(opts)
  local _, problem = agents.list(opts, function(found, err, told)
    if not found then
      return notify.error(err)
    end
    local first = about == nil
    list, about = found, told
    draw()
    local win = buf and vim.fn.bufwinid(buf) or -1
    if first and win ~= -1 and api.nvim_win_get_cursor(win)[1] == 1 then
      local row = vim.fn.sort(vim.tbl_keys(rows), 'n')[1]
      api.nvim_win_set_cursor(win, { row or 1, 2 })
    end
  end)
  notify.warn_if(problem)
end

agents.on_page = M.visible

agents.changed:add(function()
  if not M.visible() then
    return
  end
  if next(agents.under_way) then
    draw()
  else
    reload({})
  end
end)

---@return acp.RegistryAgent?
local function here()
  local agent = rows[api.nvim_win_get_cursor(0)[1]]
  if not agent then
    notify.warn('no agent on this line')
  end
  return agent
end

---@param f fun(agent: acp.RegistryAgent)
---@return fun()
local function with(f)
  return function()
    local agent = here()
    if agent then
      f(agent)
    end
  end
end

---@param message? string
---@return fun(err: string?)
local function told(message)
  return function(err)
    if err then
      notify.error(err)
    elseif message then
      notify.info(message)
    end
  end
end

---@type table<string, fun(agent: acp.RegistryAgent)>
local actions = {
  agent_start = function(agent)
    if not agent.installed then
      return notify.warn(('%s is not installed: i installs it'):format(agent.name))
    end
    local name = agent.id
    for known, entry in pairs(require('acp.config').get().agents) do
      if entry.registry == agent.id and not entry.same_as then
        name = known
      end
    end
    local id, err = require('acp.session.start').new({ agent = name })
    if not id then
      return notify.error(err)
    end
    api.nvim_win_close(0, false)
    require('acp.chat.layout').open(id, true)
  end,
  agent_install = function(agent)
    if agent.installed and agent.installed.by == 'path' then
      local text = '%s is on the PATH, and used from there: update it as you installed it'
      return notify.warn(text:format(agent.name))
    elseif agent.pinned then
      return notify.warn(('%s is pinned: p unpins it'):format(agent.name))
    end
    agents.install_asking(agent, require('acp.installed').locked()[agent.id])
  end,
  agent_pin = function(agent)
    agents.pin(agent.id, not agent.pinned, told())
  end,
  agent_rollback = function(agent)
    agents.rollback(agent.id, told())
  end,
  agent_remove = function(agent)
    agents.uninstall(agent.id, told(('%s was removed'):format(agent.name)))
  end,
  agent_page = function(agent)
    if agent.page == '' then
      return notify.warn(('no page about %s'):format(agent.name))
    end
    local _, err = vim.ui.open(agent.page)
    if err then
      notify.warn(('the page could not be opened: %s. It is %s'):format(err, agent.page))
    end
  end,
  agent_cancel = function(agent)
    agents.cancel(agent.id)
  end,
}

---Shows the page in a window of its own, and goes there.
function M.open()
  if M.visible() then
    api.nvim_set_current_win(vim.fn.bufwinid(buf))
    return reload({ online = true })
  end
  local ok, problem = require('acp.rpc.host').ensure()
  if not ok then
    return notify.error(problem) -- it would stay empty
  end
  if not buf or not api.nvim_buf_is_valid(buf) then
    buf = api.nvim_create_buf(false, true)
    about = nil
    pcall(api.nvim_buf_set_name, buf, 'acp://agents')
    vim.bo[buf].bufhidden = 'wipe'
    vim.bo[buf].modifiable = false
    vim.bo[buf].filetype = 'acp-agents'
    local map = require('acp.ui.buffer').map
    for action, run in pairs(actions) do
      local plug = '<Plug>(Acp'
        .. action:gsub('_?(%a)(%a*)', function(a, rest)
          return a:upper() .. rest
        end)
        .. ')'
      map(buf, 'n', action, plug, with(run))
    end
    map(buf, 'n', 'agent_refresh', '<Plug>(AcpAgentRefresh)', function()
      if not require('acp.config').get().registry then
        return notify.warn('your configuration turns the registry off: registry = false')
      end
      reload({ fetch = true })
    end)
    map(buf, 'n', 'agent_close', '<Plug>(AcpAgentClose)', function()
      vim.cmd('silent! close')
    end)
    require('acp.ui.key_help').map(buf)
  end
  vim.cmd('botright split')
  api.nvim_win_set_buf(0, buf)
  for option, value in pairs({
    wrap = false,
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    cursorline = true,
    list = false,
    spell = false,
  }) do
    api.nvim_set_option_value(option, value, { scope = 'local', win = 0 })
  end
  draw()
  reload({ online = true })
end

return M
