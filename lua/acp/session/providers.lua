---Choosing where an agent reaches its models, if it allows that.
local M = {}

local host = require('acp.rpc.host')
local notify = require('acp.notify')

---@class acp.Provider
---@field id string
---@field types string[] of interfaces that it may have
---@field required boolean
---@field type string '' where it is not used
---@field url string

---@param id integer session
---@param method string
---@param args table
local function change(id, method, args)
  args.session = id
  host.request(method, args, function(_, err)
    if err then
      return notify.warn(err)
    end
    notify.info('new sessions use it; :Acp restart makes this one use it too')
  end)
end

---Asks for one header after the other, until there are no more. What is typed is not shown.
---@param done fun(headers: table<string, string>?) gets nil when the user has changed their mind
local function ask_headers(done)
  local headers = {}
  while true do
    local ok, given = pcall(vim.fn.inputsecret, 'Header, as Name: value (empty when done): ')
    if not ok then
      return done(nil)
    elseif vim.trim(given) == '' then
      return done(next(headers) and headers or nil)
    end
    local name, value = given:match('^%s*([^%s:]+)%s*:%s*(.-)%s*$')
    if name then
      headers[name] = value
    else
      notify.warn('that is not a header: it is left out')
    end
  end
end

---@param id integer session
---@param provider acp.Provider
---@param kind string
local function set(id, provider, kind)
  local now = kind == provider.type and provider.url or nil
  vim.ui.input({ prompt = 'Address: ', default = now }, function(url)
    if not url or vim.trim(url) == '' then
      return
    end
    local fields = { id = provider.id, type = kind, url = vim.trim(url) }
    local choices = { 'No headers', 'With headers, such as an API key' }
    vim.ui.select(choices, { prompt = provider.id }, function(_, choice)
      if choice == 1 then
        change(id, 'set_provider', fields)
      elseif choice == 2 then
        ask_headers(function(headers)
          fields.headers = headers
          if headers then
            change(id, 'set_provider', fields)
          end
        end)
      end
    end)
  end)
end

---@param id integer session
---@param provider acp.Provider
local function act(id, provider)
  local choices = {}
  for _, kind in ipairs(provider.types) do
    table.insert(choices, { text = 'Use ' .. kind, kind = kind })
  end
  if provider.type ~= '' and not provider.required then
    table.insert(choices, { text = 'Do not use it' })
  end
  vim.ui.select(choices, {
    prompt = provider.id,
    format_item = function(choice)
      return choice.text
    end,
  }, function(choice)
    if choice and choice.kind then
      set(id, provider, choice.kind)
    elseif choice then
      change(id, 'disable_provider', { id = provider.id })
    end
  end)
end

---Lets the user choose a provider, and what becomes of it.
function M.choose()
  local id, err = require('acp.rpc.state').resolve()
  if not id then
    return notify.warn_if(err)
  end
  host.request('list_providers', { session = id }, function(list, failure)
    if failure or #list == 0 then
      return notify.warn(failure or 'no provider to choose')
    end
    vim.ui.select(list, {
      prompt = 'Providers',
      format_item = function(provider)
        local used = provider.type ~= '' and { provider.type, provider.url } or { 'not used' }
        local parts = vim.list_extend({ provider.id }, used)
        return require('acp.ui.wrap').item(table.concat(parts, ' · '))
      end,
    }, function(provider)
      if provider then
        act(id, provider)
      end
    end)
  end)
end

return M
