---`:Acp add`: what the user points at goes into the next prompt, as a short word that names it.
local M = {}

local api = vim.api

---The words in a prompt for a buffer, or for lines of it.
---@param buf integer
---@param cwd string of the session
---@param first integer?
---@param last integer?
---@return string[]? lines, string? err
local function words(buf, cwd, first, last)
  if vim.bo[buf].filetype == 'acp-prompt' then
    return nil, 'this is the prompt itself; go to what you want to add'
  end
  if vim.bo[buf].buftype == '' and api.nvim_buf_get_name(buf) ~= '' then
    local mention = require('acp.prompt.mention')
    if first == 1 and last == api.nvim_buf_line_count(buf) then
      first, last = nil, nil
    end
    return { mention.text(mention.relative(api.nvim_buf_get_name(buf), cwd), first, last) }
  end
  -- Without a file there is nothing to name.
  local text = api.nvim_buf_get_lines(buf, (first or 1) - 1, last or -1, false)
  local fence = '```'
  while table.concat(text, '\n'):find(fence, 1, true) do
    fence = fence .. '`'
  end
  table.insert(text, 1, fence)
  table.insert(text, fence)
  return text
end

---The words in a prompt for the diagnostics of a buffer, or for the quickfix list.
---@param what 'diagnostics'|'quickfix'
---@param buf integer
---@param cwd string of the session
---@param first integer?
---@param last integer?
---@return string[]? lines, string? err
local function context(what, buf, cwd, first, last)
  local mention, text = { context = what, arg = '', first = first, last = last }, '@' .. what
  if what == 'diagnostics' then
    mention.path = api.nvim_buf_get_name(buf)
    if vim.bo[buf].buftype ~= '' or mention.path == '' then
      return nil, 'this buffer is not a file, so it has no diagnostics'
    end
    local name = require('acp.prompt.mention').relative(mention.path, cwd)
    text = '@diagnostics:' .. require('acp.prompt.mention').text(name, first, last):sub(2)
  end
  local empty = require('acp.prompt.context').preview(0, cwd, mention).empty
  if empty then
    return nil, empty
  end
  return { text }
end

---The words in a prompt for a file.
---@param path string
---@param cwd string of the session
---@param first integer?
---@param last integer?
---@return string[]? lines, string? err
local function file(path, cwd, first, last)
  local absolute = vim.fs.normalize(vim.fn.fnamemodify(path, ':p'))
  if not vim.uv.fs_stat(absolute) then
    return nil, ('there is no file %s'):format(path)
  end
  local mention = require('acp.prompt.mention')
  return { mention.text(mention.relative(absolute, cwd), first, last) }
end

---@param id integer session
---@param opts acp.AddOpts
---@return boolean? ok, string? err
function M.add(id, opts)
  local buf = opts.buf or 0
  buf = buf == 0 and api.nvim_get_current_buf() or buf
  if not api.nvim_buf_is_loaded(buf) then
    return nil, ('there is no buffer %s'):format(tostring(buf))
  end
  local cwd = require('acp.rpc.state').sessions[id].cwd
  local lines, err
  if opts.path then
    lines, err = file(opts.path, cwd, opts.first, opts.last)
  elseif opts.what == 'diagnostics' or opts.what == 'quickfix' then
    lines, err = context(opts.what, buf, cwd, opts.first, opts.last)
  elseif opts.what == nil then
    lines, err = words(buf, cwd, opts.first, opts.last)
  else
    err = "what must be 'diagnostics' or 'quickfix', or nil for the buffer"
  end
  if not lines then
    return nil, err
  end
  M.insert(id, lines)
  return true
end

---Puts words at the end of a prompt.
---@param id integer session
---@param lines string[]
function M.insert(id, lines)
  local prompt = require('acp.chat.buffers').ensure(id).prompt
  local row = api.nvim_buf_line_count(prompt) - 1
  local before = api.nvim_buf_get_lines(prompt, row, row + 1, false)[1]
  local at_end = vim.tbl_filter(function(win)
    return api.nvim_win_get_cursor(win)[1] == row + 1
  end, vim.fn.win_findbuf(prompt))
  if #lines == 1 then
    lines[1] = (before:match('%S$') and ' ' or '') .. lines[1] .. ' '
  else
    if before ~= '' then
      table.insert(lines, 1, '')
    end
    table.insert(lines, '')
  end
  api.nvim_buf_set_text(prompt, row, #before, row, #before, lines)
  local last_row = api.nvim_buf_line_count(prompt)
  for _, win in ipairs(at_end) do
    api.nvim_win_set_cursor(win, { last_row, #lines[#lines] + (#lines == 1 and #before or 0) })
  end
  require('acp.prompt.buffer').changed(id)
end

return M
