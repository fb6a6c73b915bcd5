---Which lines of a transcript are markdown of the agent's, for plugins that render markdown: they
---ask Neovim for the parser of the buffer, of which the rest is no markdown. It costs
---nothing unless the user has given the transcript a language, see |acp-markdown|.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp_prose')

---@class acp.Prose
---@field tick? integer the changedtick of which the parser knows the lines
---@field ended integer messages

---So long, in ms, after the last message: who renders leaves out what comes in quick succession.
local quiet = 250

---@type table<integer, acp.Prose> by buffer that has a parser
local known = {}

---@param buf integer
---@return vim.treesitter.LanguageTree?
local function parser_of(buf)
  local lang = vim.treesitter.language.get_lang('acp-chat')
  if lang ~= 'markdown' then
    return
  end
  local ok, parser = pcall(vim.treesitter.get_parser, buf, lang)
  return ok and parser or nil
end

---The lines that are markdown, each message by itself; one at least, as a parser without regions
---takes all.
---@param buf integer
---@return integer[][][]
local function regions(buf)
  local list, count = { { { 0, 0, 0, 0 } } }, api.nvim_buf_line_count(buf)
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })) do
    local last = math.min(mark[4].end_row, count)
    if last > mark[2] then
      table.insert(list, { { mark[2], 0, last, 0 } })
    end
  end
  return list
end

---Has the parser of a transcript, if it has one, take nothing but the agent's messages. It must be
---told anew after each edit, as it forgets what it has not parsed.
---@param buf integer
function M.attach(buf)
  local parser = parser_of(buf)
  if not parser then
    return
  end
  local state, parse = { ended = 0 }, parser.parse
  known[buf] = state
  ---@diagnostic disable-next-line: duplicate-set-field
  function parser:parse(...)
    local tick = api.nvim_buf_is_loaded(buf) and api.nvim_buf_get_changedtick(buf)
    if tick and state.tick ~= tick then
      state.tick = tick
      self:set_included_regions(regions(buf))
    end
    return parse(self, ...)
  end
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      known[buf] = nil
    end,
  })
end

---Has those hear of the new text who render it: Neovim tells of changes in the current buffer
---alone.
---@param buf integer
---@param state acp.Prose
local function notify_renderers(buf, state)
  state.ended = state.ended + 1
  local ended = state.ended
  vim.defer_fn(function()
    if known[buf] == state and state.ended == ended then
      api.nvim_exec_autocmds('TextChanged', { buffer = buf, modeline = false })
    end
  end, quiet)
end

---A message has ended: its lines are known.
---@param buf integer
---@param row integer
---@param end_row integer exclusive
function M.add(buf, row, end_row)
  local state = known[buf]
  if state then
    api.nvim_buf_set_extmark(buf, ns, row, 0, { end_row = end_row, strict = false })
    state.tick = nil
    notify_renderers(buf, state)
  end
end

---Forgets what stood in lines.
---@param buf integer
---@param row integer
---@param end_row integer exclusive; -1 is the end
function M.clear(buf, row, end_row)
  if known[buf] then
    api.nvim_buf_clear_namespace(buf, ns, row, end_row)
  end
end

return M
