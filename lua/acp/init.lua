---The part of the plugin that is read when Neovim starts. The rest of the Lua API, in
---lua/acp/api.lua, is loaded when it is first used.

---@class acp: acp.Api
local M = {}

-- What setup() was given: acp.config reads it, which is not loaded when Neovim starts.
vim.g.acp_setup = nil

---@param opts? acp.Config|fun(): acp.Config see |acp-config|
function M.setup(opts)
  vim.g.acp_setup = function()
    return opts or {}
  end
  if package.loaded['acp.config'] then
    require('acp.config').reset()
  end
  -- Checked in a moment: starting Neovim need not wait for it.
  vim.schedule(function()
    require('acp.config').get()
    if package.loaded['acp.rpc.host'] then
      require('acp.policy.rules').send()
      require('acp.editortools').offer()
    end
  end)
end

return setmetatable(M, {
  __index = function(_, name)
    return require('acp.api')[name]
  end,
})
