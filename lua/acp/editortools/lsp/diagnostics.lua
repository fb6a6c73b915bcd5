---Diagnostics, as new as the text that they are of.
local M = {}

local api = vim.api
local servers = require('acp.editortools.lsp.servers')
local text = require('acp.editortools.lsp.text')

---@type table<integer, integer> by buffer: its text, as |b:changedtick|, when diagnostics last came
local seen = {}

---How long no more must come after some have come, in ms: servers send them in parts.
local settles = 150

api.nvim_create_autocmd('DiagnosticChanged', {
  group = api.nvim_create_augroup('acp_diagnostics', {}),
  desc = 'Note of which text the diagnostics are',
  callback = function(event)
    seen[event.buf] = vim.b[event.buf].changedtick
  end,
})

---Waits until diagnostics of the newest text have come for all buffers, at most for a time.
---@param bufs integer[]
---@param limit integer in ms
---@param done fun(complete: boolean)
---@return fun() cancel
function M.newest(bufs, limit, done)
  local function missing()
    for _, buf in ipairs(bufs) do
      if api.nvim_buf_is_valid(buf) and seen[buf] ~= vim.b[buf].changedtick then
        return true
      end
    end
    return false
  end
  if not missing() then
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
    local complete = not missing()
    if stop() then
      for _, buf in ipairs(bufs) do -- what says nothing for so long has nothing to say
        seen[buf] = api.nvim_buf_is_valid(buf) and vim.b[buf].changedtick or nil
      end
      done(complete)
    end
  end
  command = api.nvim_create_autocmd('DiagnosticChanged', {
    desc = 'See whether the diagnostics are there that a tool waits for',
    callback = function()
      if not over and not missing() then
        quiet:start(settles, 0, vim.schedule_wrap(finish))
      end
    end,
  })
  timer:start(limit, 0, vim.schedule_wrap(finish))
  return stop
end

local names = { 'error', 'warning', 'info', 'hint' }

---How many are told one by one, the worst first; of the others only their number.
local most = 500

---@param buf integer
---@param level integer a severity
---@param list table[]
local function collect(buf, level, list)
  local path = vim.fs.normalize(api.nvim_buf_get_name(buf))
  for _, d in ipairs(vim.diagnostic.get(buf, { severity = level })) do
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
---@param done fun(list: table[], more: integer)
---@return fun() cancel
function M.of(bufs, severity, done)
  local list, more, parts = {}, 0, {}
  for level = 1, vim.fn.index(names, severity or 'hint') + 1 do
    for _, buf in ipairs(bufs) do
      table.insert(parts, { buf, level })
    end
  end
  return text.sliced(parts, function(part)
    local buf, level = part[1], part[2]
    if not api.nvim_buf_is_valid(buf) or api.nvim_buf_get_name(buf) == '' then
      return
    end
    local count = vim.diagnostic.count(buf, { severity = level })[level] or 0
    if #list >= most then
      more = more + count
    elseif count > 0 then
      collect(buf, level, list)
    end
  end, function()
    more = more + math.max(0, #list - most)
    list = vim.list_slice(list, 1, most)
    table.sort(list, function(a, b)
      if a.path ~= b.path then
        return a.path < b.path
      elseif a.line ~= b.line then
        return a.line < b.line
      end
      return a.column < b.column
    end)
    done(list, more)
  end)
end

---Asks servers that give diagnostics when asked, and shows them as Neovim does.
---@param buf integer
---@param limit integer in ms
---@param done fun()
---@return fun() cancel
function M.pull(buf, limit, done)
  local method = 'textDocument/diagnostic'
  local clients = vim.tbl_filter(function(client)
    return servers.can(client, method, buf)
  end, servers.of(buf))
  if #clients == 0 then
    done()
    return function() end
  end
  local uri = vim.uri_from_bufnr(buf)
  return servers.ask(
    clients,
    method,
    function()
      return { textDocument = { uri = uri } }
    end,
    buf,
    limit,
    function(answers)
      for _, answer in ipairs(answers) do
        local handler = vim.lsp.handlers[method]
        if handler and type(answer.result) == 'table' then
          pcall(handler, nil, answer.result, {
            method = method,
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
