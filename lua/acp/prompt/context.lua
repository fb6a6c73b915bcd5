---What a prompt can name besides files: `@buffer`, `@selection`, `@diagnostics`, `@quickfix`,
---`@terminal`, `@diff`, `@symbol:name`, `@url:address`. The words are resolved when the prompt is
---sent; the menu and the line above the prompt say beforehand what they would be.
local M = {}

local api = vim.api
local count = require('acp.notify').count

---How many lines a preview has, how many entries or lines of one thing are sent, and how long a
---language server may take, in ms.
local preview_lines, most, patience = 20, 2000, 2000
---How many lines of a terminal are sent.
local terminal_lines = 200

---@class acp.Context
---@field label string what goes along, in few words
---@field preview? fun(): string its text, or the beginning of it
---@field block? fun(): table as the host takes it
---@field empty? string why there is nothing, a sentence

---@generic T
---@param value T
---@return fun(): T
local function always(value)
  return function()
    return value
  end
end

---@param label string
---@param sentence string
---@return acp.Context
local function nothing(label, sentence)
  return { label = label, empty = sentence, preview = always(sentence) }
end

---@param lines string[]
---@return string
local function beginning(lines)
  local text = table.concat(lines, '\n', 1, math.min(#lines, preview_lines))
  return #lines > preview_lines and text .. '\n…' or text
end

---@param buf integer
---@return boolean whether it has text of the user's
local function is_code(buf)
  return vim.tbl_contains({ '', 'help', 'acwrite' }, vim.bo[buf].buftype)
    and not vim.startswith(vim.bo[buf].filetype, 'acp-')
end

---The buffer that the user is working on: this one, or else that of the window they came from, one
---that is shown, or the one used last.
---@return integer?
local function code_buf()
  local list = { api.nvim_get_current_buf() }
  local previous = vim.fn.win_getid(vim.fn.winnr('#'))
  local wins = { previous, unpack(api.nvim_tabpage_list_wins(0)) }
  for _, win in ipairs(wins) do
    if win ~= 0 and api.nvim_win_get_config(win).relative == '' then
      table.insert(list, api.nvim_win_get_buf(win))
    end
  end
  local infos = vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })
  table.sort(infos, function(a, b)
    return a.lastused > b.lastused
  end)
  for _, info in ipairs(infos) do
    table.insert(list, info.bufnr)
  end
  return vim.iter(list):find(is_code)
end

---@param buf integer
---@param cwd string
---@return string name, string path '' where it is no file
local function name_of(buf, cwd)
  local path = vim.bo[buf].buftype == '' and api.nvim_buf_get_name(buf) or ''
  if path ~= '' then
    return require('acp.prompt.mention').relative(path, cwd), path
  end
  local name = vim.fs.basename(api.nvim_buf_get_name(buf))
  return name ~= '' and name or 'an unnamed buffer', ''
end

---Lines of a buffer as a block: of its file if it has one, whose text the host reads.
---@param what string
---@param buf integer
---@param cwd string
---@param first? integer
---@param last? integer
---@return acp.Context
local function lines_of(what, buf, cwd, first, last)
  local name, path = name_of(buf, cwd)
  local label = name .. require('acp.prompt.mention').lines(first, last)
  local from, to = (first or 1) - 1, last or api.nvim_buf_line_count(buf)
  local function lines(most_lines)
    return api.nvim_buf_get_lines(buf, from, math.min(to, from + most_lines), false)
  end
  local function is_blank(most_lines)
    return vim.trim(table.concat(lines(most_lines), '')) == ''
  end
  if is_blank(preview_lines) and is_blank(math.huge) then
    return nothing('nothing in ' .. name, ('There is no text in %s'):format(label))
  end
  return {
    label = label,
    preview = function()
      return beginning(lines(preview_lines + 1))
    end,
    block = function()
      if path ~= '' then
        return { type = 'file', path = path, first = first, last = last, gathered = true }
      end
      local parts = { { text = table.concat(lines(math.huge), '\n') } }
      local description = 'Text of ' .. label
      return {
        type = 'excerpt',
        name = what,
        title = label,
        description = description,
        parts = parts,
      }
    end,
  }
end

---@param what string
---@param of string
---@param heading string
---@param label string
---@param gather fun(): {path?: string, text: string}[]
---@return acp.Context
local function excerpt(what, of, heading, label, gather)
  return {
    label = label,
    preview = function()
      local parts, lines = gather(), {}
      for i = 1, math.min(#parts, preview_lines + 1) do
        vim.list_extend(lines, vim.split(parts[i].text, '\n'))
      end
      return beginning(lines)
    end,
    block = function()
      local parts = gather()
      local rest = #parts - most
      if rest > 0 then
        parts = vim.list_slice(parts, 1, most)
        table.insert(parts, { text = ('… and %d more'):format(rest) })
      end
      return { type = 'excerpt', name = what, title = of, description = heading, parts = parts }
    end,
  }
end

local severities = { 'error', 'warning', 'info', 'hint' }
local types = { E = 'error: ', W = 'warning: ', I = 'info: ', N = 'note: ' }

---What is looked up at once.
---@type table<string, fun(cwd: string, mention: acp.Mention): acp.Context>
local at_once = {}

function at_once.buffer(cwd)
  local buf = code_buf()
  return buf and lines_of('buffer', buf, cwd) or nothing('no buffer', 'There is no other buffer')
end

function at_once.selection(cwd)
  local buf = code_buf()
  local first = buf and api.nvim_buf_get_mark(buf, '<')[1] or 0
  if not buf or first == 0 then
    local where = buf and ' in ' .. name_of(buf, cwd) or ''
    return nothing('no selection', 'Nothing was selected' .. where)
  end
  local last = math.min(api.nvim_buf_get_mark(buf, '>')[1], api.nvim_buf_line_count(buf))
  return lines_of('selection', buf, cwd, math.min(first, last), last)
end

function at_once.diagnostics(cwd, mention)
  local names = require('acp.prompt.mention')
  local path, name = mention.path or '', ''
  local buf = mention.path and names.buf_of(path) or not mention.path and code_buf() or nil
  if mention.path then
    name = names.relative(path, cwd)
  elseif buf then
    name, path = name_of(buf, cwd)
  end
  local list = vim.tbl_filter(function(d)
    local line = d.lnum + 1
    return not mention.first or mention.first <= line and line <= mention.last
  end, buf and vim.diagnostic.get(buf) or {})
  local where = name .. names.lines(mention.first, mention.last)
  if #list == 0 then
    local sentence = 'No diagnostics' .. (name ~= '' and ' in ' .. where or '')
    return nothing('no diagnostics', sentence)
  end
  table.sort(list, function(a, b)
    return a.lnum < b.lnum or a.lnum == b.lnum and a.col < b.col
  end)
  local label = count(#list, 'diagnostic') .. (mention.path and ' in ' .. where or '')
  return excerpt('diagnostics', where, 'Diagnostics in ' .. where, label, function()
    return vim.tbl_map(function(d)
      local from = d.source and (' [%s%s]'):format(d.source, d.code and ' ' .. d.code or '') or ''
      local place = ('%s:%d:%d'):format(name, d.lnum + 1, d.col + 1)
      local text = ('%s: %s: %s%s'):format(place, severities[d.severity], d.message, from)
      return { path = path, text = text }
    end, list)
  end)
end

---@param cwd string
---@return {path: string, text: string}[]
local function quickfix_lines(cwd)
  return vim.tbl_map(function(item)
    local text = vim.trim(item.text)
    local path = item.bufnr > 0 and api.nvim_buf_get_name(item.bufnr) or ''
    if path ~= '' then
      local place = require('acp.prompt.mention').relative(path, cwd)
      if item.lnum > 0 then
        place = place .. ':' .. item.lnum .. (item.col > 0 and ':' .. item.col or '')
      end
      text = ('%s: %s%s'):format(place, types[item.type] or '', text)
    end
    return { path = path, text = text }
  end, vim.fn.getqflist())
end

function at_once.quickfix(cwd)
  local list = vim.fn.getqflist({ size = 0, title = 0 })
  if list.size == 0 then
    return nothing('no quickfix list', 'The quickfix list is empty')
  end
  local of = list.title:gsub('^:', '')
  local heading = 'The quickfix list' .. (of ~= '' and (' of %s'):format(of) or '')
  return excerpt('quickfix', of, heading, ('quickfix list (%d)'):format(list.size), function()
    return quickfix_lines(cwd)
  end)
end

function at_once.terminal()
  local infos = vim.tbl_filter(function(info)
    local bo = vim.bo[info.bufnr]
    return bo.buftype == 'terminal' and bo.filetype ~= 'acp-terminal'
  end, vim.fn.getbufinfo({ bufloaded = 1 }))
  table.sort(infos, function(a, b)
    return a.lastused > b.lastused or a.lastused == b.lastused and a.bufnr > b.bufnr
  end)
  local info = infos[1]
  if not info then
    return nothing('no terminal', 'There is no terminal')
  end
  local lines = api.nvim_buf_get_lines(info.bufnr, -1 - 2 * terminal_lines, -1, false)
  while #lines > 0 and vim.trim(lines[#lines]) == '' do
    table.remove(lines)
  end
  if #lines == 0 then
    return nothing('nothing in the terminal', 'The terminal shows nothing')
  end
  lines = vim.list_slice(lines, math.max(1, #lines - terminal_lines + 1))
  local command = info.name:match('^term://.-//%d+:(.*)$') or vim.fs.basename(info.name)
  local heading = 'The last output in the terminal of ' .. command
  local label = ('%s of the terminal'):format(count(#lines, 'line'))
  return excerpt('terminal', command, heading, label, function()
    return { { text = table.concat(lines, '\n') } }
  end)
end

---@class acp.Symbol
---@field name string
---@field kind string
---@field path string
---@field first integer line, 1-based
---@field last integer

---@param list table[] of a language server
---@param path string where they say none
---@param into acp.Symbol[]
local function flatten(list, path, into)
  for _, s in ipairs(list) do
    local range = s.range or (s.location or {}).range
    if range then
      table.insert(into, {
        name = s.name,
        kind = vim.lsp.protocol.SymbolKind[s.kind] or '',
        path = s.location and vim.uri_to_fname(s.location.uri) or path,
        first = range.start.line + 1,
        last = range['end'].line + ((range['end'].character > 0 or s.range == nil) and 1 or 0),
      })
    end
    flatten(s.children or {}, path, into)
  end
end

---Asks the language servers of a buffer, for a limited time.
---@param buf integer
---@param method string
---@param params table
---@param done fun(symbols: acp.Symbol[], late: boolean)
local function ask(buf, method, params, done)
  local cancel, answered
  local function answer(results)
    if answered then
      return
    end
    answered = true
    local found = {}
    for _, r in pairs(results or {}) do
      flatten(type(r.result) == 'table' and r.result or {}, api.nvim_buf_get_name(buf), found)
    end
    done(found, results == nil)
  end
  if #vim.lsp.get_clients({ bufnr = buf, method = method }) == 0 then
    return answer({})
  end
  cancel = vim.lsp.buf_request_all(buf, method, params, answer)
  vim.defer_fn(function()
    if not answered then
      cancel()
      answer(nil)
    end
  end, patience)
end

---The symbols of the buffer that the user is at work on.
---@param done fun(symbols: acp.Symbol[], buf: integer?, late: boolean)
function M.symbols(done)
  local buf = code_buf()
  if not buf then
    return done({}, nil, false)
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
  ask(buf, 'textDocument/documentSymbol', params, function(symbols, late)
    done(symbols, buf, late)
  end)
end

---@param name string
---@param symbols acp.Symbol[]
---@return acp.Symbol?
local function named(name, symbols)
  return vim.iter(symbols):find(function(s)
    return s.name == name
  end)
end

---@param name string
---@param done fun(context: acp.Context)
local function symbol(name, done)
  local function found(s, late)
    if s and s.path ~= '' then
      local block = { type = 'file', path = s.path, first = s.first, last = s.last }
      block.gathered = true
      return done({
        label = name,
        block = always(block),
      })
    end
    local why = late and 'the language server did not answer in time'
      or 'no language server of the buffer knows it'
    done(nothing(name, ('The symbol %s was not found: %s'):format(name, why)))
  end
  M.symbols(function(symbols, buf, late)
    local s = named(name, symbols)
    if s or late or not buf then
      return found(s, late)
    end
    ask(buf, 'workspace/symbol', { query = name }, function(all, too_late)
      found(named(name, all), too_late)
    end)
  end)
end

---@type table<integer, acp.Context> what @diff would send, by session
local diffs = {}
---@type table<integer, table> the host's word of it
local looked = {}

---Asks the host what a diff would send.
---@param session integer
---@param done fun() when that is another than before
function M.look(session, done)
  local before = looked[session]
  require('acp.rpc.host').request('preview_diff', { session = session }, function(found)
    if found and found.empty ~= '' then
      diffs[session] = nothing('no diff', (found.empty:gsub('^%l', string.upper)))
    elseif found then
      local lines = vim.split(vim.trim(found.text), '\n')
      diffs[session] = { label = 'diff', preview = always(beginning(lines)) }
    end
    if not vim.deep_equal(before, found) then
      looked[session] = found
      done()
    end
  end)
end

require('acp.chat.buffers').forgotten:add(function(id)
  diffs[id], looked[id] = nil, nil
end)

---What a word would send, as far as that is known at once.
---@param session integer
---@param cwd string
---@param mention acp.Mention
---@return acp.Context
function M.preview(session, cwd, mention)
  local name, arg = mention.context, mention.arg
  if at_once[name] then
    return at_once[name](cwd, mention)
  elseif name == 'diff' then
    return diffs[session]
      or { label = 'diff', preview = always('What has changed since the last commit') }
  elseif name == 'symbol' then
    local text = 'The lines of a symbol that a language server knows'
    return { label = arg ~= '' and arg or 'symbol', preview = always(text) }
  end
  local text = 'The address alone: nothing is fetched'
  return { label = arg and arg:match('^%a+://([^/?#]+)') or 'address', preview = always(text) }
end

---@param mention acp.Mention
---@param cwd string
---@param done fun(context: acp.Context)
local function look_up(mention, cwd, done)
  local name, arg = mention.context, mention.arg
  if at_once[name] then
    done(at_once[name](cwd, mention))
  elseif name == 'symbol' then
    symbol(arg, done)
  elseif name == 'diff' then
    local block = { type = 'diff' }
    done({
      label = name,
      block = always(block),
    })
  else
    local short = arg:gsub('^%a+://', '')
    local block = { type = 'resource_link', uri = arg, name = short }
    done({
      label = short,
      block = always(block),
    })
  end
end

---A prompt as content blocks, with what its words stand for. The user is told what is missing, and
---it is left out.
---@param text string
---@param session acp.Session
---@param done fun(blocks: table[]?, err: string?) at once where no language server is asked
function M.blocks(text, session, done)
  local said, err = require('acp.prompt.own_prompts').expand(text, session)
  if not said then
    return done(nil, err)
  end
  local cwd = session.cwd
  local blocks = require('acp.prompt.mention').blocks(said, cwd)
  local filled, missing, told = {}, #blocks, {}
  local function got(i, block, empty)
    filled[i] = block or false
    table.insert(told, empty)
    missing = missing - 1
    if missing > 0 then
      return
    end
    if #told > 0 then
      local what = #told == 1 and 'that was' or 'these were'
      local sentence = ('%s: %s not sent along'):format(table.concat(told, '. '), what)
      require('acp.notify').info(sentence)
    end
    local seen = {}
    done(vim.tbl_filter(function(found)
      local is = found and found.type == 'file' and { found.path, found.first, found.last }
      local key = is and vim.inspect(is) or found
      local fresh = found and not seen[key]
      seen[key] = true
      return fresh
    end, filled))
  end
  if #blocks == 0 then
    done({})
  end
  for i, block in ipairs(blocks) do
    if block.type == 'mention' then
      look_up(block.mention, cwd, function(context)
        got(i, context.block and context.block(), context.empty)
      end)
    else
      got(i, block)
    end
  end
end

return M
