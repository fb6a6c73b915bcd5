---Undoing a turn: a window shows what would change, and a key does it. The host decides what
---changes, and how (host/ledger/undo.go).
local M = {}

local api = vim.api
local notify = require('acp.notify')

---@class acp.UndoFile
---@field path string
---@field name string
---@field what string
---@field stays boolean nothing is done to it
---@field settled boolean as it is already as it was
---@field conflicts? integer[] lines that the user has changed since, which stay

---@class acp.UndoResult
---@field turn string its name
---@field prompt string of the turn
---@field files acp.UndoFile[]
---@field diff? string[] of a preview
---@field unseen boolean what commands have changed is not all known
---@field again boolean
---@field failed? string what could not be done

---@param result acp.UndoResult
---@return integer changed, integer stay
local function counts(result)
  local changed, stay = 0, 0
  local counted = {} -- what the disk has under a buffer's unsaved text is listed apart
  for _, file in ipairs(result.files) do
    if not file.stays and not counted[file.path] then
      changed, counted[file.path] = changed + 1, true
    end
    local places = #(file.conflicts or {})
    stay = stay + (places == 0 and file.stays and not file.settled and 1 or places)
  end
  return changed, stay
end

---Undoes the last turn, or redoes the last undone one.
---@param session integer
---@param again boolean
---@param turn? string the name of the turn that it must be
function M.run(session, again, turn)
  local args = { session = session, again = again, turn = turn }
  require('acp.rpc.host').request('undo', args, function(result, err)
    if err then
      notify.warn(err)
    elseif result then
      local changed, stay = counts(result)
      local what = again and 'changed again' or 'as before the turn'
      local text = ('%s %s.'):format(notify.count(changed, 'file'), what)
      if stay > 0 then
        text = ('%s %s left alone.'):format(text, notify.count(stay, 'place'))
      end
      if result.failed then
        text = ('%s %s'):format(text, result.failed)
      end
      notify[result.failed and 'warn' or 'info'](text)
    end
  end)
end

---The end of a name that is too long.
---@param name string
---@param room integer cells
---@return string
local function fit(name, room)
  local n = vim.fn.strchars(name)
  if require('acp.ui.wrap').cells(name) <= room then
    return name
  end
  local from = 0
  repeat
    from = from + 1
  until require('acp.ui.wrap').cells(vim.fn.strcharpart(name, from, n)) < room
  return '…' .. vim.fn.strcharpart(name, from, n)
end

---Up to so many files that stay for the same reason have a line each; more of them share one.
local listed = 20

---How many files stay for each reason.
---@param files acp.UndoFile[]
---@return table<string, integer>
local function reasons(files)
  local count = {}
  for _, file in ipairs(files) do
    if file.stays and not file.conflicts then
      count[file.what] = (count[file.what] or 0) + 1
    end
  end
  return count
end

---@param result acp.UndoResult
---@param room integer cells of a line
---@return string[] lines, integer head how many of them are no diff
local function page(result, room)
  local verb = result.again and 'Redo' or 'Undo'
  local first = vim.split(result.prompt, '\n')[1]
  local changed = counts(result)
  local lines = {
    ('%s the turn: %s'):format(verb, first ~= '' and first or 'without words'),
    changed > 0 and 'y confirms, q leaves everything as it is' or 'Nothing to do: q closes this',
    '',
  }
  local alike = reasons(result.files)
  for _, file in ipairs(result.files) do
    local what, lead = file.what, file.stays and '· ' or '✎ '
    local many = not file.conflicts and alike[what] or 0
    if many > listed then
      alike[what] = -1
      what, lead = what .. ': they stay as they are', ('· %d files, such as '):format(many)
    elseif file.stays and not file.conflicts then
      what = what .. ': stays as it is'
    elseif file.conflicts then
      local n = notify.count(#file.conflicts, 'place')
      local at = table.concat(file.conflicts, ', ')
      what = ('%s  %s that you changed since: left alone (line %s)'):format(what, n, at)
    end
    if many >= 0 then
      -- What becomes of a file is seen however long its name is.
      local left = room - require('acp.ui.wrap').cells(what) - 4
      local name = fit(file.name:gsub('\n', ' '), math.max(left, 20))
      table.insert(lines, ('%s%s  %s'):format(lead, name, what))
    end
  end
  if result.unseen then
    table.insert(lines, '· other files that a command has changed are not known: they stay')
  end
  local head = #lines
  if #result.diff > 0 then
    table.insert(lines, '')
    vim.list_extend(lines, result.diff)
  end
  return lines, head
end

local groups = { ['+'] = 'AcpDiffAdd', ['-'] = 'AcpDiffDelete', ['@'] = 'Comment' }
local ns = api.nvim_create_namespace('acp_undo')

---@param buf integer
---@param lines string[]
---@param head integer
local function paint(buf, lines, head)
  api.nvim_buf_set_extmark(buf, ns, 0, 0, { end_row = 1, hl_group = 'Title' })
  api.nvim_buf_set_extmark(buf, ns, 1, 0, { end_row = 2, hl_group = 'Comment' })
  for row = head, #lines - 1 do
    local group = groups[lines[row + 1]:sub(1, 1)]
    if group then
      api.nvim_buf_set_extmark(buf, ns, row, 0, {
        end_row = row + 1,
        hl_group = group,
        hl_eol = true,
        strict = false,
      })
    end
  end
end

---@param session integer
---@param result acp.UndoResult a preview
local function show(session, result)
  local lines, head = page(result, vim.o.columns - 6)
  local buf = require('acp.chat.buffers').create('undo', 'acp-undo', session)
  local close = require('acp.ui.window').over(buf, lines, {
    keys = { 'q', 'n', '<Esc>' },
    desc = 'acp: leave everything as it is',
  })
  paint(buf, lines, head)
  vim.keymap.set('n', 'y', function()
    close()
    M.run(session, result.again, result.turn)
  end, { buffer = buf, nowait = true, desc = 'acp: confirm' })
end

---Shows what undoing the last turn would change, and does it when the user says so.
---@param session integer
---@param again boolean
function M.ask(session, again)
  local args = { session = session, again = again, preview = true }
  require('acp.rpc.host').request('undo', args, function(result, err)
    if err or not result then
      return notify.warn(err or 'the session is closed')
    end
    require('acp.ui.safe_state').soon(function()
      show(session, result)
    end)
  end)
end

return M
