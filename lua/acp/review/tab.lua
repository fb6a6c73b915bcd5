---The review: a tab with every file that the agent has changed, what is kept and refused, and the
---keys that decide. The host writes it and knows what its rows are; see host/reviewui/tab.go.
local M = {}

local api = vim.api
local bufs = require('acp.chat.buffers')
local conflict = require('acp.files.conflict')
local host = require('acp.rpc.host')

---@class acp.ReviewPage: acp.Page
---@field seq integer the last edit that it shows
---@field origin? integer the tab where the user was
---@field key_queue acp.KeyQueue

---@type table<integer, acp.ReviewPage> by session
local pages = {}

local notify = require('acp.notify')

---The session of the current buffer, where it is a review.
---@return integer session, acp.ReviewPage
local function here()
  local session = vim.b.acp_session
  return session, pages[session]
end

---What a message to the host says about the line that is meant.
---@param line? integer default: the cursor's
---@return table
local function at(line)
  local session, page = here()
  return { session = session, row = (line or api.nvim_win_get_cursor(0)[1]) - 1, seq = page.seq }
end

---The same of several lines.
---@param first? integer
---@param last? integer
---@return table
local function at_lines(first, last)
  local args = at(first)
  args.last = last and last - 1 or args.row
  return args
end

---The lines that are selected, whose selection ends.
---@return integer? first, integer? last
local function selected()
  if not api.nvim_get_mode().mode:match('^[vV\22]') then
    return
  end
  local first, last = vim.fn.line('v'), vim.fn.line('.')
  api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  return math.min(first, last), math.max(first, last)
end

---Does something once earlier jumps have landed, unless the user has left.
---@param key acp.QueuedKey
local function after_jumps(key)
  local buf, _, page = api.nvim_get_current_buf(), here()
  page.key_queue:add(function(done)
    if api.nvim_get_current_buf() ~= buf then
      return page.key_queue:drop()
    end
    key(done)
  end)
end

---Runs f, which is about the cursor's line, once earlier jumps have landed.
---@param f fun()
local function there(f)
  after_jumps(function(done)
    f()
    done()
  end)
end

---@param how string
local function fold(how)
  there(function()
    local args = at()
    args.fold = how
    host.notify('review_fold', args)
  end)
end

---Goes to a row that the host finds.
---@param kind 'hunk'|'file'
---@param forward boolean
---@param quiet? boolean where there is none, nothing is said
local function jump(kind, forward, quiet)
  local count = vim.v.count1
  after_jumps(function(done)
    local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
    local args = at()
    args.kind, args.forward, args.count = kind, forward, count
    host.request('review_next', args, function(found)
      if not found or not api.nvim_win_is_valid(win) or api.nvim_win_get_buf(win) ~= buf then
        return done()
      elseif not found.found then
        local what = kind == 'hunk' and 'pending hunk' or 'file'
        if not quiet then
          notify.info(('no %s %s'):format(what, forward and 'below' or 'above'))
        end
        return done()
      end
      api.nvim_win_call(win, function()
        vim.cmd("normal! m'")
        pcall(api.nvim_win_set_cursor, win, { found.row + 1, 0 })
      end)
      done()
    end)
  end)
end

---@param what 'keep'|'reject'
local function decide(what)
  there(function()
    local first, last = selected()
    local args = at_lines(first, last)
    args['do'], args.lines = what, first ~= nil
    host.notify('review_decide', args)
  end)
  if require('acp.config').get().review_advance then
    jump('hunk', true, true)
  end
end

---@param path string
---@return integer? row of the first conflict in the file's buffer, 0-based
local function conflict_in(path)
  local buf = vim.fn.bufnr('^' .. vim.fn.escape(path, '[]*?\\') .. '$')
  if buf == -1 then
    return
  end
  local first = conflict.get(buf)[1]
  return first and first.first
end

---Goes to the file, in the tab where the user came from.
local function go()
  local _, page = here()
  local head = not api.nvim_get_current_line():match('^.[^%a]*%d+ [-+ ] ')
  local function land(place)
    if not place or not place.path then
      return notify.info('no file on this line')
    elseif place.gone then
      return notify.info('the file was deleted')
    end
    if page.origin and api.nvim_tabpage_is_valid(page.origin) then
      api.nvim_set_current_tabpage(page.origin)
    else
      vim.cmd.tabnew()
    end
    local row = head and conflict_in(place.path)
    require('acp.chat.navigate').edit(place.path, row and row + 1 or place.line)
  end
  require('acp.ui.async_keys').await(function(done)
    host.request('review_place', at(), function(place)
      done()
      land(place)
    end)
  end)
end

---@param session integer
local function leave(session)
  local page = pages[session]
  local origin = page and page.origin
  local ok = pcall(vim.cmd.tabclose)
  if not ok then
    vim.cmd.enew() -- it was the only tab; the buffer wipes itself
  elseif origin and api.nvim_tabpage_is_valid(origin) then
    api.nvim_set_current_tabpage(origin)
  end
end

---@class acp.ReviewKey
---@field action string in the configuration
---@field plug string
---@field modes string[]
---@field run fun()
---@field words string
---@field hint? string for the line above the page

---@param action string
---@param modes string[]
---@param words string? where they are not those of the configuration
---@param run fun()
---@param hint? string
---@return acp.ReviewKey
local function key(action, modes, words, run, hint)
  local plug = require('acp.ui.buffer').plug(action)
  words = words or require('acp.config').words[action]
  return { action = action, plug = plug, modes = modes, run = run, words = words, hint = hint }
end

local function keep()
  decide('keep')
end

local function reject()
  decide('reject')
end

local function comment()
  there(function()
    local first, last = selected()
    require('acp.review.comment').ask_at(at_lines(first, last))
  end)
end

local nx = { 'n', 'x' }

---@type acp.ReviewKey[] those that matter most first
local keys = {
  key('page_keep', nx, nil, keep, 'keep'),
  key('page_reject', nx, nil, reject, 'refuse'),
  key('page_comment', nx, nil, comment, 'comment'),
  key('review_open', { 'n' }, nil, function()
    there(go)
  end, 'go there'),
  key('review_next', nx, nil, function()
    jump('hunk', true)
  end, 'next'),
  key('review_undo', { 'n' }, nil, function()
    there(function()
      host.notify('review_undo', { session = (here()) })
    end)
  end, 'undo'),
  key('review_fold', { 'n' }, nil, function()
    fold('toggle')
  end, 'fold'),
  key('review_send', { 'n' }, nil, function()
    M.send((here()))
  end),
  key('review_close', { 'n' }, nil, function()
    leave((here()))
  end),
  key('review_previous', nx, nil, function()
    jump('hunk', false)
  end),
  key('diff_next_file', nx, nil, function()
    jump('file', true)
  end),
  key('diff_previous_file', nx, nil, function()
    jump('file', false)
  end),
  key('diff', { 'n' }, 'show the file side by side with what you have accepted', function()
    M.compare((here()))
  end),
  key('open_all', { 'n' }, 'open all files', function()
    fold('open_all')
  end),
  key('close_all', { 'n' }, 'close all files', function()
    fold('close_all')
  end),
  key('review_keep', nx, nil, keep),
  key('review_reject', nx, nil, reject),
  key('review_comment', nx, nil, comment),
}

---The line above the page: as many keys as fit.
---@return string
function M.bar()
  local lhs, parts = require('acp.config').get().keys, {}
  for _, k in ipairs(keys) do
    if k.hint and lhs[k.action] then
      table.insert(parts, lhs[k.action] .. ' ' .. k.hint)
    end
  end
  table.insert(parts, lhs.help and lhs.help .. ' keys' or nil)
  local line = require('acp.ui.wrap').fit(parts, api.nvim_win_get_width(0))
  return '%#AcpWinbar#' .. line:gsub('%%', '%%%%')
end

---@param buf integer
local function map(buf)
  local lhs = require('acp.config').get().keys
  local function set(modes, from, to, words)
    local opts =
      { buffer = buf, nowait = true, desc = 'acp: ' .. words, remap = type(to) == 'string' }
    vim.keymap.set(modes, from, to, opts)
  end
  for _, k in ipairs(keys) do
    set(k.modes, k.plug, k.run, k.words)
    if lhs[k.action] then
      set(k.modes, lhs[k.action], k.plug, k.words)
    end
  end
  for from, how in pairs({ za = 'toggle', zo = 'open', zc = 'close' }) do
    set('n', from, function()
      fold(how)
    end, 'open or close the file')
  end
  set('n', 'gO', '<Plug>(AcpReviewOpen)', 'go to the place in the file')
  require('acp.ui.key_help').map(buf)
end

---What identifies a line, without its state, and its number.
---@param line string
---@return string
local function bare(line)
  local mark, name = line:sub(2, 4), line:match('^.....(.-)  ')
  if name and (mark == '▾' or mark == '▸') then
    return name
  end
  return (line:gsub('^%W*%d*%s*[-+]?%s*', ''))
end

---@param session integer
---@return acp.ReviewPage
local function create(session)
  local buf = bufs.create('review', 'acp-review', session)
  vim.bo[buf].modifiable = false
  vim.bo[buf].undolevels = -1
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].vartabstop = '16,8' -- a line number and its tab take up to eight cells each
  require('acp.ui.highlight').attach(buf)
  map(buf)
  local page = {
    buf = buf,
    name = 'review',
    base = 0,
    stays_at_end = false,
    bare = bare,
    seq = 0,
    key_queue = require('acp.ui.async_keys').new(),
  }
  pages[session] = page
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    desc = 'End the review',
    callback = function()
      if pages[session] == page then
        pages[session] = nil
        host.notify('review_close', { session = session })
      end
    end,
  })
  return page
end

---@param page acp.ReviewPage
local function show(page)
  local win = vim.fn.win_findbuf(page.buf)[1]
  if win then
    return api.nvim_set_current_win(win)
  end
  page.origin = api.nvim_get_current_tabpage()
  vim.cmd(('tab sbuffer %d'):format(page.buf))
  require('acp.ui.window').plain(0, {
    wrap = true,
    linebreak = true,
    breakindent = true,
    cursorline = true,
    spell = false,
    foldenable = false,
    winbar = "%{%v:lua.require'acp.review.tab'.bar()%}",
  })
end

---@type {path: string, count: integer}[]? what the host was told last
local reported

---Tells the host where loaded files have conflicts.
local function report_conflicts()
  local files = conflict.counts()
  if not vim.deep_equal(files, reported) then
    reported = files
    host.notify('open_conflicts', { files = files })
  end
end

conflict.changed:add(function()
  if next(pages) then
    vim.schedule(report_conflicts)
  end
end)

---Opens the review of a session in a tab, or goes there.
---@param session integer
function M.open(session)
  local page = pages[session]
  local fresh = not page or not api.nvim_buf_is_loaded(page.buf)
  page = fresh and create(session) or page
  reported = nil -- by an earlier host perhaps, or before this session
  report_conflicts()
  local send = require('acp.config').get().keys.review_send or ''
  host.request('review_open', { session = session, send = send }, function(_, err)
    if not api.nvim_buf_is_valid(page.buf) then
      return
    elseif err then
      if fresh then
        api.nvim_buf_delete(page.buf, { force = true })
      end
      if not host.running() then
        return notify.info(err)
      end
      return require('acp.session.stored').waiting('nothing here, but ', function(sentence)
        notify.info(sentence or err)
      end)
    end
    require('acp.ui.safe_state').soon(function()
      if api.nvim_buf_is_valid(page.buf) then
        show(page)
      end
    end)
  end)
end

---Changes the page as the host says.
---@param e acp.PageEdit
function M.edit(e)
  local page = pages[e.session]
  if page and api.nvim_buf_is_loaded(page.buf) then
    require('acp.ui.page').edit(page, e)
    page.seq = e.seq
  end
end

---Sends the comments, and what was refused, as a prompt.
---@param session integer
function M.send(session)
  host.request('review_send', { session = session }, function(waits, err)
    if err then
      return notify.info(err)
    end
    notify.info(waits and 'will be sent as soon as the agent is ready' or 'sent')
  end)
end

---Shows the accepted text of a file beside the file, in a tab: the file under the cursor in the
---review, or else that of the current buffer.
---@param session integer
function M.compare(session)
  local args
  if vim.bo.filetype == 'acp-review' then
    args = at()
  else
    local name = api.nvim_buf_get_name(0)
    args = { session = session, path = require('acp.rpc.path').real(name) }
  end
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].undolevels = -1
  args.buf = buf
  host.request('review_beside', args, function(file, err)
    if not file or file.gone then
      pcall(api.nvim_buf_delete, buf, { force = true })
      local gone = file and 'the file was deleted' or 'the agent has not changed this file'
      return notify.info(err or gone)
    end
    require('acp.review.compare').open(buf, file)
  end)
end

return M
