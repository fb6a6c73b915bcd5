---Writes acp-agents.lock.json, which has the versions of agents that a project uses.
local M = {}

local notify = require('acp.notify')
local name = require('acp.installed').lock_file

---Records which versions are installed, for everybody who works on the project.
function M.write()
  require('acp.registry.agents').list({}, function(list, err)
    if not list then
      return notify.error(err)
    end
    local versions, count = {}, 0
    for _, agent in ipairs(list) do
      if agent.installed and agent.installed.by == 'acp' then
        versions[agent.id], count = agent.installed.version, count + 1
      end
    end
    if count == 0 then
      return notify.warn('no agent is installed from the registry: there is nothing to lock')
    end
    local lines = {}
    for _, id in ipairs(vim.fn.sort(vim.tbl_keys(versions))) do
      table.insert(lines, ('    %s: %s'):format(vim.json.encode(id), vim.json.encode(versions[id])))
    end
    local text = '{\n  "agents": {\n' .. table.concat(lines, ',\n') .. '\n  }\n}'
    local path = vim.fs.joinpath(vim.fn.getcwd(), name)
    local ok, failure = pcall(vim.fn.writefile, vim.split(text, '\n'), path)
    if not ok then
      return notify.error(('%s was not written: %s'):format(name, failure))
    end
    notify.info(('%s has the versions of %d agent%s'):format(name, count, count == 1 and '' or 's'))
  end)
end

return M
