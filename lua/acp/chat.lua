---The chat: a transcript buffer that only the host writes, and a prompt buffer that is the user's.
---Buffers belong to a session; windows come and go.
local M = {}

local api = vim.api

---@class acp.Buffers
---@field chat integer
---@field prompt integer
---@field base integer lines of the chat that an earlier host has written
---@field visible boolean what the host was told

---@type table<integer, acp.Buffers>
local bufs = {}

local hint_ns = api.nvim_create_namespace('acp_hint')
local spinner = { '⣷', '⣯', '⣟', '⡿', '⢿', '⣻', '⣽', '⣾' }
---@type uv.uv_timer_t?
local timer

---@param name string
---@param filetype string
---@param id integer
---@return integer buf
local function create(name, filetype, id)
  local buf = api.nvim_create_buf(false, true)
  local old = vim.fn.bufnr('^' .. vim.fn.escape(name, '[]*?\\') .. '$')
  if old ~= -1 and api.nvim_buf_is_loaded(old) then
    pcall(api.nvim_buf_set_name, old, name .. ' (old)')
  elseif old ~= -1 then
    pcall(api.nvim_buf_delete, old, { force = true })
  end
  pcall(api.nvim_buf_set_name, buf, name)
  vim.b[buf].acp_session = id
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].filetype = filetype
  return buf
end

---Runs a `<Plug>`-able action for an action name of the configuration.
---@param buf integer
---@param mode string|string[]
---@param action string
---@param plug string
---@param fn fun()
local function map(buf, mode, action, plug, fn)
  local lhs = require('acp.config').get().keys[action]
  vim.keymap.set(mode, plug, fn, { buffer = buf, desc = 'acp: ' .. action })
  if lhs then
    vim.keymap.set(mode, lhs, plug, { buffer = buf, remap = true, desc = 'acp: ' .. action })
  end
end

---Tells the host whether somebody looks.
---@param id integer
local function tell_visible(id)
  local b = bufs[id]
  if not b then
    return
  end
  local visible = api.nvim_buf_is_valid(b.chat) and #vim.fn.win_findbuf(b.chat) > 0
  if visible ~= b.visible then
    b.visible = visible
    require('acp.host').notify('visible', { session = id, visible = visible })
  end
end

---@param id integer
---@return integer buf
local function create_chat(id)
  local buf = create('acp://chat/' .. id, 'acp-chat', id)
  vim.bo[buf].modifiable = false
  vim.bo[buf].undolevels = -1
  local navigate = require('acp.navigate')
  for action, plug in pairs({
    toggle = 'ToggleBlock',
    open = 'OpenBlock',
    close = 'CloseBlock',
    open_all = 'OpenBlocks',
    close_all = 'CloseBlocks',
  }) do
    map(buf, 'n', action, '<Plug>(Acp' .. plug .. ')', function()
      navigate.fold(action)
    end)
  end
  vim.keymap.set('n', 'za', '<Plug>(AcpToggleBlock)', { buffer = buf, remap = true })
  for action, to in pairs({
    next_message = { 'NextMessage', 'message', true },
    previous_message = { 'PreviousMessage', 'message', false },
    next_call = { 'NextCall', 'call', true },
    previous_call = { 'PreviousCall', 'call', false },
  }) do
    map(buf, 'n', action, '<Plug>(Acp' .. to[1] .. ')', function()
      navigate.jump(to[2], to[3])
    end)
  end
  map(buf, 'n', 'jump', '<Plug>(AcpJump)', navigate.open)
  map(buf, 'n', 'yank_code', '<Plug>(AcpYankCode)', navigate.yank_code)
  map(buf, 'n', 'plan', '<Plug>(AcpPlan)', navigate.plan)
  map(buf, 'n', 'cancel', '<Plug>(AcpCancelTurn)', function()
    require('acp').cancel({ session = id })
  end)
  map(buf, 'n', 'prompt', '<Plug>(AcpPrompt)', function()
    M.open(id, true)
  end)
  api.nvim_create_autocmd('WinScrolled', {
    buffer = buf,
    callback = function()
      M.refresh(id)
    end,
  })
  api.nvim_create_autocmd({ 'BufWinEnter', 'BufWinLeave', 'BufHidden' }, {
    buffer = buf,
    callback = function()
      vim.schedule(function()
        tell_visible(id)
        M.refresh(id)
      end)
    end,
  })
  return buf
end

---@param id integer
---@return string
local function cwd(id)
  local session = require('acp.mirror').sessions[id]
  return session and session.cwd or vim.fn.getcwd()
end

---Sends what the prompt holds, and empties it when it is on its way.
---@param id integer
local function send(id)
  local buf = bufs[id].prompt
  local text = vim.trim(table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n'))
  local ok, err =
    require('acp').prompt(require('acp.mention').blocks(text, cwd(id)), { session = id })
  if not ok then
    vim.notify('acp: ' .. err, vim.log.levels.WARN)
    return
  end
  api.nvim_buf_set_lines(buf, 0, -1, false, {})
  require('acp.prompt').remember(id, text)
  M.prompt_changed(id)
  for _, win in ipairs(vim.fn.win_findbuf(bufs[id].chat)) do
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(bufs[id].chat), 0 })
  end
end

---Shows a prompt's new text as what it is.
---@param id integer
function M.prompt_changed(id)
  local buf = bufs[id].prompt
  M.hint(id)
  require('acp.prompt').fit(buf)
  require('acp.mention').highlight(buf, cwd(id))
end

---@param id integer
---@return integer buf
local function create_prompt(id)
  local buf = create('acp://prompt/' .. id, 'acp-prompt', id)
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = buf,
    callback = function()
      M.prompt_changed(id)
    end,
  })
  require('acp.complete').attach(buf)
  map(buf, 'n', 'history_previous', '<Plug>(AcpHistoryPrevious)', function()
    require('acp.prompt').browse(id, buf, -1)
  end)
  map(buf, 'n', 'history_next', '<Plug>(AcpHistoryNext)', function()
    require('acp.prompt').browse(id, buf, 1)
  end)
  map(buf, 'n', 'send', '<Plug>(AcpSend)', function()
    send(id)
  end)
  map(buf, 'i', 'send_insert', '<Plug>(AcpSendInsert)', function()
    send(id)
  end)
  map(buf, 'n', 'cancel', '<Plug>(AcpCancelTurn)', function()
    require('acp').cancel({ session = id })
  end)
  return buf
end

---The buffers of a session, made anew where the user has wiped or unloaded them.
---@param id integer
---@return acp.Buffers
function M.buffers(id)
  local b = bufs[id] or { base = 0, visible = false }
  bufs[id] = b
  if not (b.chat and api.nvim_buf_is_loaded(b.chat)) then
    local again = b.chat ~= nil
    b.chat = create_chat(id)
    if again then
      b.base = 0
      require('acp.host').notify('redraw', { session = id, why = 'the buffer was wiped' })
    end
  end
  if not (b.prompt and api.nvim_buf_is_loaded(b.prompt)) then
    b.prompt = create_prompt(id)
  end
  return b
end

---The windows on a buffer that follow its end, and those that are to stay.
---@param buf integer
---@return integer[] following, table<integer, table> views by window
local function windows(buf)
  local following, views = {}, {}
  local last = api.nvim_buf_line_count(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local visual = win == api.nvim_get_current_win() and api.nvim_get_mode().mode:match('^[vV\22]')
    if api.nvim_win_get_cursor(win)[1] >= last and not visual then
      table.insert(following, win)
    else
      views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
    end
  end
  return following, views
end

---How a text is shown at the right edge without ever covering the line.
---@param buf integer
---@param row integer
---@param text string
---@return string
local function right_pos(buf, row, text)
  if vim.fn.has('nvim-0.11') == 1 then
    return 'eol_right_align'
  end
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  local room = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    room = math.min(room, api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff)
  end
  return vim.fn.strdisplaywidth(line .. text) < room and 'right_align' or 'eol'
end

---Changes the chat as the host says; see transcript.Edit.
---@param e table
function M.edit(e)
  local b = bufs[e.session]
  if not b or not api.nvim_buf_is_loaded(b.chat) then
    return -- the user has wiped it; :Acp makes another one and has it drawn
  end
  local buf, base, ns = b.chat, b.base, require('acp.highlight').ns
  local have = api.nvim_buf_line_count(buf) - base
  local whole = e.count == 0
  if not whole and have ~= e.count then
    error(('the chat has %d lines, not %d'):format(have, e.count))
  end
  local following, views = windows(buf)
  local row, end_row = e.row + base, e.end_row + base
  vim.bo[buf].modifiable = true
  local ok, err = pcall(function()
    if e.append then
      api.nvim_buf_set_text(buf, row - 1, e.col, row - 1, e.col, e.lines)
    elseif whole then
      api.nvim_buf_clear_namespace(buf, ns, base, -1)
      require('acp.code').clear(buf, base, -1)
      api.nvim_buf_set_lines(buf, base, -1, true, e.lines)
    else
      if end_row > row then
        api.nvim_buf_clear_namespace(buf, ns, row, end_row)
        require('acp.code').clear(buf, row, end_row)
      end
      api.nvim_buf_set_lines(buf, row, end_row, true, e.lines)
    end
  end)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  if not ok then
    error(err, 0)
  end
  local highlight = require('acp.highlight')
  api.nvim_buf_clear_namespace(buf, ns, e.mark_row + base, e.mark_end + base)
  highlight.set(buf, e.marks, base)
  highlight.set_lines(buf, e.runs, base)
  for _, d in ipairs(e.decor) do
    local opts = { strict = false }
    if d.right ~= '' then
      opts.virt_text = { { ' ' .. d.right .. ' ', highlight.ids[d.right_group] } }
      opts.virt_text_pos = right_pos(buf, d.row + base, opts.virt_text[1][1])
      opts.hl_mode = 'combine'
    end
    if d.sign ~= '' then
      opts.sign_text = d.sign
      opts.sign_hl_group = highlight.ids[d.sign_group]
    end
    api.nvim_buf_set_extmark(buf, ns, d.row + base, 0, opts)
  end
  for _, c in ipairs(e.code) do
    require('acp.code').add(buf, c.row + base, c.end_row + base, c.lang)
  end
  if #following > 0 then
    local last = api.nvim_buf_line_count(buf)
    for _, win in ipairs(following) do
      api.nvim_win_set_cursor(win, { last, 0 })
    end
  end
  if whole then
    for win, view in pairs(views) do
      api.nvim_win_call(win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
end

---What an earlier host has written stays above what the next one will write.
---@param id integer
---@param why string
function M.host_died(id, why)
  local b = bufs[id]
  if not b or not api.nvim_buf_is_loaded(b.chat) then
    return
  end
  local last = api.nvim_buf_line_count(b.chat)
  vim.bo[b.chat].modifiable = true
  api.nvim_buf_set_lines(b.chat, last, -1, false, { '', '  ✗ ' .. why, '' })
  vim.bo[b.chat].modifiable = false
  b.base = last + 2
  b.visible = false
end

---A new host takes over a session of one that died.
---@param id integer
function M.adopt(id)
  tell_visible(id)
end

---@param seconds integer
---@return string
local function clock(seconds)
  return ('%d:%02d'):format(math.floor(seconds / 60), seconds % 60)
end

---@param s string
---@return string
local function escape(s)
  return (s:gsub('%%', '%%%%'))
end

---@param n integer
---@return string
local function thousands(n)
  return n < 1000 and tostring(n) or ('%.0fk'):format(n / 1000)
end

---What is worth knowing of a session beside its title, the most important last.
---@param s acp.Session
---@return string[]
local function facts(s)
  local list = {}
  if s.usage and s.usage.cost and s.usage.cost.amount > 0 then
    table.insert(list, ('%.2f %s'):format(s.usage.cost.amount, s.usage.cost.currency))
  end
  if s.usage and s.usage.size > 0 then
    table.insert(
      list,
      ('%.0f%% of %s'):format(100 * s.usage.used / s.usage.size, thousands(s.usage.size))
    )
  end
  if s.model then
    table.insert(list, s.model.name)
  end
  if s.mode then
    table.insert(list, s.mode.name)
  end
  return list
end

local states = {
  starting = { 'starting', 'AcpWinbarBusy' },
  auth_required = { 'log in', 'AcpWinbarWaiting' },
  dead = { 'ended', 'AcpError' },
  requires_action = { 'waits for you', 'AcpWinbarWaiting' },
  running = { '', 'AcpWinbarBusy' },
  idle = { '', 'AcpWinbar' },
}

---The line above a chat. What does not fit is left out, the least important first.
---@param id integer
---@param win integer
---@return string
local function chat_bar(id, win)
  local width = api.nvim_win_get_width(win)
  local mirror = require('acp.mirror')
  local s = mirror.sessions[id]
  if not s then
    return '%#AcpWinbar# closed'
  end
  local left = ' ' .. s.agent_title .. (s.title and (' · ' .. s.title) or '')
  local status, group = unpack(states[s.state])
  if s.state == 'running' or s.state == 'starting' then
    status = status .. ' ' .. spinner[math.floor(vim.uv.now() / 100) % #spinner + 1]
    local since = mirror.since[id]
    if since then
      status = status .. ' ' .. clock(math.floor((vim.uv.now() - since) / 1000))
    end
  end
  if vim.fn.line('w$', win) < api.nvim_buf_line_count(api.nvim_win_get_buf(win)) then
    status = status .. ' ↓' -- there is more below
  end
  local room = width - vim.fn.strdisplaywidth(left .. status) - 4
  local shown = {}
  for _, fact in ipairs(vim.fn.reverse(facts(s))) do
    room = room - vim.fn.strdisplaywidth(fact) - 3
    if room < 0 then
      break
    end
    table.insert(shown, fact)
  end
  return ('%%#AcpWinbar#%s%%=%s %%#%s#%s '):format(
    escape(left),
    escape(table.concat(shown, ' · ')),
    group,
    status
  )
end

---@param id integer
---@return string
local function prompt_bar(id)
  local s = require('acp.mirror').sessions[id]
  local keys = require('acp.config').get().keys
  local parts = {}
  if s and s.queued > 0 then
    table.insert(parts, s.queued .. ' queued' .. (s.paused and ', paused' or ''))
  end
  local hints = {}
  if keys.send then
    table.insert(hints, escape(keys.send) .. ' send')
  end
  if keys.cancel and s and (s.state == 'running' or s.state == 'requires_action') then
    table.insert(hints, escape(keys.cancel) .. ' stop')
  end
  return '%#AcpWinbar# ' .. table.concat(parts, ' · ') .. '%=' .. table.concat(hints, '  ') .. ' '
end

---@param id integer
local function draw_bars(id)
  local b = bufs[id]
  if not b then
    return
  end
  local function set(buf, compose)
    if buf and api.nvim_buf_is_valid(buf) then
      for _, win in ipairs(vim.fn.win_findbuf(buf)) do
        local bar = compose(id, win)
        if vim.wo[win].winbar ~= bar then
          api.nvim_set_option_value('winbar', bar, { scope = 'local', win = win })
        end
      end
    end
  end
  set(b.chat, chat_bar)
  set(b.prompt, prompt_bar)
end

---Whether a visible session shows a spinner.
---@return boolean
local function spinning()
  for id, b in pairs(bufs) do
    local s = require('acp.mirror').sessions[id]
    if s and b.visible and (s.state == 'running' or s.state == 'starting') then
      return true
    end
  end
  return false
end

---Shows a session's new state beside its buffers; all sessions without an id.
---@param id? integer
function M.refresh(id)
  for each in pairs(bufs) do
    if id == nil or each == id then
      draw_bars(each)
      M.hint(each)
    end
  end
  if spinning() then
    if not timer then
      timer = assert(vim.uv.new_timer())
      timer:start(
        100,
        100,
        vim.schedule_wrap(function()
          if spinning() then
            for each in pairs(bufs) do
              draw_bars(each)
            end
          elseif timer then
            timer:close()
            timer = nil
          end
        end)
      )
    end
  end
end

---Shows in an empty prompt what it is for.
---@param id integer
function M.hint(id)
  local buf = bufs[id].prompt
  if not (buf and api.nvim_buf_is_valid(buf)) then
    return
  end
  api.nvim_buf_clear_namespace(buf, hint_ns, 0, -1)
  local s = require('acp.mirror').sessions[id]
  if
    not s
    or api.nvim_buf_line_count(buf) > 1
    or api.nvim_buf_get_lines(buf, 0, 1, false)[1] ~= ''
  then
    return
  end
  local text = s.paused and s.queued > 0 and 'Send nothing to go on with the queue'
    or ('Ask ' .. s.agent_title)
  api.nvim_buf_set_extmark(buf, hint_ns, 0, 0, {
    virt_text = { { text, 'AcpMore' } },
    virt_text_pos = 'overlay',
  })
end

---@param win integer
---@param options table<string, any>
local function set_local(win, options)
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { scope = 'local', win = win })
  end
end

---@param win integer
local function style_chat(win)
  set_local(win, {
    number = false,
    relativenumber = false,
    signcolumn = 'yes:1',
    foldcolumn = '0',
    wrap = true,
    linebreak = true,
    breakindent = true,
    cursorline = false,
    list = false,
    spell = false,
    statuscolumn = '',
    colorcolumn = '',
    winfixwidth = true,
    foldenable = false,
    scrolloff = 0,
  })
end

---@param win integer
local function style_prompt(win)
  set_local(win, {
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    wrap = true,
    linebreak = true,
    cursorline = false,
    list = false,
    statuscolumn = '',
    colorcolumn = '',
    winfixheight = true,
  })
end

---The chat and prompt windows of a tab, whatever session they show.
---@param tab integer
---@return integer? chat, integer? prompt
function M.windows(tab)
  local chat, prompt
  for _, win in ipairs(api.nvim_tabpage_list_wins(tab)) do
    local buf = api.nvim_win_get_buf(win)
    local filetype = vim.bo[buf].filetype
    if vim.b[buf].acp_session then
      chat = filetype == 'acp-chat' and not chat and win or chat
      prompt = filetype == 'acp-prompt' and not prompt and win or prompt
    end
  end
  return chat, prompt
end

---@param share number|nil
---@param total integer
---@param default integer
---@return integer
local function size(share, total, default)
  local n = share or default
  if n < 1 then
    n = n * total
  end
  return math.max(1, math.min(total - 2, math.floor(n)))
end

---Opens a window for the chat as the layout says, without focus.
---@param buf integer
---@return integer win
local function open_chat(buf)
  local layout = require('acp.config').get().layout
  local spec = type(layout) == 'table' and layout or { position = layout }
  local position = spec.position or 'right'
  local win
  if position == 'current' then
    win = api.nvim_get_current_win()
    api.nvim_win_set_buf(win, buf)
  elseif position == 'tab' then
    vim.cmd('tab split')
    win = api.nvim_get_current_win()
    api.nvim_win_set_buf(win, buf)
  elseif position == 'float' then
    local width = size(spec.width, vim.o.columns, 0.8)
    local height = size(spec.height, vim.o.lines, 0.8)
    win = api.nvim_open_win(buf, false, {
      relative = 'editor',
      width = width,
      height = math.max(1, height - 7),
      row = math.floor((vim.o.lines - height) / 2),
      col = math.floor((vim.o.columns - width) / 2),
      border = 'rounded',
    })
  else
    local bottom = position == 'bottom'
    win = api.nvim_open_win(buf, false, {
      split = bottom and 'below' or position,
      win = -1,
      width = not bottom and size(
        spec.width,
        vim.o.columns,
        math.max(40, math.min(80, math.floor(vim.o.columns * 0.42)))
      ) or nil,
      height = bottom and size(spec.height, vim.o.lines, 0.45) or nil,
    })
  end
  style_chat(win)
  return win
end

---@param chat integer window
---@param buf integer
---@return integer win
local function open_prompt(chat, buf)
  local config = api.nvim_win_get_config(chat)
  local win
  if config.relative ~= '' then
    win = api.nvim_open_win(buf, false, {
      relative = 'editor',
      width = config.width,
      height = 4,
      row = config.row + config.height + 2,
      col = config.col,
      border = 'rounded',
    })
  else
    win = api.nvim_open_win(buf, false, { split = 'below', win = chat, height = 4 })
  end
  style_prompt(win)
  return win
end

---Shows a session in this tab, in its chat windows or in new ones.
---@param id integer
---@param focus boolean whether the cursor goes to the prompt
function M.open(id, focus)
  local b = M.buffers(id)
  local chat, prompt = M.windows(0)
  if chat then
    if api.nvim_win_get_buf(chat) ~= b.chat then
      api.nvim_win_set_buf(chat, b.chat)
      style_chat(chat)
    end
  else
    chat = open_chat(b.chat)
    api.nvim_win_set_cursor(chat, { api.nvim_buf_line_count(b.chat), 0 })
  end
  if prompt then
    if api.nvim_win_get_buf(prompt) ~= b.prompt then
      api.nvim_win_set_buf(prompt, b.prompt)
      style_prompt(prompt)
    end
  else
    prompt = open_prompt(chat, b.prompt)
  end
  if focus then
    api.nvim_set_current_win(prompt)
  end
  tell_visible(id)
  M.refresh(id)
end

---Takes the chat's windows out of this tab; their sessions go on.
---@return boolean closed
function M.hide()
  local chat, prompt = M.windows(0)
  local wins = {}
  table.insert(wins, prompt)
  table.insert(wins, chat)
  for _, win in ipairs(wins) do
    local others = vim.tbl_filter(function(other)
      return other ~= win and api.nvim_win_get_config(other).relative == ''
    end, api.nvim_tabpage_list_wins(0))
    if #others > 0 or #api.nvim_list_tabpages() > 1 then
      api.nvim_win_close(win, true)
    else
      -- The last window shows what it showed before.
      local before = api.nvim_win_call(win, function()
        return vim.fn.bufnr('#')
      end)
      if before == -1 or vim.b[before].acp_session then
        before = api.nvim_create_buf(true, false)
      end
      api.nvim_win_set_buf(win, before)
    end
  end
  return #wins > 0
end

---How many lines of a chat an earlier host has written.
---@param id integer
---@return integer
function M.base(id)
  return bufs[id] and bufs[id].base or 0
end

---@param id integer
---@return integer? chat, integer? prompt
function M.bufs(id)
  local b = bufs[id]
  if b then
    return b.chat, b.prompt
  end
end

return M
