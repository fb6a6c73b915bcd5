---The diff that is open beside a permission request, or that the user asked for: which one, and
---its keys. There is one at a time. It takes the focus only if the user asked for it; otherwise it
---opens when they stop typing.
local M = {}

local api = vim.api
local host = require('acp.rpc.host')
local safe_state = require('acp.ui.safe_state')
local signal = require('acp.rpc.signal')
local state = require('acp.rpc.state')
local typing = require('acp.ui.typing')

---A diff was shown or closed.
M.changed = signal()

---A diff from the host, with the text of one of its files.
---@class acp.Diff
---@field session integer
---@field call string
---@field permission? integer the open request it belongs to
---@field at integer which file
---@field files {name: string, added: integer, removed: integer}[]
---@field path string
---@field before string what the old side is
---@field after string
---@field note string
---@field form 'whole'|'changes'|'inline'|'sentence' see host/diffview/view.go
---@field old_lines integer how many the old text has
---@field new_lines integer
---@field first integer the line of the first change
---@field hunks integer[] where each stands: old start and count, new start and count, and so on
---@field looked integer which look at the change this is
---@field rows? boolean of the form 'changes': it has all lines of the file
---@field edit? boolean it is opened to be edited
---@field land? 'last' the hunk that the cursor goes to, where it is not the first
---@field texts? acp.Texts of all forms but 'inline'
---@field changes? acp.InlineChange[] of the form 'inline'

---What shows a diff.
---@class acp.DiffPlace
---@field wins integer[]
---@field swap fun(self, diff: acp.Diff): boolean shows another one instead, where it can
---@field focus fun(self) takes the user there
---@field side fun(self): 1|2|nil whether the current window has the old or the new text
---@field edit fun(self, diff: acp.Diff, lines: string[], mine?: string[]) has the user edit the new
---text, or go on with their own
---@field editing? acp.Editing the write whose text is edited
---@field leave? fun(self) leaves the user that text, and closes all else
---@field paint fun(self, diff: acp.Diff, refused: table<integer, true>) shows what is refused
---@field close fun(self)

---@type acp.Diff? the one on the screen
local shown
---@type acp.DiffPlace?
local place
---@type boolean the user asked for it
local asked = false
---@class acp.DiffLoad what the host was asked for
---@field id? integer
---@field texts? acp.Texts
---@field changes? acp.InlineChange[]

---@type acp.DiffLoad?
local loading
---@type acp.Diff? loaded, and waits for the user to rest
local ready
---@type integer? the request whose diff is loaded, or waits for the user to rest
local coming
---@type table<integer, true> requests whose diff the user has closed
local dismissed = {}
---@type acp.KeyQueue the keys that were typed
local key_queue = require('acp.ui.async_keys').new()
---@type {args: table, landed: fun()}? where one of them goes: what the host is asked for
local jump

local notify = require('acp.notify')

---Forgets what is loaded and not shown.
local function drop()
  for _, of in pairs({ loading or {}, ready or {} }) do
    if of.texts then
      require('acp.diff.split').drop(of.texts)
    end
  end
  loading, ready = nil, nil
  typing.cancel()
end

---Adds a piece of a diff.
---@param piece table
---@return boolean wanted
function M.piece(piece)
  if not loading or loading.id ~= piece.id then
    return false
  end
  if piece.changes then
    loading.changes = vim.list_extend(loading.changes or {}, piece.changes)
  else
    loading.texts = loading.texts or require('acp.diff.split').texts()
    require('acp.diff.split').add(loading.texts, piece)
  end
  return true
end

---Forgets where the user wanted to go, and the keys they typed for there.
local function stop_jump()
  jump = nil
  key_queue:drop()
end

---Goes to another diff, and continues with the next key when it is on the screen.
---@param args table
---@param landed fun()
local function jump_to(args, landed)
  jump = { args = args, landed = landed }
  M.open(args, true)
end

---Whether two questions to the host are about the same file of a diff.
---@param one table
---@param other table
---@return boolean
local function same(one, other)
  return one.session == other.session
    and one.permission == other.permission
    and one.call == other.call
    and one.file == other.file
end

---Asks the host for a diff, instead of what it was asked for before.
---@param args table
---@param done fun(diff: acp.Diff?)
local function load(args, done)
  drop()
  if jump and not same(jump.args, args) then
    stop_jump()
  end
  local mine = {}
  loading = mine
  local question = {
    session = args.session,
    call = args.call,
    permission = args.permission,
    row = args.row,
    file = args.file,
    form = args.form,
    anew = args.anew,
  }
  host.request('show_diff', question, function(diff)
    if loading ~= mine then
      return
    end
    if not diff then
      drop()
      stop_jump()
      return done(nil)
    end
    loading = nil
    diff.session, diff.changes = args.session, mine.changes or {}
    diff.land, diff.edit, diff.rows = args.land, args.edit, args.form == 'rows'
    diff.texts = diff.form ~= 'inline' and (mine.texts or require('acp.diff.split').texts()) or nil
    local picked = diff.permission and diff.form == 'whole' and #diff.hunks > 0 and not args.edit
    if picked and not require('acp.diff.hunk_selection').agrees(diff) then
      require('acp.diff.split').drop(diff.texts)
      return load(vim.tbl_extend('force', args, { form = 'rows', anew = false }), done)
    end
    done(diff)
  end)
  mine.id = question.callback
end

---@type {about: acp.Editing, lines: string[]}? a text of the user's that was not written, until it
---is in a window again
local unwritten

---Puts the user's text into a buffer that nothing deletes, as its write is no longer waiting.
local function keep_unwritten()
  local kept = unwritten
  if not kept then
    return
  end
  unwritten = nil
  local buf = api.nvim_create_buf(true, false)
  local name = ('acp://edited/%d/%s'):format(buf, kept.about.name)
  api.nvim_buf_set_name(buf, name)
  vim.bo[buf].buftype, vim.bo[buf].swapfile = 'acwrite', false
  api.nvim_buf_set_lines(buf, 0, -1, false, kept.lines)
  notify.info(('your text is in buffer %s: write it there with :w FILE'):format(name))
end

---Whether a float covers the screen or has the focus: somebody's picker, or the chat.
---@return boolean
local function covered()
  local screen = vim.o.lines * vim.o.columns
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local config = api.nvim_win_get_config(win)
    if
      config.relative ~= ''
      and not config.hide
      and vim.bo[api.nvim_win_get_buf(win)].filetype ~= 'acp-permission'
    then
      local size = api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
      if win == api.nvim_get_current_win() or (config.focusable and 2 * size > screen) then
        return true
      end
    end
  end
  return false
end

---Whether windows of this tab compare something of the user's.
---@return boolean
local function comparing()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if vim.wo[win].diff and not vim.b[api.nvim_win_get_buf(win)].acp_diff then
      return true
    end
  end
  return false
end

---@return boolean
local function may_open()
  return require('acp.config').get().diff == 'tab' or not (covered() or comparing())
end

---Where to show a diff.
---@return 'split'|'tab'|'inline'|'chat'
local function where()
  local wanted = require('acp.config').get().diff
  if asked and not place and (covered() or comparing()) then
    return 'tab'
  end
  return asked and wanted == 'chat' and 'split' or wanted
end

local function close()
  local was = place
  shown, place, asked = nil, nil, false
  if was then
    if was.editing then
      local held = was.editing
      host.notify(
        'edit_pending',
        { session = held.session, permission = held.permission, on = false }
      )
    end
    was:close()
  end
end

---@class acp.DiffOwner what the windows of a diff are opened for
---@field keys fun(diff: acp.Diff): acp.DiffKey[]
---@field closed fun() the user has closed one of them
---@field give_back fun(about: acp.Editing, lines: string[]) takes a text that was not written, and
---  whose window is gone
local owner = {
  keys = function(diff)
    return M.keys(diff)
  end,
  closed = function()
    M.close()
  end,
  give_back = function(about, lines)
    M.give_back(about, lines)
  end,
}

---In which form the host should send diffs.
---@return 'inline'|nil
local function form()
  return require('acp.config').get().diff == 'inline' and 'inline' or nil
end

---What to ask the host for another file of the same diff, or for this one again.
---@param diff acp.Diff
---@param file integer
---@return table
local function again(diff, file)
  local about = diff.permission
  return {
    session = diff.session,
    permission = about,
    call = not about and diff.call or nil,
    file = file,
    form = form(),
  }
end

---@type table<integer, true> what is shown as refused
local painted = {}

---Shows which hunks are refused, and redraws a diff whose change was located again.
---@param anew? boolean it is not on the screen yet
local function paint(anew)
  local diff = shown
  if not diff or not place or place.editing then
    return
  end
  local refused = require('acp.diff.hunk_selection').refused(diff)
  if not refused then
    if not loading and not ready then
      M.open(again(diff, diff.at), false)
    end
    return
  end
  if anew and next(refused) or not anew and not vim.deep_equal(refused, painted) then
    place:paint(diff, refused)
  end
  painted = refused
end

---Moves the cursor to a hunk, in its present window.
---@param n integer
local function to_hunk(n)
  local side = place and place:side()
  if side then
    local row = require('acp.diff.hunk_selection').row(shown, side, n, vim.fn.line('$'))
    api.nvim_win_set_cursor(0, { row, 0 })
    vim.cmd('normal! zv')
  end
end

---Lets the user edit what a write would make of the file.
local function edit()
  local diff = shown
  if not diff or not place or place.editing then
    return
  elseif diff.form ~= 'whole' and not diff.edit then
    local args = again(diff, diff.at)
    args.form, args.edit = 'whole', true
    return M.open(args, true)
  end
  local args = { session = diff.session, permission = diff.permission, on = true }
  local function cannot()
    notify.info('this text cannot be edited here')
    keep_unwritten()
  end
  if diff.form ~= 'whole' then
    return cannot()
  end
  host.request('edit_pending', args, function(answer)
    if not answer then
      return cannot()
    end
    local now = shown -- perhaps a later look at the change
    if not now or now.permission ~= diff.permission or now.form ~= 'whole' then
      args.on = false
      host.notify('edit_pending', args)
      return cannot()
    end
    drop() -- a look that is under way would take the place of the text
    local mine = unwritten and unwritten.about.permission == diff.permission and unwritten.lines
    place:edit(now, answer.lines, mine or nil)
    unwritten = not mine and unwritten or nil
  end)
end

---Shows another diff in the windows of this one. The cursors stay if it is the same one that has
---changed by itself.
---@param diff acp.Diff
---@param by_user boolean
---@return boolean
local function swap(diff, by_user)
  local stays = not by_user
    and shown
    and shown.permission == diff.permission
    and shown.at == diff.at
  local cursors = vim.tbl_map(function(win)
    return stays and api.nvim_win_is_valid(win) and api.nvim_win_get_cursor(win) or nil
  end, place and place.wins or {})
  if not place or not place:swap(diff) then
    return false
  end
  for i, cursor in pairs(cursors) do
    local last = api.nvim_buf_line_count(api.nvim_win_get_buf(place.wins[i]))
    api.nvim_win_set_cursor(place.wins[i], { math.min(cursor[1], last), cursor[2] })
  end
  return true
end

---@param diff acp.Diff
---@param by_user boolean they asked for it just now
local function show(diff, by_user)
  local to = where()
  local swapped = swap(diff, by_user)
  if not swapped then
    local wanted = asked
    close()
    asked = wanted
    local ok, opened = pcall(function()
      if diff.form == 'inline' then
        return to == 'inline' and require('acp.diff.inline').open(diff, owner)
      end
      return require('acp.diff.split').open(diff, to == 'tab', owner)
    end)
    if not ok and asked and to ~= 'tab' then -- there is no room
      ok, opened = pcall(require('acp.diff.split').open, diff, true, owner)
    end
    if ok and not opened then
      -- It cannot be shown in the file itself.
      coming = diff.permission
      local args = again(diff, diff.at)
      args.form = nil
      return M.open(args, by_user)
    elseif not ok then
      require('acp.diff.split').drop(diff.texts or { bufs = {} })
      if asked then
        asked = false
        notify.warn(tostring(opened))
      elseif diff.permission then
        dismissed[diff.permission] = true
      end
      return
    end
    place = opened
  end
  shown = diff
  if by_user then
    place:focus()
    if diff.land then
      to_hunk(require('acp.diff.hunk_selection').count(diff))
    end
  end
  paint(true)
  if diff.edit then
    edit()
  end
  M.changed:emit()
end

---How often the text of a diff's file has changed in Neovim.
---@param diff acp.Diff
---@return integer? tick nil for a file that no buffer has
local function tick_of(diff)
  local buf = require('acp.files.by_path').find(diff.path)
  return buf and api.nvim_buf_get_changedtick(buf)
end

---Loads a diff and shows it: at once if the user asked, otherwise when they pause.
---@param args table what the host is asked for
---@param by_user boolean
---@param otherwise? fun() where there is none
function M.open(args, by_user, otherwise)
  args.anew = true -- the user may have typed there since the request came
  load(args, function(diff)
    if not diff then
      coming = nil
      if otherwise then
        otherwise()
      elseif not by_user then
        close()
      end
      return
    end
    ready = diff
    local tick = tick_of(diff)
    local function now()
      if not by_user and tick_of(diff) ~= tick then
        return M.open(args, false)
      end
      ready, coming = nil, nil
      asked = asked or by_user
      show(diff, by_user)
      if jump and shown == diff then
        local landed = jump.landed
        jump = nil
        landed()
      elseif jump and not loading then
        stop_jump()
      end
    end
    if by_user and safe_state.now() or place and typing.free() then
      now()
    else
      typing.when(may_open, now)
    end
  end)
end

---Updates the diff to the open requests, as far as windows may be closed now.
function M.update()
  if unwritten and not state.permission(unwritten.about.permission) then
    keep_unwritten()
  end
  local first = state.permissions()[1]
  local wanted = first
    and first.files
    and not dismissed[first.id]
    and require('acp.config').get().diff ~= 'chat'
  if shown and shown.permission and not state.permission(shown.permission) then
    if not safe_state.now() then
      return -- the float waits too, and calls again
    end
    local editing = place and place.editing
    if editing and api.nvim_buf_is_valid(editing.buf) and vim.bo[editing.buf].modified then
      notify.info('the agent no longer waits for this text; it is still in its window')
      place:leave()
      shown, place, asked = nil, nil, false
    else
      shown.permission, asked = nil, false
      if not wanted or api.nvim_get_mode().mode ~= 'n' then
        close()
      end
    end
  end
  if ready and ready.permission and not state.permission(ready.permission) then
    coming = nil
    drop()
    stop_jump()
  end
  if coming and not (wanted and first.id == coming) then
    coming = nil
    drop()
    stop_jump()
  end
  if wanted and not coming and not asked and not (shown and shown.permission == first.id) then
    coming = first.id
    M.open({ session = first.session, permission = first.id, form = form() }, false)
  end
  paint()
end

---Opens the diff that the user means and goes there: of a request, of the block under the cursor,
---of the oldest open request, or the last one.
---@param of? acp.OpenPermission
function M.ask(of)
  if place and place.editing then
    return place:focus()
  end
  local tries = {}
  local here = vim.b.acp_session
  if of then
    table.insert(tries, { session = of.session, permission = of.id })
  elseif here and vim.bo.filetype == 'acp-chat' then
    local row = api.nvim_win_get_cursor(0)[1] - 1 - require('acp.chat.cursor').base(here)
    table.insert(tries, { session = here, row = row })
  end
  for _, r in ipairs(state.permissions()) do
    if r.files then
      table.insert(tries, { session = r.session, permission = r.id })
      break
    end
  end
  local last = state.resolve()
  table.insert(tries, last and { session = last } or nil)
  local function try(i)
    if not tries[i] then
      return notify.info('no diff to show')
    end
    tries[i].form = form()
    M.open(tries[i], true, function()
      try(i + 1)
    end)
  end
  try(1)
end

---Gives the user back a text that was not written and whose window is gone.
---@param about acp.Editing
---@param lines string[]
function M.give_back(about, lines)
  keep_unwritten()
  unwritten = { about = about, lines = lines }
  if
    state.permission(about.permission)
    and safe_state.now()
    and api.nvim_get_mode().mode == 'n'
  then
    local args = { session = about.session, permission = about.permission, edit = true }
    args.form = 'whole'
    M.open(args, true, keep_unwritten)
  else
    keep_unwritten()
  end
end

---Whether the diff of a request is on the screen.
---@param permission integer
---@return boolean
function M.shows(permission)
  return shown ~= nil and shown.permission == permission
end

---Whether a diff is loaded and waits for the user to pause.
---@return boolean
function M.waits()
  return ready ~= nil
end

---The windows of this tab that show a diff.
---@return integer[]
function M.windows()
  return vim.tbl_filter(function(win)
    return api.nvim_win_is_valid(win)
      and api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage()
  end, place and place.wins or {})
end

---Closes the diff. Its request stays open, and its diff closed.
function M.close()
  if jump then
    drop()
    stop_jump()
  end
  if shown and shown.permission then
    dismissed[shown.permission] = true
  end
  close()
  M.changed:emit()
end

---Allows or refuses the request of the diff.
---@param which 'allow'|'reject'
local function answer(which)
  local r = state.permission(shown and shown.permission)
  if not r then
    return notify.info('nothing waits for your answer here')
  elseif r[which] then
    return host.notify('respond', { session = r.session, id = r.id, option = r[which] })
  end
  local what = which == 'allow' and 'allows' or 'refuses'
  notify.info(('the request has no option that %s; :Acp permit N gives any'):format(what))
end

---Shows another file of the same diff.
---@param by integer
---@param done fun()
local function turn(by, done)
  local diff = shown
  local to = diff and diff.at + by
  if not diff or not diff.files[to] then
    notify.info('no other file')
    return done()
  end
  jump_to(again(diff, to), done)
end

---Refuses the hunk under the cursor, or those of the selected lines, or keeps them.
---@param refuse boolean
local function pick(refuse)
  local diff, side = shown, place and place:side()
  local first, last = vim.fn.line('v'), vim.fn.line('.')
  if api.nvim_get_mode().mode ~= 'n' then
    vim.cmd.normal({ '\27', bang = true })
  else
    first = last
  end
  if not diff or not side then
    return
  elseif not state.permission(diff.permission) then
    return notify.info('nothing waits for your answer here')
  end
  first, last = math.min(first, last), math.max(first, last)
  first, last = require('acp.diff.hunk_selection').touched(diff, side, first, last)
  if not first then
    local lhs = require('acp.config').get().keys.review_next
    return notify.info('no hunk here' .. (lhs and '; ' .. lhs .. ' goes to the next one' or ''))
  end
  host.request('select_hunks', {
    session = diff.session,
    permission = diff.permission,
    file = diff.at,
    looked = diff.looked,
    first = first,
    last = last,
    refuse = refuse,
  }, function(ok)
    if ok == false and shown == diff then
      notify.info('the change is no longer the same')
      M.open(again(diff, diff.at), true)
    end
  end)
end

---Goes so many hunks on, also into other files.
---@param by 1|-1
---@param left integer
---@param done fun()
local function walk(by, left, done)
  local hunks = require('acp.diff.hunk_selection')
  for i = left, 1, -1 do
    local diff, side = shown, place and place:side()
    if not diff or not side then
      return done()
    end
    local n = hunks.neighbour(diff, side, vim.fn.line('.'), vim.fn.line('$'), by)
    if n then
      to_hunk(n)
    elseif diff.files[diff.at + by] then
      local args = again(diff, diff.at + by)
      args.land = by < 0 and 'last' or nil
      return jump_to(args, function()
        walk(by, i - 1, done)
      end)
    else
      notify.info(by > 0 and 'this is the last hunk' or 'this is the first hunk')
      break
    end
  end
  done()
end

---The keys of a diff, those that matter most first.
---@param diff acp.Diff
---@return acp.DiffKey[]
function M.keys(diff)
  local keys = {}
  ---@param action string
  ---@param hint string?
  ---@param run fun(count: integer, done: fun())
  local function add_jump(action, hint, run)
    local plug = require('acp.ui.buffer').plug(action)
    local function typed()
      local count = vim.v.count1
      key_queue:add(function(done)
        run(count, done)
      end)
    end
    table.insert(keys, { action = action, plug = plug, run = typed, hint = hint })
  end
  ---@param action string
  ---@param hint string?
  ---@param run fun()
  local function add(action, hint, run)
    add_jump(action, hint, function(_, done)
      run()
      done()
    end)
  end
  if diff.permission then
    add('diff_allow', 'allow', function()
      if place and place.editing then
        return place:write()
      end
      answer('allow')
    end)
    add('diff_refuse', 'refuse', function()
      answer('reject')
    end)
    keys[1].otherwise, keys[2].otherwise = 'gA', 'gR'
  end
  local hunks = require('acp.diff.hunk_selection').count(diff)
  if diff.permission and hunks > 0 then
    add('review_reject', (hunks > 1 or #diff.files > 1) and 'hunk' or nil, function()
      pick(true)
    end)
    add('review_keep', nil, function()
      pick(false)
    end)
    for i = 0, 1 do
      keys[#keys - i].modes = { 'n', 'x' }
    end
  end
  local asks = state.permission(diff.permission)
  if asks and asks.since then
    add('review_edit', 'edit', edit)
  end
  if hunks > 0 or #diff.files > 1 then
    add_jump('review_next', nil, function(count, done)
      walk(1, count, done)
    end)
    add_jump('review_previous', nil, function(count, done)
      walk(-1, count, done)
    end)
  end
  if #diff.files > 1 then
    add_jump('diff_next_file', nil, turn)
    add_jump('diff_previous_file', nil, function(count, done)
      turn(-count, done)
    end)
  end
  add('diff_close', 'close', M.close)
  return keys
end

return M
