---Files that were being written when Neovim or the host was killed: the host has kept the old text
---and the agent's, and the user chooses one.
local M = {}

---@class acp.Unfinished
---@field id string
---@field path string
---@field created boolean there was no file before

---@type acp.Unfinished[]
local offered = {}

local warn = require('acp.notify').warn

---@param list acp.Unfinished[]
function M.offer(list)
  offered = list
  local first = vim.fs.basename(list[1].path)
  local more = #list > 1 and (' and %d more'):format(#list - 1) or ''
  warn(('writing %s%s was interrupted. :Acp recover'):format(first, more))
end

local choices = {
  { which = 'old', text = 'the text from before', created = 'nothing: it did not exist before' },
  { which = 'new', text = "the agent's text" },
  { which = 'keep', text = 'the file as it is now' },
}

---Asks about one file after another.
function M.choose()
  local next_one = offered[1]
  if not next_one then
    return warn('no write was interrupted')
  end
  vim.ui.select(choices, {
    prompt = vim.fn.fnamemodify(next_one.path, ':~:.') .. ' was interrupted. Give it',
    format_item = function(choice)
      return next_one.created and choice.created or choice.text
    end,
  }, function(choice)
    if not choice then
      return
    end
    table.remove(offered, 1)
    require('acp.rpc.host').notify('recover', { id = next_one.id, which = choice.which })
    if #offered > 0 then
      vim.schedule(M.choose)
    end
  end)
end

return M
