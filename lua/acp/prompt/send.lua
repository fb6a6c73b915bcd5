---Sends prompts to the host, with the user's unsaved text.
local M = {}

local host = require('acp.rpc.host')
local state = require('acp.rpc.state')
local unsaved = require('acp.prompt.unsaved')

---@param id integer session
---@param prompt string|table[]
---@return table[]? blocks, string? err why the session cannot have it
local function blocks_of(id, prompt)
  local session = state.sessions[id]
  if session.state == 'dead' then
    local why = session.error or 'the session has ended. :Acp restart starts it again'
    return nil, (why:gsub('%.$', '')) -- a notice has no full stop
  end
  local blocks = prompt
  if type(prompt) == 'string' then
    blocks = vim.trim(prompt) ~= '' and { { type = 'text', text = prompt } } or {}
  elseif type(prompt) ~= 'table' or not vim.islist(prompt) then
    return nil, 'a prompt must be a text or a list of content blocks'
  end
  local err = require('acp.prompt.content_blocks').check(blocks, session)
  if err then
    return nil, err
  end
  return blocks --[[@as table[] ]]
end

---@param method 'prompt'|'steer'
---@param id integer session
---@param blocks table[]
---@param along 'send'|'ignore' what happens to unsaved text
---@param asked boolean whether the user has been asked about it
---@param files? acp.Unsaved[] where they were listed just now
local function send(method, id, blocks, along, asked, files)
  if along == 'send' and #blocks > 0 then
    local room = not asked and unsaved.room() or nil
    local place = { type = 'unsaved', room = room, files = files or unsaved.list() }
    blocks = vim.list_extend({ place }, blocks)
  end
  host.notify(method, { session = id, blocks = blocks })
end

---@param method 'prompt'|'steer'
---@return fun(prompt: string|table[], opts?: acp.PromptOpts): boolean?, string?
local function sender(method)
  return function(prompt, opts)
    local id, err = state.resolve(opts and opts.session)
    if not id then
      return nil, err
    end
    local blocks
    blocks, err = blocks_of(id, prompt)
    if not blocks then
      return nil, err
    end
    local how = opts and opts.unsaved
    if how == nil then
      how = require('acp.config').get().unsaved
    elseif not vim.tbl_contains({ 'send', 'ask', 'save', 'ignore' }, how) then
      return nil, "unsaved must be 'send', 'ask', 'save' or 'ignore'"
    end
    state.last = id
    unsaved.before(id, #blocks > 0 and how or 'ignore', function(...)
      send(method, id, blocks, ...)
    end)
    return true
  end
end

---Sends a prompt, or queues it while the agent is busy.
M.prompt = sender('prompt')

---Puts words into the running turn, or sends them as a prompt.
M.steer = sender('steer')

---Sends a prompt once it is decided what happens to unsaved text.
---@param id integer session
---@param prompt table[]
---@param along 'send'|'ignore'
---@param asked boolean whether the user has been asked about it
---@param files? acp.Unsaved[] where they were listed just now
---@return boolean? ok, string? err
function M.decided(id, prompt, along, asked, files)
  local known, err = state.resolve(id)
  local blocks
  if known then
    blocks, err = blocks_of(id, prompt)
  end
  if not blocks then
    return nil, err
  end
  state.last = id
  send('prompt', id, blocks, along, asked, files)
  return true
end

return M
