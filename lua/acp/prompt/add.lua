---`:Acp add`: what the user points at goes into the next prompt, as a short word that names it.
local M = {}

local api = vim.api

---What stands in a prompt for a buffer, or for lines of it.
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

---@param id integer session
---@param buf integer
---@param first? integer
---@param last? integer
---@return boolean? ok, string? err
function M.add(id, buf, first, last)
  buf = buf == 0 and api.nvim_get_current_buf() or buf
  if not api.nvim_buf_is_loaded(buf) then
    return nil, ('there is no buffer %s'):format(tostring(buf))
  end
  local cwd = require('acp.rpc.state').sessions[id].cwd
  local lines, err = words(buf, cwd, first, last)
  if not lines then
    return nil, err
  end
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
  return true
end

return M
