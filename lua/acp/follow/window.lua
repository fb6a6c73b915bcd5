---The window that follows the agents: marking one, showing places in it, and telling the host what
---the user does there. The host decides when to jump, and where.
local M = {}

local api = vim.api
local bar = require('acp.ui.winbar')
local safe_state = require('acp.ui.safe_state')
local spare = require('acp.ui.window').spare
local ns = api.nvim_create_namespace('acp_follow')

---How long a place is highlighted, in ms.
local glow = 1000
---How often the host is told that the user is active, in ms.
local pace = 200

---@type boolean? what the user wants; nil: what `follow` of the configuration says
local wanted
---@type integer? the window; nil before there is one
local win
---@type boolean the user has navigated there
local paused = false
---@type string? the agent that is followed
local agent
---@type integer counts what the user does in the window
local activity = 0
---@type integer when the host was told of it last, in ms of vim.uv.now()
local told = 0
---@type integer? the number of the last jump that something was in the way of
local locked
---@type table<integer, 'wipe'|'unload'> buffers that were opened only to follow: how they go
local opened = {}

---@class (exact) acp.follow.View
---@field buf integer
---@field tick integer
---@field lnum integer
---@field col integer
---@field topline integer

---@type acp.follow.View? as the window was left by us, or by what is not the user
local settled
---@type boolean Neovim has not come to rest since then: others may still react to it
local fresh = false
---@type boolean the user has typed in the window, or scrolled it, and it may not show yet
local typed = false

---@param what 'on'|'off'|'navigated'|'active'|'idle'
local function report(what)
  local args = { what = what, activity = activity, jump = locked }
  require('acp.rpc.host').notify('follow_state', args)
end

---@param w integer
---@return boolean whether a window shows code, and may show another file
local function is_code(w)
  if not api.nvim_win_is_valid(w) or not require('acp.ui.window').is_code(w) then
    return false
  end
  local hidden = vim.bo[api.nvim_win_get_buf(w)].bufhidden
  return (hidden == '' or hidden == 'hide') and not vim.wo[w].winfixbuf
end

---The code window that was used last: in this tab, or else in another one.
---@return integer? win
local function last_used()
  local previous = vim.fn.win_getid(vim.fn.winnr('#'))
  local tabs = api.nvim_list_tabpages()
  table.insert(tabs, 1, api.nvim_get_current_tabpage())
  for _, tab in ipairs(tabs) do
    local best, used
    for _, w in ipairs(api.nvim_tabpage_list_wins(tab)) do
      if is_code(w) then
        local time = vim.fn.getbufinfo(api.nvim_win_get_buf(w))[1].lastused
        if not best or time > used or time == used and w == previous then
          best, used = w, time
        end
      end
    end
    if best then
      return best
    end
  end
end

---Opens a code window beside the chat, without focus.
---@return integer win
local function open()
  local layout = require('acp.config').get().layout
  local position = type(layout) == 'table' and layout.position or layout
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  local split = ({ left = 'right', bottom = 'above' })[position] or 'left'
  return api.nvim_open_win(buf, false, { split = split, win = -1 })
end

---@type integer? the buffer in which it is said, as another plugin has the line above the window
local marked

local group_of_bar = '%#AcpWinbarFollow#'

---@param line string
---@return string line without what we have put into it
local function bare(line)
  local at = line:find('%=' .. group_of_bar, 1, true) or line:find(group_of_bar, 1, true)
  return at and line:sub(1, at - 1) or line
end

---Restores the line above a window to what it is without us.
---@param w integer
local function unmark(w)
  local own = api.nvim_get_option_value('winbar', { scope = 'local', win = w })
  local old = bare(own)
  if old ~= own then
    bar.drop(w)
    old = old ~= vim.go.winbar and old or ''
    api.nvim_set_option_value('winbar', old, { scope = 'local', win = w })
  end
end

---@return string
local function words()
  if paused then
    return '⌖ paused · :Acp follow resumes'
  end
  local name = win and vim.fn.swapname(api.nvim_win_get_buf(win)) or ''
  local swap = name ~= '' and not name:match('%.swp$') and ' · swap file' or ''
  return ('⌖ following %s%s'):format((agent or 'the agent'):gsub('%%', '%%%%'), swap)
end

---Updates the lines above the windows: only the following window has the mark, not one that was
---split off it.
local function draw()
  if marked then
    bar.clear(marked)
    marked = nil
  end
  for _, w in ipairs(api.nvim_list_wins()) do
    if w == win then
      local ours = group_of_bar .. ' ' .. words() .. ' '
      local users = bare(vim.wo[w].winbar)
      bar.set(w, users == '' and ours .. '%<' or users .. '%=' .. ours, function()
        bar.at_cursor(w, ours)
        marked = api.nvim_win_get_buf(w)
      end)
    else
      unmark(w)
    end
  end
end

---@return acp.follow.View
local function view()
  local buf = api.nvim_win_get_buf(win)
  local at = api.nvim_win_get_cursor(win)
  return {
    buf = buf,
    tick = api.nvim_buf_get_changedtick(buf),
    lnum = at[1],
    col = at[2],
    topline = vim.fn.line('w0', win),
  }
end

---Notes that what the window shows now is not the user's doing.
local function note_view()
  settled, fresh, typed = view(), true, false
end

---@param what 'navigated'|'active'
local function acted(what)
  activity, told = activity + 1, vim.uv.now()
  report(what)
end

local function navigated()
  if not paused then
    paused = true
    acted('navigated')
    draw()
  end
end

---Checks whether the user has moved in the window.
local function check()
  if paused or not settled or not (win and api.nvim_win_is_valid(win)) then
    return
  end
  local now = view()
  if vim.deep_equal(now, settled) then
    return
  end
  local edited = now.buf == settled.buf and now.tick ~= settled.tick
  local moved = now.buf ~= settled.buf or now.lnum ~= settled.lnum or now.col ~= settled.col
  -- Without a key only a jump from elsewhere moves the cursor: text that changes above it, and
  -- windows that change their size, do not count.
  if typed or moved and not edited and not fresh then
    navigated()
  end
  settled, fresh = now, false
end

---Keys that the user types in the window, and the mouse that scrolls it from elsewhere.
---@param key string
local function on_key(key)
  local there = api.nvim_get_current_win() == win
  if not there and key:byte() == 0x80 and vim.fn.keytrans(key):find('Scroll', 1, true) then
    there = vim.fn.getmousepos().winid == win
  end
  if there then
    typed = true
    if not paused and vim.uv.now() - told >= pace then
      acted('active')
    end
  end
end

---Deletes what was opened only to follow and is no longer needed.
local function clean()
  for buf, how in pairs(opened) do
    if not api.nvim_buf_is_valid(buf) or vim.bo[buf].buflisted then
      opened[buf] = nil
    elseif vim.bo[buf].modified then
      -- The user has typed there: it is theirs.
      opened[buf] = nil
      vim.bo[buf].buflisted = true
    elseif #vim.fn.win_findbuf(buf) == 0 then
      opened[buf] = nil
      pcall(api.nvim_buf_delete, buf, { unload = how == 'unload' })
    end
  end
end

local function unwatch()
  api.nvim_create_augroup('acp_follow', {})
  vim.on_key(nil, ns)
  settled = nil
end

---Stops following. What the window shows stays.
local function stop()
  wanted, paused, win = false, false, nil
  unwatch()
  draw()
  clean()
  report('off')
end

---Watches what the user does in the window.
local function watch()
  local group = api.nvim_create_augroup('acp_follow', {})
  local function on(events, desc, callback, pattern)
    api.nvim_create_autocmd(events, {
      group = group,
      pattern = pattern,
      desc = desc,
      callback = callback,
    })
  end
  on(
    { 'CursorMoved', 'WinScrolled', 'BufWinEnter' },
    'See the user move in the following window',
    check
  )
  on('SafeState', 'See the user move in the following window', function()
    check()
    fresh, typed = false, false
  end)
  on('InsertEnter', 'See the user type in the following window', function()
    if api.nvim_get_current_win() == win then
      navigated()
    end
  end)
  on('WinEnter', 'See the user enter the following window', function()
    if api.nvim_get_current_win() == win and not paused then
      acted('active')
    end
  end)
  on('WinClosed', 'End with the following window', function()
    wanted = false
    vim.schedule(function()
      if vim.v.exiting == vim.NIL then
        stop()
        require('acp.notify').info('the following window was closed. :Acp follow opens one again')
      end
    end)
  end, tostring(win))
  -- Also afterwards: what the window once had above it comes back with the buffers it showed then.
  api.nvim_create_autocmd({ 'BufWinEnter', 'WinNew' }, {
    group = api.nvim_create_augroup('acp_follow_mark', {}),
    desc = 'Keep the mark of the following window where it belongs',
    callback = draw,
  })
  vim.on_key(on_key, ns)
  note_view()
end

---@param w integer
local function mark(w)
  win, paused = w, false
  watch()
  draw()
end

---Until an agent works somewhere, the one of the session in use is followed.
local function name_agent()
  local state = require('acp.rpc.state')
  local session = state.sessions[state.resolve()]
  agent = session and session.agent_title or agent
end

---Starts or stops following the agents in a window.
---@param on? boolean default: true
---@return boolean? ok, string? err
function M.set(on)
  if on ~= nil and type(on) ~= 'boolean' then
    return nil, 'acp.follow takes true or false'
  end
  if on == false then
    stop()
    return true
  end
  wanted = true
  local here = api.nvim_get_current_win()
  name_agent()
  local chosen = is_code(here) and here or win
  chosen = chosen and is_code(chosen) and chosen or last_used()
  if chosen then
    mark(chosen)
  else
    win, paused = nil, false
    require('acp.notify').info('a window will open with the first file that the agent works on')
  end
  report('on')
  return true
end

---A host has started.
function M.hello()
  name_agent()
  if wanted == nil then
    wanted = require('acp.config').get().follow == 'window'
  end
  if wanted then
    local code = not win and safe_state.now() and last_used()
    if code then
      mark(code)
    end
    report('on')
    if paused then
      report('navigated')
    end
  end
end

---@param path string
---@param exists boolean on the disk
---@return integer? buf
local function buffer(path, exists)
  if not exists and vim.fn.bufloaded(path) == 0 then
    return
  end
  local last = vim.fn.bufnr('$')
  local buf = vim.fn.bufadd(vim.fn.fnamemodify(path, ':.')) -- which is its name on the screen
  if vim.bo[buf].buftype ~= '' then
    return
  end
  if not api.nvim_buf_is_loaded(buf) and not vim.bo[buf].buflisted then
    opened[buf] = opened[buf] or (buf > last and 'wipe' or 'unload')
  end
  return buf
end

---Shows a buffer in the window without a trace: neither focus nor alternate file nor jump list
---change.
---@param buf integer
---@param big boolean
---@return boolean shown
local function show(buf, big)
  if api.nvim_win_get_buf(win) == buf then
    return true
  end
  settled = nil
  local loads = not api.nvim_buf_is_loaded(buf)
  local ignored = vim.o.eventignore
  local swap
  if loads then
    swap = api.nvim_create_autocmd('SwapExists', {
      desc = 'Open a file that follows in spite of a swap file',
      callback = function()
        vim.v.swapchoice = 'e'
      end,
    })
    if big then
      vim.opt.eventignore:append('FileType')
    end
  end
  -- What throws, a modeline or an autocommand of the user's, does so when the buffer is shown.
  pcall(api.nvim_win_call, win, function()
    vim.cmd('silent hide keepalt keepjumps buffer ' .. buf)
    if loads and big then
      vim.bo[buf].filetype = ''
    end
  end)
  if loads then
    vim.o.eventignore = ignored
    api.nvim_del_autocmd(swap)
  end
  return api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf
end

---@type uv.uv_timer_t?
local timer
---@type integer?
local lit

local function dim()
  if lit and api.nvim_buf_is_valid(lit) then
    api.nvim_buf_clear_namespace(lit, ns, 0, -1)
  end
  lit = nil
end

---Highlights a line for a moment.
---@param buf integer
---@param line integer
local function light(buf, line)
  dim()
  lit = buf
  api.nvim_buf_set_extmark(buf, ns, line - 1, 0, {
    end_row = line,
    hl_group = 'AcpFollow',
    hl_eol = true,
    strict = false,
  })
  timer = timer or assert(vim.uv.new_timer())
  timer:start(glow, 0, vim.schedule_wrap(dim))
end

---Puts the cursor of the window on a line, and scrolls only if that is not visible.
---@param line integer
local function place(line)
  api.nvim_win_call(win, function()
    line = math.min(line, vim.fn.line('$'))
    local height = vim.fn.getwininfo(win)[1].height
    local margin =
      math.min(api.nvim_get_option_value('scrolloff', { win = win }), math.floor((height - 1) / 2))
    local first, last = vim.fn.line('w0'), vim.fn.line('w$')
    local above = first > 1 and line < first + margin
    local below = last < vim.fn.line('$') and line > last - margin
    local indent = #vim.fn.getline(line):match('^%s*')
    local target = { lnum = line, col = indent, coladd = 0, curswant = indent, leftcol = 0 }
    if above or below then
      local full = vim.fn.line('$') - height + 1
      target.topline = math.max(1, math.min(line - math.floor(height / 2), full))
    end
    vim.fn.winrestview(target)
    if vim.fn.foldclosed(line) ~= -1 then
      vim.cmd(line .. 'foldopen!')
    end
  end)
  light(api.nvim_win_get_buf(win), line)
end

local function retry_jump()
  report('idle')
end

---@class (exact) acp.follow.Jump
---@field jump integer its number
---@field path string absolute
---@field line integer 1-based; 0: unknown
---@field exists boolean on the disk
---@field big boolean
---@field activity integer of the user, when the jump was decided
---@field agent? string

---Jumps, if the user lets us.
---@param args acp.follow.Jump
---@return 'shown'|'skipped'|'busy'|'locked' outcome
function M.jump(args)
  if not wanted then
    return 'skipped'
  end
  if not safe_state.now() then
    locked = args.jump
    safe_state.wait(retry_jump)
    return 'locked'
  end
  check()
  local there = win and api.nvim_win_is_valid(win)
  if paused or args.activity ~= activity then
    return 'busy'
  end
  if there and (vim.wo[win].diff or not is_code(win) and spare() ~= win) then
    return 'busy'
  end
  if there and api.nvim_get_current_win() == win and api.nvim_get_mode().mode ~= 'n' then
    return 'busy'
  end
  local buf = buffer(args.path, args.exists)
  if not buf then
    return 'skipped'
  end
  agent = args.agent or agent
  if not there then
    mark(last_used() or spare() or open())
    if api.nvim_get_current_win() == win then
      return 'busy' -- the user may have typed there just now
    end
  end
  local shown = show(buf, args.big)
  draw()
  if shown and args.line > 0 then
    shown = pcall(place, args.line)
    if marked then
      draw() -- there
    end
  end
  if api.nvim_win_is_valid(win) then -- else an autocommand has closed it
    note_view()
  end
  clean()
  return shown and 'shown' or 'skipped'
end

return M
