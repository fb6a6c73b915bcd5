---Highlights finished blocks of code in their language: once each, from a string parser, a few
---milliseconds at a time. No parser ever runs over the transcript itself.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp_code')

---How long Neovim may be kept busy and how long it then rests, in ms, and how large a block may be,
---in bytes.
local slice, pause, limit = 4, 12, 200 * 1024

---Names that agents use for languages whose filetype has a different name.
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
---@field lang? string as it stands behind the fence
---@field col? integer where it begins on each line
---@field diff? acp.DiffSource

---What the lines of a diff show; see page.Code.
---@class acp.DiffSource
---@field file string
---@field col integer bytes before the file's text
---@field cols integer[] that for each line, where they differ
---@field sides string for each line '-', '+', ' ' or '.'
---@field around {line: integer, lines: string[]}[] what is not shown, and stands before a line

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

---@param file string
---@return string? lang with a parser
local function language_of(file)
  local ok, filetype = pcall(vim.filetype.match, { filename = file })
  return ok and filetype and language(filetype) or nil
end

---Sets the extmarks of what stands from one place of a text to another; row is the block's.
---@alias acp.Place fun(row: integer, from: integer, col: integer, to: integer, end_col: integer)

---Highlights a text in its language.
---@param block acp.CodeBlock
---@param text string
---@param lang string
---@param place acp.Place
local function paint(block, text, lang, place)
  local query = vim.treesitter.query.get(lang, 'highlights')
  if not query or #text > limit then
    return
  end
  local buf = block.buf
  local row = api.nvim_buf_get_extmark_by_id(buf, ns, block.mark, {})[1]
  if not row then
    return
  end
  local parser = vim.treesitter.get_string_parser(text, lang)
  local tree = parser:parse()[1]
  for id, node in query:iter_captures(tree:root(), text) do
    if vim.uv.hrtime() > deadline then
      coroutine.yield()
      row = api.nvim_buf_is_loaded(buf)
        and api.nvim_buf_get_extmark_by_id(buf, ns, block.mark, {})[1]
      if not row then
        return
      end
    end
    local capture = query.captures[id]
    if capture:sub(1, 1) ~= '_' and capture ~= 'spell' and capture ~= 'nospell' then
      local first, col, last, end_col = node:range()
      local opts = { hl_group = '@' .. capture .. '.' .. lang, priority = 110, strict = false }
      place(row, first, col, last, end_col, opts)
    end
  end
end

---@param block acp.CodeBlock
---@param lines string[]
local function highlight_fence(block, lines)
  local lang = language(block.lang)
  if not lang then
    return
  end
  local indent = block.col
  if indent > 0 then
    for i, line in ipairs(lines) do
      lines[i] = line:sub(indent + 1)
    end
  end
  paint(block, table.concat(lines, '\n'), lang, function(row, first, col, last, end_col, opts)
    opts.end_row, opts.end_col = row + last, end_col + indent
    pcall(api.nvim_buf_set_extmark, block.buf, ns, row + first, col + indent, opts)
  end)
end

---The two sides of a diff are two texts: what both have is highlighted as part of the new one.
---@param block acp.CodeBlock
---@param lines string[]
local function highlight_diff(block, lines)
  local diff = block.diff
  local lang = language_of(diff.file)
  if not lang then
    return
  end
  for _, side in ipairs({ '+', '-' }) do
    local texts, offsets, shown, cols = {}, {}, {}, {}
    local wanted, next_around = false, 1
    local function surround(i)
      local around = diff.around[next_around]
      if around and around.line == i then
        vim.list_extend(texts, around.lines)
        next_around = next_around + 1
      end
    end
    for i, line in ipairs(lines) do
      surround(i - 1)
      local of, start = diff.sides:sub(i, i), diff.cols[i] or diff.col
      if of ~= '.' and line:sub(start - 1, start - 1) ~= of then
        return -- the lines have changed since
      end
      if of == side or of == ' ' then
        texts[#texts + 1] = line:sub(start + 1)
        offsets[#texts], cols[#texts] = i - 1, start
        shown[#texts] = of == side or side == '+'
        wanted = wanted or shown[#texts]
      elseif of == '.' then
        texts[#texts + 1] = ''
      end
    end
    surround(#lines)
    local function place(row, first, col, last, end_col, opts)
      for at = first + 1, math.min(last + 1, #texts) do
        local from = at == first + 1 and col or 0
        local to = at == last + 1 and end_col or #texts[at]
        if shown[at] and to > from then
          opts.end_col = cols[at] + to
          local to_row = row + offsets[at]
          pcall(api.nvim_buf_set_extmark, block.buf, ns, to_row, cols[at] + from, opts)
        end
      end
    end
    if wanted then
      paint(block, table.concat(texts, '\n'), lang, place)
    end
    if not api.nvim_buf_is_loaded(block.buf) then
      return
    end
  end
end

---@param block acp.CodeBlock
local function highlight(block)
  local buf = block.buf
  local row = api.nvim_buf_is_loaded(buf)
    and api.nvim_buf_get_extmark_by_id(buf, ns, block.mark, {})[1]
  if not row then
    return
  end
  local lines = api.nvim_buf_get_lines(buf, row, row + block.lines, false)
  if block.diff then
    highlight_diff(block, lines)
  else
    highlight_fence(block, lines)
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
    vim.defer_fn(step, pause)
  end
end

---@param block acp.CodeBlock
local function add(block)
  local idle = not work and not queue[1]
  table.insert(queue, block)
  if idle then
    vim.defer_fn(step, 1)
  end
end

---Highlights lines of a buffer, soon.
---@param buf integer
---@param row integer the first line, 0-based
---@param end_row integer exclusive
---@param lang string
---@param col? integer where the code begins on each line
function M.add(buf, row, end_row, lang, col)
  if lang ~= '' and end_row > row then
    M.clear(buf, row, end_row)
    local mark = api.nvim_buf_set_extmark(buf, ns, row, 0, {})
    add({ buf = buf, mark = mark, lines = end_row - row, lang = lang, col = col or 0 })
  end
end

---Highlights lines that show a diff, soon, replacing their present highlights.
---@param buf integer
---@param row integer the first line, 0-based
---@param end_row integer exclusive
---@param diff acp.DiffSource
function M.add_diff(buf, row, end_row, diff)
  M.clear(buf, row, end_row)
  local mark = api.nvim_buf_set_extmark(buf, ns, row, 0, {})
  add({ buf = buf, mark = mark, lines = end_row - row, diff = diff })
end

---Forgets what was highlighted in lines that are about to be replaced.
---@param buf integer
---@param row integer
---@param end_row integer exclusive; -1 is the end
function M.clear(buf, row, end_row)
  api.nvim_buf_clear_namespace(buf, ns, row, end_row)
end

return M
