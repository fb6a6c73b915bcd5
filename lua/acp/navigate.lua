---Moving about in the transcript, folding its blocks, and going from it to the code.
local M = {}

local api = vim.api

---@return integer session, integer row of the cursor, 0-based, as the host counts
local function here()
  local id = vim.b.acp_session
  return id, api.nvim_win_get_cursor(0)[1] - 1 - require('acp.chat').base(id)
end

---@param kind 'message'|'call'
---@param forward boolean
function M.jump(kind, forward)
  local id, row = here()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local args = { session = id, row = row, kind = kind, forward = forward }
  require('acp.host').request('next', args, function(found)
    if not found or not found.found or not api.nvim_win_is_valid(win) then
      return
    end
    if api.nvim_win_get_buf(win) == buf then
      api.nvim_win_call(win, function()
        vim.cmd("normal! m'")
        local line = found.row + 1 + require('acp.chat').base(id)
        pcall(api.nvim_win_set_cursor, win, { line, 0 })
      end)
    end
  end)
end

---@param fold 'toggle'|'open'|'close'|'open_all'|'close_all'
function M.fold(fold)
  local id, row = here()
  require('acp.host').notify('fold', { session = id, row = row, fold = fold })
end

---A window for code: not one of the chat's, and none that is special.
---@return integer win
local function code_window()
  local previous = vim.fn.win_getid(vim.fn.winnr('#'))
  local wins = api.nvim_tabpage_list_wins(0)
  table.insert(wins, 1, previous)
  for _, win in ipairs(wins) do
    if
      win ~= 0
      and api.nvim_win_get_config(win).relative == ''
      and vim.bo[api.nvim_win_get_buf(win)].buftype == ''
    then
      return win
    end
  end
  return api.nvim_open_win(0, false, { split = 'left', win = -1 })
end

---@param path string
---@param line integer? 1-based
local function edit(path, line)
  local win = code_window()
  api.nvim_set_current_win(win)
  if vim.fs.normalize(api.nvim_buf_get_name(0)) ~= vim.fs.normalize(path) then
    local ok, err = pcall(vim.cmd.edit, vim.fn.fnameescape(path))
    if not ok then
      return vim.notify('acp: ' .. tostring(err), vim.log.levels.WARN)
    end
  end
  if line and line > 0 then
    pcall(api.nvim_win_set_cursor, win, { math.min(line, vim.fn.line('$')), 0 })
  end
end

---Opens the file that the tool call under the cursor is about, or the file name under it.
function M.open()
  local id, row = here()
  local word = vim.fn.expand('<cWORD>')
  local cwd = require('acp.mirror').sessions[id]
  require('acp.host').request('location', { session = id, row = row }, function(place)
    if place and place.path then
      return edit(place.path, place.line)
    end
    local path, line = word:match('([%w%._~/%-]+):?(%d*)')
    if path and cwd then
      local full = vim.startswith(path, '/') and path or vim.fs.joinpath(cwd.cwd, path)
      if vim.fn.filereadable(full) == 1 then
        return edit(full, tonumber(line))
      end
    end
    vim.notify('acp: there is no file here', vim.log.levels.INFO)
  end)
end

---Yanks the block of code under the cursor into the register of the command.
function M.yank_code()
  local cursor = api.nvim_win_get_cursor(0)[1]
  local lines = api.nvim_buf_get_lines(0, 0, -1, false)
  local first
  for i, line in ipairs(lines) do
    if line:match('^%s*```') or line:match('^%s*~~~') then
      if not first then
        first = i
      else
        if cursor >= first and cursor <= i then
          local code = vim.list_slice(lines, first + 1, i - 1)
          vim.fn.setreg(vim.v.register, code, 'l')
          return vim.notify(('acp: %d lines yanked'):format(#code))
        end
        first = nil
      end
    end
  end
  vim.notify('acp: there is no block of code here', vim.log.levels.INFO)
end

---Shows the plan in a float.
function M.plan()
  local session = require('acp.mirror').sessions[vim.b.acp_session]
  if not session or not session.plan then
    return vim.notify('acp: there is no plan')
  end
  local icons = { completed = '✓', in_progress = '▸' }
  local lines = {}
  for _, entry in ipairs(session.plan) do
    local text = entry.content:gsub('%s+', ' ')
    table.insert(lines, (' %s %s '):format(icons[entry.status] or '·', text))
  end
  local buf, win = vim.lsp.util.open_floating_preview(lines, '', {
    border = 'rounded',
    title = ' Plan ',
    focus_id = 'acp_plan',
  })
  local groups = { completed = 'AcpPlanDone', in_progress = 'AcpPlanNow' }
  for i, entry in ipairs(session.plan) do
    api.nvim_buf_set_extmark(buf, require('acp.highlight').ns, i - 1, 0, {
      line_hl_group = groups[entry.status] or 'AcpPlan',
    })
  end
  return win
end

return M
