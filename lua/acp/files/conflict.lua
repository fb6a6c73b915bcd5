---Places where the user and the agent have changed the same lines: marks in the buffer, with the
---agent's lines below, and keys to decide. The host finds the conflicts (buffers/merge.go).
---
---A conflict is there until the user has decided, has written the file, a later text of the
---agent's does not differ there, or the file is removed. It is open, and shown, as long as the
---lines are neither the agent's nor what they were before both changed them; so undo and redo close
---and open it.
local M = {}

local api = vim.api
local places = api.nvim_create_namespace('acp_conflict_place')
local drawn = api.nvim_create_namespace('acp_conflict')
local host = require('acp.rpc.host')
local keymap = require('acp.ui.keymap')
local ranges = require('acp.ui.ranges')

---Other conflicts may be open in a buffer.
M.changed = require('acp.rpc.signal')()

---How many of the agent's lines are shown below the user's.
local max_shown = 30

---As the host tells it.
---@class acp.NewConflict
---@field row integer 0-based
---@field count integer of the user's lines
---@field theirs string[]
---@field base? string[] the lines that both have changed, where that is known
---@field noeol boolean the agent's last line is the file's and has no newline

---@class acp.Conflict
---@field place integer extmark over its lines
---@field shown? integer[] extmarks
---@field lines string[] the lines when they were last looked at
---@field mine? string[] the lines when it was last open
---@field theirs string[]
---@field base? string[]
---@field both? string[] what the user has made of both sides
---@field noeol boolean
---@field open boolean

---@class acp.Conflicts: acp.Range the rows have changed since they were looked at
---@field list acp.Conflict[]
---@field keys? acp.MappedKey[] while one is open
---@field chosen? acp.Key[] the keys that the buffer can have
---@field group integer
---@field swept boolean most lines were replaced at once
---@field unseen? boolean found while the user's `:write` had begun already, which does not end them

---@type table<integer, acp.Conflicts> by buffer
local known = {}

local warn = require('acp.notify').warn

---The rows of a conflict: the first, and the one behind the last.
---@param buf integer
---@param c acp.Conflict
---@return integer first, integer last
local function rows(buf, c)
  local mark = api.nvim_buf_get_extmark_by_id(buf, places, c.place, { details = true })
  local first, last = mark[1], mark[3].end_row
  return math.min(first, last), last
end

---@param buf integer
---@param c acp.Conflict
---@param first integer
---@param last integer
local function set_place(buf, c, first, last)
  c.place = api.nvim_buf_set_extmark(buf, places, first, 0, {
    id = c.place,
    end_row = last,
    right_gravity = false, -- typing at the beginning of its first line
  })
end

---@param buf integer
---@param c acp.Conflict
local function undraw(buf, c)
  for _, id in ipairs(c.shown or {}) do
    api.nvim_buf_del_extmark(buf, drawn, id)
  end
  c.shown = nil
end

---The keys that a buffer has while a conflict is open.
---@param buf integer
---@return acp.Key[]
local function keys_of(buf)
  local config = require('acp.config').get().keys
  local keys = {}
  for action, key in pairs(M.actions) do
    local function run()
      key.run(vim.v.count1)
    end
    table.insert(keys, { lhs = key.plug, run = run, action = action })
    if config[action] then
      table.insert(keys, { lhs = config[action], run = run, action = action })
    end
  end
  return keymap.choose(buf, keys)
end

---The keys that decide, in words.
---@param buf integer
---@param words table<string, string> by action
---@return string[]
local function hints(buf, words)
  local state = known[buf] or {}
  state.chosen = state.chosen or keys_of(buf)
  local lhs = {}
  for _, key in ipairs(state.chosen) do
    if not vim.startswith(key.lhs, '<Plug>') then
      lhs[key.action] = key.lhs
    end
  end
  local parts = {}
  for _, action in ipairs({ 'conflict_theirs', 'conflict_mine', 'conflict_both' }) do
    if lhs[action] then
      table.insert(parts, lhs[action] .. ' ' .. words[action])
    end
  end
  return parts
end

---What a message about new conflicts says about deciding them.
---@param buf integer
---@return string
function M.keys(buf)
  local parts = hints(buf, {
    conflict_theirs = "takes the agent's",
    conflict_mine = 'keeps yours',
    conflict_both = 'keeps both',
  })
  table.insert(parts, ':Acp conflicts lists them')
  return table.concat(parts, ', ') .. '.'
end

---@param buf integer
---@param c acp.Conflict
---@param first integer
---@param last integer
local function draw(buf, c, first, last)
  undraw(buf, c)
  require('acp.ui.virt_lines').guard(buf)
  local bottom = math.max(last - 1, 0)
  local what = #c.theirs > 0 and 'agent' or 'agent removed this'
  if first == last and first == 0 then
    -- Nothing of the user's is left, and virtual lines above the first line are not seen.
    what = 'agent, above line 1'
  end
  local words = { conflict_theirs = 'take', conflict_mine = 'yours', conflict_both = 'both' }
  local parts = hints(buf, words)
  table.insert(parts, 1, what)
  local lines = { { { table.concat(parts, ' · '), 'AcpConflictHint' } } }
  for i, line in ipairs(c.theirs) do
    if i > max_shown then
      local more = ('%d more lines; :Acp conflicts diff shows all'):format(#c.theirs - max_shown)
      table.insert(lines, { { more, 'AcpConflictHint' } })
      break
    end
    local text = require('acp.ui.virt_lines').untabbed(line, buf) .. (' '):rep(vim.o.columns)
    table.insert(lines, { { text, 'AcpConflictTheirs' } })
  end
  c.shown = {
    api.nvim_buf_set_extmark(buf, drawn, first, 0, {
      end_row = last,
      hl_group = 'AcpConflictMine',
      hl_eol = true,
      priority = 140,
      strict = false,
    }),
    api.nvim_buf_set_extmark(buf, drawn, bottom, 0, {
      virt_lines = lines,
      strict = false,
    }),
    api.nvim_buf_set_extmark(buf, drawn, math.min(first, bottom), 0, {
      sign_text = '≠',
      sign_hl_group = 'AcpConflictSign',
      priority = 140,
      strict = false,
    }),
  }
end

---@param a string[]
---@param b string[]?
---@return boolean
local function same(a, b)
  if not b or #a ~= #b then
    return false
  end
  for i = #a, 1, -1 do
    if a[i] ~= b[i] then
      return false
    end
  end
  return true
end

---The row nearest to another one where lines stand in a buffer.
---@param all string[] the buffer's lines
---@param lines string[]
---@param row integer
---@return integer?
local function nearest(all, lines, row)
  local best
  for i = 1, #all - #lines + 1 do
    if all[i] == lines[1] and (not best or math.abs(i - 1 - row) < math.abs(best - row)) then
      local fits = true
      for k = 2, #lines do
        fits = fits and all[i + k - 1] == lines[k]
      end
      best = fits and i - 1 or best
    end
  end
  return best
end

---Finds the lines of a conflict whose place has become empty: an undo or a redo may have put them
---next to it, a formatter may have replaced the whole buffer.
---@param buf integer
---@param c acp.Conflict
---@param row integer
---@param swept boolean they may be anywhere
---@return integer first, integer last
local function find(buf, c, row, swept)
  local all = api.nvim_buf_get_lines(buf, 0, -1, false)
  local at, count
  for _, lines in ipairs({ c.lines, c.mine or {}, c.theirs, c.both or {}, c.base or {} }) do
    local found = #lines > 0 and nearest(all, lines, row)
    local adjacent = found == row or found and found + #lines == row
    if found and (swept or adjacent) and (not at or math.abs(found - row) < math.abs(at - row)) then
      at, count = found, #lines
    end
  end
  if not at then
    return row, row
  end
  set_place(buf, c, at, at + count)
  return at, at + count
end

---Looks at the lines of a conflict, and shows it accordingly.
---@param buf integer
---@param c acp.Conflict
---@param swept boolean
local function look(buf, c, swept)
  local first, last = rows(buf, c)
  local was_first = c.shown and api.nvim_buf_get_extmark_by_id(buf, drawn, c.shown[1], {})[1]
  if first == last and (#c.lines > 0 or c.mine and #c.mine > 0) then
    first, last = find(buf, c, first, swept)
  end
  local lines = api.nvim_buf_get_lines(buf, first, last, false)
  local more = #lines - #c.lines
  if
    more > 0
    and #c.lines > 0
    and not same(lines, c.mine)
    and same(vim.list_slice(lines, more + 1), c.lines)
  then
    -- Lines came above the first one.
    first, lines = first + more, c.lines
    set_place(buf, c, first, last)
  elseif c.both and #lines < #c.both then
    -- A redo brings the other side's lines behind the place.
    local both = api.nvim_buf_get_lines(buf, first, first + #c.both, false)
    if same(both, c.both) then
      last, lines = first + #both, both
      set_place(buf, c, first, last)
    end
  end
  local open = not (same(lines, c.theirs) or same(lines, c.both) or same(lines, c.base))
  if open ~= c.open or open and (not c.shown or was_first ~= first or not same(lines, c.lines)) then
    c.open = open
    undraw(buf, c)
    if open then
      draw(buf, c, first, last)
    end
  end
  c.lines, c.mine = lines, open and lines or c.mine
end

---@param state acp.Conflicts
---@return integer
local function count_open(state)
  local n = 0
  for _, c in ipairs(state.list) do
    n = n + (c.open and 1 or 0)
  end
  return n
end

---Maps the buffer's keys, or restores the user's own.
---@param buf integer
local function update_keys(buf)
  local state = known[buf]
  local open = count_open(state) > 0
  if open and not state.keys then
    state.keys = keymap.map(buf, state.chosen or keys_of(buf))
  elseif not open and state.keys then
    keymap.unmap(buf, state.keys)
    state.keys = nil
    -- With the last one the buffer may have become what the disk has.
    if vim.bo[buf].modified then
      host.notify('compare', { name = api.nvim_buf_get_name(buf) })
    end
  end
  if #state.list == 0 then
    M.clear(buf)
  else
    M.changed:emit()
  end
end

---Looks at the conflicts that an edit has touched.
---@param buf integer
local function refresh(buf)
  local state = known[buf]
  if not state or not state.first or not api.nvim_buf_is_loaded(buf) then
    return
  end
  local from, to, swept = state.first, state.last, state.swept
  state.first, state.last, state.swept = nil, nil, false
  for _, c in ipairs(state.list) do
    local first, last = rows(buf, c)
    if first <= to + 1 and last >= from - 1 then
      look(buf, c, swept)
    end
  end
  update_keys(buf)
end

---Ends all conflicts of a buffer.
---@param buf integer
function M.clear(buf)
  local state = known[buf]
  if not state then
    return
  end
  known[buf] = nil
  api.nvim_del_augroup_by_id(state.group)
  keymap.clear(buf, { places, drawn }, state.keys)
  M.changed:emit()
end

---Says what the user's `:write` did to the agent's lines.
---@param buf integer
local function warn_overwritten(buf)
  local n = 0
  for _, c in ipairs(known[buf].list) do
    n = n + ((c.open or same(c.lines, c.base)) and 1 or 0)
  end
  if n > 0 then
    local name = vim.fs.basename(api.nvim_buf_get_name(buf))
    local where = n > 1 and (' in %d places'):format(n) or ''
    local text = ("your lines overwrote the agent's%s. :Acp conflicts diff"):format(where)
    local named = name .. ': ' .. text
    vim.schedule(function()
      warn(#named + 5 <= vim.v.echospace and named or text)
    end)
  end
end

---@param buf integer
---@return acp.Conflicts
local function begin(buf)
  local state =
    { list = {}, swept = false, group = api.nvim_create_augroup('acp_conflict_' .. buf, {}) }
  known[buf] = state
  api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if known[buf] ~= state then
        return true
      end
      local moved = new_last - last
      local had = api.nvim_buf_line_count(buf) - moved
      state.swept = state.swept or (last - first) * 2 >= had
      local scheduled = state.first ~= nil
      ranges.grow(state, first, last, new_last)
      if not scheduled then
        vim.schedule(function()
          refresh(buf)
        end)
      end
    end,
  })
  api.nvim_create_autocmd('BufWritePost', {
    group = state.group,
    buffer = buf,
    desc = "Report that the user's lines overwrote the agent's",
    callback = function(event)
      local name = api.nvim_buf_get_name(buf)
      if
        require('acp.files.track').saving
        or vim.bo[buf].modified
        or not require('acp.rpc.path').same(event.file, name)
      then
        return -- not by the user, not written, or elsewhere
      elseif state.unseen then
        state.unseen = nil
      else
        warn_overwritten(buf)
        M.clear(buf)
      end
    end,
  })
  api.nvim_create_autocmd({ 'BufReadPost', 'BufUnload' }, {
    group = state.group,
    buffer = buf,
    desc = 'End the conflicts of a reloaded buffer',
    callback = function()
      M.clear(buf)
    end,
  })
  return state
end

---Whether the disk still has the agent's lines of a conflict, and others than the buffer, after the
---agent has written again.
---@param c acp.Conflict
---@param first integer
---@param last integer
---@param differing integer[]
---@param disk string[]
---@return boolean
local function stands(c, first, last, differing, disk)
  local from, to -- of the disk
  local moved = 0
  for i = 1, #differing, 4 do
    local at, till = differing[i], differing[i + 1]
    if ranges.meet(first, last, at, till) then
      if #c.theirs == 0 and at <= first and till >= last then
        return true
      end
      from = from or math.min(first + moved, differing[i + 2])
      moved = differing[i + 3] - till
      to = math.max(last + moved, differing[i + 3])
    elseif till <= first then
      moved = differing[i + 3] - till
    end
  end
  if not from or #c.theirs == 0 then
    return false
  end
  local there = vim.list_slice(disk, from + 1, to)
  return nearest(there, c.theirs, 0) ~= nil
end

---Sets the conflicts that the host found, after the buffer has got the merged text.
---@param buf integer
---@param conflicts acp.NewConflict[]
---@param differing integer[] where the disk has other lines: of each place the first row and the
---one behind the last, in the buffer and on the disk
---@param text string what the disk has
function M.set(buf, conflicts, differing, text)
  refresh(buf)
  local state = known[buf] or begin(buf)
  local disk = #state.list > 0 and vim.split(text, '\n', { plain = true }) or {}
  state.list = vim.tbl_filter(function(c)
    local first, last = rows(buf, c)
    local stays = stands(c, first, last, differing, disk)
    for _, new in ipairs(conflicts) do
      stays = stays and not ranges.meet(first, last, new.row, new.row + new.count)
    end
    if not stays then
      undraw(buf, c)
      api.nvim_buf_del_extmark(buf, places, c.place)
    end
    return stays
  end, state.list)
  for _, new in ipairs(conflicts) do
    local c = { theirs = new.theirs, base = new.base, noeol = new.noeol, open = false }
    set_place(buf, c, new.row, new.row + new.count)
    c.lines = api.nvim_buf_get_lines(buf, new.row, new.row + new.count, false)
    look(buf, c, false)
    table.insert(state.list, c)
    state.unseen = require('acp.files.catch_up').writing == buf or nil
  end
  update_keys(buf)
end

---The open conflicts of a buffer, in the order of its lines.
---@param buf integer
---@return {first: integer, last: integer, conflict: acp.Conflict}[]
function M.get(buf)
  refresh(buf)
  local list = {}
  for _, c in ipairs(known[buf] and known[buf].list or {}) do
    if c.open then
      local first, last = rows(buf, c)
      table.insert(list, { first = first, last = last, conflict = c })
    end
  end
  table.sort(list, function(a, b)
    return a.first < b.first or a.first == b.first and a.last < b.last
  end)
  return list
end

---How many conflicts are open in which files.
---@return {path: string, count: integer}[]
function M.counts()
  local files = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local n = known[buf] and api.nvim_buf_is_loaded(buf) and #M.get(buf) or 0
    if n > 0 then
      local path = require('acp.rpc.path').real(api.nvim_buf_get_name(buf))
      table.insert(files, { path = path, count = n })
    end
  end
  return files
end

---Decides the conflict under the cursor of the current window.
---@param how 'mine'|'theirs'|'both'
local function resolve(how)
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1
  local found
  for _, place in ipairs(M.get(buf)) do
    local empty = place.first == place.last
    if
      row >= place.first and row < place.last
      or empty and (row == place.first - 1 or not found and row == place.first)
    then
      found = place
    end
  end
  if not found then
    return warn('no conflict under the cursor')
  end
  local c, first, last = found.conflict, found.first, found.last
  local state = known[buf]
  if how == 'mine' then
    undraw(buf, c)
    api.nvim_buf_del_extmark(buf, places, c.place)
    state.list = vim.tbl_filter(function(other)
      return other ~= c
    end, state.list)
  else
    if not vim.bo[buf].modifiable then
      return warn('the buffer is not modifiable')
    end
    local from = how == 'both' and last or first
    local at = require('acp.files.hunks').replace(buf, from, last, c.theirs, c.noeol)
    if how == 'both' then
      c.both = vim.list_extend(vim.list_slice(c.lines), c.theirs)
      first = math.min(first, at)
    end
    set_place(buf, c, first, at + #c.theirs)
    look(buf, c, false)
  end
  update_keys(buf)
end

---Moves the cursor to another conflict, wrapping around at the end.
---@param step integer
local function go(step)
  local list = M.get(api.nvim_get_current_buf())
  if #list == 0 then
    return
  end
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local forward = step > 0
  local at = forward and 0 or #list + 1
  for i, place in ipairs(list) do
    if forward and place.first <= row then
      at = i
    elseif not forward and place.first >= row then
      at = i
      break
    end
  end
  local place = list[(at - 1 + step) % #list + 1]
  vim.cmd("normal! m'")
  local line = math.min(place.first + 1, api.nvim_buf_line_count(0))
  api.nvim_win_set_cursor(0, { line, 0 })
  vim.cmd('normal! zv')
end

---@type table<string, {plug: string, run: fun(count: integer)}> by action of the configuration
M.actions = {
  conflict_mine = {
    plug = '<Plug>(AcpConflictMine)',
    run = function()
      resolve('mine')
    end,
  },
  conflict_theirs = {
    plug = '<Plug>(AcpConflictTheirs)',
    run = function()
      resolve('theirs')
    end,
  },
  conflict_both = {
    plug = '<Plug>(AcpConflictBoth)',
    run = function()
      resolve('both')
    end,
  },
  conflict_next = { plug = '<Plug>(AcpConflictNext)', run = go },
  conflict_previous = {
    plug = '<Plug>(AcpConflictPrevious)',
    run = function(count)
      go(-count)
    end,
  },
}

---@param lines string[]
---@return string the first of them that says something
local function in_short(lines)
  for _, line in ipairs(lines) do
    if line:match('%S') then
      return vim.trim(line)
    end
  end
  return #lines > 0 and '(empty)' or '(removed)'
end

---Shows all open conflicts as the quickfix list, and goes there.
function M.list()
  local items = {}
  local bufs = vim.tbl_keys(known)
  table.sort(bufs)
  for _, buf in ipairs(bufs) do
    for _, place in ipairs(M.get(buf)) do
      local c = place.conflict
      table.insert(items, {
        bufnr = buf,
        lnum = math.min(place.first + 1, api.nvim_buf_line_count(buf)),
        text = ("yours: %s · the agent's: %s"):format(in_short(c.lines), in_short(c.theirs)),
      })
    end
  end
  if #items == 0 then
    local refused = ':Acp conflicts diff shows what was refused in this file'
    return warn('no open conflict; ' .. refused)
  end
  vim.fn.setqflist({}, ' ', { title = 'acp: conflicts', items = items })
  vim.cmd('botright copen')
end

return M
