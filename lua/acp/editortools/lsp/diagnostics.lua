---Diagnostics that are up to date with their text.
local M = {}

local api = vim.api
local servers = require('acp.editortools.lsp.servers')
local text = require('acp.editortools.lsp.text')

---@type table<integer, integer> by buffer: its text, as |b:changedtick|, of which servers have told
local seen = {}
---@type table<integer, integer> by buffer: when they told last, in ms of vim.uv.now()
local told_at = {}
---When an agent last changed a file, which may change the diagnostics of others.
local changed_at = 0

---How long nothing more must come after some have come, in ms: servers send them in parts.
local settles = 150
---How long to wait for what a change of another file causes, in ms: mostly there is nothing.
local others = 1500

local method = 'textDocument/publishDiagnostics'
local handler = vim.lsp.handlers[method]

-- The autocommand of diagnostics does not say of which text they are, nor whether a server's.
vim.lsp.handlers[method] = function(err, result, ...)
  local uri = type(result) == 'table' and result.uri
  local path = type(uri) == 'string' and vim.startswith(uri, 'file:') and vim.uri_to_fname(uri)
  local buf = path and text.buf(vim.fs.normalize(path))
  local now = buf and vim.lsp.util.buf_versions[buf]
  local version = buf and type(result.version) == 'number' and result.version
  if buf and not (version and now and version < now) then
    seen[buf], told_at[buf] = vim.b[buf].changedtick, vim.uv.now()
    api.nvim_exec_autocmds('User', { pattern = 'AcpDiagnosticsSeen', modeline = false })
  end
  return handler(err, result, ...)
end

api.nvim_create_autocmd('User', {
  group = api.nvim_create_augroup('acp_diagnostics', {}),
  pattern = 'AcpFileChanged',
  desc = 'Note that diagnostics of other files may change',
  callback = function()
    changed_at = vim.uv.now()
  end,
})

---Waits, up to a limit, until diagnostics of the newest text have come for all buffers with
---language servers. For other buffers, and other sources, none are expected.
---@param bufs integer[]
---@param limit integer in ms
---@param done fun(complete: boolean)
---@return fun() cancel
function M.newest(bufs, limit, done)
  ---@return boolean hard of a buffer's own text
  ---@return boolean soft of what another file may have changed
  local function missing()
    local soft = false
    for _, buf in ipairs(bufs) do
      if api.nvim_buf_is_loaded(buf) and #servers.of(buf) > 0 then
        if seen[buf] ~= vim.b[buf].changedtick then
          return true, true
        end
        soft = soft or (told_at[buf] or 0) < changed_at
      end
    end
    return false, soft
  end
  local hard, soft = missing()
  if not hard and not soft then
    done(true)
    return function() end
  end
  local timer, quiet = assert(vim.uv.new_timer()), assert(vim.uv.new_timer())
  local over, command = false, nil
  local function stop()
    if over then
      return false
    end
    over = true
    timer:close()
    quiet:close()
    api.nvim_del_autocmd(command)
    return true
  end
  local function finish()
    local lacks = missing()
    if stop() then
      done(not lacks)
    end
  end
  command = api.nvim_create_autocmd('User', {
    pattern = 'AcpDiagnosticsSeen',
    desc = 'See whether the diagnostics are there that a tool waits for',
    callback = function()
      local still, elsewhere = missing()
      if not over and not still and not elsewhere then
        quiet:start(settles, 0, vim.schedule_wrap(finish))
      end
    end,
  })
  timer:start(hard and limit or math.min(limit, others), 0, vim.schedule_wrap(finish))
  return stop
end

---Notes that the diagnostics of a buffer were requested, and are up to date.
---@param buf integer
local function asked(buf)
  seen[buf], told_at[buf] = vim.b[buf].changedtick, vim.uv.now()
end

local names = { 'error', 'warning', 'info', 'hint' }

---How many are listed, the worst first; the others are only counted.
local most = 500

---@param buf integer
---@param level integer a severity
---@param path string
---@param list table[] of at most `most`
local function collect(buf, level, path, list)
  for _, d in ipairs(vim.diagnostic.get(buf, { severity = level })) do
    if #list >= most then
      return
    end
    table.insert(list, {
      path = path,
      line = d.lnum + 1,
      column = d.col + 1,
      severity = names[d.severity],
      message = d.message,
      source = d.source,
      code = d.code and tostring(d.code) or nil,
    })
  end
end

---The diagnostics of buffers, by file and line.
---@param bufs integer[]
---@param severity? 'error'|'warning'|'info'|'hint' and worse
---@param done fun(list: table[], counted: acp.Counted)
---@return fun() cancel
function M.of(bufs, severity, done)
  -- Each part looks through all diagnostics of a buffer: first to count them, then for those of a
  -- severity, the worst first.
  local list, counts, parts = {}, {}, vim.list_extend({}, bufs)
  local left_out = {} ---@type table<string, integer> by path
  for level = 1, vim.fn.index(names, severity or 'hint') + 1 do
    for _, buf in ipairs(bufs) do
      table.insert(parts, { buf, level })
    end
  end
  return text.sliced(parts, function(part)
    if type(part) == 'number' then
      local named = api.nvim_buf_is_valid(part) and api.nvim_buf_get_name(part) ~= ''
      counts[part] = named and vim.diagnostic.count(part) or {}
      return
    end
    local buf, level = part[1], part[2]
    local count = counts[buf][level] or 0
    if count > 0 and api.nvim_buf_is_valid(buf) then
      local path, before = vim.fs.normalize(api.nvim_buf_get_name(buf)), #list
      if before < most then
        collect(buf, level, path, list)
      end
      local left = count - (#list - before)
      left_out[path] = left > 0 and (left_out[path] or 0) + left or left_out[path]
    end
  end, function()
    local paths = vim.tbl_keys(left_out)
    table.sort(list, function(a, b)
      if a.path ~= b.path then
        return a.path < b.path
      elseif a.line ~= b.line then
        return a.line < b.line
      end
      return a.column < b.column
    end)
    local function count_of(path)
      return left_out[path]
    end
    done(list, { paths = paths, counts = vim.tbl_map(count_of, paths) })
  end)
end

---Asks servers that provide diagnostics on request, and shows them as Neovim does.
---@param buf integer
---@param limit integer in ms
---@param done fun()
---@return fun() cancel
function M.pull(buf, limit, done)
  local asks = 'textDocument/diagnostic'
  local clients = vim.tbl_filter(function(client)
    return servers.can(client, asks, buf)
  end, servers.of(buf))
  if #clients == 0 then
    done()
    return function() end
  end
  local uri = vim.uri_from_bufnr(buf)
  return servers.ask(
    clients,
    asks,
    function()
      return { textDocument = { uri = uri } }
    end,
    buf,
    limit,
    function(answers, partial)
      if not partial then
        asked(buf)
      end
      for _, answer in ipairs(answers) do
        local show = vim.lsp.handlers[asks]
        if show and type(answer.result) == 'table' then
          pcall(show, nil, answer.result, {
            method = asks,
            client_id = answer.client.id,
            bufnr = buf,
            params = { textDocument = { uri = uri } },
          })
        end
      end
      done()
    end
  )
end

return M
