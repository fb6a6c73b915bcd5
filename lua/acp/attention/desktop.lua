---Desktop notifications: a turn has ended, or something waits, while the user looks elsewhere.
local M = {}

---@type boolean whether Neovim has the focus, as far as the terminal tells
local focused = true

---The escape sequence for a desktop notification: OSC 777 if the terminal is known for it,
---otherwise OSC 9, which most others take and the rest ignore.
---@param text string
---@return string
local function notification(text)
  text = text:gsub('%c', ' '):gsub(';', ',')
  local term = vim.env.TERM or ''
  local sequence
  if term:find('^rxvt') or term:find('^foot') or vim.env.VTE_VERSION then
    sequence = '\27]777;notify;Neovim;' .. text .. '\27\\'
  else
    sequence = '\27]9;' .. text .. '\27\\'
  end
  if vim.env.TMUX then
    -- tmux passes it on if `allow-passthrough` is on.
    sequence = '\27Ptmux;' .. sequence:gsub('\27', '\27\27') .. '\27\\'
  end
  return sequence
end

---Writes to the terminal that Neovim runs in.
---@param bytes string
local function send(bytes)
  if vim.api.nvim_ui_send then
    pcall(vim.api.nvim_ui_send, bytes)
  else
    pcall(vim.api.nvim_chan_send, vim.v.stderr, bytes)
  end
end

---@param text string
local function notify_user(text)
  local notify = require('acp.config').get().notify
  if focused or notify == false then
    return
  end
  if type(notify) == 'function' then
    local ok, err = pcall(notify, text)
    if not ok then
      require('acp.notify').error('notify: ' .. tostring(err))
    end
    return
  end
  require('acp.notify').info(text)
  if #vim.api.nvim_list_uis() > 0 then
    send('\a' .. notification(text))
  end
end

---@param data table
---@return string
local function agent(data)
  return require('acp.rpc.state').name(data.session)
end

---Watches the focus and the events, from the first session on.
function M.watch()
  local group = vim.api.nvim_create_augroup('acp_attention', {})
  vim.api.nvim_create_autocmd({ 'FocusGained', 'FocusLost' }, {
    group = group,
    callback = function(args)
      focused = args.event == 'FocusGained'
    end,
  })
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = 'AcpTurnEnd',
    callback = function(args)
      local how = args.data.stop_reason == 'error' and 'has stopped with an error' or 'is done'
      notify_user(agent(args.data) .. ' ' .. how)
    end,
  })
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = { 'AcpPermissionRequest', 'AcpElicitation' },
    callback = function(args)
      notify_user(agent(args.data) .. ' waits for you')
    end,
  })
end

return M
