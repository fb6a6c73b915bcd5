-- The only file that is read at start-up: names, no work. Nothing starts until asked.
if vim.g.loaded_acp then
  return
end
vim.g.loaded_acp = true
if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('acp: needs Neovim 0.10 or newer', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('Acp', function(cmd)
  require('acp.command').run(cmd)
end, {
  nargs = '*',
  bang = true,
  range = true,
  desc = 'Chat with a coding agent (ACP)',
  complete = function(lead, line, at)
    return require('acp.command').complete(lead, line, at)
  end,
})

vim.api.nvim_create_autocmd('BufReadCmd', {
  pattern = 'acp://*',
  desc = 'Show an agent, or say that it is gone',
  callback = function(event)
    if not vim.startswith(event.match, 'acp://history/') then
      return require('acp.chat.mksession').read(event.buf)
    end
    require('acp.features')
    require('acp.history.view').read(event.buf)
  end,
})
vim.api.nvim_create_autocmd('SessionLoadPost', {
  desc = 'Say of restored windows on agents that these are gone',
  callback = function()
    require('acp.chat.mksession').restored()
  end,
})

-- Not by vim.keymap.set(), which would take longer than all of the rest.
---@param mode string
---@param name string
---@param sub string
local function map(mode, name, sub)
  local plug, command = '<Plug>(Acp' .. name .. ')', '<Cmd>Acp ' .. sub .. '<CR>'
  vim.api.nvim_set_keymap(mode, plug, command, { noremap = true })
end

for name, sub in pairs({
  Open = '',
  Toggle = 'toggle',
  Cancel = 'cancel',
  Diff = 'diff',
  Permissions = 'permissions',
}) do
  map('n', name, sub)
end
for _, mode in ipairs({ 'n', 'i', 'v', 't' }) do
  for n = 1, 9 do
    map(mode, 'Permit' .. n, 'permit ' .. n)
  end
  map(mode, 'Allow', 'allow')
  map(mode, 'Reject', 'reject')
  map(mode, 'AllowAlways', 'allow always')
  map(mode, 'RejectAlways', 'reject always')
end
