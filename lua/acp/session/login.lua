---Logging in: the choice among an agent's ways, its own program in a terminal window, and the
---values it needs in its environment. What to do with all that is decided by the host.
local M = {}

local api = vim.api

---@type table<integer, number> since when a session's login is to be offered, in ms
local due = {}
---@type boolean a look is to come
local looking = false
---@type table<integer, true> sessions whose login was offered since they last worked
local offered = {}
---@type string[] the events after which the user may be in a chat, and free
local waking = { 'BufEnter', 'InsertLeave', 'CmdlineLeave' }
local group = api.nvim_create_augroup('acp_login', {})

---@param id integer
---@return table[] methods
local function methods(id)
  local session = require('acp.rpc.state').sessions[id]
  return session and session.auth_methods or {}
end

---Logs in by one of the agent's ways; see `auth_methods` of the session.
---@param session integer?
---@param method_id string
---@return boolean? ok, string? err
function M.authenticate(session, method_id)
  local id, err = require('acp.rpc.state').resolve(session)
  if not id then
    return nil, err
  end
  for _, method in ipairs(require('acp.rpc.state').sessions[id].auth_methods or {}) do
    if method.id == method_id then
      require('acp.rpc.host').notify('authenticate', { session = id, method_id = method_id })
      return true
    end
  end
  return nil, ('the agent has no login %q'):format(tostring(method_id))
end

---Who is logged in with a session's agent, as far as that tells.
---@param session acp.Session
---@return string?
function M.account(session)
  if session.login == 'unauthenticated' then
    return 'not logged in'
  elseif session.login == 'not_required' then
    return 'needs no login'
  end
  return session.account and 'logged in: ' .. session.account
end

---Lets the user choose how to log in. A single way needs no choice of a user who asked to log in,
---nor one in a terminal window, which says itself what it will do.
---@param id integer
---@param unasked? boolean
---@return string? err
function M.pick(id, unasked)
  due[id], offered[id] = nil, true
  local list = methods(id)
  if #list == 0 then
    local session = require('acp.rpc.state').sessions[id]
    local account = M.account(session)
    local is = account and (' (%s)'):format(account) or ''
    return ('%s has no login from here%s'):format(session.agent_title, is)
  end
  local function choose(method)
    if method then
      M.authenticate(id, method.id)
    end
  end
  if #list == 1 and (not unasked or list[1].type == 'terminal') then
    return choose(list[1])
  end
  local account = M.account(require('acp.rpc.state').sessions[id])
  local is = account and (' (%s)'):format(account) or ''
  vim.ui.select(list, {
    prompt = ('Log in to %s%s'):format(require('acp.rpc.state').name(id), is),
    format_item = function(method)
      local description = method.description ~= '' and (' · ' .. method.description) or ''
      return require('acp.ui.wrap').item(method.name .. description)
    end,
  }, choose)
end

---Offers a login that is due, when the user is in the chat and in the middle of nothing. A choice
---takes the keys: it opens when the user has seen why, and when none is typed.
local function offer()
  local id = vim.b.acp_session
  local session = id and require('acp.rpc.state').sessions[id]
  if looking or not session or session.state ~= 'auth_required' or not due[id] then
    return
  end
  if api.nvim_get_mode().mode ~= 'n' or #methods(id) == 0 then
    return
  end
  local typing = require('acp.ui.typing')
  local left = typing.left(due[id])
  if left > 0 or vim.fn.getchar(1) ~= 0 or not typing.free() then
    looking = true
    vim.defer_fn(function()
      looking = false
      offer()
    end, math.max(math.ceil(left), 50))
    return
  end
  vim.cmd.redraw()
  M.pick(id, true)
end

---A session is in another state. The login it needs is offered once, as soon as the user is in its
---chat; nobody is interrupted elsewhere, nor again after a login that did not help.
---@param id integer
---@param state string
function M.changed(id, state)
  if state == 'auth_required' and not offered[id] then
    if next(due) == nil then
      api.nvim_create_autocmd(waking, {
        group = group,
        desc = 'Offer the login that an agent waits for',
        callback = function()
          vim.schedule(offer)
        end,
      })
    end
    due[id] = require('acp.ui.typing').now()
    vim.schedule(offer)
    return
  end
  due[id] = nil
  if state == 'idle' or state == 'running' then
    offered[id] = nil
  end
  if next(due) == nil then
    api.nvim_clear_autocmds({ group = group, event = waking })
  end
end

---@class acp.TerminalLogin
---@field session integer
---@field title string the agent's
---@field command string[]
---@field env table<string, string>
---@field cwd string

---Runs an agent's login in a terminal window, with focus: the user asked for it.
---@param args acp.TerminalLogin
function M.terminal(args)
  local before, tab = api.nvim_get_current_win(), api.nvim_get_current_tabpage()
  local sizes, count = vim.fn.winrestcmd(), #api.nvim_tabpage_list_wins(tab)
  vim.cmd('botright new')
  local buf = api.nvim_get_current_buf()
  api.nvim_create_autocmd('WinClosed', {
    group = group,
    pattern = tostring(api.nvim_get_current_win()),
    once = true,
    desc = 'Give the windows the sizes they had before the login',
    callback = vim.schedule_wrap(function()
      local here = api.nvim_get_current_tabpage() == tab
      if here and #api.nvim_tabpage_list_wins(tab) == count then
        vim.cmd(sizes)
      end
    end),
  })
  local opts = {
    cwd = args.cwd,
    env = next(args.env) and args.env or nil,
    on_exit = function(_, code)
      vim.schedule(function()
        if code == 0 and api.nvim_buf_is_valid(buf) then
          local here = api.nvim_get_current_buf() == buf
          api.nvim_buf_delete(buf, { force = true })
          if here and api.nvim_win_is_valid(before) then
            api.nvim_set_current_win(before)
          end
        end
        require('acp.rpc.host').notify('login_ended', { session = args.session, code = code })
      end)
    end,
  }
  local ok, job
  if vim.fn.has('nvim-0.11') == 1 then
    opts.term = true
    ok, job = pcall(vim.fn.jobstart, args.command, opts)
  else
    ok, job = pcall(vim.fn.termopen, args.command, opts)
  end
  if not ok or job <= 0 then
    api.nvim_buf_delete(buf, { force = true })
    require('acp.notify').warn(('%s could not be started'):format(args.command[1]))
    return
  end
  vim.b[buf].acp_session = args.session
  vim.bo[buf].filetype = 'acp-terminal'
  vim.bo[buf].bufhidden = 'hide'
  api.nvim_set_option_value('winbar', '%#AcpWinbar# Log in to ' .. args.title:gsub('%%', '%%%%'), {
    scope = 'local',
    win = 0,
  })
  vim.cmd.startinsert()
end

---@class acp.LoginVariable
---@field name string
---@field label string
---@field optional boolean

---Asks for the variables of a login. What is typed is neither shown nor kept in any history, and
---goes to the host alone.
---@param args {session: integer, method: string, vars: acp.LoginVariable[]}
function M.secrets(args)
  local values = {}
  for _, var in ipairs(args.vars) do
    local label = var.label ~= '' and ('%s (%s)'):format(var.label, var.name) or var.name
    local ok, value = pcall(vim.fn.inputsecret, label .. (var.optional and ' (optional): ' or ': '))
    if not ok or (value == '' and not var.optional) then
      return -- the user changed their mind
    end
    if value ~= '' then
      values[var.name] = value
    end
  end
  require('acp.rpc.host').notify(
    'secrets',
    { session = args.session, method_id = args.method, values = values }
  )
end

return M
