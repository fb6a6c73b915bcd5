---The lines above the windows of a chat: who works, on what, for how long, and what waits.
local M = {}

local api = vim.api
local bufs = require('acp.bufs')
local flat = require('acp.wrap').flat

local spinner = { '⣷', '⣯', '⣟', '⡿', '⢿', '⣻', '⣽', '⣾' }
---@type uv.uv_timer_t?
local timer

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

---@param s string
---@param room integer cells
---@return string
local function shorten(s, room)
  if vim.fn.strdisplaywidth(s) <= room then
    return s
  end
  return vim.fn.printf('%.' .. math.max(0, room - 1) .. 'S', s) .. '…'
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
    table.insert(list, flat(s.model.name))
  end
  if s.mode then
    table.insert(list, flat(s.mode.name))
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
  local left = flat(' ' .. s.agent_title .. (s.title and (' · ' .. s.title) or ''))
  local status, group = unpack(states[s.state])
  if s.state == 'running' or s.state == 'starting' then
    status = status .. ' ' .. spinner[math.floor(vim.uv.now() / 100) % #spinner + 1]
    local since = mirror.since[id]
    if since then
      status = status .. ' ' .. clock(math.floor((vim.uv.now() - since) / 1000))
    end
  end
  local waits = s.state == 'requires_action' and require('acp.held').waits(id)
  if waits then
    status = status .. ' · ' .. waits
  end
  if vim.fn.line('w$', win) < api.nvim_buf_line_count(api.nvim_win_get_buf(win)) then
    status = status .. ' ↓' -- there is more below
  end
  left = shorten(left, width - vim.fn.strdisplaywidth(status) - 3)
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

---The chip of a prompt: the files whose unsaved text goes along, as many as fit.
---@param id integer
---@param room integer cells
---@return string chip, boolean whole
local function chip(id, room)
  local names, dropped = require('acp.unsaved').chip(id)
  if not names then
    return '', true
  end
  local key = require('acp.config').get().keys.drop_unsaved
  local hint = key and ('  ' .. key .. (dropped and ' sends' or ' drops')) or ''
  local head = dropped and '− unsaved: ' or '+ unsaved: '
  room = room - vim.fn.strdisplaywidth(head .. hint)
  local list, shown, width = '', 0, 0
  for i, name in ipairs(names) do
    width = width + vim.fn.strdisplaywidth(i > 1 and ', ' .. name or name)
    if width > room then
      break
    end
    local more = i < #names and (', +%d'):format(#names - i) or ''
    if width + #more <= room then
      list, shown = table.concat(names, ', ', 1, i) .. more, i
    end
  end
  if shown == 0 then
    room, hint, shown = room + vim.fn.strdisplaywidth(hint), '', 0
    list = #names > 1 and #names .. ' files'
      or shorten(vim.fs.basename(names[1]), math.max(room, 8))
  end
  local group = dropped and 'AcpMore' or 'AcpChip'
  local text = ('%%#%s#%s%%#AcpWinbar#%s'):format(group, escape(head .. list), escape(hint))
  return text, shown == #names
end

---@param id integer
---@param win integer
---@return string
local function prompt_bar(id, win)
  local s = require('acp.mirror').sessions[id]
  local keys = require('acp.config').get().keys
  local parts = {}
  if s and s.queued > 0 then
    table.insert(parts, s.queued .. ' queued' .. (s.paused and ', paused' or ''))
  end
  local hints = {}
  local inserting = vim.api.nvim_get_mode().mode:match('^i')
  local send = inserting and keys.send_insert or keys.send
  if s and s.state == 'dead' then
    table.insert(hints, 'ended · :Acp restart')
  elseif send then
    table.insert(hints, escape(send) .. ' send')
  end
  if keys.cancel and s and (s.state == 'running' or s.state == 'requires_action') then
    table.insert(hints, escape(keys.cancel) .. ' stop')
  end
  local left, right = table.concat(parts, ' · '), table.concat(hints, '  ')
  local used = left ~= '' and vim.fn.strdisplaywidth(left .. ' · ') or 0
  local room = api.nvim_win_get_width(win) - 2 - used
  local along, whole = chip(id, room - vim.fn.strdisplaywidth(right) - 2)
  if not whole then -- it is worth more than the keys
    along, right = chip(id, room), ''
  end
  if along ~= '' and left ~= '' then
    left = left .. ' · '
  end
  right = right:gsub('^ended', '%%#AcpError#ended%%#AcpWinbar#')
  return '%#AcpWinbar# ' .. left .. along .. '%=' .. right .. ' '
end

---@param id integer
local function draw_bars(id)
  local b = bufs.get(id)
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
  for id, b in bufs.each() do
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
  for each in bufs.each() do
    if id == nil or each == id then
      draw_bars(each)
      require('acp.prompt').hint(each)
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
            for each in bufs.each() do
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

return M
