---Builds the host program in the background.
local M = {}

---@type boolean
local building = false

---@return boolean
function M.running()
  return building
end

function M.run()
  if building then
    return vim.notify('acp: the host is being built already; a message says when it is there')
  end
  if vim.fn.executable('go') == 0 or vim.fn.executable('make') == 0 then
    return vim.notify(
      'acp: building the host needs Go and make; install them, then :Acp build',
      vim.log.levels.ERROR
    )
  end
  building = true
  vim.notify('acp: building the host …')
  vim.system(
    { 'make', 'build' },
    { cwd = require('acp.rpc.host').root(), text = true },
    function(result)
      vim.schedule(function()
        building = false
        if result.code == 0 then
          vim.notify('acp: the host is built. :Acp starts it')
        else
          vim.notify(
            'acp: the host could not be built:\n' .. vim.trim(result.stderr .. result.stdout),
            vim.log.levels.ERROR
          )
        end
      end)
    end
  )
end

return M
