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

-- What Lua says to the host has the names and fields of the contract.
local rpcnotify = vim.rpcnotify
---@diagnostic disable-next-line: duplicate-set-field
vim.rpcnotify = function(channel, name, ...)
  local method, args = ...
  if name == 'acp' then
    local fields = require('acp.rpc.contract').messages[method]
    local unknown = fields and {} or { 'all of it' }
    for field in pairs(fields and args or {}) do
      if not vim.tbl_contains(fields, field) then
        table.insert(unknown, field)
      end
    end
    if #unknown > 0 then
      local message = ('E9999: %s: the host does not know %s'):format(
        method,
        table.concat(unknown, ', ')
      )
      vim.schedule(function()
        vim.api.nvim_err_writeln(message)
      end)
    end
  end
  return rpcnotify(channel, name, ...)
end
