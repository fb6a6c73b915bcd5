---Builds the host program in the background.
local M = {}

local notify = require('acp.notify')
local host = require('acp.rpc.host')

function M.run()
  if host.building then
    return notify.info('the host is being built already; a message says when it is there')
  end
  if vim.fn.executable('go') == 0 or vim.fn.executable('make') == 0 then
    return notify.error('building the host needs Go and make; install them, then :Acp build')
  end
  host.building = true
  notify.info('building the host …')
  vim.system({ 'make', 'build' }, { cwd = host.root(), text = true }, function(result)
    vim.schedule(function()
      host.building = false
      if result.code == 0 then
        notify.info('the host is built. :Acp starts it')
      else
        notify.error('the host could not be built:\n' .. vim.trim(result.stderr .. result.stdout))
      end
    end)
  end)
end

return M
