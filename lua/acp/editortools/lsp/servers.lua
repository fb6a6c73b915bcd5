---The language servers of a file: it is opened for them if no buffer has it, and all of them are
---asked at once.
local M = {}

local api = vim.api
local text = require('acp.editortools.lsp.text')
local new = vim.fn.has('nvim-0.11') == 1

---How long a server may take to appear after a file was opened for it, and to start, in ms.
local appears, starts = 500, 10000
---How long a file that was opened for the servers stays open without a question, in ms.
local idle = 60000
---How large a file may be that is opened for them, in bytes.
local largest = 5 * 1024 * 1024

---Calls a function of a client, which is a method since Neovim 0.11.
---@param client vim.lsp.Client
---@param name string
local function call(client, name, ...)
  if new then
    return client[name](client, ...)
  end
  return client[name](...)
end

---@type table<integer, uv.uv_timer_t> what closes the buffers that were opened here
local closing = {}

---@param buf integer
local function close(buf)
  closing[buf]:close()
  closing[buf] = nil
  local ours = api.nvim_buf_is_valid(buf)
    and not vim.bo[buf].buflisted
    and not vim.bo[buf].modified
    and #vim.fn.win_findbuf(buf) == 0
  if ours then
    api.nvim_buf_delete(buf, { force = false })
  end
end

---@param buf integer
local function close_later(buf)
  closing[buf] = closing[buf] or vim.uv.new_timer()
  closing[buf]:start(
    idle,
    0,
    vim.schedule_wrap(function()
      if closing[buf] then
        close(buf)
      end
    end)
  )
end

---Opens a file without a window. The user's autocommands for it run: they start the servers.
---@param path string
---@return integer? buf, string? err
local function open(path)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' then
    return nil, 'there is no such file'
  elseif stat.size > largest then
    return nil, 'the file is too large to be opened for the language servers'
  end
  local alternate = vim.fn.bufnr('#')
  local buf = vim.fn.bufadd(path)
  vim.bo[buf].swapfile = false -- nobody is asked about one
  local ok, err = pcall(vim.fn.bufload, buf)
  if not ok then
    return nil, ('the file cannot be opened: %s'):format(err)
  end
  if vim.bo[buf].filetype == '' then
    local filetype = vim.filetype.match({ buf = buf })
    if filetype then
      vim.bo[buf].filetype = filetype
    end
  end
  if vim.fn.bufnr('#') ~= alternate and alternate > 0 then
    vim.fn.setreg('#', alternate)
  end
  api.nvim_create_autocmd('BufWinEnter', {
    buffer = buf,
    once = true,
    desc = 'Note that a file opened for the language servers is shown',
    callback = function()
      vim.bo[buf].swapfile = vim.go.swapfile
    end,
  })
  close_later(buf)
  return buf
end

---The servers of a buffer, or all, except the one that completes in our prompts.
---@param buf? integer
---@return vim.lsp.Client[]
function M.of(buf)
  return vim.tbl_filter(function(client)
    return client.name ~= 'acp'
  end, vim.lsp.get_clients({ bufnr = buf }))
end

---@param client vim.lsp.Client
---@param method string
---@param buf? integer
---@return boolean
function M.can(client, method, buf)
  if new then
    return client:supports_method(method, buf)
  end
  ---@diagnostic disable-next-line: param-type-mismatch, missing-parameter
  return client.supports_method(method, { bufnr = buf })
end

---Whether a server of a buffer is starting.
---@param buf integer
---@return boolean
local function one_starts(buf)
  local ok, list = pcall(vim.lsp.get_clients, { bufnr = buf, _uninitialized = true })
  return ok and #list > #M.of(buf)
end

---Whether a server may still appear for a file that was just opened: it has none, or not all of
---those that the user has enabled for its filetype.
---@param buf integer
---@return boolean
local function one_lacks(buf)
  local there = {}
  for _, client in ipairs(M.of(buf)) do
    there[client.name] = true
  end
  if not next(there) then
    return true
  end
  local get = vim.lsp.get_configs -- of Neovim 0.12
  local enabled = get and get({ enabled = true, filetype = vim.bo[buf].filetype }) or {}
  return vim.iter(enabled):any(function(config)
    return not there[config.name]
  end)
end

---@type table<integer, true> the servers that have read their project, by id
local settled = {}

---How long a server that has just started may take to say that it is loading its project, and how
---often that is checked, in ms.
local says, looks = 700, 50

---Waits until servers that have just started know their project: before, they know little.
---@param buf integer
---@param limit integer in ms
---@param done fun(reads: boolean) whether one still reads it
---@return fun() cancel
local function settle(buf, limit, done)
  local new_ones = vim.tbl_filter(function(client)
    return not settled[client.id]
  end, M.of(buf))
  if #new_ones == 0 then
    done(false)
    return function() end
  end
  local timer, began = assert(vim.uv.new_timer()), vim.uv.now()
  local over = false
  local function stop()
    if not over then
      over = true
      timer:close()
    end
  end
  timer:start(
    says,
    looks,
    vim.schedule_wrap(function()
      if over then
        return
      end
      local one_reads = false
      for _, client in ipairs(new_ones) do
        if client.progress and next(client.progress.pending) then
          one_reads = true
        else
          settled[client.id] = true
        end
      end
      if one_reads and vim.uv.now() - began < limit then
        return
      end
      stop()
      done(one_reads)
    end)
  )
  return stop
end

-- What an agent changes in a file that no buffer has, Neovim tells no server.
api.nvim_create_autocmd('User', {
  group = api.nvim_create_augroup('acp_servers', {}),
  pattern = 'AcpFileChanged',
  desc = 'Tell the language servers what an agent has changed on the disk',
  callback = function(event)
    local path = event.data and event.data.path
    if not path or text.buf(path) then
      return
    end
    local kind = vim.uv.fs_stat(path) and 2 or 3 -- changed, or deleted
    local params = { changes = { { uri = vim.uri_from_fname(path), type = kind } } }
    for _, client in ipairs(M.of()) do
      call(client, 'notify', 'workspace/didChangeWatchedFiles', params)
    end
  end,
})

---The buffer of a file, when its servers are there.
---@param path string
---@param limit integer in ms
---@param done fun(buf?: integer, err?: string, lacks?: string) once, unless given up; lacks is
---  why the servers know less than they might
---@return fun() cancel
function M.ready(path, limit, done)
  local buf, fresh = text.buf(path), false
  if not buf then
    local err
    buf, err = open(path)
    if not buf then
      done(nil, err)
      return function() end
    end
    fresh = true
  elseif closing[buf] then
    close_later(buf)
  end
  local timer, began = assert(vim.uv.new_timer()), vim.uv.now()
  local over, stop_settling = false, nil
  local function stop()
    if not over then
      over = true
      timer:close()
    end
    if stop_settling then
      stop_settling()
    end
  end
  local function go_on()
    stop()
    if #M.of(buf) == 0 then
      local filetype = vim.bo[buf].filetype
      local kind = filetype == '' and 'of no known type' or 'filetype ' .. filetype
      return done(nil, ('no language server for this file (%s)'):format(kind))
    end
    local starting = one_starts(buf)
    stop_settling = settle(buf, limit, function(reads)
      local lacks = reads and 'is still reading the project' or starting and 'is still starting'
      done(buf, nil, lacks and ('a language server %s: ask again later'):format(lacks) or nil)
    end)
  end
  local function look()
    if over then
      return
    elseif not api.nvim_buf_is_valid(buf) then
      stop()
      return done(nil, 'the file was closed')
    end
    local patience = one_starts(buf) and starts or fresh and one_lacks(buf) and appears or 0
    if vim.uv.now() - began >= math.min(patience, limit) then
      go_on()
    else
      timer:start(looks, 0, vim.schedule_wrap(look))
    end
  end
  look()
  return stop
end

---@class acp.ServerAnswer
---@field client vim.lsp.Client
---@field result any
---@field err? string

---Asks servers concurrently. Answers that miss the limit are dropped.
---@param clients vim.lsp.Client[]
---@param method string
---@param params fun(client: vim.lsp.Client): table
---@param buf integer
---@param limit integer in ms
---@param done fun(answers: acp.ServerAnswer[], partial: boolean) once, unless it is given up
---@return fun() cancel
function M.ask(clients, method, params, buf, limit, done)
  local answers, waiting, count = {}, {}, 0
  local over, partial, asking = false, false, true
  local timer = assert(vim.uv.new_timer())
  local group = api.nvim_create_augroup(('acp_ask_%d'):format(vim.uv.hrtime()), {})
  local function stop()
    if over then
      return false
    end
    over = true
    timer:close()
    pcall(api.nvim_del_augroup_by_id, group)
    for client, id in pairs(waiting) do
      call(client, 'cancel_request', id)
    end
    return true
  end
  local function finish()
    if stop() then
      done(answers, partial)
    end
  end
  ---@param client vim.lsp.Client
  ---@param answer? acp.ServerAnswer
  local function came(client, answer)
    if over or waiting[client] == nil then
      return
    end
    waiting[client] = nil
    count = count - 1
    if answer and not answer.err then
      table.insert(answers, answer)
    else
      partial = true
    end
    if count == 0 and not asking then
      finish()
    end
  end
  for _, client in ipairs(clients) do
    local function handler(err, result)
      local failure = err and (err.message or tostring(err)) or nil
      came(client, { client = client, result = result, err = failure })
    end
    waiting[client], count = 0, count + 1
    local ok, id = call(client, 'request', method, params(client), handler, buf)
    if not ok then
      came(client)
    elseif waiting[client] then
      waiting[client] = id
    end
  end
  asking = false
  if count == 0 then
    vim.schedule(finish)
  end
  api.nvim_create_autocmd('LspDetach', {
    group = group,
    desc = 'Give up on a language server that has gone',
    callback = function(event)
      for client in pairs(waiting) do
        if client.id == event.data.client_id then
          came(client)
        end
      end
    end,
  })
  timer:start(
    limit,
    0,
    vim.schedule_wrap(function()
      partial = true
      finish()
    end)
  )
  return stop
end

return M
