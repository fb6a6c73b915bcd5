---A diff in two windows, the old text and the new one: beside the code, or in a tab of its own.
local M = {}

local api = vim.api
local bar = require('acp.ui.winbar')
local label = require('acp.diff.label')
local windows = require('acp.diff.windows')
local window = require('acp.ui.window')
local ns = api.nvim_create_namespace('acp_diff')

---How large a text may be, in bytes, to be parsed at once without being noticed, and to be
---highlighted at all.
local parsed, coloured = vim.fn.has('nvim-0.12') == 1 and 512 * 1024 or 64 * 1024, 1024 * 1024

---@class acp.SplitDiff: acp.DiffPlace
---@field wins integer[] of the old and the new text
---@field bufs integer[]
---@field origin integer the window where the user was
---@field before acp.Before of the tab where the user was
---@field owner acp.DiffOwner
---@field editing? acp.Editing
local Split = {}

---@class acp.Editing a text of the user's in place of one that waits to be written
---@field session integer
---@field permission integer
---@field name string of the file
---@field buf integer
---@field on boolean
Split.__index = Split

local count = 0

---How a row of a side is shown that the host has put beside the other; see host/diffview/view.go.
local groups = {
  { ['~'] = 'DiffChange', ['-'] = 'DiffAdd', ['+'] = 'DiffDelete', ['.'] = 'AcpDiffHunk' },
  { ['~'] = 'DiffChange', ['+'] = 'DiffAdd', ['-'] = 'DiffDelete', ['.'] = 'AcpDiffHunk' },
}

---The two texts of a diff, in buffers that no window shows yet.
---@class acp.Texts
---@field bufs integer[] the old and the new text
---@field rows integer[] how many lines each has

---@type table<integer, integer[]> the line numbers of what the host has put side by side, by buffer
local numbers = {}

---@return acp.Texts
function M.texts()
  local texts = { bufs = {}, rows = { 0, 0 } }
  for side = 1, 2 do
    local buf = api.nvim_create_buf(false, true)
    vim.bo[buf].bufhidden = 'wipe'
    vim.bo[buf].undolevels = -1
    texts.bufs[side] = buf
  end
  return texts
end

---Adds a piece of a diff to its texts.
---@param texts acp.Texts
---@param piece table
function M.add(texts, piece)
  for side, name in ipairs({ 'old', 'new' }) do
    local buf, row, lines = texts.bufs[side], texts.rows[side], piece[name]
    api.nvim_buf_set_lines(buf, row, row == 0 and -1 or row, false, lines)
    local words = piece[name .. '_words'] or {}
    for i = 1, #words, 3 do
      api.nvim_buf_set_extmark(buf, ns, row + words[i], words[i + 1], {
        end_col = words[i + 2],
        hl_group = 'DiffText',
        priority = 120,
      })
    end
    if piece.kinds then
      numbers[buf] = vim.list_extend(numbers[buf] or {}, piece[name .. '_numbers'])
      for i = 1, #piece.kinds do
        local group = groups[side][piece.kinds:sub(i, i)]
        if group then
          api.nvim_buf_set_extmark(buf, ns, row + i - 1, 0, {
            end_row = row + i,
            hl_group = group,
            hl_eol = true, -- the group of a line would cover that of words
            priority = 50,
            strict = false,
          })
        end
      end
    end
    texts.rows[side] = row + #lines
  end
end

---@param texts acp.Texts
function M.drop(texts)
  for _, buf in ipairs(texts.bufs) do
    pcall(api.nvim_buf_delete, buf, { force = true })
    numbers[buf] = nil
  end
end

---Highlights texts in their language, without triggering anything else of the filetype; one after
---another, as each keeps Neovim busy for a moment.
---@param bufs integer[]
---@param diff acp.Diff
local function colour(bufs, diff)
  local buf = bufs[1]
  if not buf or not api.nvim_buf_is_valid(buf) then
    return
  end
  local size = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
  local filetype = size <= coloured and vim.filetype.match({ filename = diff.path, buf = buf })
  if filetype then
    local lang = vim.treesitter.language.get_lang(filetype)
    if size > parsed or not lang or not pcall(vim.treesitter.start, buf, lang) then
      vim.bo[buf].syntax = filetype
    end
  end
  vim.schedule(function()
    colour({ bufs[2] }, diff)
  end)
end

---@param buf integer
---@param keys acp.DiffKey[]
local function map(buf, keys)
  local config = require('acp.config').get().keys
  for _, key in ipairs(keys) do
    local desc = require('acp.config').desc(key.action)
    local opts = { buffer = buf, nowait = true, desc = desc }
    vim.keymap.set(key.modes or 'n', key.plug, key.run, opts)
    if config[key.action] then
      vim.keymap.set(key.modes or 'n', config[key.action], key.run, opts)
    end
  end
  require('acp.ui.key_help').map(buf)
end

---@param self acp.SplitDiff
---@param diff acp.Diff
local function draw_bars(self, diff)
  local parts = {
    label.facts(diff, diff.before),
    vim.list_extend({ diff.after }, label.hints(diff, self.owner.keys(diff))),
  }
  if self.editing then
    parts[1] = { diff.files[diff.at].name .. ' · ' .. diff.before }
    parts[2] = { 'yours to edit', ':w writes it' }
  end
  for side, win in ipairs(self.wins) do
    local line = require('acp.ui.wrap').fit(parts[side], api.nvim_win_get_width(win))
    bar.set(win, '%#AcpWinbar#%<' .. line:gsub('%%', '%%%%'), function(text)
      bar.at_cursor(win, text)
    end)
  end
end

---The line number of a row, for 'statuscolumn'.
---@return string
function M.number()
  local known = numbers[api.nvim_win_get_buf(vim.g.statusline_winid)]
  local number = known and vim.v.virtnum == 0 and known[vim.v.lnum] or 0
  return ('%%s%5s '):format(number > 0 and number or '')
end

---Puts buffers into the windows, beside each other line by line.
---@param self acp.SplitDiff
---@param diff acp.Diff
local function place(self, diff)
  for side, win in ipairs(self.wins) do
    local buf = self.bufs[side]
    if api.nvim_win_get_buf(win) ~= buf then
      api.nvim_win_call(win, function()
        vim.cmd(('noautocmd keepalt keepjumps buffer %d'):format(buf))
      end)
    end
    window.plain(win, {
      number = diff.form == 'whole',
      signcolumn = 'auto',
      statuscolumn = diff.form == 'changes' and '%!v:lua.require("acp.diff.split").number()' or '',
      conceallevel = 0,
      spell = false,
      winfixbuf = false,
      winfixheight = false,
      winfixwidth = false,
      winhighlight = '',
      wrap = diff.form == 'sentence',
      foldenable = false,
      scrollbind = diff.form == 'changes',
      cursorbind = diff.form == 'changes',
    })
    if diff.form == 'whole' then
      windows.compare(win)
    end
    window.set(win, { foldcolumn = '0' })
  end
  local function to_change()
    for side, win in ipairs(self.wins) do
      local last = api.nvim_buf_line_count(self.bufs[side])
      api.nvim_win_set_cursor(win, { math.min(diff.first, last), 0 })
    end
  end
  to_change()
  if diff.form ~= 'sentence' then
    api.nvim_win_call(self.wins[2], function()
      vim.cmd('normal! zz')
      vim.cmd.syncbind()
    end)
    to_change() -- |:syncbind| may have moved the other one
    for _, win in ipairs(self.wins) do
      api.nvim_win_call(win, function()
        if vim.fn.line('w0') == 1 then
          vim.fn.winrestview({ topfill = vim.fn.diff_filler(1) }) -- what the other has above
        end
      end)
    end
  end
  draw_bars(self, diff)
end

---Prepares the buffers of a diff for windows.
---@param self acp.SplitDiff
---@param diff acp.Diff
local function prepare(self, diff)
  self.bufs = diff.texts.bufs
  for side, buf in ipairs(self.bufs) do
    count = count + 1
    local what = side == 1 and diff.before or diff.after
    local name = ('acp://diff/%d/%s (%s)'):format(count, diff.files[diff.at].name, what)
    api.nvim_buf_set_name(buf, name)
    vim.bo[buf].modifiable = false
    vim.bo[buf].modified = false
    vim.b[buf].acp_session = diff.session
    vim.b[buf].acp_diff = true
    vim.bo[buf].filetype = 'acp-diff'
    map(buf, self.owner.keys(diff))
  end
  if diff.form == 'whole' or diff.rows then
    vim.schedule(function()
      colour({ unpack(diff.texts.bufs) }, diff)
    end)
  end
end

---Watches for the user closing a window, or showing something else in it.
---@param self acp.SplitDiff
local function watch(self)
  for _, buf in ipairs(self.bufs) do
    api.nvim_create_autocmd('BufWipeout', {
      buffer = buf,
      once = true,
      callback = function()
        numbers[buf] = nil
        if vim.list_contains(self.bufs, buf) then
          self.bufs = vim.tbl_filter(function(other)
            return other ~= buf
          end, self.bufs)
          if not self.editing or self.editing.buf == buf then
            vim.schedule(self.owner.closed)
          end
        end
      end,
    })
  end
end

function Split:swap(diff)
  if diff.form == 'inline' or #self.bufs < 2 or self.editing then
    return false
  end
  for side, win in ipairs(self.wins) do
    if not api.nvim_win_is_valid(win) or api.nvim_win_get_buf(win) ~= self.bufs[side] then
      return false
    end
  end
  api.nvim_create_augroup('acp_diff_split', {})
  prepare(self, diff)
  place(self, diff)
  watch(self)
  return true
end

---@return 1|2|nil
function Split:side()
  for side, win in ipairs(self.wins) do
    if win == api.nvim_get_current_win() then
      return side
    end
  end
end

function Split:paint(diff, refused)
  local function paint()
    if #self.bufs == 2 and vim.iter(self.wins):all(api.nvim_win_is_valid) then
      require('acp.diff.hunk_selection').paint(self.wins, diff, refused)
    end
  end
  paint()
  draw_bars(self, diff)
  api.nvim_create_autocmd('WinScrolled', {
    group = api.nvim_create_augroup('acp_diff_split', {}),
    desc = 'Mark the rejected hunks that come into view',
    callback = paint,
  })
end

---Lets the user edit the new side; |:w| writes it.
function Split:edit(diff, lines, mine)
  local buf = self.bufs[2]
  if not buf or not api.nvim_buf_is_valid(buf) then
    return
  end
  self.editing = {
    session = diff.session,
    permission = diff.permission,
    name = diff.files[diff.at].name,
    buf = buf,
    on = true,
  }
  for _, mode in ipairs({ 'n', 'x' }) do
    for _, key in ipairs(api.nvim_buf_get_keymap(buf, mode)) do
      local desc = require('acp.config').desc
      local stays = key.desc == desc('diff_allow') or key.desc == desc('diff_refuse')
      if vim.startswith(key.desc or '', 'acp: ') and not stays then
        vim.keymap.del(mode, key.lhs, { buffer = buf })
      end
    end
  end
  self:paint(diff, {})
  for _, win in ipairs(vim.tbl_filter(api.nvim_win_is_valid, self.wins)) do
    window.set(win, { foldlevel = 99 }) -- a key for a line is not to meet many
  end
  vim.bo[buf].modifiable = true
  if
    not vim.deep_equal(api.nvim_buf_get_lines(buf, 0, -1, false), #lines > 0 and lines or { '' })
  then
    api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  end
  vim.bo[buf].undolevels = -123456 -- the global one
  vim.bo[buf].buftype = 'acwrite'
  vim.bo[buf].modified = false
  if mine then
    api.nvim_buf_set_lines(buf, 0, -1, false, mine)
  end
  api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    callback = function()
      self:write()
    end,
  })
  draw_bars(self, diff)
  api.nvim_set_current_win(self.wins[2])
end

---Writes the edited text.
function Split:write()
  local about = self.editing
  local buf = about.buf
  if not require('acp.rpc.state').permission(about.permission) then
    require('acp.notify').info('the agent no longer waits for this text')
    return
  end
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local text = #lines == 1 and lines[1] == '' and '' or table.concat(lines, '\n') .. '\n'
  vim.bo[buf].modified = false
  local args = { session = about.session, permission = about.permission, text = text }
  require('acp.rpc.host').request('write_edited', args, function(_, err)
    if not err then
      return
    end
    require('acp.notify').warn(err)
    if api.nvim_buf_is_loaded(buf) then
      vim.bo[buf].modified = true
    else
      self.owner.give_back(about, lines) -- it was |:wq|
    end
  end)
end

---Leaves the user the text that they are editing, in its window, and ends the rest of the diff.
function Split:leave()
  local buf, win = self.editing.buf, self.wins[2]
  local others = vim.tbl_filter(function(other)
    return other ~= buf
  end, self.bufs)
  self.bufs = {}
  api.nvim_create_augroup('acp_diff_split', {})
  windows.close(self.wins, others)
  M.drop({ bufs = others })
  for _, key in ipairs(api.nvim_buf_get_keymap(buf, 'n')) do
    if vim.startswith(key.desc or '', 'acp: ') then
      vim.keymap.del('n', key.lhs, { buffer = buf })
    end
  end
  if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf then
    api.nvim_win_call(win, vim.cmd.diffoff)
    bar.drop(win)
  end
  windows.restore(self.before)
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = vim.schedule_wrap(function()
      windows.resize(self.before)
    end),
  })
end

function Split:focus()
  if not vim.list_contains(self.wins, api.nvim_get_current_win()) then
    api.nvim_set_current_win(self.wins[2])
  end
end

function Split:close()
  local bufs = self.bufs
  self.bufs = {}
  api.nvim_create_augroup('acp_diff_split', {})
  if vim.list_contains(bufs, api.nvim_get_current_buf()) and api.nvim_win_is_valid(self.origin) then
    api.nvim_set_current_win(self.origin)
  end
  windows.close(self.wins, bufs, self.before.code)
  M.drop({ bufs = bufs })
  windows.restore(self.before)
end

---Opens windows for a diff, without focus.
---@param diff acp.Diff
---@param tab boolean in a tab of their own
---@param owner acp.DiffOwner
---@return acp.SplitDiff
function M.open(diff, tab, owner)
  local self = setmetatable({ owner = owner, origin = api.nvim_get_current_win() }, Split)
  prepare(self, diff)
  local before = windows.remember(diff.path)
  local ok, wins = pcall(function()
    if tab then
      return windows.tab(self.bufs[1], self.bufs[2])
    end
    return windows.side_by_side(self.bufs[1], self.bufs[2], diff.path)
  end)
  if not ok then
    error(wins, 0)
  end
  self.wins, self.before = wins, before
  if not tab then
    windows.unbind(before)
  end
  place(self, diff)
  windows.note_views(before)
  watch(self)
  return self
end

return M
