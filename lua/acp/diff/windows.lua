---The windows that a diff opens beside the code. When they close, all others are as they were.
local M = {}

local api = vim.api

---The least number of columns for two texts side by side; with fewer they are above each other.
local wide = 84
---The least number of lines a window must have to give some away.
local tall = 8

---How a tab was before windows were opened in it.
---@class acp.Before
---@field tab integer
---@field layout any[]
---@field sizes table<integer, {[1]: integer, [2]: integer}>
---@field views table<integer, table>
---@field opened? table<integer, table> the views when they were open
---@field current integer
---@field code? integer the buffer of its window for code
---@field previous integer 0 is none
---@field last? integer the tab that |g<Tab>| goes to
---@field bound? table<integer, table<string, boolean>> the windows that others move, see M.unbind

---@type string? 'scrollopt' as it was before a diff that is open
local scrollopt

---@param win integer
---@return table
local function view(win)
  return api.nvim_win_call(win, vim.fn.winsaveview)
end

---@param tab integer
---@return integer[]
local function windows(tab)
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_config(win).relative == ''
  end, api.nvim_tabpage_list_wins(tab))
end

---@param path string the file that it is about
---@return acp.Before
function M.remember(path)
  local code, last = M.code(path), vim.fn.tabpagenr('#')
  local before = {
    tab = api.nvim_get_current_tabpage(),
    code = code and api.nvim_win_get_buf(code),
    layout = vim.fn.winlayout(),
    sizes = {},
    views = {},
    current = api.nvim_get_current_win(),
    previous = vim.fn.win_getid(vim.fn.winnr('#')),
    last = last > 0 and api.nvim_list_tabpages()[last] or nil,
  }
  for _, win in ipairs(windows(0)) do
    before.sizes[win] = { api.nvim_win_get_width(win), api.nvim_win_get_height(win) }
    before.views[win] = view(win)
  end
  return before
end

---Keeps the user's windows of a tab from moving with a diff in it, as 'scrollbind' and 'cursorbind'
---would make them, until M.restore.
---@param before acp.Before
function M.unbind(before)
  before.bound = {}
  for win in pairs(before.views) do
    for _, name in ipairs({ 'scrollbind', 'cursorbind' }) do
      if vim.wo[win][name] then
        before.bound[win] = vim.tbl_extend('error', before.bound[win] or {}, { [name] = true })
        require('acp.ui.window').set(win, { [name] = false })
      end
    end
  end
end

---Makes Neovim compare a window with the others that it compares.
---@param win integer
function M.compare(win)
  scrollopt = scrollopt or vim.o.scrollopt
  api.nvim_win_call(win, vim.cmd.diffthis)
end

---The items of 'scrollopt' except "hor".
---@param value string
---@return string[]
local function but_hor(value)
  return vim.tbl_filter(function(item)
    return item ~= 'hor' and item ~= ''
  end, vim.split(value, ','))
end

---Restores "hor" in 'scrollopt', which Neovim adds with a comparison and removes with the last one.
---While the user is comparing something it stays.
local function compare_no_more()
  local others = vim.iter(api.nvim_list_wins()):any(function(win)
    return vim.wo[win].diff
  end)
  local was = scrollopt
  scrollopt = nil
  if was and not others and vim.deep_equal(but_hor(was), but_hor(vim.o.scrollopt)) then
    vim.o.scrollopt = was
  end
end

---Notes where the windows are now, to know later which ones the user has moved.
---@param before acp.Before
function M.note_views(before)
  before.opened = {}
  for win in pairs(before.views) do
    if api.nvim_win_is_valid(win) then
      before.opened[win] = view(win)
    end
  end
end

---Makes a window the previous one, for |CTRL-W_p|.
---@param win integer
local function set_previous(win)
  local current = api.nvim_get_current_win()
  if
    win ~= 0
    and win ~= current
    and api.nvim_win_is_valid(win)
    and api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage()
    and vim.fn.win_getid(vim.fn.winnr('#')) ~= win
  then
    vim.cmd(('noautocmd call win_gotoid(%d) | noautocmd call win_gotoid(%d)'):format(win, current))
  end
end

---Makes a tab the one that |g<Tab>| goes to, if that has none any more.
---@param before acp.Before
local function set_last(before)
  local current = api.nvim_get_current_tabpage()
  local last = current == before.tab and before.last or before.tab
  if
    vim.fn.tabpagenr('#') == 0
    and last
    and last ~= current
    and api.nvim_tabpage_is_valid(last)
  then
    local number, back = api.nvim_tabpage_get_number(last), api.nvim_tabpage_get_number(current)
    vim.cmd(('noautocmd tabnext %d | noautocmd tabnext %d'):format(number, back))
  end
end

---Restores the sizes of windows, as far as they are arranged as before.
---@param before acp.Before
function M.resize(before)
  if not api.nvim_tabpage_is_valid(before.tab) then
    return
  end
  local number = api.nvim_tabpage_get_number(before.tab)
  if vim.deep_equal(vim.fn.winlayout(number), before.layout) then
    for _ = 1, 2 do -- what one window gets another must have given
      for win, size in pairs(before.sizes) do
        api.nvim_win_set_width(win, size[1])
        api.nvim_win_set_height(win, size[2])
      end
    end
  end
end

---Restores the sizes and views of windows that the user has left alone, once those of a diff are
---closed.
---@param before acp.Before
function M.restore(before)
  compare_no_more()
  if not api.nvim_tabpage_is_valid(before.tab) then
    return
  end
  if
    before.tab == api.nvim_get_current_tabpage()
    and api.nvim_get_current_win() == before.current
  then
    set_previous(before.previous)
  end
  set_last(before)
  M.resize(before) -- now that no window is entered any more, which may make it wider
  for win, was in pairs(before.views) do
    local opened = before.opened and before.opened[win]
    if opened and api.nvim_win_is_valid(win) then
      local is = view(win)
      if is.lnum == opened.lnum and is.col == opened.col then
        api.nvim_win_call(win, function()
          vim.fn.winrestview(was)
        end)
      end
    end
  end
  for win, options in pairs(before.bound or {}) do
    if api.nvim_win_is_valid(win) then
      require('acp.ui.window').set(win, options)
    end
  end
  before.bound = nil
end

---@param win integer
---@return boolean whether a window shows code, and nothing beside it
local function is_code(win)
  return require('acp.ui.window').is_code(win) and not vim.wo[win].diff
end

---The window of this tab that shows a file.
---@param path string
---@return integer? win
function M.shows(path)
  local real = require('acp.rpc.path').real
  local wanted = real(path)
  for _, win in ipairs(windows(0)) do
    local name = api.nvim_buf_get_name(api.nvim_win_get_buf(win))
    if is_code(win) and name:sub(1, 1) == '/' and real(name) == wanted then
      return win
    end
  end
end

---Whether a window can give room to a diff.
---@param width integer
---@param height integer
---@return boolean
local function has_room(width, height)
  return height >= (width >= wide and tall or tall + 4)
end

---The window that gives up room: preferably the one with the file, else a code window, else any.
---@param path string
---@return integer? win
function M.code(path)
  local wins = { M.shows(path) }
  table.insert(wins, api.nvim_get_current_win())
  table.insert(wins, vim.fn.win_getid(vim.fn.winnr('#')))
  local best, most
  for _, win in ipairs(vim.list_extend(wins, windows(0))) do
    if win ~= 0 and is_code(win) then
      local width, height = api.nvim_win_get_width(win), api.nvim_win_get_height(win)
      if has_room(width, height) then
        return win
      elseif height > (most or 0) then
        best, most = win, height
      end
    end
  end
  local spare = not best and require('acp.ui.window').spare()
  if spare and has_room(api.nvim_win_get_width(spare), api.nvim_win_get_height(spare)) then
    return spare
  end
  return best
end

---Opens windows for two buffers in this tab, without focus.
---@param old integer buffer
---@param new integer buffer
---@param path string the file they are about
---@return integer[] wins of the old and the new one
function M.side_by_side(old, new, path)
  local code = M.code(path)
  local width, height
  if code then
    width, height = api.nvim_win_get_width(code), api.nvim_win_get_height(code)
  else
    width, height = vim.o.columns, vim.o.lines - vim.o.cmdheight
  end
  local side = width >= wide
  if not has_room(width, height) then
    error('there is no room for a diff', 0)
  end
  local rows = math.floor(height * (side and 0.65 or 0.72))
  local first = api.nvim_open_win(old, false, {
    split = code and 'below' or 'above',
    win = code or -1,
    height = rows,
  })
  local ok, second = pcall(api.nvim_open_win, new, false, {
    split = side and 'right' or 'below',
    win = first,
    width = side and math.floor((width - 1) / 2) or nil,
    height = not side and math.floor((rows - 1) / 2) or nil,
  })
  if not ok then
    api.nvim_win_close(first, true)
    error(second, 0)
  end
  return { first, second }
end

---Opens a tab for two buffers, behind the one in use.
---@param old integer buffer
---@param new integer buffer
---@return integer[] wins of the old and the new one
function M.tab(old, new)
  local current, last = api.nvim_get_current_win(), vim.fn.tabpagenr('#')
  local before = last > 0 and api.nvim_list_tabpages()[last] or nil
  vim.cmd(('noautocmd tab sbuffer %d'):format(old))
  local first = api.nvim_get_current_win()
  local second = api.nvim_open_win(new, false, {
    split = vim.o.columns >= wide and 'right' or 'below',
    win = first,
  })
  if before and api.nvim_tabpage_is_valid(before) then
    -- It stays the one that |g<Tab>| goes to.
    vim.cmd(('noautocmd tabnext %d'):format(api.nvim_tabpage_get_number(before)))
  end
  vim.cmd(('noautocmd call win_gotoid(%d)'):format(current))
  return { first, second }
end

---Closes windows that still show what they were opened for.
---@param wins integer[]
---@param bufs integer[]
---@param instead? integer the buffer that the last window of all gets
function M.close(wins, bufs, instead)
  for _, win in ipairs(wins) do
    if api.nvim_win_is_valid(win) and vim.list_contains(bufs, api.nvim_win_get_buf(win)) then
      local tab = api.nvim_win_get_tabpage(win)
      if #windows(tab) > 1 then
        api.nvim_win_close(win, true)
      elseif #api.nvim_list_tabpages() > 1 then
        -- As Neovim 0.10 does not survive to lose a tab by its last window while floats are in it.
        vim.cmd.tabclose({ api.nvim_tabpage_get_number(tab), bang = true })
      else
        local left = instead and api.nvim_buf_is_valid(instead) and instead
        api.nvim_win_set_buf(win, left or api.nvim_create_buf(true, false))
      end
    end
  end
end

return M
