---How the features are connected: which of them handles each of the host's operations, which
---signals of lower modules they listen to, and what higher modules pass to lower ones. A feature is
---loaded when it is first needed.
local host = require('acp.rpc.host')
local ops = require('acp.rpc.ops')
local state = require('acp.rpc.state')

---A function of a module that is loaded when it is called.
---@param module string
---@param name string
---@return fun(...: any): any
local function lazy(module, name)
  return function(...)
    return require(module)[name](...)
  end
end

---By operation: a module, its function, and which fields of the operation it gets; all, if none are
---named.
---@type table<string, string[]>
local of_features = {
  edit = { 'acp.chat.transcript', 'edit' },
  unsent = { 'acp.chat.transcript', 'unsent' },
  fill = { 'acp.chat.block_window', 'fill' },
  image_saved = { 'acp.ui.image', 'saved', 'path' },
  unsaved_bufs = { 'acp.prompt.unsaved', 'list' },
  diff_piece = { 'acp.diff.view', 'piece' },
  changes = { 'acp.review.changes', 'set', 'session', 'files' },
  marks = { 'acp.review.marks', 'piece' },
  review_edit = { 'acp.review.tab', 'edit' },
  open_review = { 'acp.review.tab', 'open', 'session' },
  watch = { 'acp.files.track', 'watch' },
  unfinished = { 'acp.files.recover', 'offer', 'list' },
  terminals = { 'acp.terminal.view', 'set', 'list' },
  terminal_output = { 'acp.terminal.view', 'output' },
  install_progress = { 'acp.registry.agents', 'progress', 'id', 'text' },
  jump = { 'acp.follow.window', 'jump' },
  editor_tool = { 'acp.editortools', 'run' },
  cancel_editor_tool = { 'acp.editortools', 'cancel', 'id' },
  extension_request = { 'acp.extension.requests', 'serve' },
}

for op, to in pairs(of_features) do
  local fn = lazy(to[1], to[2])
  ops.register(op, function(args)
    if not to[3] then
      return fn(args)
    end
    return fn(args[to[3]], args[to[4]])
  end)
end

ops.register('buffers', function(args)
  return require('acp.files.buffers')[args.fn](args.args)
end)

ops.register('hello', function(args)
  host.hello(args)
  require('acp.ui.highlight').define(args.groups)
  if package.loaded['acp.follow.window'] or require('acp.config').get().follow then
    require('acp.follow.window').hello()
  end
end)

-- Scheduled, as they wait for the user.
ops.register('login_terminal', vim.schedule_wrap(lazy('acp.session.login', 'terminal')))
ops.register('login_secrets', vim.schedule_wrap(lazy('acp.session.login', 'secrets')))

host.ended:add(function(why)
  if why then
    state.host_died(why)
  end
end)

state.permissions_changed:add(lazy('acp.permission.float', 'update'))
state.elicitations_changed:add(lazy('acp.permission.float', 'update'))

-- Scheduled, as a program is started.
ops.register(
  'open_page',
  vim.schedule_wrap(function(args)
    local _, err = vim.ui.open(args.url)
    if err then
      require('acp.notify').warn(
        ('the page could not be opened: %s. It is %s'):format(err, args.url)
      )
    end
  end)
)

state.changed:add(function(id, before)
  local now = state.sessions[id].state
  local needed = now == 'auth_required' or package.loaded['acp.session.login']
  if needed and now ~= (before and before.state) then
    require('acp.session.login').changed(id, now)
  end
end)

---Gives a chat or a prompt the keys of features.
---@param buf integer
---@param what 'chat'|'prompt'
---@param id integer session
local function map(buf, what, id)
  local buffer = require('acp.ui.buffer')
  if what == 'chat' then
    require('acp.chat.welcome').show(buf, state.sessions[id])
    buffer.map(buf, 'n', 'diff', '<Plug>(AcpDiff)', function()
      require('acp.diff.view').ask()
    end)
    buffer.map(buf, 'n', 'terminal', '<Plug>(AcpTerminal)', lazy('acp.terminal.view', 'open_here'))
    buffer.map(buf, 'n', 'edit_prompt', '<Plug>(AcpEditPrompt)', lazy('acp.prompt.again', 'edit'))
    buffer.map(buf, 'n', 'fork_prompt', '<Plug>(AcpForkPrompt)', lazy('acp.session.fork', 'here'))
  else
    buffer.map(buf, 'n', 'paste_image', '<Plug>(AcpPasteImage)', function()
      require('acp.prompt.clipboard').paste(id)
    end)
  end
  require('acp.session.options').map(buf)
  require('acp.permission.requests').map(buf)
  buffer.map(buf, 'n', 'cancel', '<Plug>(AcpCancelTurn)', function()
    if state.sessions[id] then
      host.notify('cancel', { session = id })
    end
  end)
end

---What is needed once there are sessions.
local function connect()
  local bufs = require('acp.chat.buffers')
  bufs.makers.chat = lazy('acp.chat.transcript', 'create')
  bufs.makers.prompt = lazy('acp.prompt.buffer', 'create')
  bufs.keys:add(map)

  local winbar = require('acp.chat.winbar')
  winbar.prompt_bar = lazy('acp.prompt.winbar', 'compose')
  require('acp.elicitation.questions').fill_in = function(question)
    require('acp.permission.float').hide(question.id)
    require('acp.elicitation.form').open(question)
  end
  winbar.waits = lazy('acp.permission.pending_write', 'waits')

  require('acp.review.changes').changed:add(function(paths)
    local marks = require('acp.review.marks')
    marks.keys = lazy('acp.review.hunk_keys', 'keys')
    marks.changed(paths)
  end)

  vim.api.nvim_create_autocmd('BufFilePre', {
    group = vim.api.nvim_create_augroup('acp_features', {}),
    nested = true,
    desc = 'Show an agent again where a restored session had it',
    callback = function(event)
      if vim.g.SessionLoad and vim.api.nvim_buf_get_name(event.buf) == '' then
        require('acp.chat.mksession').restore(event.buf)
      end
    end,
  })
end

local connected = false
host.started:add(function()
  if not connected then
    connected = true
    connect()
  end
  require('acp.policy.rules').send()
  require('acp.editortools').offer()
end)
