---Which windows are the user's code windows, and how our windows look.
local M = {}

local api = vim.api

---Sets options of a window, for the buffer that it shows now.
---@param win integer
---@param options table<string, any>
function M.set(win, options)
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { scope = 'local', win = win })
  end
end

---Whether a window shows a file, or what may become one, and is not used otherwise by a plugin.
---@param win integer
---@return boolean
function M.is_code(win)
  return api.nvim_win_get_config(win).relative == ''
    and vim.bo[api.nvim_win_get_buf(win)].buftype == ''
    and not vim.wo[win].previewwindow
end

---Whether a window may show another buffer without bothering the user: a dashboard, a terminal, a
---file tree without a fixed size. What would be lost stays.
---@param win integer
---@return boolean
local function may_be_taken(win)
  local buf = api.nvim_win_get_buf(win)
  local lost = vim.bo[buf].modified and not vim.list_contains({ '', 'hide' }, vim.bo[buf].bufhidden)
  return api.nvim_win_get_config(win).relative == ''
    and not vim.wo[win].winfixbuf
    and not vim.wo[win].winfixwidth
    and not vim.wo[win].winfixheight
    and not vim.wo[win].previewwindow
    and not vim.list_contains({ 'quickfix', 'help', 'prompt' }, vim.bo[buf].buftype)
    and not vim.startswith(api.nvim_buf_get_name(buf), 'acp://')
    and not lost
end

---The window of this tab that becomes a code window if there is none: the current one, or else the
---largest.
---@return integer? win
function M.spare()
  local best, most = nil, 0
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if M.is_code(win) then
      return nil
    end
    local size = api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
    size = win == api.nvim_get_current_win() and math.huge or size
    if size > most and may_be_taken(win) then
      best, most = win, size
    end
  end
  return best
end

---The window of this tab for a file that the user goes to: the current one if that is a code
---window, or else another such, or the spare one.
---@return integer? win
function M.for_file()
  for _, win in
    ipairs(vim.list_extend({ api.nvim_get_current_win() }, api.nvim_tabpage_list_wins(0)))
  do
    if M.is_code(win) then
      return win
    end
  end
  return M.spare()
end

---The code window of this tab that the user goes to from one of ours: the previous one if that is a
---code window, or else another such, the spare one, or a new one.
---@return integer win
function M.code()
  local previous = vim.fn.win_getid(vim.fn.winnr('#'))
  for _, win in ipairs(vim.list_extend({ previous }, api.nvim_tabpage_list_wins(0))) do
    if win ~= 0 and M.is_code(win) then
      return win
    end
  end
  return M.spare() or api.nvim_open_win(0, false, { split = 'left', win = -1 })
end

---A row on the screen whose line leaves room after it: one of the preferred ones, or else one near
---the cursor.
---@param win integer
---@param rows integer[]
---@param room integer cells
---@return integer? row
function M.row_with(win, rows, room)
  local buf, info = api.nvim_win_get_buf(win), vim.fn.getwininfo(win)[1]
  local first, last = vim.fn.line('w0', win) - 1, vim.fn.line('w$', win) - 1
  local list = vim.tbl_filter(function(row)
    return row >= first and row <= last
  end, rows)
  local cursor = api.nvim_win_get_cursor(win)[1] - 1
  for i = 0, last - first do
    vim.list_extend(list, { cursor + i, cursor - i })
  end
  for _, row in ipairs(list) do
    if row >= first and row <= last then
      local cells = vim.fn.virtcol({ row + 1, '$' }, false, win) - 1
      if cells + room <= info.width - info.textoff then
        return math.min(row, api.nvim_buf_line_count(buf) - 1)
      end
    end
  end
end

---Resets what is only for code windows, then sets options.
---@param win integer
---@param options table<string, any>
function M.plain(win, options)
  M.set(win, {
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    statuscolumn = '',
    colorcolumn = '',
    cursorline = false,
    list = false,
    scrollbind = false,
    cursorbind = false,
  })
  M.set(win, options)
end

---Makes a float wrap its lines at a column, between words, and as high as they then need.
---@param win integer
---@param column integer
function M.hang(win, column)
  M.set(win, {
    wrap = true,
    linebreak = true,
    breakindent = true,
    breakindentopt = 'column:' .. column,
    showbreak = '',
  })
  local rows = api.nvim_win_text_height(win, {}).all
  api.nvim_win_set_height(win, math.max(1, math.min(rows, vim.o.lines - 6)))
end

---Shows lines in a float over the middle of the editor, which takes the focus and closes when it is
---left.
---@param buf integer for the lines; it goes with the float
---@param lines string[]
---@param opts { title?: string, keys: string[], desc: string, hang?: integer } the keys close it,
---  desc is theirs; where its lines go on behind that column
---@return fun() close
function M.over(buf, lines, opts)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable = 'wipe', false
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, require('acp.ui.wrap').cells(line))
  end
  width = math.max(math.min(width + 1, vim.o.columns - 4), 30)
  local height = math.max(math.min(#lines, vim.o.lines - 6), 3)
  local win = api.nvim_open_win(buf, true, {
    relative = 'editor',
    width = width,
    height = height,
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
    style = 'minimal',
    border = 'rounded',
    title = opts.title,
  })
  M.plain(win, { wrap = false })
  if opts.hang then
    M.hang(win, opts.hang)
  end
  local function close()
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
  end
  for _, lhs in ipairs(opts.keys) do
    vim.keymap.set('n', lhs, close, { buffer = buf, nowait = true, desc = opts.desc })
  end
  api.nvim_create_autocmd('WinLeave', { buffer = buf, once = true, callback = close })
  return close
end

return M
