---The sessions that agents keep: choosing one to take up again, and deleting.
local M = {}

---@class acp.Stored
---@field agent_session_id string
---@field cwd string
---@field title? string
---@field updated_at? string ISO 8601

---@param err string?
local function complain(err)
  if err then
    vim.notify('acp: ' .. err, vim.log.levels.WARN)
  end
end

---@param agent string?
---@param stored acp.Stored
local function resume(agent, stored)
  local id, err = require('acp').resume({
    agent = agent,
    agent_session_id = stored.agent_session_id,
    cwd = stored.cwd,
    title = stored.title,
  })
  if id then
    require('acp.layout').open(id, true)
  else
    complain(err)
  end
end

---Those of this folder first, then the latest.
---@param list acp.Stored[]
local function sort(list)
  local here = vim.fs.normalize(vim.fn.getcwd())
  table.sort(list, function(a, b)
    if (a.cwd == here) ~= (b.cwd == here) then
      return a.cwd == here
    end
    if a.updated_at ~= b.updated_at then
      return (a.updated_at or '') > (b.updated_at or '')
    end
    return a.agent_session_id < b.agent_session_id
  end)
end

---Lets the user choose among an agent's stored sessions, or takes up one by its id.
---@param agent string?
---@param id string?
function M.resume(agent, id)
  local _, err = require('acp').stored(agent, function(list, failure)
    if id then
      local known = vim.tbl_filter(function(stored)
        return stored.agent_session_id == id
      end, list or {})
      return resume(agent, known[1] or { agent_session_id = id, cwd = vim.fn.getcwd() })
    end
    if not list then
      return complain(failure)
    end
    if #list == 0 then
      return complain('the agent keeps no sessions')
    end
    sort(list)
    vim.ui.select(list, {
      prompt = 'Resume',
      format_item = function(stored)
        local when = stored.updated_at and stored.updated_at:sub(1, 16):gsub('T', ' ') or nil
        return require('acp.wrap').item(table.concat({
          stored.title or stored.agent_session_id,
          vim.fn.fnamemodify(stored.cwd, ':~'),
          when,
        }, ' · '))
      end,
    }, function(stored)
      if stored then
        resume(agent, stored)
      end
    end)
  end)
  complain(err)
end

---Deletes a session after asking: the one of this chat, or a stored one by its id.
---@param agent string?
---@param id string?
function M.delete(agent, id)
  local opts, what
  if id then
    opts, what = { agent = agent, agent_session_id = id }, id
  else
    local session, err = require('acp.mirror').resolve()
    if not session then
      return complain(err)
    end
    local mirrored = require('acp.mirror').sessions[session]
    opts = { session = session }
    what = ('%s · %s'):format(
      mirrored.agent_title,
      mirrored.title or vim.fn.fnamemodify(mirrored.cwd, ':~')
    )
  end
  vim.ui.select({ 'Keep it', 'Delete it for good' }, {
    prompt = ('Delete %s?'):format(what),
  }, function(_, choice)
    if choice == 2 then
      local _, err = require('acp').delete(opts, function(_, failure)
        if failure then
          complain(failure)
        else
          vim.notify(('acp: %s is deleted'):format(what))
        end
      end)
      complain(err)
    end
  end)
end

return M
