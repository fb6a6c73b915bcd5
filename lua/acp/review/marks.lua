---Marks for agents' pending changes in the user's own buffers: signs, changed lines and words, the
---old lines above them, and keys to go from change to change and to decide. The host knows the
---changes (host/reviewui/markedbuffers.go), and sends them when they differ from what a buffer
---shows; Lua draws them where the buffer has the lines.
---
---The marks are extmarks, so they move with what the user types.
local M = {}

local api = vim.api
local changes = require('acp.review.changes')
local ranges = require('acp.ui.ranges')
local places = api.nvim_create_namespace('acp_marks_place')
local drawn = api.nvim_create_namespace('acp_marks')

---Above gitsigns' 6, below the 10 of diagnostics.
local sign_priority = 8
---How long, in ms, the user must pause before what they typed is checked.
local quiet = 200
---How long, in ms, drawing may take at once, and how long Neovim then has for other things.
local busy, pause = 4, 5

---A change as the host tells it.
---@class acp.Mark
---@field id integer
---@field session integer
---@field count integer of the new lines
---@field old string[] as many as are shown
---@field more integer old lines that are not shown
---@field also string who else has changed something there
---@field known string the first new line, or the one behind what is gone
---@field last string the last new line
---@field old_words integer[] index of the line from 0, start, end, and so on
---@field new_words integer[]
---@field place? integer extmark at its first line
---@field drawn integer[] extmarks
---@field whole boolean all of it is drawn

---@class acp.Marks: acp.Range of a buffer; the rows have changed since they were drawn
---@field path string the real one
---@field marks table<integer, acp.Mark> by id
---@field at integer[] id and line of each, in the order of the text
---@field number integer under which the host tells of them
---@field coming {at: integer[], fresh: acp.Mark[]} what it is telling now
---@field known_by integer how many bytes of a line the host tells to know it by
---@field looked boolean the host has seen what the user has made of the buffer
---@field typed boolean the user has changed the buffer since the host was asked to look
---@field moved boolean lines have come or gone since the host has told
---@field worker? thread draws
---@field timer uv.uv_timer_t
---@field keys? acp.MappedKey[]
---@field after? fun() waits until they are drawn

---@type table<integer, acp.Marks> by buffer
local known = {}
local last_number = 0
local shown = true

---The keys of a buffer with changes.
---@type fun(): acp.Key[]
function M.keys()
  return {}
end

---@param buf integer
---@return string? real path of the file that it shows
local function path_of(buf)
  local name = api.nvim_buf_get_name(buf)
  if name == '' or vim.bo[buf].buftype ~= '' or not api.nvim_buf_is_loaded(buf) then
    return
  end
  return require('acp.rpc.path').real(name)
end

---@param buf integer
---@param mark acp.Mark
---@return integer? row
local function row_of(buf, mark)
  return mark.place and api.nvim_buf_get_extmark_by_id(buf, places, mark.place, {})[1]
end

---@param buf integer
---@param mark acp.Mark
---@return table[] the old lines, and what there is to say of them
local function above(buf, mark)
  local virt_lines = require('acp.ui.virt_lines')
  local lines, words = {}, virt_lines.words(mark.old_words)
  if mark.also ~= '' then
    table.insert(lines, { { 'also ' .. mark.also, 'AcpReviewHint' } })
  end
  for i, line in ipairs(mark.old) do
    local chunks =
      virt_lines.line(line, words[i - 1], 'AcpReviewDelete', 'AcpReviewDeleteWord', buf)
    table.insert(lines, chunks)
  end
  if mark.more > 0 then
    table.insert(lines, { { ('… %d more'):format(mark.more), 'AcpReviewHint' } })
  end
  return lines
end

---Scrolls to virtual lines above the first line, for which a window that begins there leaves no
---room.
---@param buf integer
---@param count integer
local function make_room(buf, count)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.fn.line('w0', win) == 1 then
      api.nvim_win_call(win, function()
        vim.fn.winrestview({
          topline = 1,
          topfill = math.min(count, api.nvim_win_get_height(0) - 1),
        })
      end)
    end
  end
end

---@param buf integer
---@param mark acp.Mark
---@param tick fun()
local function undraw(buf, mark, tick)
  mark.whole = false
  for i = #mark.drawn, 1, -1 do
    api.nvim_buf_del_extmark(buf, drawn, mark.drawn[i])
    mark.drawn[i] = nil
    tick()
  end
end

---@param buf integer
---@param mark acp.Mark
---@param row integer of its first line, or of the line behind what is gone
---@param tick fun() lets Neovim do other things now and then
local function draw(buf, mark, row, tick)
  undraw(buf, mark, tick)
  local bottom = api.nvim_buf_line_count(buf) - 1
  local at = math.min(row, bottom)
  mark.place = api.nvim_buf_set_extmark(buf, places, at, 0, { id = mark.place })
  if not shown then
    return
  end
  local function put(line, col, opts)
    table.insert(mark.drawn, api.nvim_buf_set_extmark(buf, drawn, line, col, opts))
    tick()
  end
  local virt = above(buf, mark)
  if #virt > 0 then
    require('acp.ui.virt_lines').guard(buf)
    local behind = row > bottom
    put(at, 0, { virt_lines = virt, virt_lines_above = not behind })
    if row == 0 and not behind then
      make_room(buf, #virt)
    end
  end
  if mark.count == 0 then
    put(at, 0, {
      sign_text = row > bottom and '▄' or '▀',
      sign_hl_group = 'AcpReviewDeleteSign',
      priority = sign_priority,
    })
  end
  local kind = (#mark.old > 0 or mark.more > 0) and 'Change' or 'Add'
  local sign = {
    sign_text = '▌',
    sign_hl_group = 'AcpReview' .. kind .. 'Sign',
    priority = sign_priority,
    invalidate = true,
  }
  for i = row, row + mark.count - 1 do
    put(i, 0, sign)
    put(i, 0, { -- as keep_to_line() has it
      end_row = i + 1,
      hl_group = 'AcpReview' .. kind,
      hl_eol = true, -- the group of a line would cover that of words
      priority = sign_priority,
      invalidate = true,
      strict = false,
    })
  end
  local words = mark.new_words
  for i = 1, #words, 3 do
    put(row + words[i], words[i + 1], {
      end_col = words[i + 2],
      hl_group = 'AcpReviewWord',
      priority = 120,
      invalidate = true,
      strict = false,
    })
  end
  mark.whole = true
end

---Whether the buffer has a change at a row, judging by its first and last line.
---@param buf integer
---@param mark acp.Mark
---@param row integer
---@param known_by integer
---@return boolean
local function has(buf, mark, row, known_by)
  local count = api.nvim_buf_line_count(buf)
  local last = row + math.max(mark.count, 1) - 1
  if mark.count == 0 and row == count then
    return true
  end
  if last >= count then
    return false
  end
  local function line(at)
    return api.nvim_buf_get_lines(buf, at, at + 1, false)[1]:sub(1, known_by)
  end
  return line(row) == mark.known and line(last) == mark.last
end

---Updates the marks: draws those that are new, moved, or touched by an edit.
---@param buf integer
---@param state acp.Marks
---@param tick fun()
---@return boolean wrong the buffer has other lines where some are told
local function reconcile(buf, state, tick)
  local told = {}
  for i = 1, #state.at, 2 do
    told[state.at[i]] = true
  end
  for id, mark in pairs(state.marks) do
    if not told[id] then
      undraw(buf, mark, tick)
      if mark.place then
        api.nvim_buf_del_extmark(buf, places, mark.place)
      end
      state.marks[id] = nil
    end
  end
  local from, to = state.first, state.last
  state.first, state.last = nil, nil
  local wrong = false
  for i = 1, #state.at, 2 do
    local mark, row = state.marks[state.at[i]], state.at[i + 1] - 1
    local is = row_of(buf, mark)
    local touched = from and row <= to + 1 and row + mark.count >= from - 1
    if touched or not mark.whole or is ~= math.min(row, api.nvim_buf_line_count(buf) - 1) then
      if has(buf, mark, row, state.known_by) then
        draw(buf, mark, row, tick)
      else
        undraw(buf, mark, tick)
        wrong = true
      end
    end
    tick()
  end
  return wrong
end

---@param buf integer
---@param state acp.Marks
---@param look boolean the user has changed the buffer
local function ask(buf, state, look)
  state.typed = state.typed and not look
  local args = { buf = buf, path = state.path, number = state.number, look = look }
  require('acp.rpc.host').notify('show_marks', args)
end

---Shows the key hint as long as marks are drawn.
---@param buf integer
---@param state acp.Marks
local function hint_keys(buf, state)
  if not shown or #state.at == 0 then
    require('acp.review.key_hint').done(buf)
    return
  end
  require('acp.review.key_hint').offer(buf, state.keys, function()
    local rows = {}
    for i = 1, #state.at, 2 do
      table.insert(rows, row_of(buf, state.marks[state.at[i]]))
    end
    return rows
  end)
end

---Begins to draw, a little at a time, until the lines move.
---@param buf integer
---@param state acp.Marks
local function begin(buf, state)
  local worker, started, wrong
  local n = 0
  local function tick()
    n = n + 1
    if n % 16 == 0 and vim.uv.hrtime() - started > busy * 1e6 then
      coroutine.yield()
    end
  end
  worker = coroutine.create(function()
    wrong = reconcile(buf, state, tick)
  end)
  state.worker = worker
  local function step()
    if known[buf] ~= state or state.worker ~= worker or state.moved then
      return
    end
    started = vim.uv.hrtime()
    local ok, err = coroutine.resume(worker)
    if not ok then
      error(err, 0)
    end
    if coroutine.status(worker) ~= 'dead' then
      return vim.defer_fn(step, pause)
    end
    state.worker = nil
    if wrong and not state.looked then
      ask(buf, state, true)
    elseif not state.typed then
      state.timer:stop() -- what was changed is the host's own doing
    end
    if state.after then
      vim.schedule(state.after)
      state.after = nil
    end
    hint_keys(buf, state)
    if #state.at > 0 or changes.pending(state.path) then
      return
    elseif not changes.has(state.path) then
      M.clear(buf)
    end -- What was decided may be undone: the text goes on being looked at.
  end
  step()
end

---@class acp.MarkPiece
---@field buf integer
---@field number integer
---@field at integer[]
---@field fresh acp.Mark[]
---@field known_by integer
---@field looked boolean
---@field done boolean

---Adds a piece of the marks that a buffer should show.
---@param piece acp.MarkPiece
---@return boolean wanted
function M.piece(piece)
  local buf = piece.buf
  local state = known[buf]
  if not state or state.number ~= piece.number then
    return false
  end
  local coming = state.coming
  if #coming.at == 0 then
    state.moved = false
  end
  vim.list_extend(coming.at, piece.at)
  vim.list_extend(coming.fresh, piece.fresh)
  if piece.done then
    for _, mark in ipairs(coming.fresh) do
      mark.drawn, mark.whole = {}, false
      state.marks[mark.id] = mark
    end
    state.at, state.known_by, state.looked = coming.at, piece.known_by, piece.looked
    state.coming = { at = {}, fresh = {} }
    begin(buf, state)
  end
  return true
end

---Keeps the highlight of a changed line off lines typed at its end.
---@param buf integer
---@param row integer where lines have come
local function keep_to_line(buf, row)
  local from, to = { math.max(row - 1, 0), 0 }, { row, -1 }
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, drawn, from, to, { details = true })) do
    local id, at, _, details = unpack(mark)
    if details.hl_eol and details.end_row > at + 1 then
      api.nvim_buf_set_extmark(buf, drawn, at, 0, {
        id = id,
        end_row = at + 1,
        hl_group = details.hl_group,
        hl_eol = true,
        priority = details.priority,
        invalidate = true,
      })
    end
  end
end

---@param buf integer
---@param state acp.Marks
local function attach(buf, state)
  api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if known[buf] ~= state then
        return true
      end
      local moved = new_last - last
      if moved > 0 then
        keep_to_line(buf, first)
      end
      state.moved = state.moved or moved ~= 0
      state.typed = state.typed or not require('acp.rpc.ops').running
      ranges.grow(state, first, last, new_last)
      state.timer:start(
        quiet,
        0,
        vim.schedule_wrap(function()
          if known[buf] == state then
            ask(buf, state, true)
          end
        end)
      )
    end,
  })
end

---@return integer
local function new_number()
  last_number = last_number + 1
  return last_number
end

---Makes a buffer show the changes of its file from now on.
---@param buf integer
---@param path string
local function show(buf, path)
  local state = {
    path = path,
    marks = {},
    at = {},
    number = new_number(),
    coming = { at = {}, fresh = {} },
    looked = false,
    typed = false,
    moved = false,
    timer = assert(vim.uv.new_timer()),
  }
  known[buf] = state
  attach(buf, state)
  ask(buf, state, false)
end

---Maps a buffer's keys as long as a session that has changed its file has anything pending, even
---elsewhere: the next change is there.
---@param buf integer
---@param state acp.Marks
---@param wanted boolean
local function set_keys(buf, state, wanted)
  if wanted and not state.keys then
    state.keys = require('acp.ui.keymap').map(buf, M.keys())
  elseif not wanted and state.keys then
    require('acp.ui.keymap').unmap(buf, state.keys)
    state.keys = nil
  end
end

---Removes the marks of a buffer, and restores its keys.
---@param buf integer
function M.clear(buf)
  local state = known[buf]
  if not state then
    return
  end
  known[buf] = nil
  require('acp.review.key_hint').done(buf)
  state.timer:close()
  require('acp.ui.keymap').clear(buf, { places, drawn }, state.keys)
end

---Removes a buffer's marks, a few at a time.
---@param buf integer
---@param state acp.Marks
local function drop(buf, state)
  state.number, state.coming = new_number(), { at = {}, fresh = {} }
  state.at, state.moved = {}, false
  begin(buf, state)
end

---Shows the changes of a buffer's file, if it has any.
---@param buf integer
local function enter(buf)
  local path = not known[buf] and path_of(buf)
  if path and changes.has(path) then
    show(buf, path)
  end
  if known[buf] then
    set_keys(buf, known[buf], changes.in_review()[known[buf].path] == true)
  end
end

---Updates buffers after files with changes have changed. Buffers that no window has shown yet wait
---until one does: an agent may change hundreds at once.
---@param touched table<string, true>? only files of these paths
local function update(touched)
  local bufs = {}
  for _, win in ipairs(api.nvim_list_wins()) do
    bufs[api.nvim_win_get_buf(win)] = true
  end
  for buf in pairs(known) do
    bufs[buf] = true
  end
  for buf in pairs(bufs) do
    local state = known[buf]
    local path = state and state.path or path_of(buf)
    if path and (not touched or touched[path]) then
      if state and not changes.has(path) then
        drop(buf, state)
      elseif not state and changes.has(path) then
        show(buf, path)
      end
    end
  end
  local in_review = next(known) and changes.in_review()
  for buf, state in pairs(known) do
    set_keys(buf, state, in_review[state.path] == true)
  end
end

---Listens for buffers being shown and read; once.
local listening = false
local function listen()
  if listening then
    return
  end
  listening = true
  local group = api.nvim_create_augroup('acp_marks', {})
  api.nvim_create_autocmd({ 'BufReadPost', 'BufEnter', 'BufWinEnter' }, {
    group = group,
    desc = 'Show what the agent has changed',
    callback = function(event)
      if event.event == 'BufReadPost' then
        M.clear(event.buf)
      end
      enter(event.buf)
    end,
  })
  api.nvim_create_autocmd('BufUnload', {
    group = group,
    desc = 'Forget what the agent has changed in a buffer',
    callback = function(event)
      M.clear(event.buf)
    end,
  })
end

---The host has reported changed files.
---@param touched table<string, true> their paths
function M.changed(touched)
  if require('acp.config').get().review == false then
    return
  end
  listen()
  update(touched)
end

-- A session has ended.
changes.forgotten:add(function()
  update()
  if listening and not changes.has() then
    listening = false
    api.nvim_del_augroup_by_name('acp_marks')
  end
end)

---The path of the file in a buffer, as the host knows it.
---@param buf integer
---@return string?
function M.path(buf)
  return known[buf] and known[buf].path or path_of(buf)
end

---The first row of each change in a file, in order; nil if no buffer shows it.
---@param path string
---@return integer[]?
function M.rows(path)
  for buf, state in pairs(known) do
    if state.path == path and #state.at > 0 then
      local rows = {}
      for i = 1, #state.at, 2 do
        local row = row_of(buf, state.marks[state.at[i]])
        if row and row ~= rows[#rows] then
          table.insert(rows, row)
        end
      end
      table.sort(rows)
      return rows
    end
  end
end

---The sessions of the marks in rows of a buffer, or of lines removed just before or after them.
---@param buf integer
---@param first integer
---@param last integer
---@return integer[]
function M.sessions(buf, first, last)
  local state, found = known[buf], {}
  local nearest, distance
  for i = 1, state and #state.at or 0, 2 do
    local mark = state.marks[state.at[i]]
    local row = row_of(buf, mark)
    if row then
      local from, to = row, row + mark.count - 1
      if mark.count == 0 then
        from, to = row - 1, row
      end
      local d = math.max(from - last, first - to, 0)
      if d == 0 and not vim.tbl_contains(found, mark.session) then
        table.insert(found, mark.session)
      end
      if not distance or d < distance then
        nearest, distance = mark.session, d
      end
    end
  end
  -- What has just been typed may have made it another one: the host knows.
  return #found == 0 and state and state.first and { nearest } or found
end

---Calls a function when a buffer shows what the host has sent about its changes.
---@param buf integer
---@param fn fun()
function M.drawn(buf, fn)
  local state = known[buf]
  if state and state.worker and not state.moved then
    state.after = fn
  else
    fn()
  end
end

---Shows the old lines above the first line of a buffer, if there are some.
---@param buf integer 0 is the current one
function M.make_room(buf)
  buf = buf ~= 0 and buf or api.nvim_get_current_buf()
  local state = known[buf]
  local mark = state and state.marks[state.at[1]]
  if mark and mark.whole and shown and row_of(buf, mark) == 0 then
    make_room(buf, #above(buf, mark))
  end
end

---Shows the marks, or only remembers where they are.
---@param on boolean
function M.show(on)
  shown = on
  for buf, state in pairs(known) do
    local last = api.nvim_buf_line_count(buf)
    state.first, state.old_last, state.last = 0, last, last
    begin(buf, state)
  end
end

return M
