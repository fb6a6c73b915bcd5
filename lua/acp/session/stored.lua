---The sessions that agents keep: choosing one to resume, archive or delete. Those whose changes or
---transcript the host keeps are known without their agents; see host/saves.go.
local M = {}

---@class acp.Choice: acp.Stored
---@field agent string
---@field agent_title? string
---@field changes? integer that wait for a review
---@field archived? boolean

---How long the list waits for an agent while there is something to choose from, in ms.
M.patience = 5000

local warn_if = require('acp.notify').warn_if

---@param agent string?
---@param stored acp.Stored
local function resume(agent, stored)
  local id, err = require('acp.session.start').resume({
    agent = agent,
    agent_session_id = stored.agent_session_id,
    cwd = stored.cwd,
    title = stored.title,
  })
  if id then
    require('acp.chat.layout').open(id, true)
  else
    warn_if(err)
  end
end

---@param path string
---@return boolean
local function is_here(path)
  local here = vim.fs.normalize(vim.fn.getcwd())
  return path == here or require('acp.rpc.path').same(path, here)
end

---Those of this folder first, then the latest.
---@param list acp.Choice[]
local function sort(list)
  local here = {}
  for _, stored in ipairs(list) do
    here[stored.cwd] = is_here(stored.cwd)
  end
  table.sort(list, function(a, b)
    if here[a.cwd] ~= here[b.cwd] then
      return here[a.cwd]
    end
    if a.updated_at ~= b.updated_at then
      return (a.updated_at or '') > (b.updated_at or '')
    end
    return a.agent_session_id < b.agent_session_id
  end)
end

---The sessions that the host keeps something of, the latest first.
---@param callback fun(list: acp.Choice[])
local function saved(callback)
  local host = require('acp.rpc.host')
  local ok, err = host.ensure()
  if not ok then
    return warn_if(err)
  end
  host.request('list_saved', {}, function(list, failure)
    warn_if(failure)
    callback(list or {})
  end)
end

---@param choices acp.Choice[]
---@param prompt string
---@param chosen fun(choice: acp.Choice)
local function choose(choices, prompt, chosen)
  sort(choices)
  local agents, several = choices[1].agent, false
  for _, choice in ipairs(choices) do
    several = several or choice.agent ~= agents
  end
  vim.ui.select(choices, {
    prompt = prompt,
    format_item = function(choice)
      local parts = { choice.title or choice.agent_session_id }
      if several then
        local agent = require('acp.config').get().agents[choice.agent]
        table.insert(parts, choice.agent_title or agent and agent.title or choice.agent)
      end
      if (choice.changes or 0) > 0 then
        table.insert(parts, require('acp.notify').count(choice.changes, 'change') .. ' to review')
      end
      table.insert(parts, vim.fn.fnamemodify(choice.cwd, ':~'))
      if choice.updated_at then
        table.insert(parts, (choice.updated_at:sub(1, 16):gsub('T', ' ')))
      end
      return require('acp.ui.wrap').item(table.concat(parts, ' · '))
    end,
  }, function(choice)
    if choice then
      chosen(choice)
    end
  end)
end

---What an agent reports about a session overrides what was saved of it.
---@param choice acp.Choice
---@param stored acp.Stored
local function merge(choice, stored)
  choice.title = stored.title or choice.title
  choice.cwd = stored.cwd or choice.cwd
  if (stored.updated_at or '') > (choice.updated_at or '') then
    choice.updated_at = stored.updated_at
  end
end

---Asks agents for their sessions, in addition to the known ones. `done` gets all when all agents
---have answered; if one is slow, those so far, as soon as they are enough.
---@param agents string[]
---@param known acp.Choice[]
---@param archived boolean
---@param enough fun(choices: acp.Choice[]): boolean
---@param done fun(choices: acp.Choice[], failures: string[])
local function gather(agents, known, archived, enough, done)
  local choices, at, failures = known, {}, {}
  for _, choice in ipairs(choices) do
    at[choice.agent .. '\n' .. choice.agent_session_id] = choice
  end
  local waiting, told = #agents, false
  local function finish()
    if not told then
      told = true
      done(choices, failures)
    end
  end
  local function answered(agent, list, failure)
    table.insert(failures, failure)
    for _, stored in ipairs(list or {}) do
      local key = agent .. '\n' .. stored.agent_session_id
      if at[key] then
        merge(at[key], stored)
      else
        at[key] = vim.tbl_extend('error', stored, { agent = agent })
        table.insert(choices, at[key])
      end
    end
    waiting = waiting - 1
    if waiting == 0 then
      finish()
    end
  end
  for _, agent in ipairs(agents) do
    local ok, err = require('acp.session.start').stored(agent, function(list, failure)
      answered(agent, list, failure)
    end, archived)
    if not ok then
      answered(agent, nil, err)
    end
  end
  vim.defer_fn(function()
    if enough(choices) then
      finish()
    end
  end, M.patience)
end

---The agents of sessions with pending changes.
---@param choices acp.Choice[]
---@return string[]
local function reviewed(choices)
  local names = {}
  for _, choice in ipairs(choices) do
    if (choice.changes or 0) > 0 then
      table.insert(names, choice.agent)
    end
  end
  return names
end

---@param choices acp.Choice[]
---@param id string
---@return acp.Choice?
local function find(choices, id)
  for _, choice in ipairs(choices) do
    if choice.agent_session_id == id then
      return choice
    end
  end
end

---The agents to be asked for sessions: the one in use, the default one, and those of known ones.
---@param agent string?
---@param known acp.Choice[]
---@return string[] agents, string? err why there is none
local function askable(agent, known)
  local default, err = require('acp.session.start').default()
  local agents = { agent }
  for _, name in ipairs(vim.list_extend({ default }, reviewed(known))) do
    if not vim.tbl_contains(agents, name) then
      table.insert(agents, name)
    end
  end
  return agents, err
end

---Brings an archived session back into the lists.
---@param agent string?
---@param id string
local function unarchive(agent, id)
  local opts = { agent = agent, agent_session_id = id, archived = false }
  local _, err = require('acp.session.start').archive(opts, function(_, failure)
    if failure then
      warn_if(failure)
    else
      require('acp.notify').info('it is back in the list of :Acp resume')
    end
  end)
  warn_if(err)
end

---Brings an archived session back, by its id, or one that the user chooses.
---@param agent string? the one in use
---@param id string?
function M.unarchive(agent, id)
  saved(function(known)
    local found = id and find(known, id)
    if id then
      return unarchive(found and found.agent or agent, id)
    end
    known = vim.tbl_filter(function(one)
      return one.archived
    end, known)
    local agents, err = askable(agent, {})
    if #agents == 0 then
      return warn_if(err)
    end
    gather(agents, known, true, function(choices)
      return #choices > 0
    end, function(choices, failures)
      if #choices == 0 then
        return warn_if(failures[1] or 'no session is archived')
      end
      choose(choices, 'Bring back', function(choice)
        unarchive(choice.agent, choice.agent_session_id)
      end)
    end)
  end)
end

---Archives the session of this chat, or a stored one by its id.
---@param agent string?
---@param id string?
function M.archive(agent, id)
  local opts = id and { agent = agent, agent_session_id = id } or {}
  local _, err = require('acp.session.start').archive(opts, function(_, failure)
    if failure then
      warn_if(failure)
    else
      require('acp.notify').info('the session was archived: :Acp unarchive brings it back')
    end
  end)
  warn_if(err)
end

---Sets the user's title of a session.
---@param opts {session?: integer, title: string}
---@param callback? fun(title: string?, err: string?)
---@return boolean? ok, string? err
function M.rename(opts, callback)
  if type(opts) ~= 'table' or type(opts.title) ~= 'string' or vim.trim(opts.title) == '' then
    return nil, 'acp.rename needs a title'
  end
  local id, err = require('acp.rpc.state').resolve(opts.session)
  if not id then
    return nil, err
  end
  local args = { session = id, title = vim.trim(opts.title) }
  require('acp.rpc.host').request('rename', args, function(title, failure)
    if callback then
      callback(failure == nil and title or nil, failure)
    end
  end)
  return true
end

---Renames the session of this chat; without a title the user is asked for one.
---@param title string?
function M.ask_title(title)
  local id, err = require('acp.rpc.state').resolve()
  if not id then
    return warn_if(err)
  end
  local function rename(given)
    if given and vim.trim(given) ~= '' then
      local _, why = M.rename({ session = id, title = given }, function(_, failure)
        warn_if(failure)
      end)
      warn_if(why)
    end
  end
  if title then
    return rename(title)
  end
  local now = require('acp.rpc.state').sessions[id].title
  vim.ui.input({ prompt = 'Title: ', default = now }, rename)
end

---Resumes a session by its id, or lets the user choose: among those kept for this folder, and those
---that these agents list: the one in use, the default one, and all with pending changes here.
---@param agent string? the one in use
---@param id string?
function M.resume(agent, id)
  saved(function(known)
    sort(known)
    local named = id and find(known, id)
    if named then
      return resume(named.agent, named)
    end
    known = vim.tbl_filter(function(one)
      return is_here(one.cwd) and not one.archived
    end, known)
    local agents, err = askable(agent, known)
    if #agents == 0 then
      return warn_if(err)
    end
    gather(agents, known, false, function(choices)
      return #choices > 0 and (not id or find(choices, id) ~= nil)
    end, function(choices, failures)
      if id then
        local found = find(choices, id) or { agent_session_id = id, cwd = vim.fn.getcwd() }
        return resume(found.agent or agents[1], found)
      end
      for _, failure in ipairs(failures) do
        warn_if(failure)
      end
      if #choices > 0 then
        choose(choices, 'Resume', function(choice)
          resume(choice.agent, choice)
        end)
      elseif #failures == 0 then
        warn_if('the agent keeps no sessions')
      end
    end)
  end)
end

---Says which session of this folder that is not open has pending changes, and how to resume it: a
---sentence, or nil if there is none.
---@param lead string what the sentence begins with
---@param callback fun(sentence: string?)
function M.waiting(lead, callback)
  local records = vim.fs.joinpath(vim.fn.stdpath('data') --[[@as string]], 'acp', 'records')
  if not vim.uv.fs_stat(records) then
    return callback(nil) -- the host need not be started to find nothing
  end
  saved(function(known)
    sort(known)
    local open = {}
    for _, session in ipairs(require('acp.rpc.state').list()) do
      open[session.agent .. '\n' .. (session.agent_session_id or '')] = true
    end
    local waiting = vim.tbl_filter(function(choice)
      return (choice.changes or 0) > 0
        and is_here(choice.cwd)
        and not open[choice.agent .. '\n' .. choice.agent_session_id]
    end, known)
    local first = waiting[1]
    if not first then
      return callback(nil)
    end
    local title = first.title and ('"%s"'):format(require('acp.ui.wrap').cut(first.title, 30))
    local sentence = ('%s%s of %s has %s to review: :Acp resume'):format(
      lead,
      title or 'a session',
      first.agent_title,
      require('acp.notify').count(first.changes, 'change')
    )
    local more = #waiting > 1 and (' (and %d more)'):format(#waiting - 1) or ''
    -- Without the id the list is shown, and this one is its first: a message that is too long would
    -- make Neovim wait for a key.
    local named = ('%s %s%s'):format(sentence, first.agent_session_id, more)
    local fits = vim.api.nvim_strwidth('acp: ' .. named) <= vim.v.echospace
    sentence = fits and named or sentence .. more
    callback(sentence)
  end)
end

---Deletes a session after asking: the one of this chat, or a stored one by its id.
---@param agent string?
---@param id string?
function M.delete(agent, id)
  local opts, what
  if id then
    opts, what = { agent = agent, agent_session_id = id }, id
  else
    local session, err = require('acp.rpc.state').resolve()
    if not session then
      return warn_if(err)
    end
    local known = require('acp.rpc.state').sessions[session]
    opts = { session = session }
    what = ('%s · %s'):format(
      known.agent_title,
      known.title or vim.fn.fnamemodify(known.cwd, ':~')
    )
  end
  vim.ui.select({ 'Keep it', 'Delete it for good' }, {
    prompt = ('Delete %s?'):format(what),
  }, function(_, choice)
    if choice == 2 then
      local _, err = require('acp.session.start').delete(opts, function(_, failure)
        if failure then
          warn_if(failure)
        else
          require('acp.notify').info(('%s was deleted'):format(what))
        end
      end)
      warn_if(err)
    end
  end)
end

return M
