---Moving in the transcript, folding its blocks, and going from it to the code.
local M = {}

local api = vim.api
local async_keys = require('acp.ui.async_keys')

---@return integer session, integer row of the cursor, 0-based, as the host counts, integer seq of
---  the edit that it is counted after
local function here()
  local at = require('acp.chat.cursor').here()
  return at.session, at.row, at.seq
end

---@param kind 'message'|'call'
---@param forward boolean
function M.jump(kind, forward)
  local id, row, seq = here()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local args =
    { session = id, row = row, seq = seq, kind = kind, forward = forward, count = vim.v.count1 }
  local function land(found)
    if not found or not found.found or not api.nvim_win_is_valid(win) then
      return
    end
    if api.nvim_win_get_buf(win) == buf then
      api.nvim_win_call(win, function()
        vim.cmd("normal! m'")
        local line = found.row + 1 + require('acp.chat.cursor').base(id)
        pcall(api.nvim_win_set_cursor, win, { line, 0 })
      end)
    end
  end
  async_keys.await(function(done)
    require('acp.rpc.host').request('next', args, function(found)
      land(found)
      done()
    end)
  end)
end

---@param fold 'toggle'|'open'|'close'|'open_all'|'close_all'
function M.fold(fold)
  local id, row, seq = here()
  require('acp.rpc.host').notify('fold', { session = id, row = row, seq = seq, fold = fold })
end

---Goes to a place in a file, in a code window.
---@param path string
---@param line integer? 1-based
function M.edit(path, line)
  require('acp.chat.layout').uncover()
  local win = require('acp.ui.window').code()
  api.nvim_set_current_win(win)
  vim.cmd("normal! m'")
  if vim.fs.normalize(api.nvim_buf_get_name(0)) ~= vim.fs.normalize(path) then
    local ok, err = pcall(vim.cmd.edit, vim.fn.fnameescape(vim.fn.fnamemodify(path, ':.')))
    if not ok then
      return require('acp.notify').warn(tostring(err))
    end
  end
  if line and line > 0 then
    pcall(api.nvim_win_set_cursor, win, { math.min(line, vim.fn.line('$')), 0 })
  end
end

---Opens the file that the line under the cursor belongs to in a tool call, or the one named under
---it.
function M.open()
  local id, row, seq = here()
  local word = vim.fn.expand('<cWORD>')
  local session = require('acp.rpc.state').sessions[id]
  local function land(place)
    if place and place.path and place.external then
      return vim.ui.open(place.path)
    elseif place and place.path then
      return M.edit(place.path, place.line)
    end
    -- As people and agents write them: `a.lua:7`, (a.lua), [here](a.lua#L7), ~/a.lua.
    for name, line in word:gmatch('([^%s`\'"()%[%]<>,;:#*]+)[:#]?L?(%d*)') do
      local path = vim.fs.normalize((name:gsub('%.+$', '')))
      if session and not vim.startswith(path, '/') then
        path = vim.fs.joinpath(session.cwd, path)
      end
      if vim.fn.filereadable(path) == 1 then
        return M.edit(path, tonumber(line))
      end
    end
    require('acp.notify').info('no file here')
  end
  async_keys.await(function(done)
    local args = { session = id, row = row, seq = seq }
    require('acp.rpc.host').request('location', args, function(place)
      done()
      land(place)
    end)
  end)
end

---The block of code around one of a message's lines: what is between its fences, without the
---indentation of the first one. A last fence may be missing.
---@param lines string[]
---@param at integer
---@return string[]? code
local function code_at(lines, at)
  local first, indent, fence
  for i, line in ipairs(lines) do
    local before, mark, info = line:match('^(%s*)(```+)([^`]*)$')
    if not mark then
      before, mark, info = line:match('^(%s*)(~~~+)(.*)$')
    end
    if not fence and mark then
      first, indent, fence = i, #before, mark
    elseif fence and mark and vim.startswith(mark, fence) and info:match('^%s*$') then
      if at >= first and at <= i then
        lines = vim.list_slice(lines, first + 1, i - 1)
        break
      end
      fence = nil
    end
    if i == #lines then
      if not fence or at < first then
        return
      end
      lines = vim.list_slice(lines, first + 1)
    end
  end
  return vim.tbl_map(function(line)
    return line:gsub('^' .. (' ?'):rep(indent), '')
  end, lines)
end

---Yanks the block of code under the cursor into the register of the command.
function M.yank_code()
  local id, row = here()
  local buf, register = api.nvim_get_current_buf(), vim.v.register
  require('acp.rpc.host').request('block', { session = id, row = row }, function(block)
    local code
    if block and block.end_row > block.row and api.nvim_buf_is_valid(buf) then
      local base = require('acp.chat.cursor').base(id)
      local lines = api.nvim_buf_get_lines(buf, block.row + base, block.end_row + base, false)
      code = code_at(lines, row - block.row + 1)
    end
    if not code then
      return require('acp.notify').info('no code block here')
    end
    vim.fn.setreg(register, code, 'l')
    require('acp.notify').info(('%d lines yanked'):format(#code))
  end)
end

---Shows the plan in a float.
function M.plan()
  local session = require('acp.rpc.state').sessions[vim.b.acp_session]
  if not session or not session.plan then
    return require('acp.notify').info('no plan yet')
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
    api.nvim_buf_set_extmark(buf, require('acp.ui.highlight').ns, i - 1, 0, {
      line_hl_group = groups[entry.status] or 'AcpPlan',
    })
  end
  return win
end

return M
