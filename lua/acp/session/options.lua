---Choosing a session's options with `vim.ui.select`.
local M = {}

local host = require('acp.rpc.host')
local state = require('acp.rpc.state')

---@param session? integer
---@return acp.SessionOption[]? options, string? err
function M.get(session)
  local id, err = state.resolve(session)
  if not id then
    return nil, err
  end
  return vim.deepcopy(state.sessions[id].options or {})
end

---Gives an option another value: a choice's, or true and false.
---@param session integer?
---@param option string an id, or a category such as 'mode' or 'model'
---@param value string|boolean
---@return boolean? ok, string? err
function M.set(session, option, value)
  local id, err = state.resolve(session)
  if not id then
    return nil, err
  end
  host.notify('set_option', { session = id, id = option, value = tostring(value) })
  return true
end

---@param option acp.SessionOption
---@return string
local function shown(option)
  if option.type == 'boolean' then
    return option.value and 'yes' or 'no'
  end
  for _, choice in ipairs(option.choices) do
    if choice.value == option.value then
      return choice.name
    end
  end
  return option.value --[[@as string]]
end

---@param option acp.SessionOption
---@param text string a value, or a choice's name in any case
---@return string? value
local function find(option, text)
  for _, field in ipairs({ 'value', 'name' }) do
    for _, choice in ipairs(option.choices) do
      if choice[field] == text or (field == 'name' and choice.name:lower() == text:lower()) then
        return choice.value
      end
    end
  end
end

---Lets the user choose a value of one option.
---@param session integer
---@param option acp.SessionOption
function M.choose(session, option)
  if option.type == 'boolean' then
    M.set(session, option.id, not option.value)
    return
  end
  vim.ui.select(option.choices, {
    prompt = option.name,
    format_item = function(choice)
      local mark = choice.value == option.value and '● ' or '  '
      local group = choice.group ~= '' and (choice.group .. ': ') or ''
      local description = choice.description ~= '' and (' · ' .. choice.description) or ''
      return require('acp.ui.wrap').item(mark .. group .. choice.name .. description)
    end,
  }, function(choice)
    if choice then
      M.set(session, option.id, choice.value)
    end
  end)
end

---Lets the user choose among all options, or those of one category.
---@param category string?
---@param value string? to be set without asking
---@return string? err
function M.pick(category, value)
  local session, err = state.resolve()
  if not session then
    return err
  end
  local options = vim.tbl_filter(function(option)
    return category == nil or option.category == category
  end, assert(M.get(session)))
  if #options == 0 and state.sessions[session].state == 'starting' then
    return 'the agent is still starting'
  end
  if #options == 0 then
    return category and ('this agent offers no %s'):format(category)
      or 'this agent offers no options'
  end
  if value then
    local chosen = find(options[1], value)
    if not chosen then
      return ('there is no %s %q; :Acp %s <Tab> lists them'):format(category, value, category)
    end
    M.set(session, options[1].id, chosen)
  elseif category then
    M.choose(session, options[1])
  else
    vim.ui.select(options, {
      prompt = 'Options',
      format_item = function(option)
        return require('acp.ui.wrap').item(('%s: %s'):format(option.name, shown(option)))
      end,
    }, function(option)
      if option then
        M.choose(session, option)
      end
    end)
  end
end

---The values of the first option of a category, for completion.
---@param category string
---@return string[]
function M.values(category)
  for _, option in ipairs(M.get() or {}) do
    if option.category == category then
      return vim.tbl_map(function(choice)
        return choice.value
      end, option.choices)
    end
  end
  return {}
end

---Gives a buffer of the chat the keys for choosing.
---@param buf integer
function M.map(buf)
  local buffer = require('acp.ui.buffer')
  for action, to in pairs({
    mode = { '<Plug>(AcpMode)', 'mode' },
    model = { '<Plug>(AcpModel)', 'model' },
    options = { '<Plug>(AcpOptions)', nil },
  }) do
    buffer.map(buf, 'n', action, to[1], function()
      require('acp.notify').warn_if(M.pick(to[2]))
    end)
  end
end

return M
