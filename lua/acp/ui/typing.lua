---Whether the user has stopped typing: nothing opens by itself while they type.
local M = {}

local api = vim.api

---How long no key may have been typed, in ms, for the user to have paused.
local pause = 500

---@type number when a key was typed last, in ms
local typed = -math.huge
---@type {ready: fun(): boolean, run: fun()}? what waits for the user to rest
local waiting
---@type boolean a look is to come, soon or by a timer
local looking = false
local group = api.nvim_create_augroup('acp_typing', {})

---@return number ms
function M.now()
  return vim.uv.hrtime() / 1e6
end

---Notes from now on when keys are typed.
function M.watch()
  vim.on_key(function(_, keys)
    if keys ~= '' then
      typed = M.now()
    end
  end, api.nvim_create_namespace('acp_typing'))
end

---Whether windows may be changed and nothing is in progress: no text typed, no selection made, no
---macro played.
---@return boolean
function M.free()
  return api.nvim_get_mode().mode == 'n'
    and vim.fn.reg_executing() == ''
    and vim.fn.state('s') == ''
    and require('acp.ui.safe_state').now()
end

---How long until the last key, and a moment that the user must have seen, are long enough ago.
---@param since? number
---@return number ms, at most 0 where they are
function M.left(since)
  return math.max(typed, since or typed) + pause - M.now()
end

local look

---@return boolean
local function may_run()
  return waiting ~= nil and M.free() and waiting.ready()
end

---Checks in a number of ms, once for everything until then: each check makes Neovim idle again,
---which is an event.
---@param ms number
local function look_in(ms)
  if not looking then
    looking = true
    vim.defer_fn(function()
      looking = false
      look()
    end, math.ceil(ms))
  end
end

look = function()
  if not may_run() then
    return
  end
  local left = M.left()
  if left > 0 then
    return look_in(left)
  end
  local run = waiting.run
  M.cancel()
  run()
end

---Calls `run` once the user has paused and `ready` returns true, perhaps at once. It replaces
---whatever was waiting.
---@param ready fun(): boolean
---@param run fun()
function M.when(ready, run)
  M.cancel()
  waiting = { ready = ready, run = run }
  api.nvim_create_autocmd({ 'SafeState', 'ModeChanged' }, {
    group = group,
    desc = 'Show what waits for the user to pause',
    callback = function()
      if not looking and may_run() then
        look_in(math.max(M.left(), 0))
      end
    end,
  })
  look()
end

---Forgets what waits.
function M.cancel()
  waiting = nil
  api.nvim_clear_autocmds({ group = group })
end

return M
