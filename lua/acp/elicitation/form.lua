---A form in a buffer: its fields are lines to edit, as in a commit message. Writing the buffer
---sends it.
local M = {}

local api = vim.api
local host = require('acp.rpc.host')
local safe_state = require('acp.ui.safe_state')
local state = require('acp.rpc.state')

local ns = api.nvim_create_namespace('acp_form')

---@type table<integer, integer> buffers, by question
local bufs = {}
---@type table<integer, boolean> by question, whether its form is on its way
local sent = {}

---Shows notes beside rows: what they take, or what is wrong there.
---@param buf integer
---@param notes {row: integer, text: string}[]
---@param faults {row: integer, text: string}[]
local function annotate(buf, notes, faults)
  local wrong = {}
  for _, fault in ipairs(faults) do
    wrong[fault.row] = wrong[fault.row] or fault.text
  end
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  local function mark_line(row, text, group)
    local opts = { virt_text = { { '  ' .. text, group } }, virt_text_pos = 'eol' }
    api.nvim_buf_set_extmark(buf, ns, math.min(row, api.nvim_buf_line_count(buf) - 1), 0, opts)
  end
  for _, note in ipairs(notes) do
    if not wrong[note.row] then
      mark_line(note.row, note.text, 'AcpMore')
    end
  end
  for row, text in pairs(wrong) do
    mark_line(row, '● ' .. text, 'AcpError')
  end
end

---Highlights a form: notes, labels, and what is chosen.
---@param buf integer
local function colour(buf)
  api.nvim_buf_call(buf, function()
    vim.cmd([=[
      syntax match AcpMore /^#.*/
      syntax match AcpToolTitle /^[^# \t].\{-}\ze\s\{2,}/
      syntax match AcpToolDone /\s\zs[(\[][xX●][)\]].*/
    ]=])
  end)
end

---Shows mistakes at their rows, and goes to the first of them.
---@param buf integer
---@param result {faults: {row: integer, text: string}[], notes: {row: integer, text: string}[]}
local function blame(buf, result)
  annotate(buf, result.notes, result.faults)
  local first = result.faults[1]
  if first and api.nvim_get_current_buf() == buf then
    local row = math.min(first.row + 1, api.nvim_buf_line_count(buf))
    api.nvim_win_set_cursor(0, { row, 0 })
  end
end

---@param buf integer
---@param id integer the question
local function send(buf, id)
  local question = state.elicitation(id)
  if not question then
    return require('acp.notify').warn('this question has already been answered')
  end
  local message = {
    session = question.session,
    id = id,
    lines = api.nvim_buf_get_lines(buf, 0, -1, true),
  }
  sent[id] = true
  host.request('submit_form', message, function(result, err)
    if err or #result.faults > 0 then
      sent[id] = nil
    end
    if err then
      return require('acp.notify').warn(err)
    end
    if api.nvim_buf_is_valid(buf) then
      blame(buf, result)
    end
  end)
end

---The box of a choice: what stands before it, its left side, and what is in it.
local box = '^(.-%s%s)([%(%[])([ xX●]*)[%)%]]'

---@param row integer counted from 1
---@param on boolean
local function tick(row, on)
  local line = api.nvim_buf_get_lines(0, row - 1, row, true)[1]
  local before, left, inside = line:match(box)
  if before then
    local col = #before + #left
    api.nvim_buf_set_text(0, row - 1, col, row - 1, col + #inside, { on and 'x' or ' ' })
  end
end

---Chooses what the cursor's line offers. Of choices with round brackets only one is chosen.
local function choose()
  local row = api.nvim_win_get_cursor(0)[1]
  local lines = api.nvim_buf_get_lines(0, 0, -1, true)
  local _, left, inside = lines[row]:match(box)
  if not left then
    return
  end
  if left == '[' then
    return tick(row, vim.trim(inside) == '')
  end
  local first = row -- of the field, where its label stands
  while first > 1 and lines[first]:match('^%s+%(') do
    first = first - 1
  end
  local at = first
  repeat
    tick(at, at == row)
    at = at + 1
  until not (lines[at] and lines[at]:match('^%s+%('))
end

---Goes to the next field, wrapping around at the last one.
---@param question acp.OpenElicitation
local function next_field(question)
  local lines = api.nvim_buf_get_lines(0, 0, -1, true)
  local row = api.nvim_win_get_cursor(0)[1]
  local labels = {}
  for _, field in ipairs(question.form.fields) do
    local label = question.form.lines[field + 1]:match('^%S+')
    labels[label or ''] = true
  end
  for step = 1, #lines do
    local at = (row + step - 1) % #lines + 1
    local label = lines[at]:match('^%S+')
    if label and label:sub(1, 1) ~= '#' and labels[label] then
      api.nvim_win_set_cursor(0, { at, 0 })
      return
    end
  end
end

---@param question acp.OpenElicitation
---@return integer buf
local function create(question)
  local id = question.id
  local buf = require('acp.chat.buffers').create('form-' .. id, 'acp-form', question.session)
  require('acp.ui.buffer').fill(buf, question.form.lines)
  vim.bo[buf].buftype = 'acwrite'
  vim.bo[buf].modified = false
  annotate(buf, question.form.notes, {})
  colour(buf)
  api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    desc = 'Send the form',
    callback = function()
      send(buf, id)
    end,
  })
  local function map(lhs, fn, desc)
    require('acp.ui.buffer').set(buf, 'n', lhs, fn, { buffer = buf, nowait = true, desc = desc })
  end
  map('<Space>', choose, 'acp: choose')
  map('<Tab>', function()
    next_field(question)
  end, 'acp: go to the next field')
  map('q', function()
    local open = state.elicitation(id)
    if open then
      host.notify('choose_answer', { session = open.session, id = id, option = open.reject })
    else
      vim.cmd.close()
    end
  end, 'acp: decline to answer')
  return buf
end

---Opens the form of a question, with what the user already wrote into it.
---@param question acp.OpenElicitation
function M.open(question)
  local buf = bufs[question.id]
  if not (buf and api.nvim_buf_is_loaded(buf)) then
    buf = create(question)
    bufs[question.id] = buf
  end
  local win = vim.fn.win_findbuf(buf)[1]
  if win then
    return api.nvim_set_current_win(win)
  end
  local height = math.min(api.nvim_buf_line_count(buf) + 1, math.floor(vim.o.lines / 2))
  vim.cmd(('botright %dsplit'):format(math.max(height, 3)))
  win = api.nvim_get_current_win()
  api.nvim_win_set_buf(win, buf)
  require('acp.ui.window').plain(win, {
    wrap = true,
    spell = false,
    winfixheight = true,
  })
  local first = question.form.fields[1]
  if first then
    api.nvim_win_set_cursor(win, { first + 1, #question.form.lines[first + 1] })
  end
end

---Closes the forms of answered questions. What the user wrote and did not send stays readable.
local function sweep()
  for id, buf in pairs(bufs) do
    if not state.elicitation(id) then
      bufs[id] = nil
      local is_sent = sent[id]
      sent[id] = nil
      if api.nvim_buf_is_valid(buf) then
        if vim.bo[buf].modified and not is_sent then
          vim.bo[buf].buftype, vim.bo[buf].bufhidden = 'nofile', 'wipe'
          require('acp.notify').warn('the question was withdrawn: what you wrote was not sent')
        else
          for _, win in ipairs(vim.fn.win_findbuf(buf)) do
            pcall(api.nvim_win_close, win, true)
          end
          pcall(api.nvim_buf_delete, buf, { force = true })
        end
      end
    end
  end
end

---Updates the forms to the open questions, now or as soon as windows may be changed.
function M.update()
  if not safe_state.now() then
    return safe_state.wait(M.update)
  end
  sweep()
end

state.elicitations_changed:add(M.update)
state.died:add(M.update)

return M
