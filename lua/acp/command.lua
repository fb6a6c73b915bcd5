---`:Acp`: its subcommands and their completion.
local M = {}

require('acp.features')
local warn, warn_if = require('acp.notify').warn, require('acp.notify').warn_if

---@class acp.Subcommand
---@field run fun(args: string, cmd: table)
---@field complete? fun(args: string): string[] all that these can become

---@type table<string, acp.Subcommand>
local sub = {}

---@param id integer?
---@param err string?
local function show(id, err)
  if id then
    require('acp.chat.layout').open(id, true)
  else
    warn_if(err)
  end
end

sub[''] = {
  run = function()
    local id = require('acp.rpc.state').resolve()
    if id then
      show(id)
    elseif require('acp.session.start').default() then
      show(require('acp').new())
    else
      require('acp.registry.page').open()
    end
  end,
}

sub.new = {
  run = function(args)
    local opts = { directories = {} }
    for word in args:gsub('\\ ', '\0'):gmatch('[^ ]+') do
      word = word:gsub('%z', ' ')
      local protocol = word:match('^protocol=(.*)')
      if protocol then
        opts.protocol = tonumber(protocol) or protocol
      elseif word:sub(1, 1) == '+' then
        table.insert(opts.directories, vim.fn.expand(word:sub(2)))
      elseif opts.agent then
        return warn((':Acp new takes one agent, and folders as +dir, not %q'):format(word))
      else
        opts.agent = word
      end
    end
    show(require('acp').new(opts))
  end,
  complete = function(args)
    local before, dir = args:match('^(.*%f[^%s%z]%+)(%S*)$')
    if before then
      return vim.tbl_map(function(found)
        return before .. found
      end, vim.fn.getcompletion(dir, 'dir'))
    end
    local named = args:match('^(.*)%f[^%s%z]p%S*$') or args:match('^(%S+%s+)$')
    if named and named ~= '' then
      return { named .. 'protocol=1', named .. 'protocol=2' }
    end
    local names = vim.tbl_map(function(agent)
      return agent.name
    end, require('acp.session.start').agents())
    table.insert(names, 'demo')
    return names
  end,
}

sub.agents = {
  run = function(args)
    if args == 'lock' then
      return require('acp.registry.lock').write()
    elseif args ~= '' then
      return warn(':Acp agents takes nothing, or lock')
    end
    require('acp.registry.page').open()
  end,
  complete = function()
    return { 'lock' }
  end,
}

sub.tutor = {
  run = function()
    require('acp.tutor').open()
  end,
}

sub.toggle = {
  run = function()
    if not require('acp.chat.layout').hide() then
      sub[''].run('', {})
    end
  end,
}

for _, name in ipairs({ 'prompt', 'steer' }) do
  sub[name] = {
    run = function(args)
      local acp = require('acp')
      if not require('acp.rpc.state').resolve() then
        local id, err = acp.new()
        if not id then
          return warn_if(err)
        end
        require('acp.chat.layout').open(id, false)
      end
      local state = require('acp.rpc.state')
      local session = state.sessions[state.resolve()]
      require('acp.prompt.context').blocks(args, session, function(blocks, err)
        if blocks then
          _, err = acp[name](blocks, { session = session.id })
        end
        if err and require('acp.prompt.buffer').take_back(session.id, args) then
          err = err:gsub('%.$', '') .. '. Your words are in the prompt'
        end
        warn_if(err)
      end)
    end,
  }
end

for _, name in ipairs({ 'cancel', 'close', 'restart', 'logout' }) do
  sub[name] = {
    run = function()
      local _, err = require('acp')[name]()
      warn_if(err)
    end,
  }
end

sub.permit = {
  run = function(args)
    local request = require('acp.rpc.state').requests()[1]
    if not request then
      return warn('nothing waits for your answer')
    end
    local option = args:match('^id:(.+)$')
    if not option then
      local n = tonumber(args)
      local chosen = n and request.options[n]
      if not chosen then
        return warn((':Acp permit takes a number from 1 to %d'):format(#request.options))
      end
      option = chosen.id
    end
    warn_if(require('acp.permission.requests').choose(request, option))
  end,
  complete = function()
    local request = require('acp.rpc.state').requests()[1]
    local numbers = {}
    for i = 1, request and #request.options or 0 do
      table.insert(numbers, tostring(i))
    end
    return numbers
  end,
}

for _, what in ipairs({ 'allow', 'reject' }) do
  sub[what] = {
    run = function(args)
      if args ~= '' and args ~= 'always' then
        return warn((':Acp %s takes nothing, or always'):format(what))
      end
      warn_if(require('acp.permission.requests').answer(what, args == 'always'))
    end,
    complete = function()
      return { 'always' }
    end,
  }
end

sub.permissions = {
  run = function()
    if not require('acp.permission.float').show() then
      local _, err = require('acp.policy.rules').show()
      warn_if(err)
    end
  end,
}

local states = {
  starting = 'starting',
  auth_required = 'waits for a login',
  idle = 'ready',
  running = 'works',
  requires_action = 'waits for you',
  dead = 'ended',
}

sub.sessions = {
  run = function()
    local sessions = require('acp.rpc.state').list()
    if #sessions == 0 then
      return warn('there is no session. :Acp new starts one')
    end
    vim.ui.select(sessions, {
      prompt = 'Sessions',
      format_item = function(s)
        local parts = { s.agent_title, states[s.state] }
        if s.title then
          table.insert(parts, s.title)
        end
        table.insert(parts, vim.fn.fnamemodify(s.cwd, ':~'))
        return require('acp.ui.wrap').item(s.id .. ' ' .. table.concat(parts, ' · '))
      end,
    }, function(session)
      if session then
        show(session.id)
      end
    end)
  end,
}

---The agent of the session in use; nil means the default one.
---@return string?
local function agent_in_use()
  local state = require('acp.rpc.state')
  local session = state.sessions[state.resolve()]
  return session and session.agent
end

sub.resume = {
  run = function(args)
    local history = package.loaded['acp.history.view']
    if args == '' and history and history.resume(0) then
      return
    end
    require('acp.session.stored').resume(agent_in_use(), args ~= '' and args or nil)
  end,
}

sub.fork = {
  run = function()
    show(require('acp').fork())
  end,
}

sub.rename = {
  run = function(args)
    require('acp.session.stored').ask_title(args ~= '' and args or nil)
  end,
  complete = function()
    local state = require('acp.rpc.state')
    local session = state.sessions[state.resolve()]
    return { session and session.title }
  end,
}

for _, what in ipairs({ 'archive', 'unarchive' }) do
  sub[what] = {
    run = function(args)
      require('acp.session.stored')[what](agent_in_use(), args ~= '' and args or nil)
    end,
  }
end

sub.providers = {
  run = function()
    require('acp.session.providers').choose()
  end,
}

sub.delete = {
  run = function(args)
    require('acp.session.stored').delete(agent_in_use(), args ~= '' and args or nil)
  end,
}

sub.auth = {
  run = function(args)
    local id, err = require('acp.rpc.state').resolve()
    if not id then
      return warn_if(err)
    end
    if args ~= '' then
      local _, failure = require('acp').authenticate(id, args)
      err = failure
    else
      err = require('acp.session.login').pick(id)
    end
    warn_if(err)
  end,
  complete = function()
    local state = require('acp.rpc.state')
    local session = state.sessions[state.resolve()]
    return vim.tbl_map(function(method)
      return method.id
    end, session and session.auth_methods or {})
  end,
}

for _, category in ipairs({ 'mode', 'model' }) do
  sub[category] = {
    run = function(args)
      warn_if(require('acp.session.options').pick(category, args ~= '' and args or nil))
    end,
    complete = function()
      return require('acp.session.options').values(category)
    end,
  }
end

sub.config = {
  run = function()
    warn_if(require('acp.session.options').pick())
  end,
}

sub.queue = {
  run = function()
    local id, err = require('acp.rpc.state').resolve()
    if not id then
      return warn_if(err)
    end
    require('acp.prompt.queue').open(id)
  end,
}

sub.terminal = {
  run = function()
    local id, err = require('acp.rpc.state').resolve()
    if not id then
      return warn_if(err)
    end
    require('acp.terminal.view').pick(id)
  end,
}

sub.changes = {
  run = function(args)
    if args ~= '' and args ~= 'all' then
      return warn(':Acp changes takes nothing, or all')
    end
    local id, err = require('acp.rpc.state').resolve()
    if not id then
      return warn_if(err)
    end
    require('acp.review.changes').open(id, args == 'all')
  end,
  complete = function()
    return { 'all' }
  end,
}

sub.undo = {
  run = function(args)
    if args ~= '' and args ~= 'again' then
      return warn(':Acp undo takes nothing, or again')
    end
    local id, err = require('acp.rpc.state').resolve()
    if not id then
      return warn_if(err)
    end
    require('acp.review.undo').ask(id, args == 'again')
  end,
  complete = function()
    return { 'again' }
  end,
}

sub.conflicts = {
  run = function(args)
    local what, nth = args:match('^(%a*)%s*(%d*)$')
    if what == 'diff' then
      require('acp.files.refused').diff(tonumber(nth) or 1)
    elseif what == '' and nth == '' then
      require('acp.files.conflict').list()
    else
      warn(':Acp conflicts takes nothing, or diff')
    end
  end,
  complete = function()
    return { 'diff' }
  end,
}

sub.recover = {
  run = function()
    require('acp.files.recover').choose()
  end,
}

sub.follow = {
  run = function(args)
    local on = ({ on = true, off = false, [''] = true })[args]
    if on == nil then
      return warn(':Acp follow takes on or off')
    end
    local _, err = require('acp').follow(on)
    warn_if(err)
  end,
  complete = function()
    return { 'on', 'off' }
  end,
}

sub.log = {
  run = function()
    local file = require('acp.rpc.host').log_file()
    if vim.fn.filereadable(file) == 0 then
      return warn('no log yet')
    end
    vim.cmd.split(vim.fn.fnameescape(file))
  end,
}

sub.traffic = {
  run = function(args)
    local file = args ~= '' and args or nil
    local _, err = require('acp').traffic({ file = file }, function(entries, failure)
      if failure then
        return warn_if(failure)
      end
      if file then
        return require('acp.notify').info('the traffic is written to ' .. file)
      end
      require('acp.traffic.view').show(entries)
    end)
    warn_if(err)
  end,
  complete = function(args)
    return vim.fn.getcompletion(args, 'file')
  end,
}

sub.build = {
  run = function(args)
    if args ~= '' and args ~= 'download' then
      return warn(':Acp build takes nothing, or download')
    end
    require('acp.build').run(args)
  end,
  complete = function()
    return { 'download' }
  end,
}

sub.health = {
  run = function()
    vim.cmd('checkhealth acp')
  end,
}

sub.add = {
  run = function(args, cmd)
    local opts = cmd.range > 0 and { first = cmd.line1, last = cmd.line2 } or {}
    opts.path = args:match('^file%s+(.+)$')
    if args == 'diagnostics' or args == 'quickfix' then
      opts.what = args
    elseif args ~= '' and not opts.path then
      return warn(':Acp add takes nothing, diagnostics, quickfix, or file and a name')
    end
    local _, err = require('acp').add(opts)
    warn_if(err)
  end,
  complete = function(args)
    local list = { 'diagnostics', 'quickfix', 'file ' }
    local typed = args:match('^file%s(.*)$')
    for _, name in ipairs(typed and vim.fn.getcompletion(typed, 'file') or {}) do
      table.insert(list, 'file ' .. name)
    end
    return list
  end,
}

sub.paste = {
  run = function()
    local id, err = require('acp.rpc.state').resolve()
    if not id then
      return warn_if(err)
    end
    require('acp.prompt.clipboard').paste(id)
  end,
}

sub.diff = {
  run = function()
    require('acp.diff.view').ask()
  end,
}

sub.review = {
  run = function(args, cmd)
    local run = require('acp.review.hunk_keys').commands[args]
    if run then
      return run(cmd)
    end
    local id, err = require('acp.rpc.state').resolve()
    if not id then
      return require('acp.session.stored').waiting('', function(sentence)
        warn_if(sentence or err)
      end)
    end
    run = ({ [''] = 'open', send = 'send', diff = 'beside' })[args]
    if not run then
      return warn(':Acp review takes nothing, ' .. table.concat(sub.review.complete(), ', '))
    end
    require('acp.review.tab')[run](id)
  end,
  complete = function()
    return { 'diff', 'keep', 'marks on', 'marks off', 'next', 'previous', 'reject', 'send' }
  end,
}

sub.search = {
  run = function(args, cmd)
    local search = require('acp.history.search')
    if args == '' then
      search.choose()
    elseif cmd.bang then
      search.pick(args)
    else
      search.open(args)
    end
  end,
}

sub.export = {
  run = function(args, cmd)
    require('acp.history.export').run(args ~= '' and args or nil, cmd.bang)
  end,
  complete = function(args)
    return vim.fn.getcompletion(args, 'file')
  end,
}

---@param cmd table as nvim_create_user_command() gives it
function M.run(cmd)
  local name, args = cmd.args:match('^(%S*)%s*(.-)$')
  if name == 'export!' or name == 'search!' then -- as the command itself may have it
    name, cmd.bang = name:sub(1, -2), true
  end
  local found = sub[name]
  if not found then
    return warn(('there is no :Acp %s; :Acp <Tab> lists the subcommands'):format(name))
  end
  local ok, err = pcall(found.run, args, cmd)
  -- That is CTRL-C while the user chooses something.
  if not ok and err ~= 'Keyboard interrupt' then
    error(err, 0)
  end
end

---The names of the subcommands.
---@return string[]
local function names()
  local list = vim.tbl_filter(function(name)
    return name ~= ''
  end, vim.tbl_keys(sub))
  table.sort(list)
  return list
end

---The words that can come next.
---@param lead string what of this word there is
---@param line string
---@param at integer the bytes of the line before the cursor
---@return string[]
function M.complete(lead, line, at)
  local typed = line:sub(1, at):match('Acp%s+(.*)$') or ''
  local name, args = typed:match('^(%S+)%s+(.*)$')
  local found = sub[name]
  args = args and args:gsub('%s+', ' ')
  local before = args and #args - #lead or 0
  local candidates = not name and names() or found and found.complete and found.complete(args) or {}
  local words, seen = {}, {}
  for _, candidate in ipairs(candidates) do
    local word = candidate:sub(before + 1):match('^%S*')
    if vim.startswith(candidate, args or typed) and word ~= '' and not seen[word] then
      seen[word] = true
      table.insert(words, word)
    end
  end
  return words
end

return M
