---What the language servers know, for the editor's tools. Nothing is changed or decided here:
---the host gets places, texts and edits.
local M = {}

local actions = require('acp.editortools.lsp.actions')
local diagnostics = require('acp.editortools.lsp.diagnostics')
local edits = require('acp.editortools.lsp.edits')
local places = require('acp.editortools.lsp.places')
local position = require('acp.editortools.lsp.position')
local servers = require('acp.editortools.lsp.servers')

---@class acp.LspArgs
---@field path? string absolute
---@field line? integer from 1
---@field symbol? string
---@field column? integer byte, from 1
---@field query? string
---@field severity? 'error'|'warning'|'info'|'hint'
---@field wait_ms? integer
---@field limit_ms? integer
---@field id? string of a code action
---@field new_name? string

---@class acp.LspResult
---@field err? string one sentence
---@field places? table[]
---@field located? acp.Located[] places whose texts the host adds
---@field counted? acp.Counted places, or diagnostics, than those
---@field diagnostics? table[]
---@field text? string
---@field actions? {id: string, title: string, kind?: string}[]
---@field edits? table[]
---@field note? string what the agent should know of how it was understood
---@field partial? boolean
---@field servers? string[]

---How long servers may take if the call does not say, in ms.
local default_limit, default_wait = 10000, 3000

---A question under way, which is given up as a whole.
---@class acp.Question
---@field args acp.LspArgs
---@field limit integer in ms, of all that the servers are asked for it
---@field ends? integer when that is over, in ms of vim.uv.now()
---@field buf? integer
---@field result acp.LspResult
---@field done fun(result: acp.LspResult)
---@field stop fun()
---@field answered fun(take: function): function that takes what servers have answered, whatever
---  it is: the call gets an error at least

---How much longer the servers may take, counted from when they were first asked, in ms.
---@param q acp.Question
---@return integer
local function left(q)
  q.ends = q.ends or vim.uv.now() + q.limit
  return math.max(1, q.ends - vim.uv.now())
end

---@param q acp.Question
---@param clients vim.lsp.Client[]
local function name_servers(q, clients)
  q.result.servers = vim.tbl_map(function(client)
    return client.name
  end, clients)
end

---Asks all servers of the buffer that know a method.
---@param q acp.Question
---@param method string
---@param params fun(client: vim.lsp.Client): table
---@param go_on fun(answers: acp.ServerAnswer[])
local function ask(q, method, params, go_on)
  local clients = vim.tbl_filter(function(client)
    return servers.can(client, method, q.buf)
  end, servers.of(q.buf))
  name_servers(q, clients)
  if #clients == 0 then
    return q.done({ err = 'the language server of this file does not know that' })
  end
  local take = q.answered(function(answers, partial)
    q.result.partial = q.result.partial or partial or nil
    if #answers == 0 and partial then
      return q.done({ err = 'the language server has not answered in time, or has failed' })
    end
    go_on(answers)
  end)
  q.stop = servers.ask(clients, method, params, q.buf, left(q), take)
end

---The place that is asked about, in a server's units.
---@param q acp.Question
---@return (fun(client: vim.lsp.Client): table)? params
local function at_symbol(q)
  local lines = vim.api.nvim_buf_get_lines(q.buf, 0, -1, false)
  local place, err = position.find(lines, q.args)
  if not place then
    q.done({ err = err })
    return nil
  end
  q.result.note = q.result.note or place.note
  return function(client)
    local units = position.units(lines[place.line + 1], place.byte, client.offset_encoding)
    return {
      textDocument = { uri = vim.uri_from_bufnr(q.buf) },
      position = { line = place.line, character = units },
    }
  end
end

---@param q acp.Question
---@param spots acp.Spot[]
---@param sort boolean
local function tell_places(q, spots, sort)
  q.stop = places.of(spots, sort, function(list)
    q.result.places = list
    q.done(q.result)
  end)
end

---@param method string
---@param context? table
---@return fun(q: acp.Question)
local function locations(method, context)
  return function(q)
    local params = at_symbol(q)
    if not params then
      return
    end
    ask(q, method, function(client)
      return vim.tbl_extend('force', params(client), { context = context })
    end, function(answers)
      local files, count = {}, #answers
      local function next_answer()
        local answer = table.remove(answers)
        if answer then
          local encoding = answer.client.offset_encoding
          q.stop = places.locate(answer.result, encoding, files, next_answer)
          return
        end
        q.result.located, q.result.counted = places.shorten(files, count)
        q.done(q.result)
      end
      next_answer()
    end)
  end
end

---@param method 'incomingCalls'|'outgoingCalls'
---@return fun(q: acp.Question)
local function calls(method)
  return function(q)
    local params = at_symbol(q)
    if not params then
      return
    end
    ask(q, 'textDocument/prepareCallHierarchy', params, function(answers)
      local items, spots = {}, {}
      for _, answer in ipairs(answers) do
        for _, item in ipairs(type(answer.result) == 'table' and answer.result or {}) do
          table.insert(items, { answer.client, item })
        end
      end
      local function next_item()
        local pair = table.remove(items, 1)
        if not pair then
          return tell_places(q, spots, true)
        end
        local client, item = pair[1], pair[2]
        q.stop = servers.ask(
          { client },
          'callHierarchy/' .. method,
          function()
            return { item = item }
          end,
          q.buf,
          left(q),
          q.answered(function(more, partial)
            q.result.partial = q.result.partial or partial or nil
            for _, call in ipairs(more[1] and more[1].result or {}) do
              local other = call.from or call.to
              for _, range in ipairs(call.from and call.fromRanges or { other.selectionRange }) do
                table.insert(spots, {
                  uri = other.uri,
                  range = range,
                  encoding = client.offset_encoding,
                  name = other.name,
                })
              end
            end
            next_item()
          end)
        )
      end
      next_item()
    end)
  end
end

---@type table<string, fun(q: acp.Question)> of tools that are about a file
local of_file = {
  definition = locations('textDocument/definition'),
  declaration = locations('textDocument/declaration'),
  type_definition = locations('textDocument/typeDefinition'),
  implementation = locations('textDocument/implementation'),
  references = locations('textDocument/references', { includeDeclaration = true }),
  incoming_calls = calls('incomingCalls'),
  outgoing_calls = calls('outgoingCalls'),
}

function of_file.hover(q)
  local params = at_symbol(q)
  if params then
    ask(q, 'textDocument/hover', params, function(answers)
      local texts = {}
      for _, answer in ipairs(answers) do
        local contents = type(answer.result) == 'table' and answer.result.contents
        local lines = contents and vim.lsp.util.convert_input_to_markdown_lines(contents) or {}
        local one = vim.trim(table.concat(lines, '\n'))
        if one ~= '' and not vim.tbl_contains(texts, one) then
          table.insert(texts, one)
        end
      end
      q.result.text = table.concat(texts, '\n\n')
      q.done(q.result)
    end)
  end
end

function of_file.signature(q)
  local params = at_symbol(q)
  if params then
    ask(q, 'textDocument/signatureHelp', params, function(answers)
      local texts = {}
      for _, answer in ipairs(answers) do
        for _, signature in ipairs(answer.result and answer.result.signatures or {}) do
          local doc = signature.documentation
          doc = type(doc) == 'table' and doc.value or doc
          table.insert(texts, signature.label .. (doc and doc ~= '' and '\n' .. doc or ''))
        end
      end
      q.result.text = table.concat(texts, '\n\n')
      q.done(q.result)
    end)
  end
end

function of_file.symbols(q)
  local uri = vim.uri_from_bufnr(q.buf)
  ask(q, 'textDocument/documentSymbol', function()
    return { textDocument = { uri = uri } }
  end, function(answers)
    local spots = {}
    for _, answer in ipairs(answers) do
      places.symbols(answer.result, answer.client.offset_encoding, spots, uri)
    end
    tell_places(q, spots, false)
  end)
end

function of_file.code_actions(q)
  local row = math.max(1, q.args.line or 1) - 1
  local line = vim.api.nvim_buf_get_lines(q.buf, row, row + 1, false)[1]
  if not line then
    return q.done({ err = ('there is no line %d'):format(row + 1) })
  end
  ask(q, 'textDocument/codeAction', function(client)
    local problems = {}
    for _, d in ipairs(vim.diagnostic.get(q.buf, { lnum = row })) do
      local lsp = d.user_data and d.user_data.lsp
      if lsp and lsp.range then
        table.insert(problems, lsp)
      end
    end
    return {
      textDocument = { uri = vim.uri_from_bufnr(q.buf) },
      range = {
        start = { line = row, character = 0 },
        ['end'] = {
          line = row,
          character = position.units(line, #line, client.offset_encoding),
        },
      },
      context = { diagnostics = problems, triggerKind = 1 },
    }
  end, function(answers)
    q.result.actions = actions.offer(answers, q.buf)
    q.done(q.result)
  end)
end

---Reports the edits of all servers together. What contradicts an earlier server is left out, with a
---note.
---@param q acp.Question
---@param answers acp.ServerAnswer[]
---@param none string
local function tell_edits(q, answers, none)
  table.sort(answers, function(a, b)
    return a.client.id < b.client.id
  end)
  local taken, list, problem, left_out = {}, nil, nil, {}
  for _, answer in ipairs(answers) do
    if type(answer.result) == 'table' and next(answer.result) then
      local edit = vim.islist(answer.result)
          and { changes = { [vim.uri_from_bufnr(q.buf)] = answer.result } }
        or answer.result
      local tried = vim.list_extend({}, taken)
      table.insert(tried, actions.answered(answer.client, edit))
      local found, err = edits.of(tried)
      if found then
        taken, list = tried, found
      else
        problem = problem or err
        table.insert(left_out, answer.client.name)
      end
    end
  end
  if not list then
    return q.done({ err = problem or none })
  elseif #left_out > 0 then
    local names = table.concat(left_out, ', ')
    local note = ('what %s would change contradicts the others and is left out'):format(names)
    q.result.note = q.result.note and q.result.note .. '; ' .. note or note
  end
  q.result.edits = list
  q.done(q.result)
end

function of_file.rename(q)
  local params = at_symbol(q)
  if params then
    ask(q, 'textDocument/rename', function(client)
      return vim.tbl_extend('force', params(client), { newName = q.args.new_name })
    end, function(answers)
      tell_edits(q, answers, 'the language server finds nothing to rename there')
    end)
  end
end

function of_file.format(q)
  local buf = q.buf
  ask(q, 'textDocument/formatting', function()
    return {
      textDocument = { uri = vim.uri_from_bufnr(buf) },
      options = {
        tabSize = vim.lsp.util.get_effective_tabstop(buf),
        insertSpaces = vim.bo[buf].expandtab,
      },
    }
  end, function(answers)
    tell_edits(q, answers, 'it is already formatted')
  end)
end

---@param q acp.Question
---@param bufs integer[]
local function tell_diagnostics(q, bufs)
  q.stop = diagnostics.newest(bufs, q.args.wait_ms or default_wait, function(complete)
    local lacks = not complete and q.args.wait_ms ~= 0 and #bufs > 0
    q.result.partial = q.result.partial or lacks or nil
    q.stop = diagnostics.of(bufs, q.args.severity, function(list, counted)
      q.result.diagnostics, q.result.counted = list, counted
      q.done(q.result)
    end)
  end)
end

function of_file.diagnostics(q)
  name_servers(q, servers.of(q.buf))
  local wait = math.min(left(q), q.args.wait_ms or default_wait)
  q.stop = diagnostics.pull(q.buf, math.max(wait, 1), function()
    tell_diagnostics(q, { q.buf })
  end)
end

---@type table<string, fun(q: acp.Question)> of tools that need no file
local of_all = {}

function of_all.diagnostics(q)
  local bufs, all = {}, {}
  for _, client in ipairs(servers.of()) do
    for buf in pairs(client.attached_buffers) do
      if not all[buf] then
        all[buf] = true
        table.insert(bufs, buf)
      end
    end
  end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do -- of files that servers tell of unasked
    if not all[buf] and next(vim.diagnostic.count(buf)) then
      table.insert(bufs, buf)
    end
  end
  if #bufs == 0 then
    return q.done({ err = 'no language server is running yet: name a file' })
  end
  name_servers(q, servers.of())
  tell_diagnostics(q, bufs)
end

function of_all.workspace_symbols(q)
  local method = 'workspace/symbol'
  local clients = vim.tbl_filter(function(client)
    return servers.can(client, method)
  end, servers.of())
  name_servers(q, clients)
  if #clients == 0 then
    return q.done({ err = 'no language server is running yet that knows this: name a file' })
  end
  q.stop = servers.ask(
    clients,
    method,
    function()
      return { query = q.args.query or '' }
    end,
    0,
    left(q),
    q.answered(function(answers, partial)
      local spots = {}
      for _, answer in ipairs(answers) do
        places.symbols(answer.result, answer.client.offset_encoding, spots)
      end
      q.result.partial = partial or nil
      tell_places(q, spots, false)
    end)
  )
end

function of_all.apply_code_action(q)
  q.stop = actions.edits(q.args.id or '', q.limit, function(list, err)
    q.done({ edits = list, err = err, text = actions.title(q.args.id or '') })
  end)
end

---Runs a tool. The answer comes once, unless the call is cancelled.
---@param tool string
---@param args acp.LspArgs
---@param done fun(result: acp.LspResult)
---@return fun() cancel
function M.run(tool, args, done)
  local over = false
  ---@type acp.Question
  local q = {
    args = args,
    limit = args.limit_ms and args.limit_ms > 0 and args.limit_ms or default_limit,
    result = {},
    stop = function() end,
    done = function(result)
      if not over then
        over = true
        done(result)
      end
    end,
  }
  function q.answered(take)
    return function(...)
      local ok, err = pcall(take, ...)
      if not ok then
        vim.lsp.log.warn('acp', tool, err)
        q.done({ err = 'the answer of the language server makes no sense' })
      end
    end
  end
  local path = args.path ~= '' and args.path or nil
  if of_file[tool] and path then
    q.stop = servers.ready(path, q.limit, function(buf, err, lacks)
      if not buf then
        return q.done({ err = err })
      end
      if lacks then
        q.result.partial, q.result.note = true, lacks
      end
      q.buf = buf
      of_file[tool](q)
    end)
  elseif of_all[tool] and (tool ~= 'workspace_symbols' or not path) then
    of_all[tool](q)
  elseif tool == 'workspace_symbols' then
    q.stop = servers.ready(path, q.limit, function()
      of_all.workspace_symbols(q)
    end)
  else
    q.done({ err = ('the tool %s needs a path'):format(tool) })
  end
  return function()
    over = true
    q.stop()
  end
end

return M
