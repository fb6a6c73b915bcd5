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
  range = true,
  desc = 'Chat with a coding agent (ACP)',
  complete = function(lead, line)
    return require('acp.command').complete(lead, line)
  end,
})

for name, sub in pairs({
  Open = '',
  Toggle = 'toggle',
  Cancel = 'cancel',
  Permissions = 'permissions',
}) do
  vim.keymap.set('n', '<Plug>(Acp' .. name .. ')', '<Cmd>Acp ' .. sub .. '<CR>')
end
for n = 1, 9 do
  vim.keymap.set(
    { 'n', 'i', 'v', 't' },
    '<Plug>(AcpPermit' .. n .. ')',
    '<Cmd>Acp permit ' .. n .. '<CR>'
  )
end
