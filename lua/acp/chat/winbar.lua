---The lines above the windows of a chat: who is working, on what, for how long, and what waits.
local M = {}

local api = vim.api
local bar = require('acp.ui.winbar')
local bufs = require('acp.chat.buffers')
local signal = require('acp.rpc.signal')
local state = require('acp.rpc.state')
local cells, flat = require('acp.ui.wrap').cells, require('acp.ui.wrap').flat

local spinner = { '⣷', '⣯', '⣟', '⡿', '⢿', '⣻', '⣽', '⣾' }
---@type uv.uv_timer_t?
local timer

---A session's lines were updated. Gets its id.
M.refreshed = signal()

---@alias acp.ComposeBar fun(id: integer, win: integer, width: integer): string as 'winbar' takes it

---Composes the line above a prompt.
---@type acp.ComposeBar
function M.prompt_bar()
  return ''
end

---Says how long a session's write has waited.
---@type fun(id: integer): string?
function M.waits() end

---@param seconds integer
---@return string
local function clock(seconds)
  return ('%d:%02d'):format(math.floor(seconds / 60), seconds % 60)
end

---A text as 'winbar' takes it.
---@param s string
---@return string
function M.escape(s)
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
function M.shorten(s, room)
  if cells(s) <= room then
    return s
  end
  return vim.fn.printf('%.' .. math.max(0, room - 1) .. 'S', s) .. '…'
end

---What is worth knowing about a session besides its title, the most important last.
---@param s acp.Session
---@return string[]
local function facts(s)
  local list = {}
  if s.login == 'unauthenticated' then
    table.insert(list, 'not logged in')
  elseif s.account then
    table.insert(list, flat(s.account))
  end
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
  if (s.background or 0) > 0 then
    table.insert(list, s.background .. ' in the background')
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

---Which other sessions are waiting for the user.
---@param id integer
---@return string
local function other_waits(id)
  local others = vim.tbl_filter(function(other)
    return other ~= id
  end, state.waiting())
  if #others > 1 then
    return #others .. ' others wait for you'
  end
  return others[1] and flat(state.name(others[1])) .. ' waits for you' or ''
end

---The line above a chat. What does not fit is left out, the least important first.
---@param id integer
---@param win integer
---@param width integer
---@return string
local function chat_bar(id, win, width)
  local s = state.sessions[id]
  if not s then
    return '%#AcpWinbar# closed'
  end
  local left = flat(' ' .. state.name(id) .. (s.title and (' · ' .. s.title) or ''))
  local status, group = unpack(states[s.state])
  if s.state == 'running' or s.state == 'starting' then
    status = status
      .. (status == '' and '' or ' ')
      .. spinner[math.floor(vim.uv.now() / 100) % #spinner + 1]
    local since = state.since[id]
    if since then
      status = status .. ' ' .. clock(math.floor((vim.uv.now() - since) / 1000))
    end
  end
  local waits = s.state == 'requires_action' and M.waits(id)
  if waits then
    status = status .. ' · ' .. waits
  end
  if vim.fn.line('w$', win) < api.nvim_buf_line_count(api.nvim_win_get_buf(win)) then
    status = status .. (status == '' and '' or ' ') .. '↓' -- there is more below
  end
  local others = other_waits(id)
  if others ~= '' and status ~= '' then
    others = others .. ' · '
  end
  if cells(others .. status) > width - 8 then
    others = '' -- the bar has to say whose it is
  end
  local waiting = cells(others .. status)
  left = M.shorten(left, width - waiting - 3)
  local room = width - cells(left) - waiting - 4
  local shown = {}
  for _, fact in ipairs(vim.fn.reverse(facts(s))) do
    room = room - cells(fact) - 3
    if room < 0 then
      break
    end
    table.insert(shown, fact)
  end
  local known = table.concat(shown, ' · ')
  if known ~= '' and waiting > 0 then
    known = known .. ' ·'
  end
  return ('%%#AcpWinbar#%s%%=%s %%#AcpWinbarWaiting#%s%%#%s#%s '):format(
    M.escape(left),
    M.escape(known),
    M.escape(others),
    group,
    status
  )
end

---@param buf? integer
---@return integer[] windows
local function windows(buf)
  return buf and api.nvim_buf_is_valid(buf) and vim.fn.win_findbuf(buf) or {}
end

local ns = api.nvim_create_namespace('acp_winbar')

---Shows below the text of a prompt what the lines above it and its chat would say, if another
---plugin has replaced them.
---@param id integer
function M.below(id)
  local b = bufs.get(id)
  local prompt = b and windows(b.prompt)[1]
  if not prompt then
    return
  end
  local info, lines = vim.fn.getwininfo(prompt)[1], {}
  local width = info.width - info.textoff
  for buf, compose in pairs({ [b.chat] = chat_bar, [b.prompt] = M.prompt_bar }) do
    local win = vim.iter(windows(buf)):find(bar.lost)
    if win then
      local chunks = bar.chunks(win, compose(id, win, width), width)
      table.insert(lines, compose == chat_bar and 1 or #lines + 1, chunks)
    end
  end
  api.nvim_buf_clear_namespace(b.prompt, ns, 0, -1)
  if #lines > 0 then
    local last = api.nvim_buf_line_count(b.prompt) - 1
    api.nvim_buf_set_extmark(b.prompt, ns, last, 0, { virt_lines = lines })
  end
end

---@param id integer
local function draw_bars(id)
  local b = bufs.get(id)
  local function below()
    M.below(id)
  end
  for compose, buf in pairs(b and { [chat_bar] = b.chat, [M.prompt_bar] = b.prompt } or {}) do
    for _, win in ipairs(windows(buf)) do
      bar.set(win, compose(id, win, api.nvim_win_get_width(win)), below)
    end
  end
end

---Whether a visible session shows a spinner.
---@return boolean
local function spinning()
  for id, b in bufs.each() do
    local s = state.sessions[id]
    if s and b.visible and (s.state == 'running' or s.state == 'starting') then
      return true
    end
  end
  return false
end

---@type string which sessions there are, and which wait: what all bars say
local others_shown = ''

---Shows a session's new state at its buffers; without an id, that of all sessions.
---@param id? integer
function M.refresh(id)
  local others = table.concat(state.waiting(), ' ') .. '/' .. vim.tbl_count(state.sessions)
  local all = id == nil or others ~= others_shown
  others_shown = others
  for each in bufs.each() do
    if all or each == id then
      draw_bars(each)
      M.refreshed:emit(each)
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

state.changed:add(M.refresh)
state.permissions_changed:add(M.refresh) -- it says how long a write has waited
state.closed:add(M.refresh)
state.died:add(function()
  M.refresh()
end)

return M
