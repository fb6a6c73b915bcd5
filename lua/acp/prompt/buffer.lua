---The prompt: a buffer of the user's. Its window grows with its text, and it remembers what was
---sent.
local M = {}

local api = vim.api
local buffer = require('acp.ui.buffer')
local bufs = require('acp.chat.buffers')
local state = require('acp.rpc.state')
local winbar = require('acp.prompt.winbar')

local hint_ns = api.nvim_create_namespace('acp_hint')

---The least height of a prompt, and the greatest as a share of the screen.
local least, most = 4, 0.4

---@type table<integer, string[]> what was sent, by session, oldest first
local history = {}
---@type table<integer, {at: integer, draft: string[], shown: string[]}> where in it the user is
local browsing = {}

---Fits the windows of a prompt to its text.
---@param buf integer
local function fit(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if api.nvim_win_get_config(win).relative == '' then
      local rows = api.nvim_win_text_height(win, {}).all + 1 -- and the winbar
      local height = math.max(least, math.min(rows, math.floor(vim.o.lines * most)))
      if api.nvim_win_get_height(win) ~= height then
        api.nvim_win_set_height(win, height)
      end
    end
  end
end

api.nvim_create_autocmd('CmdwinLeave', {
  group = api.nvim_create_augroup('acp_prompt', {}),
  desc = 'Fit the prompts: as a float comes or goes, the lowest window gets the lines',
  callback = vim.schedule_wrap(function()
    for _, b in bufs.each() do
      if b.prompt and api.nvim_buf_is_loaded(b.prompt) then
        fit(b.prompt)
      end
    end
  end),
})

---@param id integer session
---@param text string
local function remember(id, text)
  browsing[id] = nil
  local sent = history[id] or {}
  history[id] = sent
  if text ~= '' and sent[#sent] ~= text then
    table.insert(sent, text)
  end
end

---Puts an earlier prompt into the buffer, to edit and resend; the draft comes back after the last
---one. An edited earlier prompt is a draft too.
---@param id integer session
---@param buf integer
---@param by integer -1 is the one before
local function browse(id, buf, by)
  local sent = history[id] or {}
  local now = api.nvim_buf_get_lines(buf, 0, -1, false)
  local place = browsing[id]
  if not place or not vim.deep_equal(place.shown, now) then
    place = { at = #sent + 1, draft = now, shown = now }
  end
  local at = place.at + by
  if at < 1 or at > #sent + 1 then
    return
  end
  place.at = at
  browsing[id] = place
  place.shown = at > #sent and place.draft or vim.split(sent[at], '\n')
  api.nvim_buf_set_lines(buf, 0, -1, false, place.shown)
  fit(buf)
end

---@param id integer
---@return string
local function cwd(id)
  local session = state.sessions[id]
  return session and session.cwd or vim.fn.getcwd()
end

---@type table<integer, integer> the changedtick of prompts that came back from an earlier session
local restored = {}

---Shows in an empty prompt what it is for, and in one that was not typed here where it is from.
---@param id integer
local function hint(id)
  local b = bufs.get(id)
  local buf = b and b.prompt
  if not (buf and api.nvim_buf_is_loaded(buf)) then
    return
  end
  api.nvim_buf_clear_namespace(buf, hint_ns, 0, -1)
  if restored[id] == api.nvim_buf_get_changedtick(buf) then
    api.nvim_buf_set_extmark(buf, hint_ns, api.nvim_buf_line_count(buf) - 1, 0, {
      virt_lines = { { { 'Not sent yet', 'AcpMore' } } },
    })
    return
  end
  local s = state.sessions[id]
  if
    not s
    or api.nvim_buf_line_count(buf) > 1
    or api.nvim_buf_get_lines(buf, 0, 1, false)[1] ~= ''
  then
    return
  end
  local text = s.paused and s.queued > 0 and 'Send an empty prompt to resume'
    or ('Ask ' .. s.agent_title)
  api.nvim_buf_set_extmark(buf, hint_ns, 0, 0, {
    virt_text = { { text, 'AcpMore' } },
    virt_text_pos = 'overlay',
  })
end

---Updates what is shown about a prompt after its text has changed.
---@param id integer
function M.changed(id)
  local buf = bufs.ensure(id).prompt
  winbar.names(id, require('acp.prompt.mention').highlight(buf, cwd(id)))
  winbar.changed(id)
  hint(id)
  require('acp.chat.winbar').below(id)
  fit(buf)
  require('acp.prompt.draft').changed(id)
end

---Replaces a prompt's text. The old text goes into the history.
---@param id integer
---@param text string
---@return boolean kept whether there is something there now
function M.replace(id, text)
  local buf = bufs.ensure(id).prompt
  local before = vim.trim(table.concat(api.nvim_buf_get_lines(buf, 0, -1, true), '\n'))
  local kept = before ~= '' and before ~= text
  if kept then
    remember(id, before)
  end
  vim.bo[buf].undolevels = vim.bo[buf].undolevels -- u brings back all of it
  api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(text, '\n'))
  M.changed(id)
  return kept
end

---@type table<integer, boolean> the sessions whose prompt waits for an answer or for what is saved
local sending = {}

---Puts words that could not be sent into an empty prompt.
---@param id integer
---@param text string
---@return boolean taken
function M.take_back(id, text)
  local buf = bufs.ensure(id).prompt
  local empty = table.concat(api.nvim_buf_get_lines(buf, 0, -1, true), '\n') == ''
  if empty and text ~= '' then
    api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(text, '\n'))
    M.changed(id)
  end
  return empty and text ~= ''
end

---Sends the prompt, and empties it once it is on its way.
---@param id integer
local function send(id)
  if sending[id] then
    return
  end
  local buf = bufs.ensure(id).prompt
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local text = vim.trim(table.concat(lines, '\n'))
  local unsaved = require('acp.prompt.unsaved')
  local function went()
    unsaved.sent(id)
    if not vim.deep_equal(api.nvim_buf_get_lines(buf, 0, -1, false), lines) then
      return -- the user was faster: what stands there now may be the next one
    end
    vim.bo[buf].undolevels = vim.bo[buf].undolevels -- u brings back all of it
    api.nvim_buf_set_lines(buf, 0, -1, false, {})
    remember(id, text)
    M.changed(id)
    local chat = bufs.ensure(id).chat
    require('acp.ui.page').to_end(chat, vim.fn.win_findbuf(chat))
  end
  local function refuse(err)
    if text ~= '' then
      winbar.refuse(id, err)
    end
    require('acp.notify').warn(err)
  end
  local session = state.sessions[id]
  if not session then
    return refuse('the session is closed')
  end
  sending[id] = true
  require('acp.prompt.context').blocks(text, session, function(blocks, failure)
    if failure or not bufs.get(id) or not api.nvim_buf_is_loaded(buf) then
      sending[id] = nil
      return failure and refuse(failure)
    end
    session = state.sessions[id]
    local open = session and session.state ~= 'dead' and #blocks > 0
    unsaved.before(id, open and unsaved.chosen(id) or 'ignore', function(...)
      sending[id] = nil
      local ok, err = require('acp.prompt.send').decided(id, blocks, ...)
      if ok then
        return went()
      end
      refuse(err)
    end, function()
      sending[id] = nil
    end)
  end)
end

bufs.forgotten:add(function(id)
  history[id], browsing[id], sending[id], restored[id] = nil, nil, nil, nil
end)

---@param id integer
---@param buf integer
local function map(id, buf)
  buffer.map(buf, 'n', 'history_previous', '<Plug>(AcpHistoryPrevious)', function()
    browse(id, buf, -1)
  end)
  buffer.map(buf, 'n', 'history_next', '<Plug>(AcpHistoryNext)', function()
    browse(id, buf, 1)
  end)
  buffer.map(buf, 'n', 'send', '<Plug>(AcpSend)', function()
    send(id)
  end)
  buffer.map(buf, 'i', 'send_insert', '<Plug>(AcpSendInsert)', function()
    send(id)
  end)
  buffer.map(buf, 'n', 'drop_unsaved', '<Plug>(AcpDropUnsaved)', function()
    require('acp.prompt.unsaved').drop(id)
  end)
  bufs.keys:emit(buf, 'prompt', id)
  require('acp.ui.key_help').map(buf)
end

---@param id integer
---@return integer buf
function M.create(id)
  local buf = bufs.create('prompt', 'acp-prompt', id)
  local unsent = require('acp.prompt.draft').begin(id, buf, cwd(id))
  if unsent then
    api.nvim_buf_set_lines(buf, 0, -1, false, unsent)
    restored[id] = api.nvim_buf_get_changedtick(buf)
    vim.schedule(function()
      if api.nvim_buf_is_loaded(buf) and bufs.get(id) then
        M.changed(id)
      end
    end)
  end
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = buf,
    callback = function()
      M.changed(id)
    end,
  })
  local moves = { 'InsertEnter', 'InsertLeave', 'BufEnter', 'BufLeave', 'WinEnter', 'WinLeave' }
  api.nvim_create_autocmd(moves, {
    buffer = buf,
    callback = vim.schedule_wrap(function()
      require('acp.chat.winbar').refresh(id)
    end),
  })
  map(id, buf)
  api.nvim_create_autocmd('LspAttach', {
    buffer = buf,
    desc = 'Keep the keys of the prompt over those of language servers',
    callback = vim.schedule_wrap(function()
      if (bufs.get(id) or {}).prompt == buf and api.nvim_buf_is_loaded(buf) then
        map(id, buf)
      end
    end),
  })
  require('acp.prompt.complete').attach(buf, function()
    return cwd(id)
  end)
  return buf
end

require('acp.prompt.media').watch()

bufs.reread:add(function(buf, what, id)
  if what == 'prompt' then
    require('acp.prompt.complete').attach(buf, function()
      return cwd(id)
    end)
  end
end)

require('acp.chat.winbar').refreshed:add(hint)

return M
