---Pages: buffers that only the host writes, edit by edit, and that never move under their readers.
local M = {}

local api = vim.api

---@class acp.Page
---@field buf integer
---@field name string what the user calls it
---@field base integer how many lines are above those of the host
---@field stays_at_end boolean whether windows at the end stay there
---@field bare fun(line: string): string what of a line tells it from others

---@class acp.PageEdit an edit as the host says; see page.Edit in host/page/edit.go
---@field session integer
---@field seq integer
---@field count integer
---@field row integer
---@field end_row integer
---@field append boolean
---@field col integer
---@field lines string[]
---@field mark_row integer
---@field mark_end integer
---@field marks string[]
---@field decor table[]
---@field code table[]
---@field images table[]
---@field prose {row: integer, end_row: integer}[]

---The windows on a buffer that follow its end, and those that are to stay.
---@param page acp.Page
---@return integer[] following, integer[] staying
local function windows(page)
  local following, staying = {}, {}
  local last = api.nvim_buf_line_count(page.buf)
  for _, win in ipairs(vim.fn.win_findbuf(page.buf)) do
    local visual = win == api.nvim_get_current_win() and api.nvim_get_mode().mode:match('^[vV\22]')
    if page.stays_at_end and api.nvim_win_get_cursor(win)[1] >= last and not visual then
      table.insert(following, win)
    else
      table.insert(staying, win)
    end
  end
  return following, staying
end

---Brings windows to the end of a buffer. Of a line that fills half of the window or more it is the
---end that is worth seeing. The host cuts lines that would take Neovim long.
---@param buf integer
---@param wins integer[]
function M.to_end(buf, wins)
  local last = api.nvim_buf_line_count(buf)
  local len = #api.nvim_buf_get_lines(buf, last - 1, last, false)[1]
  for _, win in ipairs(wins) do
    local long = 2 * len > api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
    api.nvim_win_set_cursor(win, { last, long and len or 0 })
    if api.nvim_win_get_tabpage(win) ~= api.nvim_get_current_tabpage() then
      -- Neovim keeps the row of the cursor when the height changes, and knows none of a window that
      -- it has not drawn: all but the last line would be above when the user comes back.
      api.nvim_win_call(win, vim.fn.winline)
    end
  end
end

---Adds lines that the host knows nothing of.
---@param page acp.Page
---@param row integer before which, 0-based
---@param lines string[]
function M.add(page, row, lines)
  local following = windows(page)
  local count = api.nvim_buf_line_count(page.buf)
  vim.bo[page.buf].modifiable = true
  api.nvim_buf_set_lines(page.buf, row, row, true, lines)
  require('acp.ui.highlight').splice(page.buf, row, row, #lines, count)
  vim.bo[page.buf].modifiable = false
  vim.bo[page.buf].modified = false
  M.to_end(page.buf, following)
end

---How a text is shown at the right edge; nil where there is no room for it beside the line.
---@param buf integer
---@param row integer
---@param text string
---@return string?
local function right_pos(buf, row, text)
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  local room = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    room = math.min(room, api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff)
  end
  if require('acp.ui.wrap').cells(line .. text) > room then
    return nil
  end
  -- A window that becomes narrower later must not have its line covered.
  return vim.fn.has('nvim-0.11') == 1 and 'eol_right_align' or 'right_align'
end

---Keeps windows on the lines that they were on, while lines around those are replaced: by their
---text, where it is still there.
---@param page acp.Page
---@param wins integer[]
---@param e acp.PageEdit
---@param row integer the first line that is replaced
---@param end_row integer exclusive
---@return fun() restore
local function hold(page, wins, e, row, end_row)
  local held = {}
  for _, win in ipairs(wins) do
    local at = api.nvim_win_get_cursor(win)[1] - 1
    if at >= row and at < end_row then
      held[win] = {
        view = api.nvim_win_call(win, vim.fn.winsaveview),
        text = page.bare(api.nvim_buf_get_lines(page.buf, at, at + 1, false)[1]),
        at = at - row,
      }
    end
  end
  return function()
    for win, h in pairs(held) do
      local found
      for i, line in ipairs(e.lines) do
        local closer = not found or math.abs(i - 1 - h.at) < math.abs(found - h.at)
        if closer and page.bare(line) == h.text then
          found = i - 1
        end
      end
      -- Without lines in its place it is the one before: the head of what was closed.
      local to = row + (found or math.min(h.at, #e.lines - 1))
      local moved = to - (row + h.at)
      h.view.lnum = math.max(1, to + 1)
      h.view.topline = math.max(1, math.min(h.view.topline + moved, h.view.lnum))
      api.nvim_win_call(win, function()
        vim.fn.winrestview(h.view)
      end)
    end
  end
end

---Draws what stands beside and below the text of an edit, and the colours of its code.
---@param page acp.Page
---@param e acp.PageEdit
local function adorn(page, e)
  local buf, base, highlight = page.buf, page.base, require('acp.ui.highlight')
  for _, d in ipairs(e.decor) do
    local opts = { strict = false }
    if d.right ~= '' then
      local text = ' ' .. d.right .. ' '
      opts.virt_text_pos = right_pos(buf, d.row + base, text)
      opts.virt_text = opts.virt_text_pos and { { text, highlight.ids[d.right_group] } } or nil
      opts.hl_mode = 'combine'
    end
    if d.sign ~= '' then
      opts.sign_text = d.sign
      opts.sign_hl_group = highlight.ids[d.sign_group]
    end
    api.nvim_buf_set_extmark(buf, highlight.ns, d.row + base, 0, opts)
  end
  for _, c in ipairs(e.code) do
    if c.sides ~= '' then
      require('acp.ui.syntax').add_diff(buf, c.row + base, c.end_row + base, c)
    else
      require('acp.ui.syntax').add(buf, c.row + base, c.end_row + base, c.lang, c.col)
    end
  end
  for _, text in ipairs(e.prose) do
    require('acp.ui.markdown').add(buf, text.row + base, text.end_row + base)
  end
  for _, image in ipairs(e.images) do
    require('acp.ui.image').add(buf, image.row + base, image.path)
  end
end

---Changes a page as the host says, or raises an error where it is not as the host believes.
---@param page acp.Page
---@param e acp.PageEdit
---@return boolean stays whether there is a window that does not follow the end
function M.edit(page, e)
  local buf, base, highlight = page.buf, page.base, require('acp.ui.highlight')
  local have = api.nvim_buf_line_count(buf) - base
  local whole = e.count == 0
  if not whole and have ~= e.count then
    error(('the %s has %d lines, not %d'):format(page.name, have, e.count))
  end
  local following, staying = windows(page)
  local views = {}
  for _, win in ipairs(whole and staying or {}) do
    views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  local row, end_row = e.row + base, e.end_row + base
  local restore = not whole and not e.append and hold(page, staying, e, row, end_row)
  vim.bo[buf].modifiable = true
  local ok, err = pcall(function()
    if e.append then
      api.nvim_buf_set_text(buf, row - 1, e.col, row - 1, e.col, e.lines)
    else
      end_row = whole and have + base or end_row
      if end_row > row then
        api.nvim_buf_clear_namespace(buf, highlight.ns, row, end_row)
        for _, name in ipairs({ 'acp.ui.syntax', 'acp.ui.image' }) do
          if package.loaded[name] then -- else it has drawn nothing
            package.loaded[name].clear(buf, row, end_row)
          end
        end
        require('acp.ui.markdown').clear(buf, row, whole and -1 or end_row)
      end
      api.nvim_buf_set_lines(buf, row, end_row, true, e.lines)
    end
  end)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  if not ok then
    error(err, 0)
  end
  highlight.splice(buf, row, end_row, e.append and #e.lines - 1 or #e.lines, have + base)
  api.nvim_buf_clear_namespace(buf, highlight.ns, e.mark_row + base, e.mark_end + base)
  highlight.replace(buf, e.mark_row + base, e.marks, e.append and row - 1 or row)
  adorn(page, e)
  if restore then
    restore()
  end
  if #following > 0 then
    M.to_end(buf, following)
  end
  for win, view in pairs(views) do
    api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
  return #staying > 0
end

return M
