---What users do with prompts: each goes to the host with what of their unsaved text goes along.
local M = {}

local host = require('acp.rpc.host')
local state = require('acp.rpc.state')
local unsaved = require('acp.prompt.unsaved')

---@class (exact) acp.PromptOpts
---@field session? integer
---@field unsaved? 'send'|'ask'|'save'|'ignore' default: as configured

---@param method 'prompt'|'steer'
---@return fun(prompt: string|table[], opts?: acp.PromptOpts): boolean?, string?
local function sender(method)
  return function(prompt, opts)
    local id, err = state.resolve(opts and opts.session)
    if not id then
      return nil, err
    end
    local session = state.sessions[id]
    if session.state == 'dead' then
      return nil, session.error or 'the session has ended. :Acp restart starts it again'
    end
    local blocks = prompt
    if type(prompt) == 'string' then
      blocks = vim.trim(prompt) ~= '' and { { type = 'text', text = prompt } } or {}
    elseif type(prompt) ~= 'table' or not vim.islist(prompt) then
      return nil, 'a prompt is a text or a list of content blocks'
    end
    err = require('acp.prompt.content_blocks').check(blocks, session)
    if err then
      return nil, err
    end
    local how = opts and opts.unsaved
    if how == nil then
      how = require('acp.config').get().unsaved
    elseif not vim.tbl_contains({ 'send', 'ask', 'save', 'ignore' }, how) then
      return nil, "unsaved is 'send', 'ask', 'save' or 'ignore'"
    end
    state.last = id
    if #blocks == 0 then
      how = 'ignore'
    end
    unsaved.before(id, how, function(along, asked)
      if along == 'send' then
        local room = not asked and unsaved.room() or nil
        blocks = vim.list_extend({ { type = 'unsaved', room = room } }, blocks)
      end
      host.notify(method, { session = id, blocks = blocks })
    end)
    return true
  end
end

---Sends a prompt, or queues it while the agent is busy.
M.prompt = sender('prompt')

---Puts words into the running turn, or sends them as a prompt.
M.steer = sender('steer')

return M
