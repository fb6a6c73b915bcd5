---The text of a file as the user has accepted it, beside the file as it is, in a tab of its own.
local M = {}

local api = vim.api

---@param buf integer what the host fills with the accepted text
---@param file {path: string, name: string, line: integer}
function M.open(buf, file)
  if not require('acp.ui.safe_state').now() then
    return pcall(api.nvim_buf_delete, buf, { force = true }) -- the user is at something else by now
  end
  local origin = api.nvim_get_current_tabpage()
  vim.cmd('tab split ' .. vim.fn.fnameescape(vim.fn.fnamemodify(file.path, ':.')))
  local live = api.nvim_get_current_win()
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  pcall(api.nvim_buf_set_name, buf, ('acp://accepted/%d/%s'):format(buf, file.name))
  local old = api.nvim_open_win(buf, false, { split = 'left', win = live })
  local close = require('acp.config').get().keys.diff_close
  local words = file.name .. ' · accepted' .. (close and (' · %s close'):format(close) or '')
  local bar = { [old] = words, [live] = file.name .. ' · now' }
  for win, text in pairs(bar) do
    local line = '%#AcpWinbar# ' .. text:gsub('%%', '%%%%')
    api.nvim_set_option_value('winbar', line, { scope = 'local', win = win })
  end
  local function shut()
    if pcall(vim.cmd.tabclose) and api.nvim_tabpage_is_valid(origin) then
      api.nvim_set_current_tabpage(origin)
    end
  end
  if close then
    vim.keymap.set('n', close, shut, { buffer = buf, nowait = true, desc = 'acp: close the diff' })
  end
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    desc = 'End the diff',
    callback = function()
      if api.nvim_win_is_valid(live) then
        api.nvim_win_call(live, vim.cmd.diffoff)
        api.nvim_set_option_value('winbar', nil, { scope = 'local', win = live })
      end
    end,
  })
  pcall(api.nvim_win_set_cursor, live, { file.line, 0 })
  -- The host fills it, in pieces.
  local function compare()
    if not api.nvim_buf_is_valid(buf) or not api.nvim_win_is_valid(live) then
      return
    elseif not vim.b[buf].acp_filled then
      return vim.defer_fn(compare, 10)
    end
    vim.bo[buf].syntax = vim.bo[api.nvim_win_get_buf(live)].filetype
    for _, win in ipairs({ old, live }) do
      api.nvim_win_call(win, vim.cmd.diffthis)
    end
  end
  compare()
end

return M
