---The terminals of the sessions: what the API returns about them, and the buffers that show them. A
---buffer exists as soon as somebody asks for it; its terminal begins when a window shows it, and
---the host sends what it has, then what follows.
local M = {}

local api = vim.api
local state = require('acp.rpc.state')

---@class acp.TerminalEntry
---@field told table what the host has told
---@field buf? integer
---@field chan? integer of the terminal in the buffer
---@field size? string what the host was told of the windows
---@field wide? boolean the terminal has the columns that it takes to write to it
---@field waiting table[] what the host sent that is not written yet
---@field warned? boolean
---@field lost? boolean its host has ended

---@type table<integer, acp.TerminalEntry[]> by session and number
local entries = {}

local group = api.nvim_create_augroup('acp_terminal', {})

---@param method string
---@param entry acp.TerminalEntry
---@param args? table
local function notify(method, entry, args)
  if entry.lost then
    return -- the next host counts anew
  end
  args = vim.tbl_extend('error', args or {}, {
    session = entry.told.session,
    terminal = entry.told.number,
  })
  require('acp.rpc.host').notify(method, args)
end

---@param entry acp.TerminalEntry
---@return string
local function status(entry)
  local told = entry.told
  if told.ending then
    return told.ending
  end
  return told.running and 'running' or 'no longer running'
end

---The line above a terminal: the command, and how it goes.
---@param entry acp.TerminalEntry
---@param win integer
---@return string
local function winbar(entry, win)
  local told = entry.told
  local command, how = vim.split(told.command or 'terminal', '\n')[1], status(entry)
  command = require('acp.ui.wrap').flat(command)
  local room = api.nvim_win_get_width(win) - require('acp.ui.wrap').cells(how) - 4
  if require('acp.ui.wrap').cells(command) > room then
    command = vim.fn.printf('%.' .. math.max(0, room - 1) .. 'S', command) .. '…'
  end
  local failed = told.signal or (told.exit_code or 0) ~= 0
  local look = failed and 'AcpError' or told.running and 'AcpWinbarBusy' or 'AcpWinbar'
  return ('%%#AcpWinbar# %s%%=%%#%s# %s '):format(command:gsub('%%', '%%%%'), look, how)
end

---@param win integer
---@param entry acp.TerminalEntry
local function style(win, entry)
  require('acp.ui.window').plain(win, {
    spell = false,
    wrap = false,
    scrolloff = 0,
    sidescrolloff = 0,
    winbar = winbar(entry, win),
  })
end

---Runs something without the user's autocommands on terminals: many start Terminal mode, or wipe
---ended ones.
---@param fn fun(): any
---@return any
local function quietly(fn)
  local before = vim.o.eventignore
  vim.o.eventignore = 'all'
  local ok, result = pcall(fn)
  vim.o.eventignore = before
  return ok and result or nil
end

---Makes the windows follow the end of the output, as those do whose cursor is there.
---@param buf integer
local function follow(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(buf), 0 })
  end
end

---Ends Terminal mode in a buffer, if the user is in it there.
---@param buf integer
local function leave(buf)
  vim.schedule(function()
    if api.nvim_get_current_buf() == buf and api.nvim_get_mode().mode == 't' then
      vim.cmd.stopinsert()
    end
  end)
end

---Begins a terminal in the buffer.
---@param entry acp.TerminalEntry
---@return boolean
local function begin(entry)
  local buf = entry.buf --[[@as integer]]
  entry.chan = quietly(function()
    return api.nvim_open_term(buf, {
      force_crlf = false,
      -- Keys, and the answers to queries: nothing but what happens under the user's hands.
      on_input = function(_, _, _, keys)
        if api.nvim_get_current_buf() ~= buf or api.nvim_get_mode().mode ~= 't' then
          return
        elseif entry.told.running then
          notify('terminal_keys', entry, { keys = keys })
        else
          leave(buf)
        end
      end,
    })
  end)
  vim.bo[buf].buflisted = false
  -- The default differs between versions: a million lines are a gigabyte or more.
  vim.bo[buf].scrollback = vim.go.scrollback > 0 and vim.go.scrollback or 10000
  follow(buf)
  return entry.chan ~= nil
end

---@param entry acp.TerminalEntry
local function draw_winbars(entry)
  for _, win in ipairs(vim.fn.win_findbuf(entry.buf)) do
    api.nvim_set_option_value('winbar', winbar(entry, win), { scope = 'local', win = win })
  end
end

---The fewest columns of a terminal that is written to. In one of a single column a wide character
---ends Neovim, and on 0.12 one without width in less than six.
local least = 10

---The size of the largest window that shows the buffer; zeros if none does, or none is wide enough.
---@param buf integer
---@return integer cols, integer rows
local function size(buf)
  local cols, rows = 0, 0
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    cols = math.max(cols, info.width - info.textoff)
    rows = math.max(rows, info.height)
  end
  if cols < least or rows < 1 then
    return 0, 0 -- without a row Neovim does not even give the terminal the columns
  end
  return cols, rows
end

---Empties a terminal. Closing it and beginning another one would mix both on Neovim 0.10, which
---knows no sequence for what has scrolled away either: but for an empty line a small 'scrollback'
---does that.
---@param entry acp.TerminalEntry
local function empty(entry)
  local _, rows = size(entry.buf)
  local away = ('\r\n'):rep(rows + 1)
  api.nvim_chan_send(entry.chan, '\24\27[m\27[?1049l\27[r\27[999;1H' .. away .. '\27c\27[3J')
  local kept = vim.bo[entry.buf].scrollback
  vim.bo[entry.buf].scrollback = 1
  vim.bo[entry.buf].scrollback = kept
  follow(entry.buf)
end

---Writes what waits into the terminal, a piece at a time, as long as it is wide enough. Without a
---window it has the size of the last one.
---@param entry acp.TerminalEntry
local function write(entry)
  if not entry.chan or not entry.waiting[1] then
    return
  end
  if #vim.fn.win_findbuf(entry.buf) > 0 then
    entry.wide = size(entry.buf) > 0
  end
  if not entry.wide then
    return
  end
  local args = table.remove(entry.waiting, 1)
  if args.anew then
    empty(entry)
  end
  api.nvim_chan_send(entry.chan, args.data)
  if entry.waiting[1] then
    vim.schedule(function()
      write(entry)
    end)
  end
end

---Tells the host about the windows that show a terminal.
---@param entry acp.TerminalEntry
local function show(entry)
  local buf = entry.buf
  if not buf or not api.nvim_buf_is_loaded(buf) then
    return
  end
  local cols, rows = size(buf)
  local anew = cols > 0 and not entry.chan and begin(entry)
  local shown = cols .. 'x' .. rows
  if entry.chan and (anew or shown ~= entry.size) then
    entry.size = shown
    notify('terminal_show', entry, { anew = anew, cols = cols, rows = rows })
  end
  write(entry)
end

---Terminal mode is for commands that take keys.
---@param entry acp.TerminalEntry
local function entered(entry)
  local told = entry.told
  if told.takes_keys and told.running then
    return notify('terminal_focus', entry, { focused = true })
  end
  leave(entry.buf)
  if told.running and not entry.warned then
    entry.warned = true
    require('acp.notify').warn('the agent runs this command itself; it takes no keys')
  end
end

---@param entry acp.TerminalEntry
local function watch(entry)
  local buf = entry.buf --[[@as integer]]
  local function on(events, callback)
    api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback })
  end
  on('BufWinEnter', function()
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      style(win, entry)
    end
  end)
  -- Scheduled: the windows are not yet as they will be.
  on({ 'BufWinEnter', 'BufWinLeave', 'BufHidden' }, function()
    vim.schedule(function()
      show(entry)
    end)
  end)
  on('TermEnter', function()
    entered(entry)
  end)
  on('TermLeave', function()
    notify('terminal_focus', entry, { focused = false })
  end)
  on('BufUnload', function()
    if entry.chan then
      notify('terminal_shut', entry)
    end
    entry.chan, entry.size, entry.wide, entry.waiting = nil, nil, nil, {}
  end)
  api.nvim_clear_autocmds({ group = group, event = 'WinResized' })
  api.nvim_create_autocmd('WinResized', {
    group = group,
    desc = 'Tell the commands of agents how large their windows are',
    callback = function()
      for _, list in pairs(entries) do
        for _, each in pairs(list) do
          if each.chan then
            draw_winbars(each)
            show(each)
          end
        end
      end
    end,
  })
end

---@param entry acp.TerminalEntry
---@return integer
local function buffer(entry)
  if not entry.buf or not api.nvim_buf_is_loaded(entry.buf) then
    local told = entry.told
    local what = 'terminal-' .. told.number
    entry.buf = require('acp.chat.buffers').create(what, 'acp-terminal', told.session)
    vim.bo[entry.buf].modifiable = false
    watch(entry)
  end
  return entry.buf
end

---Sets what the host sends about terminals that are new or have changed.
---@param list table[]
function M.set(list)
  for _, told in ipairs(list) do
    local of = entries[told.session] or {}
    entries[told.session] = of
    local entry = of[told.number] or { waiting = {} }
    of[told.number] = entry
    entry.told = told
    if entry.buf and api.nvim_buf_is_valid(entry.buf) then
      draw_winbars(entry)
    end
  end
end

---Writes a terminal's bytes into its buffer.
---@param args {session: integer, number: integer, anew: boolean, data: string}
function M.output(args)
  local entry = (entries[args.session] or {})[args.number]
  if not entry or not entry.chan then
    error('the terminal has no buffer', 0)
  end
  if args.anew then
    entry.waiting = {}
  end
  table.insert(entry.waiting, args)
  if #entry.waiting == 1 then
    write(entry)
  end
end

---@param session integer
---@return acp.Terminal[] in the order they began
function M.list(session)
  local list = {}
  for _, entry in ipairs(entries[session] or {}) do
    local told = entry.told
    table.insert(list, {
      id = told.id,
      command = told.command,
      cwd = told.cwd,
      buf = buffer(entry),
      running = told.running,
      exit_code = told.exit_code,
      signal = told.signal,
    })
  end
  return list
end

---Shows a terminal in this tab, in a window below all others, and goes there: the user asked for
---it. Neovim stays in Normal mode.
---@param entry acp.TerminalEntry
local function open(entry)
  local buf = buffer(entry)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == buf then
      return api.nvim_set_current_win(win)
    end
  end
  vim.cmd.stopinsert()
  local win = api.nvim_open_win(buf, true, { split = 'below', win = -1 })
  api.nvim_win_set_height(win, math.max(2, math.min(16, math.floor(vim.o.lines / 3))))
  follow(buf)
end

---Shows one of some terminals; of several the user chooses.
---@param list acp.TerminalEntry[]
local function choose(list)
  if #list <= 1 then
    return list[1] and open(list[1])
  end
  vim.ui.select(list, {
    prompt = 'Terminals',
    format_item = function(entry)
      local command = vim.split(entry.told.command or entry.told.id, '\n')[1]
      return require('acp.ui.wrap').cut(command, 60) .. ' · ' .. status(entry)
    end,
  }, function(entry)
    if entry then
      open(entry)
    end
  end)
end

---The terminals of the tool call under the cursor, for `callback`; none outside of a chat.
---@param callback fun(list: acp.TerminalEntry[])
local function under_cursor(callback)
  local session = vim.b.acp_session
  if vim.bo.filetype ~= 'acp-chat' or not session then
    return callback({})
  end
  local row = api.nvim_win_get_cursor(0)[1] - 1 - require('acp.chat.cursor').base(session)
  require('acp.rpc.host').request(
    'terminals_at',
    { session = session, row = row },
    function(numbers)
      local list = {}
      for _, number in ipairs(numbers or {}) do
        table.insert(list, (entries[session] or {})[number])
      end
      callback(list)
    end
  )
end

---Opens the terminal of the tool call under the cursor.
function M.open_here()
  under_cursor(function(list)
    if #list == 0 then
      return require('acp.notify').info('no terminal here')
    end
    choose(list)
  end)
end

---Opens a terminal of a session: of the tool call under the cursor, or else a running one, or any;
---without one, the output that the agent sends as text.
---@param session integer
function M.pick(session)
  under_cursor(function(list)
    if #list > 0 then
      return choose(list)
    end
    local all, running = {}, {}
    for _, entry in ipairs(entries[session] or {}) do
      table.insert(all, 1, entry)
      if entry.told.running then
        table.insert(running, 1, entry)
      end
    end
    if #all == 0 then
      return require('acp.chat.block_window').output(session)
    end
    choose(#running > 0 and running or all)
  end)
end

---Forgets the buffers of a closed session that nobody has opened; the others stay.
---@param session integer
local function forget(session)
  local opened = {}
  for number, entry in pairs(entries[session] or {}) do
    local shown = entry.buf and #vim.fn.win_findbuf(entry.buf) > 0
    if entry.chan or shown then
      opened[number] = entry
    elseif entry.buf then
      pcall(api.nvim_buf_delete, entry.buf, { force = true })
    end
  end
  entries[session] = next(opened) and opened or nil
end

state.closed:add(forget)

-- With the host all commands have ended.
state.died:add(function()
  for session, list in pairs(entries) do
    for _, entry in pairs(list) do
      entry.lost, entry.told.running = true, false
      M.set({ entry.told })
    end
    forget(session)
  end
  entries = {}
end)

return M
