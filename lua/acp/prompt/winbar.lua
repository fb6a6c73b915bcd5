---The line above a prompt: what waits in its queue, what is sent with it, and its keys, or why it
---was not sent.
local M = {}

local api = vim.api
local bufs = require('acp.chat.buffers')
local state = require('acp.rpc.state')
local winbar = require('acp.chat.winbar')
local cells, flat = require('acp.ui.wrap').cells, require('acp.ui.wrap').flat

---@type table<integer, {why: string, state?: string, tick: integer}> what could not be sent
local refused = {}

---@type table<integer, acp.Mention[]> what the prompts name that is no text of a file
local named = {}

---Sets what a prompt names.
---@param id integer
---@param mentions acp.Mention[]
function M.names(id, mentions)
  local before = named[id]
  named[id] = vim.tbl_filter(function(mention)
    return mention.context ~= nil or require('acp.prompt.media').kind(mention.path) ~= nil
  end, mentions)
  if not vim.deep_equal(before or {}, named[id]) then
    winbar.refresh(id)
  end
end

---The chips of what a prompt names that is not text of a file, each with its size: as many as fit.
---@param id integer
---@param room integer cells
---@return string chips, boolean whole
local function contexts(id, room)
  local session = state.sessions[id]
  local list, seen = {}, {}
  for _, mention in ipairs(named[id] or {}) do
    local context
    if mention.context then
      local cwd = session and session.cwd or ''
      context = require('acp.prompt.context').preview(id, cwd, mention)
    else
      context = require('acp.prompt.media').preview(mention.path, session)
    end
    if not seen[context.label] then
      seen[context.label] = true
      table.insert(list, context)
    end
  end
  local chips = {}
  for i, context in ipairs(list) do
    local more = i < #list and ('  +%d'):format(#list - i) or ''
    local text = '@ ' .. flat(context.label)
    if cells(text .. more) > room then
      local rest = ('+%d'):format(#list - i + 1)
      text = i == 1 and winbar.shorten(text, math.max(room, 8)) or rest
      table.insert(chips, ('%%#AcpChip#%s%%#AcpWinbar#'):format(winbar.escape(text)))
      return table.concat(chips, '  '), false
    end
    room = room - cells(text) - 2
    local group = context.empty and 'AcpMore' or 'AcpChip'
    table.insert(chips, ('%%#%s#%s%%#AcpWinbar#'):format(group, winbar.escape(text)))
  end
  return table.concat(chips, '  '), true
end

---Says that a prompt could not be sent.
---@param id integer
---@param why string
function M.refuse(id, why)
  local session = state.sessions[id]
  local tick = api.nvim_buf_get_changedtick(bufs.ensure(id).prompt)
  refused[id] = { why = why, state = session and session.state, tick = tick }
  winbar.refresh(id)
end

---Stops saying so once the prompt has changed.
---@param id integer
function M.changed(id)
  if refused[id] and not M.refused(id) then
    refused[id] = nil
    winbar.refresh(id)
  end
end

---Why a prompt could not be sent, if that was tried. In Insert mode messages are covered by the
---mode.
---@param id integer
---@return string?
function M.refused(id)
  local session, r = state.sessions[id], refused[id]
  local same = r
    and r.state == (session and session.state)
    and r.tick == api.nvim_buf_get_changedtick(bufs.ensure(id).prompt)
  return same and r.why or nil
end

---The chip of a prompt: the files whose unsaved text is sent, as many as fit.
---@param id integer
---@param room integer cells
---@param inserting boolean
---@return string chip, boolean whole
local function chip(id, room, inserting)
  local names, dropped = require('acp.prompt.unsaved').chip(id)
  if not names then
    return '', true
  end
  local key = not inserting and require('acp.config').get().keys.drop_unsaved
  local hint = key and ('  ' .. key .. (dropped and ' sends' or ' drops')) or ''
  local head = dropped and '− unsaved: ' or '+ unsaved: '
  room = room - cells(head .. hint)
  local list, shown, width = '', 0, 0
  for i, name in ipairs(names) do
    width = width + cells(i > 1 and ', ' .. name or name)
    if width > room then
      break
    end
    local more = i < #names and (', +%d'):format(#names - i) or ''
    if width + #more <= room then
      list, shown = table.concat(names, ', ', 1, i) .. more, i
    end
  end
  if shown == 0 then
    room, hint, shown = room + cells(hint), '', 0
    list = #names > 1 and #names .. ' files'
      or winbar.shorten(vim.fs.basename(names[1]), math.max(room, 8))
  end
  local group = dropped and 'AcpMore' or 'AcpChip'
  local text = ('%%#%s#%s%%#AcpWinbar#%s'):format(
    group,
    winbar.escape(head .. list),
    winbar.escape(hint)
  )
  return text, shown == #names
end

---@param hints string
---@return string
local function emphasize(hints)
  return (hints:gsub('^%l+ed%f[%A]', '%%#AcpError#%0%%#AcpWinbar#'))
end

---The line above a prompt.
---@type acp.ComposeBar
function M.compose(id, win, width)
  local s = state.sessions[id]
  local keys = require('acp.config').get().keys
  local parts = {}
  if s and s.queued > 0 then
    table.insert(parts, s.queued .. ' queued' .. (s.paused and ', paused' or ''))
  end
  local hints = {}
  -- What is offered works in the mode that the user is in, or will be in there.
  local here = api.nvim_win_get_buf(win) == api.nvim_get_current_buf()
  local inserting = here and api.nvim_get_mode().mode:match('^i') ~= nil
  local send = inserting and keys.send_insert or keys.send
  if
    send
    and require('acp.ui.buffer').yielded(api.nvim_win_get_buf(win), inserting and 'i' or 'n', send)
  then
    send = nil -- it does what the user has made of it
  end
  local over = not s and 'closed' or s.state == 'dead' and 'ended · :Acp restart'
  if over then
    table.insert(hints, over)
  elseif send then
    table.insert(hints, winbar.escape(send) .. ' send')
  end
  local works = s and (s.state == 'running' or s.state == 'requires_action')
  if keys.cancel and works and not inserting then
    table.insert(hints, winbar.escape(keys.cancel) .. ' stop')
  end
  local right = table.concat(hints, '  ')
  local before = cells(table.concat(parts, ' · ') .. ' · ')
  local chips, all = contexts(id, width - before - cells(right) - 4)
  if not all then -- they are worth more than the keys
    chips, right = contexts(id, width - before - 2), over or ''
  end
  if chips ~= '' then
    table.insert(parts, chips)
  end
  local left = table.concat(parts, ' · ')
  local why = M.refused(id)
  if why then
    right = over or '' -- the keys matter less
    left = over and 'not sent' or 'not sent: ' .. flat(why)
    left = winbar.escape(winbar.shorten(left, api.nvim_win_get_width(win) - 4 - cells(right)))
    return '%#AcpError# ' .. left .. '%=%#AcpWinbar#' .. emphasize(right) .. ' '
  end
  local used = left ~= '' and api.nvim_eval_statusline(left .. ' · ', {}).width or 0
  local room = width - 2 - used
  local along, whole = chip(id, room - cells(right) - 2, inserting)
  if not whole then -- it is worth more than the keys
    along, right = chip(id, room, inserting), ''
  end
  if along ~= '' and left ~= '' then
    left = left .. ' · '
  end
  return '%#AcpWinbar# ' .. left .. along .. '%=' .. emphasize(right) .. ' '
end

bufs.forgotten:add(function(id)
  refused[id], named[id] = nil, nil
end)

return M
