---Comments on lines, written in a small float; the host keeps them until they are sent.
local M = {}

local api = vim.api

---@type table<string, string> words that were left without being taken, by what they are about
local left = {}

---@class acp.CommentDraft
---@field id integer
---@field name string of the file
---@field first integer
---@field last integer
---@field text string of the comment that is there already, or ''

---Opens the float of a comment, which grows with what the user types.
---@param session integer
---@return integer buf, integer win, integer width, fun() grow
local function open(session)
  local buf = require('acp.chat.buffers').create('comment', 'acp-comment', session)
  vim.bo[buf].bufhidden = 'wipe'
  local width = math.max(20, math.min(64, vim.o.columns - 6))
  local win = api.nvim_open_win(buf, true, {
    relative = 'cursor',
    row = 1,
    col = 0,
    width = width,
    height = 1,
    style = 'minimal',
    border = 'rounded',
    footer = ' <C-s> save · <Esc> leave ',
    footer_pos = 'right',
  })
  require('acp.ui.window').plain(win, {
    wrap = true,
    linebreak = true,
    winhighlight = 'NormalFloat:Normal',
  })
  local function grow()
    if not api.nvim_win_is_valid(win) then
      return
    end
    local rows = 0
    for _, line in ipairs(api.nvim_buf_get_lines(buf, 0, -1, false)) do
      rows = rows + math.max(1, math.ceil((vim.fn.strdisplaywidth(line) + 1) / width))
    end
    api.nvim_win_set_config(
      win,
      { height = math.max(1, math.min(rows, math.floor(vim.o.lines / 3))) }
    )
  end
  return buf, win, width, grow
end

---Asks for a comment at the cursor. What is typed from now on goes into its float; what the comment
---is about, and its present words, follow when the host has found out.
---@param args table what the host is told of the lines
function M.ask_at(args)
  local session = args.session
  ---@type acp.CommentDraft?
  local draft
  local key, again = nil, false
  local buf, win, width, grow = open(session)
  ---What the user left in the float, and whether to keep it.
  ---@type string?, boolean
  local said, taken = nil, false
  local function shut()
    vim.cmd.stopinsert()
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
  end
  local function take()
    taken = true
    shut()
  end
  ---Tells the host, once both it and the user have answered.
  local function finish()
    if not (draft and said) then
      return
    end
    local fields = { session = session, id = draft.id }
    if taken then
      fields.text = said
    else
      fields.dropped = true
      if said ~= '' and (again or said ~= draft.text) then
        left[key] = said
        require('acp.notify').info('your words are kept: comment there again to go on')
      end
    end
    require('acp.rpc.host').notify('comment', fields)
  end
  vim.keymap.set({ 'n', 'i' }, '<C-s>', take, { buffer = buf, desc = 'acp: save the comment' })
  vim.keymap.set('n', '<CR>', take, { buffer = buf, desc = 'acp: save the comment' })
  for _, lhs in ipairs({ '<Esc>', 'q' }) do
    vim.keymap.set('n', lhs, shut, { buffer = buf, nowait = true, desc = 'acp: leave the comment' })
  end
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, { buffer = buf, callback = grow })
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    desc = 'Save a comment, or keep its words',
    callback = function()
      said = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n'):gsub('%s+$', '')
      vim.schedule(finish)
    end,
  })
  vim.cmd.startinsert()
  require('acp.rpc.host').request('comment_at', args, function(found, err)
    if not found then
      shut()
      return require('acp.notify').info(err or 'there is nothing here to comment on')
    end
    draft = found
    key = ('%d %s %d %d'):format(session, draft.name, draft.first, draft.last)
    local text = left[key] or draft.text
    again = left[key] ~= nil
    left[key] = nil
    if said then -- the user was faster
      said = text .. said
      return finish()
    end
    local typed = api.nvim_buf_line_count(buf) > 1
      or api.nvim_buf_get_lines(buf, 0, 1, false)[1] ~= ''
    api.nvim_buf_set_text(buf, 0, 0, 0, 0, vim.split(text, '\n'))
    local where = draft.first > 0 and ':' .. draft.first or ''
    api.nvim_win_set_config(win, {
      border = 'rounded',
      title = require('acp.ui.wrap').cut(' ' .. draft.name .. where .. ' ', width),
    })
    grow()
    if text ~= '' and not typed and api.nvim_get_current_win() == win then
      vim.cmd.stopinsert()
      vim.cmd.normal({ 'G$', bang = true })
    end
  end)
end

---Asks for a comment on lines of a file, or edits the one that is there.
---@param session integer
---@param path string
---@param first integer 1-based
---@param last integer
function M.ask(session, path, first, last)
  local buf = vim.fn.bufnr('^' .. vim.fn.escape(path, '[]*?\\') .. '$')
  local lines = buf ~= -1 and api.nvim_buf_get_lines(buf, first - 1, last, false) or {}
  local real = require('acp.rpc.path').real(path)
  M.ask_at({ session = session, path = real, first = first, last = last, lines = lines })
end

return M
