-- Neovim's side of a measurement: a chat or the floor's buffer, with the same interface.
local channel, exe = ...
local api = vim.api

local M = {}
_G.bench = M

---@type integer the buffer that is written to
local buf
---@type fun(text: string)
local prompt
---@type fun()
M.cancel = nil
---@type table? of the running measurement: when and with what it began
local run

---@return number ms of CPU time that this process has used
local function cpu()
  local u = assert(vim.uv.getrusage())
  return (u.utime.sec + u.stime.sec) * 1e3 + (u.utime.usec + u.stime.usec) / 1e3
end

---@return integer pid of the job that speaks RPC
local function job()
  for _, chan in ipairs(api.nvim_list_chans()) do
    if chan.stream == 'job' then
      return vim.fn.jobpid(chan.id)
    end
  end
  error('the program does not run')
end

---Tells the benchmark, with the process id of the host or floor, that prompts can be sent.
function M.ready()
  vim.rpcnotify(channel, 'ready', job())
end

---Opens a chat with the synthetic agent.
---@param project string the folder of its session; '' is Neovim's
function M.chat(project)
  api.nvim_create_autocmd('User', { pattern = 'AcpSessionReady', once = true, callback = M.ready })
  api.nvim_create_autocmd('User', {
    pattern = 'AcpTurnEnd',
    callback = function(ev)
      M.ended(ev.data)
    end,
  })
  local acp = require('acp')
  local id = assert(acp.new({ agent = 'bench', cwd = project ~= '' and project or nil }))
  vim.cmd('Acp')
  vim.cmd('stopinsert')
  buf = acp.sessions()[1].chat_buf
  prompt = function(text)
    assert(acp.prompt(text, { session = id }))
  end
  M.cancel = function()
    assert(acp.cancel({ session = id }))
  end
end

---Opens windows like those of a chat, with a plain buffer for the floor.
function M.floor()
  buf = api.nvim_create_buf(false, true)
  local input = api.nvim_create_buf(false, true)
  local win = api.nvim_open_win(buf, false, { split = 'right', win = -1, width = 80 })
  for name, value in pairs({ number = false, signcolumn = 'yes:1', linebreak = true }) do
    api.nvim_set_option_value(name, value, { scope = 'local', win = win })
  end
  local below = api.nvim_open_win(input, false, { split = 'below', win = win, height = 4 })
  api.nvim_set_current_win(below)
  local id = vim.fn.jobstart({ exe }, { rpc = true, env = { ACP_BENCH_ROLE = 'floor' } })
  prompt = function(text)
    vim.rpcnotify(id, 'prompt', text)
  end
  M.cancel = function()
    vim.rpcnotify(id, 'cancel', '')
  end
  M.tell_files = function(files)
    vim.rpcnotify(id, 'files', files)
  end
  M.set_final = function(lines)
    vim.rpcnotify(id, 'final', lines)
  end
  M.show = function(first, lines, done)
    api.nvim_buf_set_lines(buf, first, -1, false, lines)
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(buf), 0 })
    if done then
      M.ended({})
    end
  end
  M.append = function(lines, done)
    api.nvim_buf_set_text(buf, -1, -1, -1, -1, lines)
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(buf), 0 })
    if done then
      M.ended({})
    end
  end
end

---Measures from now on, until M.finish.
local function start()
  local sec, usec = assert(vim.uv.gettimeofday())
  run = {
    at = sec * 1e3 + usec / 1e3,
    timer = assert(vim.uv.new_timer()),
    gap = 0,
    work = 0,
    cpu = cpu(),
    start = vim.uv.hrtime(),
  }
  local last, worked = run.start, run.cpu
  local r = run
  local function tick()
    local now, work = vim.uv.hrtime(), cpu()
    r.gap, r.work = math.max(r.gap, now - last), math.max(r.work, work - worked)
    last, worked = now, work
  end
  r.timer:start(5, 5, tick)
  r.stop = function()
    r.timer:close()
    tick()
  end
end

---Sends a prompt and measures from now on until the turn has ended.
---@param text string
function M.start(text)
  start()
  prompt(text)
end

---Ends the measurement, with all that has come on the screen.
---@param turn {stop_reason?: string, error?: string}
function M.finish(turn)
  local r = assert(run)
  run = nil
  vim.cmd.redraw()
  local now = vim.uv.hrtime()
  r.stop()
  vim.rpcnotify(channel, 'done', {
    ms = (now - r.start) / 1e6,
    gap = r.gap / 1e6,
    cpu = cpu() - r.cpu,
    work = r.work,
    since_cancel = r.cancelled and (now - r.cancelled) / 1e6 or 0,
    error = turn.error or '',
    at = r.at,
  })
end

---Starts a language server for a file.
---@param program string
---@param dir string
---@param path string
function M.language_server(program, dir, path)
  local file = vim.fn.bufadd(path)
  vim.fn.bufload(file)
  vim.bo[file].filetype = 'go'
  local env = { GOFLAGS = '-mod=mod', GOPROXY = 'off' }
  vim.lsp.start(
    { name = 'server', cmd = { program }, root_dir = dir, cmd_env = env },
    { bufnr = file }
  )
end

---Has the server tell references some times, and tells the shortest time.
---@param times integer
---@param path string
---@param by_tool boolean the editor's tool asks it
function M.ask_server(times, path, by_tool)
  local client = vim.lsp.get_clients({ name = 'server' })[1]
  local method, took = 'textDocument/references', {}
  local params = {
    textDocument = { uri = vim.uri_from_fname(path) },
    position = { line = 2, character = 5 },
    context = { includeDeclaration = true },
  }
  local function ask()
    if #took == times then
      table.sort(took)
      return vim.rpcnotify(channel, 'done', { ms = took[1], error = '' })
    end
    local began = vim.uv.hrtime()
    local function came()
      table.insert(took, (vim.uv.hrtime() - began) / 1e6)
      vim.schedule(ask)
    end
    if by_tool then
      local args = { path = path, line = 3, symbol = 'Parse' }
      require('acp.editortools.lsp').run('references', args, came)
    elseif vim.fn.has('nvim-0.11') == 1 then
      client:request(method, params, came, 0)
    else
      client.request(method, params, came, 0)
    end
  end
  ask()
end

---Gives files diagnostics of a language server that is none.
---@param path string how their names begin
---@param count integer of files
---@param each integer
function M.diagnose(path, count, each)
  local space = api.nvim_create_namespace('bench_diagnostics')
  for i = 1, count do
    local file = vim.fn.bufadd(path .. i)
    vim.fn.bufload(file)
    local lines, list = {}, {}
    for row = 1, each do
      lines[row] = 'line ' .. row
      local at = { line = row - 1, character = 0 }
      list[row] = {
        lnum = row - 1,
        col = 0,
        severity = 1 + row % 3,
        message = 'something is wrong in line ' .. row,
        source = 'bench',
        user_data = { lsp = { range = { start = at, ['end'] = at } } },
      }
    end
    api.nvim_buf_set_lines(file, 0, -1, false, lines)
    vim.diagnostic.set(
      space,
      file,
      list,
      { virtual_text = false, underline = false, signs = false }
    )
  end
end

---Does something as soon as a condition holds.
---@param condition fun(): boolean
---@param fn fun()
local function when(condition, fn)
  local timer = assert(vim.uv.new_timer())
  local step = vim.schedule_wrap(function()
    if not timer:is_closing() and condition() then
      timer:close()
      fn()
    end
  end)
  timer:start(0, 2, step)
end

---@type integer[] the buffers of files that are open
local files
---@type (fun(): boolean)? what the end of the measurement waits for, beside the end of the turn
local condition

---Opens files in buffers, the first of them in a window.
---@param paths string[]
function M.open_files(paths)
  vim.o.hidden = true
  files = {}
  local bufs = {}
  for i, path in ipairs(paths) do
    files[i] = vim.fn.bufadd(path)
    vim.bo[files[i]].buflisted = true
    vim.fn.bufload(files[i])
    bufs[path] = files[i]
  end
  api.nvim_win_set_buf(vim.fn.win_getid(1), files[1])
  if M.tell_files then
    M.tell_files(bufs)
  end
end

---Gives files an unsaved first line.
---@param paths string[]
---@param line string
function M.edit(paths, line)
  for _, path in ipairs(paths) do
    api.nvim_buf_set_lines(vim.fn.bufnr(path), 0, 1, false, { line })
  end
end

---Types in the first file while the next turn runs.
---@param line string that its first line begins with
---@param pace integer ms
function M.type(line, pace)
  local i = 0
  local timer = assert(vim.uv.new_timer())
  local began
  local step = vim.schedule_wrap(function()
    if timer:is_closing() then
      return
    elseif began and not run then
      return timer:close()
    end
    began = began or run
    i = i + 1
    api.nvim_buf_set_lines(files[1], 0, 1, false, { line .. ' -- ' .. i })
  end)
  timer:start(0, pace, step)
end

local ns = api.nvim_create_namespace('bench')

---Puts marks on the first file, of which no write may move one.
function M.mark_lines()
  for row = 0, api.nvim_buf_line_count(files[1]) - 1, 100 do
    api.nvim_buf_set_extmark(files[1], ns, row, 2, {})
  end
end

---What the writes have left of the first file, and what an undo makes of that in two rows.
---@param row integer
---@param other integer
function M.written(row, other)
  local marks = true
  for i, mark in ipairs(api.nvim_buf_get_extmarks(files[1], ns, 0, -1, {})) do
    marks = marks and mark[2] == (i - 1) * 100
  end
  local got = {
    text = table.concat(api.nvim_buf_get_lines(files[1], 0, -1, false), '\n') .. '\n',
    modified = vim.bo[files[1]].modified,
    marks = marks,
  }
  api.nvim_buf_call(files[1], function()
    vim.cmd('silent undo')
  end)
  got.before = api.nvim_buf_get_lines(files[1], row, row + 1, false)[1]
  got.row = api.nvim_buf_get_lines(files[1], other, other + 1, false)[1]
  return got
end

---The floor's write of lines.
---@param target integer
---@param first integer
---@param last integer
---@param lines string[]
function M.write(target, first, last, lines)
  api.nvim_buf_set_lines(target, first, last, false, lines)
  api.nvim_buf_call(target, function()
    vim.cmd('silent noautocmd write!')
  end)
end

---Has the measurement end when all files have a line.
---@param row integer
---@param line string
function M.until_line(row, line)
  local at = 1
  condition = function()
    while at <= #files and api.nvim_buf_get_lines(files[at], row, row + 1, false)[1] == line do
      at = at + 1
    end
    return at > #files
  end
end

---Measures until so many files stand in the line above the prompt as unsaved.
---@param count integer
function M.await_unsaved(count)
  start()
  local id = require('acp').sessions()[1].id
  when(function()
    local names = require('acp.rpc.state').sessions[id].unsaved or {}
    return #names == count
  end, function()
    M.finish({})
  end)
end

---Measures until a notice has come.
---@param words string
function M.await_notice(words)
  local came = false
  local notify = vim.notify
  vim.notify = function(text, ...)
    came = came or text:find(words, 1, true) ~= nil
    return notify(text, ...)
  end
  start()
  when(function()
    return came
  end, function()
    vim.notify = notify
    M.finish({})
  end)
end

---Measures keys that are typed until M.finish.
---@param waits boolean something waits for the user to rest meanwhile
function M.keys(waits)
  local typing = require('acp.ui.typing')
  typing.watch()
  typing.cancel()
  if waits then
    typing.when(function()
      return true
    end, function() end)
  end
  start()
end

---@type fun(turn: {session: integer})? who wants the ends of turns for itself
local ends

---Opens so many sessions one after another, each with some turns, closes them, and measures that.
---@param count integer
---@param turns integer
---@param text string
function M.sessions(count, turns, text)
  local left
  local acp = require('acp')
  local function next()
    if count == 0 then
      ends = nil
      return M.finish({})
    end
    count, left = count - 1, turns
    local id = assert(acp.new({ agent = 'bench' }))
    assert(acp.prompt(text, { session = id }))
  end
  ends = function(turn)
    left = left - 1
    if left > 0 then
      return assert(acp.prompt(text, { session = turn.session }))
    end
    api.nvim_create_autocmd('User', {
      pattern = 'AcpSessionClosed',
      once = true,
      callback = vim.schedule_wrap(next),
    })
    assert(acp.close({ session = turn.session }))
  end
  start()
  next()
end

---What there is of things that are counted.
---@return {autocommands: integer, lua: number} lua in KB
function M.counts()
  collectgarbage()
  collectgarbage()
  return { autocommands = #api.nvim_get_autocmds({}), lua = collectgarbage('count') }
end

---The timers that there are; Neovim 0.10 dies of a walk through its own handles.
---@type table<uv.uv_timer_t, true>
local timers = setmetatable({}, { __mode = 'k' })

do
  local new = vim.uv.new_timer
  vim.uv.new_timer = function()
    local timer = assert(new())
    timers[timer] = true
    return timer
  end
end

---What there is of things that should not become more.
---@return table<string, number>
function M.left()
  local left = { buffers = 0, extmarks = 0, timers = 0 }
  left.autocommands, left.lua = M.counts().autocommands, M.counts().lua
  left.memory = vim.uv.resident_set_memory() / 1e6
  for _, b in ipairs(api.nvim_list_bufs()) do
    left.buffers = left.buffers + 1
    left.extmarks = left.extmarks + #api.nvim_buf_get_extmarks(b, -1, 0, -1, {})
  end
  for timer in pairs(timers) do
    if not timer:is_closing() then
      left.timers = left.timers + 1
    end
  end
  return left
end

---The turn has ended.
---@param turn {session: integer, stop_reason?: string, error?: string}
function M.ended(turn)
  if ends then
    return ends(turn)
  end
  local holds = condition
  condition = nil
  if not holds or holds() then
    return M.finish(turn)
  end
  when(holds, function()
    M.finish(turn)
  end)
end

---Opens all blocks of the chat, and measures until they are shown.
---@param expected integer how many lines the chat will have at least
function M.open(expected)
  start()
  require('acp.rpc.host').notify('fold', { session = 1, row = 0, fold = 'open_all' })
  api.nvim_buf_attach(buf, false, {
    on_lines = function()
      if run and api.nvim_buf_line_count(buf) >= expected then
        vim.schedule(function()
          M.finish({})
        end)
        return true
      end
    end,
  })
end

---Shows a file that has changes in a window of its own, and measures until they are marked.
---@param path string
---@param signs integer how many lines are marked then
function M.mark(path, signs)
  vim.cmd.stopinsert()
  vim.cmd.tabedit(vim.fn.fnameescape(path))
  local file = api.nvim_get_current_buf()
  local seen = 0
  local marked = api.nvim_create_namespace('acp_marks')
  local set = api.nvim_buf_set_extmark
  api.nvim_buf_set_extmark = function(b, n, row, col, opts)
    if n == marked and opts.sign_text then
      seen = seen + 1
    end
    return set(b, n, row, col, opts)
  end
  vim.cmd.redraw()
  start()
  when(function()
    return seen >= signs
  end, function()
    api.nvim_buf_set_extmark = set
    assert(#api.nvim_buf_get_extmarks(file, marked, 0, 50, {}) > 0, 'nothing is marked')
    M.finish({})
  end)
end

---Refuses so many changes from the first line of the current buffer on, by the key, and measures
---until it has a text.
---@param count integer
---@param text string
function M.refuse(count, text)
  local lines = vim.split(text, '\n', { trimempty = true })
  api.nvim_win_set_cursor(0, { 1, 0 })
  local file = api.nvim_get_current_buf()
  start()
  api.nvim_feedkeys(count .. 'g<', 'm', false)
  when(function()
    return vim.deep_equal(api.nvim_buf_get_lines(file, 0, 1, false), { lines[1] })
  end, function()
    assert(vim.deep_equal(api.nvim_buf_get_lines(file, 0, -1, false), lines), 'not all is refused')
    M.finish({})
  end)
end

---Measures until so many files are in the record of what the agent has changed. They are counted as
---they come: all of them as the API tells them are many tables.
---@param count integer
function M.await_changes(count)
  local seen, n = {}, 0
  local function see(paths)
    for path in pairs(paths) do
      n, seen[path] = n + (seen[path] and 0 or 1), true
    end
  end
  for _, file in ipairs(require('acp').changes()) do
    see({ [file.path] = true })
  end
  require('acp.review.changes').changed:add(see)
  start()
  when(function()
    return n >= count
  end, function()
    M.finish({})
  end)
end

---Takes the last turn back, or with `again` does it again, and measures that.
---@param again boolean
function M.take_back(again)
  start()
  local session = require('acp').sessions()[1].id
  require('acp.rpc.host').request(
    'undo',
    { session = session, again = again },
    function(result, err)
      M.finish({ error = err or result.failed })
    end
  )
end

---Opens the review, and measures until it has so many lines.
---@param lines integer
function M.open_review(lines)
  start()
  vim.cmd('Acp review')
  when(function()
    return vim.bo.filetype == 'acp-review' and api.nvim_buf_line_count(0) >= lines
  end, function()
    M.finish({})
  end)
end

---Opens the file under the cursor in the review, and measures until there are so many lines.
---@param lines integer
function M.unfold_review(lines)
  start()
  api.nvim_feedkeys(vim.keycode('2Gza'), 'm', false)
  when(function()
    return api.nvim_buf_line_count(0) >= lines
  end, function()
    M.finish({})
  end)
end

---Moves through the review, and decides something of it, and measures until that is done.
function M.walk_review()
  local keys =
    { ']v', ']f', '\4', '[v', 'G', '\21', ']v', 'gg', ']v', 'a', ']v', 'x', 'u', 'u', 'G', 'gg' }
  start()
  local i = 0
  local timer = assert(vim.uv.new_timer())
  timer:start(
    0,
    60,
    vim.schedule_wrap(function()
      i = i + 1
      if i > 3 * #keys then
        timer:close()
        return M.finish({})
      end
      api.nvim_feedkeys(keys[(i - 1) % #keys + 1], 'm', false)
    end)
  )
end

---Opens the last diff in two windows, and measures until they are shown.
---@param lines integer how many lines each side has at least
function M.open_diff(lines)
  start()
  local diff = require('acp.diff.view')
  diff.ask()
  when(function()
    for _, win in ipairs(diff.windows()) do
      if api.nvim_buf_line_count(api.nvim_win_get_buf(win)) < lines then
        return false
      end
    end
    return #diff.windows() > 1
  end, function()
    M.finish({})
  end)
end

---Shows the first terminal of the chat in a window as soon as there is one.
function M.open_terminal()
  local acp = require('acp')
  when(function()
    return #acp.terminals() > 0
  end, function()
    require('acp.terminal.view').pick(acp.sessions()[1].id)
  end)
end

---@return integer how many windows show a terminal
function M.terminals()
  return #vim.tbl_filter(function(win)
    return vim.bo[api.nvim_win_get_buf(win)].buftype == 'terminal'
  end, api.nvim_list_wins())
end

---Cancels the running turn, and measures the time until it has ended.
function M.cancel_now()
  run.cancelled = vim.uv.hrtime()
  M.cancel()
end

---@return number ms of CPU time that this process has used
M.cpu = cpu

---@return integer
function M.lines()
  return api.nvim_buf_line_count(buf)
end

---@return string[]
function M.all()
  return api.nvim_buf_get_lines(buf, 0, -1, false)
end

---@return string
function M.text()
  return table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

---@return integer how many lines of the buffer have highlights
function M.highlights()
  return require('acp.ui.highlight').count(buf)
end

---Begins to scroll the chat, to go to it and back, and to resize it, until the turn has ended.
function M.stir()
  local win, i = vim.fn.bufwinid(buf), 0
  local keys = { '\21', '\4', 'gg', 'G', 'k', '\25' }
  local timer = assert(vim.uv.new_timer())
  local step = vim.schedule_wrap(function()
    if i > 0 and not run then
      return timer:is_closing() or timer:close()
    end
    i = run and i + 1 or i
    api.nvim_win_set_width(win, 60 + i % 20)
    api.nvim_win_call(win, function()
      vim.cmd.normal({ keys[i % #keys + 1], bang = true })
    end)
  end)
  timer:start(0, 30, step)
  vim.cmd.startinsert()
end

---@return number ms that the slowest of some cursor movements took, with its redraw
function M.moves()
  local slowest = 0
  vim.cmd.stopinsert()
  api.nvim_set_current_win(vim.fn.bufwinid(buf))
  local moves = { 'G', 'k', 'j', '0', '$', 'h', 'gk', 'gj', 'b', '\21', '\4', 'gg', 'G' }
  for _, keys in ipairs(moves) do
    local began = vim.uv.hrtime()
    vim.cmd.normal({ keys, bang = true })
    vim.cmd.redraw()
    slowest = math.max(slowest, (vim.uv.hrtime() - began) / 1e6)
  end
  return slowest
end

---@return number MB of memory in use
function M.memory()
  collectgarbage()
  collectgarbage()
  return vim.uv.resident_set_memory() / 1e6
end
