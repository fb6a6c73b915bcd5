---What a prompt names: files, `@src/lexer.lua`, `@src/lexer.lua:40-66`, `@"a name.txt":7`, and the
---words of acp.prompt.context, such as `@diagnostics`. They are words of the prompt like any other,
---and each is sent as a content block too.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp_mention')

---@class acp.Mention
---@field context? string what is no file, by its word
---@field arg? string of that
---@field path? string absolute; of a context: the file that it is about
---@field first? integer line, 1-based
---@field last? integer line, inclusive

---@param path string
---@return string
local function quote(path)
  if path:find('[%s"]') then
    return '"' .. path:gsub('[\\"]', '\\%0') .. '"'
  end
  return path
end

---@param quoted string what is between the quotes
---@return string
function M.unquote(quoted)
  return (quoted:gsub('\\(.)', '%1'))
end

---@param first? integer
---@param last? integer
---@return string suffix of a path, '' for all lines
function M.lines(first, last)
  if not first then
    return ''
  end
  return first == last and (':%d'):format(first) or (':%d-%d'):format(first, last)
end

---How a file is named in a prompt.
---@param path string below the session's folder, or absolute
---@param first? integer
---@param last? integer
---@return string
function M.text(path, first, last)
  return '@' .. quote(path) .. M.lines(first, last)
end

---A path relative to a folder.
---@param path string absolute
---@param cwd string
---@return string
function M.relative(path, cwd)
  local prefix = cwd:gsub('/?$', '/')
  return vim.startswith(path, prefix) and path:sub(#prefix + 1) or path
end

---@param path string absolute
---@return integer? buf
function M.buf_of(path)
  local buf = vim.fn.bufnr('^' .. vim.fn.escape(path, '\\*?[]{},$^') .. '$')
  return buf ~= -1 and buf or nil
end

---@param path string
---@return boolean whether the disk or a buffer has it
local function exists(path)
  if vim.uv.fs_stat(path) then
    return true
  end
  local buf = M.buf_of(path)
  return buf ~= nil and vim.bo[buf].buftype == '' and api.nvim_buf_is_loaded(buf)
end

---@param path string
---@param cwd string
---@return string? absolute of a file that exists
local function resolve(path, cwd)
  if path:sub(1, 2) == '~/' then
    path = vim.uv.os_homedir() .. path:sub(2)
  elseif path:sub(1, 1) ~= '/' then
    path = cwd:gsub('/?$', '/') .. path
  end
  return exists(path) and path or nil
end

---@param suffix string ':40-66', ':7' or something else
---@return integer? first, integer? last, integer? len
local function range(suffix)
  local first, last = suffix:match('^:(%d+)%-(%d+)')
  if not first then
    first = suffix:match('^:(%d+)')
    last = first
  end
  local from, to = tonumber(first), tonumber(last)
  if from and to and from > 0 and to >= from then
    return from, to, #suffix:match('^:[%d-]+')
  end
end

---A word without what belongs to the sentence: (see @url:https://example.org/a_(b)).
---@param word string
---@return string
local function bare(word)
  local last = word:sub(-1)
  local opening = ({ [')'] = '(', [']'] = '[', ['}'] = '{' })[last]
  local closes = opening and not word:sub(1, -2):find(opening, 1, true)
  if last:match('[%.,;:!%?>\'"`]') or closes then
    return bare(word:sub(1, -2))
  end
  return word
end

---The words for what is not a file, in the order of the menu. The last two take a name.
M.words = { 'buffer', 'selection', 'diagnostics', 'quickfix', 'diff', 'terminal', 'symbol', 'url' }

---What a word after `@` names, if it is one of these.
---@param word string
---@return acp.Mention?
local function parse(word)
  local name, arg = word:match('^(%l+):(.+)$')
  if word:match('^https?://[^/]') then
    name, arg = 'url', word
  end
  if name == 'url' and not arg:match('^%a[%w+.-]*:.') then
    return
  elseif name == 'symbol' or name == 'url' then
    return { context = name, arg = arg }
  elseif vim.tbl_contains(M.words, word) and word ~= 'symbol' and word ~= 'url' then
    return { context = word, arg = '' }
  end
end

---@param line string
---@param at integer where the name begins
---@param cwd string
---@return acp.Mention? mention, integer? stop its last byte
local function read(line, at, cwd)
  local about = ('diagnostics:'):len()
  if line:sub(at, at + about - 1) == 'diagnostics:' then
    local mention, stop = read(line, at + about, cwd)
    if mention and mention.path then
      mention.context, mention.arg = 'diagnostics', ''
      return mention, stop
    end
  end
  if line:sub(at, at) == '"' then
    local close = at + 1
    while line:sub(close, close) ~= '"' do
      if close > #line then
        return
      end
      close = close + (line:sub(close, close) == '\\' and 2 or 1)
    end
    local path = resolve(M.unquote(line:sub(at + 1, close - 1)), cwd)
    if path then
      local first, last, len = range(line:sub(close + 1))
      return { path = path, first = first, last = last }, close + (len or 0)
    end
    return
  end
  local quoted = line:match('^symbol:"[^"]+"', at)
  if quoted then
    return { context = 'symbol', arg = quoted:sub(9, -2) }, at + #quoted - 1
  end
  local word = line:match('^%S+', at)
  local named = word and bare(word)
  local context = named and parse(named)
  if context then
    return context, at + #named - 1
  end
  -- Without what belongs to the sentence: (see @src/lexer.lua:40-66).
  while word and word ~= '' do
    local path = resolve(word, cwd)
    if path then
      return { path = path }, at + #word - 1
    end
    local name, lines = word:match('^(.-)(:%d+%-?%d*)$')
    path = name and name ~= '' and resolve(name, cwd)
    local first, last, len = range(lines or '')
    if path and first and len == #lines then
      return { path = path, first = first, last = last }, at + #word - 1
    end
    word = word:match('^(.*)[%.,;:!%?%)%]}>\'"`]$')
  end
end

---What a line names.
---@param line string
---@param cwd string of the session
---@return {mention: acp.Mention, start: integer, stop: integer}[] in bytes, 1-based
local function scan(line, cwd)
  local found = {}
  local at = line:find('@', 1, true)
  while at do
    local stop
    if at == 1 or line:sub(at - 1, at - 1):match('%s') then
      local mention
      mention, stop = read(line, at + 1, cwd)
      if mention then
        table.insert(found, { mention = mention, start = at, stop = stop })
      end
    end
    at = line:find('@', (stop or at) + 1, true)
  end
  return found
end

---A prompt as content blocks: its words, and what they name.
---@param text string
---@param cwd string of the session
---@return table[] of type mention where it is no file
function M.blocks(text, cwd)
  if vim.trim(text) == '' then
    return {}
  end
  local blocks, known = { { type = 'text', text = text } }, {}
  for line in vim.gsplit(text, '\n', { plain = true }) do
    for _, found in ipairs(scan(line, cwd)) do
      local m = found.mention
      local key = ('%s:%s:%s:%s-%s'):format(m.context, m.arg, m.path, m.first, m.last)
      if not known[key] and m.context then
        table.insert(blocks, { type = 'mention', mention = m })
      elseif not known[key] then
        table.insert(blocks, { type = 'file', path = m.path, first = m.first, last = m.last })
      end
      known[key] = true
    end
  end
  return blocks
end

---Highlights what a prompt names.
---@param buf integer
---@param cwd string of the session
---@return acp.Mention[]
function M.highlight(buf, cwd)
  local named = {}
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for row, line in ipairs(api.nvim_buf_get_lines(buf, 0, -1, false)) do
    for _, found in ipairs(scan(line, cwd)) do
      api.nvim_buf_set_extmark(buf, ns, row - 1, found.start - 1, {
        end_col = found.stop,
        hl_group = 'AcpChip',
      })
      table.insert(named, found.mention)
    end
  end
  return named
end

return M
