-- Runs in the Neovim under test before its configuration, with the test's channel.
local chan = ...

vim.api.nvim_create_autocmd('User', {
  pattern = 'Acp*',
  desc = 'nvimtest: record the event',
  callback = function(ev)
    local ok, err = pcall(vim.rpcnotify, chan, 'nvimtest_event', ev.match, ev.data)
    if not ok then
      vim.rpcnotify(chan, 'nvimtest_event', ev.match, 'data cannot be sent: ' .. err)
    end
  end,
})

vim.api.nvim_create_autocmd('VimEnter', {
  desc = 'nvimtest: Neovim is up',
  callback = function()
    vim.rpcnotify(chan, 'nvimtest_ready')
  end,
})
