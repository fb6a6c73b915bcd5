---Buffers with a name of ours that nobody fills: those of a restored Neovim session (|:mksession|),
---and those that the user reloads.
local M = {}

local api = vim.api
local bufs = require('acp.chat.buffers')

local words = {
  '',
  '  This window showed an agent',
  '  in an earlier Neovim.',
  '',
  '  :Acp          starts a session',
  '  :Acp resume   resumes an earlier one',
}

---@param buf integer
local function explain(buf)
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, words)
  vim.b[buf].acp_gone = true
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'nofile', 'hide', false
  vim.bo[buf].modifiable, vim.bo[buf].modified, vim.bo[buf].buflisted = false, false, false
end

---A name of ours is read.
---@param buf integer
function M.read(buf)
  local id = vim.b[buf].acp_session
  local b = id and bufs.get(id)
  if b and (b.chat == buf or b.prompt == buf) then
    bufs.reread:emit(buf, b.chat == buf and 'chat' or 'prompt', id)
  elseif not id then
    explain(buf)
  end
end

---A Neovim session file makes a window show a buffer of that name, by `:file` in an empty buffer.
---That fails if a session of that name is open here: the window shows that one.
---@param buf integer the empty buffer
function M.restore(buf)
  -- The new name is nowhere but in the line of the file.
  local at = vim.fn.expand('<stack>'):match('%[(%d+)%]%.%.BufFilePre')
  local read, lines = pcall(vim.fn.readfile, vim.v.this_session, '', tonumber(at) or 0)
  local name = read and (lines[#lines] or ''):match('^file (acp://.*)$')
  if not name then
    return
  end
  for _, ours in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_get_name(ours) == name and api.nvim_buf_is_loaded(ours) then
      vim.bo[buf].bufhidden = 'wipe'
      require('acp.chat.layout').place(0, ours)
    end
  end
end

---Shows a buffer in place of those that an earlier Neovim had, of whichever agent.
---@param buf integer
---@param tail string what their names end in
local function replace(buf, tail)
  for _, old in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(old):gsub(' %(old%)$', '')
    if vim.b[old].acp_gone and vim.endswith(name, tail) then
      for _, win in ipairs(vim.fn.win_findbuf(old)) do
        require('acp.chat.layout').place(win, buf)
      end
      api.nvim_buf_delete(old, { force = true })
    end
  end
end

bufs.created:add(replace)

---A session of Neovim's was restored.
function M.restored()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local ours = vim.startswith(api.nvim_buf_get_name(buf), 'acp://')
    if
      ours
      and api.nvim_buf_is_loaded(buf)
      and not vim.b[buf].acp_session
      and not vim.b[buf].acp_history
    then
      explain(buf)
    end
  end
end

return M
