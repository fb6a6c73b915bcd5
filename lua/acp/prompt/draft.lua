---Unsent prompts: kept on the disk until they are sent, for the next session in their folder. If
---the disk cannot be written, nothing is kept.
local M = {}

local api, uv = vim.api, vim.uv

---How many are kept at most, and how large one may be, in bytes.
local most, largest = 100, 1024 * 1024
---How long after a change one is written, in ms.
local pause = 1000
---The age, in seconds, of a draft that nobody is working on, whatever process has its number now.
local old = 24 * 60 * 60

---@class acp.Draft
---@field id integer session
---@field buf integer
---@field path string
---@field have string? what the disk has; nil for nothing
---@field busy boolean whether it is being written
---@field due boolean whether it will be, soon
---@field left? {text?: string} what its session has left, which is over
---@field place string which folder it is of

---@type table<integer, acp.Draft> by session
local drafts = {}

---@return string
local function folder()
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'acp', 'drafts')
end

---@param d acp.Draft
---@return string? text nil where nothing is to be kept
local function text_of(d)
  if d.left then
    return d.left.text
  elseif not api.nvim_buf_is_loaded(d.buf) then
    return d.have -- it was unloaded
  end
  local text = table.concat(api.nvim_buf_get_lines(d.buf, 0, -1, false), '\n')
  return vim.trim(text) ~= '' and #text <= largest and text or nil
end

---@class acp.KeptDraft
---@field path string
---@field time integer
---@field place string which folder it is of
---@field free boolean whether no prompt has it

---@return acp.KeptDraft[] the newest first
local function kept()
  local list = {}
  for name in vim.fs.dir(folder()) do
    local place, pid, id, ending = name:match('^(%x+)%-(%d+)%-(%d+)(.*)$')
    local path = vim.fs.joinpath(folder(), name)
    local stat = place and uv.fs_stat(path)
    if stat then
      local own = tonumber(pid) == uv.os_getpid()
      local used = own and drafts[tonumber(id)] ~= nil or not own and uv.kill(tonumber(pid), 0) == 0
      local time = stat.mtime.sec
      local free = not used or not own and os.time() - time > old
      place = ending == '' and place or '' -- half written
      table.insert(list, { path = path, time = time, place = place, free = free })
    end
  end
  table.sort(list, function(a, b)
    return a.time > b.time
  end)
  return list
end

---Makes room for another one.
local function prepare()
  pcall(vim.fn.mkdir, folder(), 'p', 448) -- 0700
  local list = kept()
  for i = most, #list do
    if list[i].free then
      uv.fs_unlink(list[i].path)
    end
  end
end

---Writes a file, or deletes it if there is no text. Without `done` it waits for that.
---@param path string
---@param text string?
---@param done? fun()
local function write(path, text, done)
  if not text then
    uv.fs_unlink(path, done)
    return
  end
  local temp = path .. '.new'
  if not done then
    local fd = uv.fs_open(temp, 'w', 384) -- 0600
    if fd then
      local written = uv.fs_write(fd, text, 0)
      uv.fs_close(fd)
      if written == #text then
        uv.fs_rename(temp, path)
      end
    end
    return
  end
  uv.fs_open(temp, 'w', 384, function(_, fd)
    if not fd then
      done()
      return
    end
    uv.fs_write(fd, text, 0, function(_, written)
      uv.fs_close(fd, function()
        if written == #text then
          uv.fs_rename(temp, path, done)
        else
          done()
        end
      end)
    end)
  end)
end

---Brings the disk in step with a prompt, in the background.
---@param d acp.Draft
local function keep(d)
  local text = text_of(d)
  if d.busy then
    return
  elseif text == d.have then
    if d.left then
      drafts[d.id] = nil
    end
    return
  end
  if not d.have then
    prepare()
  end
  d.busy = true
  write(
    d.path,
    text,
    vim.schedule_wrap(function()
      d.busy, d.have = false, text
      keep(d)
    end)
  )
end

---The user has changed a prompt. A sent prompt must not come back, so that is written at once.
---@param id integer session
function M.changed(id)
  local d = drafts[id]
  if not d then
    return
  end
  local lines = api.nvim_buf_line_count(d.buf)
  if lines == 1 and api.nvim_buf_get_lines(d.buf, 0, 1, false)[1] == '' then
    keep(d)
  elseif not d.due then
    d.due = true
    vim.defer_fn(function()
      d.due = false
      if drafts[id] == d then
        keep(d)
      end
    end, pause)
  end
end

---Keeps what an ended session left unsent: what waits in its queue, and its prompt.
---@param id integer
local function leave(id)
  local d = drafts[id]
  if not d then
    return
  end
  local session = require('acp.rpc.state').sessions[id]
  local texts = vim.deepcopy(session and session.ahead or {})
  vim.list_extend(texts, session and session.queue or {})
  table.insert(texts, text_of(d))
  local text = table.concat(texts, '\n\n')
  d.left = { text = text ~= '' and #text <= largest and text or nil }
  keep(d)
end

---Neovim is exiting: what is left is on the disk when this returns.
local function leave_all()
  for id, d in pairs(drafts) do
    leave(id)
    vim.wait(200, function()
      return not d.busy
    end, 5)
    if d.busy then
      write(d.path, d.left.text)
    end
  end
end

---What a session left in a folder that is still being written.
---@param place string
---@return acp.Draft?
local function leaving(place)
  return vim.iter(vim.tbl_values(drafts)):find(function(d)
    return d.place == place and d.left and d.left.text
  end)
end

---Begins to keep the prompt of a session, and returns what the last one in its folder left unsent.
---@param id integer session
---@param buf integer
---@param cwd string
---@return string[]? lines
function M.begin(id, buf, cwd)
  local before = drafts[id] -- the user has wiped its buffer
  local place = vim.fn.sha256(require('acp.rpc.path').real(cwd)):sub(1, 16)
  local name = ('%s-%d-%d'):format(place, uv.os_getpid(), id)
  local path = vim.fs.joinpath(folder(), name)
  local d = { id = id, buf = buf, path = path, place = place, busy = false, due = false }
  d.have = before and before.have
  local found = not before
    and vim.iter(kept()):find(function(draft)
      return draft.place == place and draft.free
    end)
  drafts[id] = d
  api.nvim_create_autocmd('VimLeavePre', {
    group = api.nvim_create_augroup('acp_draft', {}),
    desc = 'Keep the prompts that are not sent',
    callback = leave_all,
  })
  local last = not before and leaving(place)
  if last then
    local text = last.left.text
    last.left.text = nil -- its file goes
    vim.schedule(function()
      if drafts[id] == d then
        keep(d)
      end
    end)
    return vim.split(text, '\n', { plain = true })
  end
  if not found or not uv.fs_rename(found.path, d.path) then
    return nil
  end
  local file = io.open(d.path, 'rb')
  d.have = file and file:read(largest)
  if file then
    file:close()
  end
  return d.have and vim.split(d.have, '\n', { plain = true })
end

require('acp.rpc.state').closing:add(leave)

return M
