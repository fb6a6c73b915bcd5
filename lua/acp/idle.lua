---When windows may be changed: not while the user is in the middle of something.
local M = {}

local api = vim.api

---@type table<fun(), true> what waits until then
local waiting = {}

---Whether windows may be opened or changed now: not in a command line, an operator, the
---command-line window, under textlock, or while a key is awaited.
---@return boolean
function M.now()
  local mode = api.nvim_get_mode()
  if mode.blocking or vim.fn.getcmdwintype() ~= '' then
    return false
  end
  if mode.mode:match('^[cr!]') or mode.mode:match('^no') or vim.fn.state('mo') ~= '' then
    return false
  end
  -- In an <expr> mapping that waits for a key, only trying tells that windows are locked.
  return (pcall(api.nvim_set_current_win, api.nvim_get_current_win()))
end

local watch

---Some event tells that what was in the way may be over.
local function look()
  vim.schedule(function()
    if not M.now() then
      return watch()
    end
    local fns = waiting
    waiting = {}
    for fn in pairs(fns) do
      fn()
    end
  end)
end

function watch()
  -- In the command-line window Neovim is safe all the time.
  local events = vim.fn.getcmdwintype() ~= '' and { 'CmdwinLeave' }
    or { 'SafeState', 'CmdlineLeave', 'CmdwinEnter', 'ModeChanged' }
  local group = api.nvim_create_augroup('acp_idle', {})
  api.nvim_create_autocmd(events, {
    group = group,
    desc = 'Do what has waited for the user',
    callback = function()
      api.nvim_clear_autocmds({ group = group })
      look()
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

return M
