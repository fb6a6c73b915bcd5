---Unsaved text before a prompt: telling the host about it, the chip that says what is sent, and
---what the user wants done with it. The host decides which of it concerns a session.
local M = {}

local api = vim.api
local delay = 100 -- ms from an edit to the chip

---@class (exact) acp.Unsaved
---@field name string
---@field buf integer
---@field tick integer
---@field size integer bytes

---@type table<integer, boolean> the sessions whose next prompt goes without
local dropped = {}
---@type table<integer, fun()[]> by session: what waits behind an open question, itself the first
local waiting = {}
---@type uv.uv_timer_t?
local timer
---@type acp.Unsaved[]? what it was told last
local reported

---The files' buffers with unsaved text.
---@return acp.Unsaved[]
function M.list()
  local list = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    -- Most are not: the others are not looked at any further.
    local modified = api.nvim_get_option_value('modified', { buf = buf })
    local name = modified and api.nvim_buf_get_name(buf) or ''
    if name:sub(1, 1) == '/' and api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      table.insert(list, {
        name = name,
        buf = buf,
        tick = api.nvim_buf_get_changedtick(buf),
        size = math.max(0, api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))),
      })
    end
  end
  return list
end

local function report()
  local list = M.list()
  if not vim.deep_equal(list, reported) then
    reported = list
    require('acp.rpc.host').notify('unsaved_files', { files = list })
  end
end

---Tells the host when the user pauses.
local function soon()
  if not next(require('acp.rpc.state').sessions) then
    return
  end
  timer = timer or assert(vim.uv.new_timer())
  timer:start(delay, 0, vim.schedule_wrap(report))
end

---Begins to tell the host about unsaved text, or tells it again.
function M.watch()
  local events = {
    'BufModifiedSet',
    'BufWritePost',
    'BufUnload',
    'BufFilePost',
    'BufEnter',
    'TextChanged',
    'TextChangedI',
    'TextChangedP',
  }
  api.nvim_create_autocmd(events, {
    group = api.nvim_create_augroup('acp_unsaved', {}),
    desc = 'Tell the host of unsaved text',
    callback = soon,
  })
  reported = nil
  soon()
end

---@return 'send'|'ask'|'save'|'ignore'
local function mode()
  return require('acp.config').get().unsaved
end

---How many bytes are sent with a prompt unasked; nil if nothing is.
---@return integer?
function M.room()
  local config = require('acp.config').get()
  return config.unsaved == 'send' and math.floor(math.min(config.unsaved_max, 2 ^ 31)) or nil
end

---The chip of a prompt: what is sent with it.
---@param id integer
---@return string[]? names, boolean dropped
function M.chip(id)
  local session = require('acp.rpc.state').sessions[id]
  local names = session and session.unsaved or {}
  if mode() ~= 'send' or #names == 0 then
    return nil, false
  end
  return names, dropped[id] == true
end

---Leaves unsaved text out of the next prompt, or includes it again.
---@param id integer
function M.drop(id)
  if M.chip(id) then
    dropped[id] = not dropped[id] or nil
    require('acp.chat.winbar').refresh(id)
  end
end

---What happens to unsaved text before the present prompt.
---@param id integer
---@return string
function M.chosen(id)
  return dropped[id] and 'ignore' or mode()
end

require('acp.rpc.state').closed:add(function(id)
  dropped[id] = nil
end)

---The prompt is on its way: the next one is another.
---@param id integer
function M.sent(id)
  dropped[id] = nil
  require('acp.chat.winbar').refresh(id)
end

---Saves buffers as the user would.
---@param bufs integer[]
---@return string? err
local function save(bufs)
  for _, buf in ipairs(bufs) do
    if api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified then
      local ok, err = pcall(api.nvim_buf_call, buf, function()
        vim.cmd('silent update')
      end)
      if not ok or (api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified) then
        local said = tostring(err):gsub('^.-(E%d+:)', '%1'):match('^[^\n]*') -- no traceback
        local why = ok and 'it is still modified' or said
        return ('%s could not be saved: %s'):format(
          vim.fn.fnamemodify(api.nvim_buf_get_name(buf), ':.'),
          why
        )
      end
    end
  end
end

---Some names, and how many more there are.
---@param names string[]
---@return string
local function few(names)
  local shown = 5
  if #names <= shown + 1 then
    return table.concat(names, ', ')
  end
  return ('%s, +%d'):format(table.concat(names, ', ', 1, shown), #names - shown)
end

---@param found {new: string[], names: string[], bufs: integer[], size: integer}
---@param how 'send'|'ask'|'save'
---@param done fun(how: 'send'|'ignore'|nil, asked?: boolean) nil: the prompt stays
local function apply_choice(found, how, done)
  if how == 'save' then
    local err = save(found.bufs)
    if err then
      require('acp.notify').error(err .. '. The prompt was not sent')
    end
    return done(not err and 'ignore' or nil)
  end
  if how == 'send' and found.size <= require('acp.config').get().unsaved_max then
    return done('send')
  end
  if #found.new == 0 or #api.nvim_list_uis() == 0 then
    return done('ignore')
  end
  local choices = {
    { 'Send it along', 'send' },
    { 'Save it', 'save' },
    { 'Leave it out', 'ignore' },
  }
  vim.ui.select(choices, {
    prompt = ('Unsaved text in %s%s:'):format(
      few(found.new),
      how == 'send' and (' (%.0f KB)'):format(math.ceil(found.size / 1024)) or ''
    ),
    kind = 'acp_unsaved',
    format_item = function(choice)
      return choice[1]
    end,
  }, function(choice)
    if not choice then
      done()
    elseif choice[2] == 'save' then
      apply_choice(found, 'save', done)
    else
      done(choice[2], true)
    end
  end)
end

---Whether files, sent or not, are less than may be sent unasked.
---@param files acp.Unsaved[]
---@return boolean
local function are_little(files)
  local size = 0
  for _, file in ipairs(files) do
    size = size + file.size
  end
  return size <= require('acp.config').get().unsaved_max
end

---Handles unsaved text before a prompt, at once if nothing is asked or saved and it is not too
---much. Prompts of a session keep their order.
---@param id integer session
---@param how string one of the values of `opts.unsaved`
---@param go fun(how: 'send'|'ignore', asked: boolean, files?: acp.Unsaved[]) sends the prompt, with
---unsaved text or without; whether the user has been asked about it, and which files have some
---@param stay? fun() the prompt is not sent
function M.before(id, how, go, stay)
  local line = waiting[id]
  ---@return boolean free
  ---@return acp.Unsaved[]? files
  local function is_free()
    if how == 'ignore' then
      return true
    end
    local files = M.list()
    return how == 'send' and are_little(files), files
  end
  if not line then
    local free, files = is_free()
    if free then
      return go(how, false, files)
    end
  end
  line = line or {}
  waiting[id] = line
  table.insert(line, function()
    local function done(answer, asked, listed)
      if answer then
        go(answer, asked == true, listed)
      elseif stay then
        stay()
      end
      table.remove(line, 1)
      if line[1] then
        return line[1]()
      end
      waiting[id] = nil
    end
    local free, files = is_free()
    if free then
      return done(how, false, files)
    end
    local args = { session = id, files = files }
    require('acp.rpc.host').request('list_unsaved', args, function(found, err)
      if err then
        require('acp.notify').warn(('%s. The prompt was not sent'):format(err))
        return done()
      end
      apply_choice(found, how, done)
    end)
  end)
  if #line == 1 then
    line[1]()
  end
end

return M
