---Highlights finished blocks of code in their language: once each, from a string parser, a few
---milliseconds at a time. No parser ever runs over the transcript itself.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp_code')

---How long Neovim may be kept from its user and how long it then rests, in ms, and how large a
---block may be, in bytes.
local slice, rest, limit = 4, 12, 200 * 1024

---Names that agents use for languages whose filetype has another one.
local aliases = {
  js = 'javascript',
  ts = 'typescript',
  py = 'python',
  sh = 'bash',
  shell = 'bash',
  zsh = 'bash',
  rs = 'rust',
  rb = 'ruby',
  yml = 'yaml',
  viml = 'vim',
  ['c++'] = 'cpp',
  golang = 'go',
}

---@class acp.CodeBlock
---@field buf integer
---@field mark integer an extmark on the first line
---@field lines integer
---@field lang string
---@field col integer where the code begins on each line

---@type acp.CodeBlock[] waiting, oldest first
local queue = {}
---@type thread? at work on a block
local work
---@type integer when the slice is over, in ns of vim.uv.hrtime()
local deadline

---@param name string as it stands behind the fence
---@return string? lang with a parser
local function language(name)
  name = name:lower():match('^[%w_+#-]+')
  if not name then
    return
  end
  name = aliases[name] or name
  local lang = vim.treesitter.language.get_lang(name) or name
  local ok, added = pcall(vim.treesitter.language.add, lang)
  return ok and added ~= false and lang or nil
end

---@param block acp.CodeBlock
local function highlight(block)
  local buf = block.buf
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  local row = api.nvim_buf_get_extmark_by_id(buf, ns, block.mark, {})[1]
  local lang = language(block.lang)
  if not row or not lang then
    return
  end
  local lines, indent = api.nvim_buf_get_lines(buf, row, row + block.lines, false), block.col
  if indent > 0 then
    for i, line in ipairs(lines) do
      lines[i] = line:sub(indent + 1)
    end
  end
  local text = table.concat(lines, '\n')
  local query = vim.treesitter.query.get(lang, 'highlights')
  if not query or #text > limit then
    return
  end
  local parser = vim.treesitter.get_string_parser(text, lang)
  local tree = parser:parse()[1]
  for id, node in query:iter_captures(tree:root(), text) do
    if vim.uv.hrtime() > deadline then
      coroutine.yield()
      local at = api.nvim_buf_is_loaded(buf)
        and api.nvim_buf_get_extmark_by_id(buf, ns, block.mark, {})[1]
      if not at then
        return
      end
      row = at
    end
    local capture = query.captures[id]
    if capture:sub(1, 1) ~= '_' and capture ~= 'spell' and capture ~= 'nospell' then
      local from_row, from_col, to_row, to_col = node:range()
      pcall(api.nvim_buf_set_extmark, buf, ns, row + from_row, from_col + indent, {
        end_row = row + to_row,
        end_col = to_col + indent,
        hl_group = '@' .. capture .. '.' .. lang,
        priority = 110,
        strict = false,
      })
    end
  end
end

local function step()
  deadline = vim.uv.hrtime() + slice * 1e6
  while (work or queue[1]) and vim.uv.hrtime() < deadline do
    if not work then
      local block = table.remove(queue, 1)
      work = coroutine.create(function()
        pcall(highlight, block)
      end)
    end
    coroutine.resume(work)
    if coroutine.status(work) == 'dead' then
      work = nil
    end
  end
  if work or queue[1] then
    vim.defer_fn(step, rest)
  end
end

---Has lines of a buffer highlighted, soon.
---@param buf integer
---@param row integer the first line, 0-based
---@param end_row integer exclusive
---@param lang string
---@param col? integer where the code begins on each line
function M.add(buf, row, end_row, lang, col)
  if lang == '' or end_row <= row then
    return
  end
  local idle = not work and not queue[1]
  M.clear(buf, row, end_row)
  local mark = api.nvim_buf_set_extmark(buf, ns, row, 0, {})
  local block = { buf = buf, mark = mark, lines = end_row - row, lang = lang, col = col or 0 }
  table.insert(queue, block)
  if idle then
    vim.defer_fn(step, 1)
  end
end

---Forgets what was highlighted in lines that are about to be replaced.
---@param buf integer
---@param row integer
---@param end_row integer exclusive; -1 is the end
function M.clear(buf, row, end_row)
  api.nvim_buf_clear_namespace(buf, ns, row, end_row)
end

return M
