---Whether windows may be changed now: not while the user is in the middle of something.
local M = {}

local api = vim.api

---@type table<fun(), true> what waits until then
local waiting = {}

---Whether Neovim waits in the middle of something of its own, as of a buffer that is written.
M.held = false

---Whether windows may be opened or changed now: not in a command line, an operator, the
---command-line window, under textlock, while a key is awaited or a buffer is written.
---@return boolean
function M.now()
  local mode = api.nvim_get_mode()
  if mode.blocking or vim.fn.getcmdwintype() ~= '' or M.held then
    return false
  end
  if mode.mode:match('^[cr!]') or mode.mode:match('^no') or vim.fn.state('mo') ~= '' then
    return false
  end
  -- In an <expr> mapping that waits for a key, only trying tells that windows are locked.
  return (pcall(api.nvim_set_current_win, api.nvim_get_current_win()))
end

local watch

---Checks whether the obstacle is gone.
local function look()
  if not M.now() then
    return watch()
  end
  local fns = waiting
  waiting = {}
  for fn in pairs(fns) do
    fn()
  end
end

function watch()
  if vim.fn.getcmdwintype() ~= '' then
    -- There Neovim is at rest all the time, and no event comes after it has been left.
    vim.defer_fn(look, 100)
    return
  end
  local group = api.nvim_create_augroup('acp_safe_state', {})
  api.nvim_create_autocmd({ 'SafeState', 'CmdlineLeave', 'CmdwinLeave', 'ModeChanged' }, {
    group = group,
    desc = 'Run what has waited for the user',
    callback = function(event)
      -- In a command line Neovim is at rest after each look: it would never rest from looking.
      if event.event ~= 'SafeState' or M.now() then
        api.nvim_clear_autocmds({ group = group })
        vim.schedule(look)
      end
    end,
  })
end

---Calls a function once, as soon as windows may be changed; also when it is asked for twice.
---@param fn fun()
function M.wait(fn)
  local first = next(waiting) == nil
  waiting[fn] = true
  if first then
    watch()
  end
end

---Calls a function now, or as soon as windows may be changed.
---@param fn fun()
function M.soon(fn)
  if M.now() then
    return fn()
  end
  M.wait(fn)
end

return M
