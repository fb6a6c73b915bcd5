---What the host has Neovim do: one function for a batch of operations, each of which fails alone.
local M = {}

---@type table<string, fun(args: table): any>
local ops = {}

function ops.hello(args)
  require('acp.rpc.host').hello(args)
  require('acp.ui.highlight').define(args.groups)
  if package.loaded['acp.follow.window'] or require('acp.config').get().follow then
    require('acp.follow.window').hello()
  end
end

function ops.group(args)
  require('acp.rpc.host').group(args.pgid, args.alive)
end

function ops.callback(args)
  require('acp.rpc.host').answer(args.id, args.result, args.error)
end

function ops.notify(args)
  vim.notify(
    'acp: ' .. args.text,
    vim.log.levels[(args.level == 'warning' and 'warn' or args.level):upper()]
  )
end

function ops.edit(args)
  require('acp.chat.transcript').edit(args)
end

---How many of the last lines are of prompts that wait.
function ops.unsent(args)
  local b = require('acp.chat.buffers').get(args.session)
  if b then
    b.unsent = args.rows
  end
end

function ops.review_edit(args)
  require('acp.review.tab').edit(args)
end

---The user has chosen the line of the chat that says what is to review.
function ops.open_review(args)
  require('acp.review.tab').open(args.session)
end

function ops.unfinished(args)
  require('acp.files.recover').offer(args.list)
end

---Slices of a block that is shown whole.
function ops.fill(args)
  require('acp.chat.block_window').fill(args)
end

---A file that an agent sent can be read now.
function ops.image_saved(args)
  require('acp.ui.image').saved(args.path)
end

function ops.session(args)
  require('acp.rpc.state').set(args)
  require('acp.chat.winbar').refresh(args.id)
end

function ops.tool_calls(args)
  require('acp.rpc.state').set_calls(args.session, args.calls)
end

function ops.changes(args)
  require('acp.review.changes').set(args.session, args.files)
end

function ops.marks(args)
  return require('acp.review.marks').piece(args)
end

function ops.terminals(args)
  require('acp.terminal.view').set(args.list)
end

function ops.terminal_output(args)
  require('acp.terminal.view').output(args)
end

function ops.permissions(args)
  require('acp.rpc.state').set_permissions(args.session, args.permissions)
  require('acp.permission.float').update()
  require('acp.chat.winbar').refresh(args.session) -- it says how long a write has waited
end

function ops.diff_piece(args)
  return require('acp.diff.view').piece(args)
end

-- Scheduled, as they wait for the user.
for op, fn in pairs({ login_terminal = 'terminal', login_secrets = 'secrets' }) do
  ops[op] = function(args)
    vim.schedule(function()
      require('acp.session.login')[fn](args)
    end)
  end
end

function ops.events(args)
  local heard = require('acp.rpc.state').heard()
  local told = false
  for _, event in ipairs(args.events) do
    if event.name == 'AcpSessionClosed' then
      require('acp.rpc.state').forget(event.data.session)
      require('acp.chat.winbar').refresh(event.data.session)
      require('acp.chat.buffers').close(event.data.session)
    end
    -- Scheduled, so that what users hang on it neither runs inside the batch nor can fail it. Who
    -- hears one may begin to hear those that follow.
    told = told or heard(event.name)
    if told then
      vim.schedule(function()
        require('acp.rpc.state').fire(event.name, event.data)
      end)
    end
  end
end

---Files are tracked while there are sessions.
function ops.watch(args)
  if args.on then
    require('acp.files.track').start(args.max_size)
  else
    require('acp.files.track').stop()
    require('acp.rpc.state').watch_limit = nil
  end
end

function ops.watch_limit(args)
  require('acp.rpc.state').watch_limit = args.why
end

---The files' buffers with unsaved text, for a prompt that is sent now.
function ops.unsaved_bufs()
  return require('acp.prompt.unsaved').list()
end

function ops.jump(args)
  return require('acp.follow.window').jump(args)
end

function ops.buffers(args)
  return require('acp.files.buffers')[args.fn](args.args)
end

---Whether a batch is being executed: the host waits for its end.
M.running = false

---Executes operations in order.
---@param batch {[1]: string, [2]: table}[] name and arguments
---@return {busy: number, answers: any[]} busy in milliseconds; an answer is {ok, value or error}
function M.batch(batch)
  local start = vim.uv.hrtime()
  local answers = {}
  M.running = true
  for i, op in ipairs(batch) do
    local ok, value = pcall(ops[op[1]], op[2])
    answers[i] = { ok, ok and value or (not ok and tostring(value)) or nil }
  end
  M.running = false
  return { busy = (vim.uv.hrtime() - start) / 1e6, answers = answers }
end

return M
