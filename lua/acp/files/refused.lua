---An agent's text that did not fully reach a buffer, in a diff beside the buffer.
local M = {}

local api = vim.api

local warn = require('acp.notify').warn

---Ends the diff in a window that the user had for the buffer.
---@param win integer
---@param was table<string, any> its options before
local function restore(win, was)
  if api.nvim_win_is_valid(win) then
    api.nvim_win_call(win, function()
      vim.cmd('diffoff')
      require('acp.ui.window').set(win, was)
    end)
  end
end

---@param win integer that shows the buffer
---@param text string
---@param which string
local function open(win, text, which)
  local buf = api.nvim_win_get_buf(win)
  local was = {}
  for _, name in ipairs({ 'foldmethod', 'foldcolumn', 'foldenable', 'foldlevel', 'wrap' }) do
    was[name] = vim.wo[win][name]
  end
  local other = api.nvim_create_buf(false, true)
  local lines = vim.split(text, '\n', { plain = true })
  if lines[#lines] == '' then
    table.remove(lines)
  end
  api.nvim_buf_set_lines(other, 0, -1, false, lines)
  api.nvim_buf_set_name(other, ('acp://refused/%d/%s'):format(other, which))
  vim.bo[other].bufhidden = 'wipe'
  vim.bo[other].modifiable = false
  vim.bo[other].modified = false
  vim.bo[other].syntax = vim.bo[buf].filetype
  api.nvim_create_autocmd('BufWipeout', {
    buffer = other,
    once = true,
    callback = vim.schedule_wrap(function()
      restore(win, was)
    end),
  })
  local split = api.nvim_win_get_width(win) >= 84 and 'right' or 'below'
  local shown = api.nvim_open_win(other, false, { split = split, win = win })
  vim.keymap.set(
    'n',
    'q',
    '<Cmd>close<CR>',
    { buffer = other, nowait = true, desc = 'acp: close the diff' }
  )
  for _, w in ipairs({ win, shown }) do
    api.nvim_win_call(w, vim.cmd.diffthis)
  end
end

---Shows the agent's refused text of the current buffer's file.
---@param nth integer 1 is the newest
function M.diff(nth)
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local name = api.nvim_buf_get_name(buf)
  if vim.bo[buf].buftype ~= '' or name == '' then
    return warn('this window shows no file')
  end
  require('acp.rpc.host').request('list_refused', { name = name }, function(texts, err)
    texts = texts or {}
    local text = texts[#texts - nth + 1]
    if err or not text then
      local short = vim.fn.fnamemodify(name, ':~:.')
      return warn(err or ('nothing that the agent wrote was refused in ' .. short))
    end
    local which = ("the agent's %s"):format(vim.fs.basename(name))
    if #texts > 1 then
      which = ('%s (%d of %d)'):format(which, #texts - nth + 1, #texts)
    end
    local function show()
      if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf then
        open(win, text, which)
      end
    end
    local safe_state = require('acp.ui.safe_state')
    if safe_state.now() then
      show()
    else
      safe_state.wait(show)
    end
  end)
end

return M
