---Pictures and sounds in a prompt: named like other files, or dropped on the terminal, which pastes
---their paths. The host reads them when the prompt is sent.
local M = {}

local api, uv = vim.api, vim.uv

---How large one may be, in bytes; the same as maxMedia in the host.
M.most = 5 * 1024 * 1024

---@type table<string, 'image'|'audio'> by the ending of a name, as mediaTypes of the host has them
local kinds = {
  png = 'image',
  jpg = 'image',
  jpeg = 'image',
  gif = 'image',
  webp = 'image',
  wav = 'audio',
  mp3 = 'audio',
  ogg = 'audio',
  flac = 'audio',
  m4a = 'audio',
}

---@param path string
---@return 'image'|'audio'|nil
function M.kind(path)
  return kinds[(path:match('%.(%w+)$') or ''):lower()]
end

---What would be sent of a file.
---@param path string
---@param session? acp.Session
---@return acp.Context
function M.preview(path, session)
  local kind, name = M.kind(path), vim.fs.basename(path)
  local stat = uv.fs_stat(path)
  local size = stat and stat.size or 0
  local label = ('%s %.1f MB'):format(name, size / 1024 / 1024)
  if size < 1024 * 1024 then
    label = ('%s %d KB'):format(name, math.ceil(size / 1024))
  end
  local why
  if size > M.most then
    why = (' (link: over %d MB)'):format(M.most / 1024 / 1024)
  elseif session and session.takes and session.takes[kind] == false then
    why = (' (link: no %s)'):format(kind == 'image' and 'images' or 'audio')
  end
  return { label = label .. (why or ''), empty = why }
end

---The picture or sound whose path a line is, as terminals paste what is dropped on them.
---@param line string
---@return string? path
local function dropped(line)
  line = vim.trim(line)
  local path = line:match("^'(.*)'$") or line:match('^"(.*)"$')
  if not path and vim.startswith(line, 'file://') then
    path = vim.uri_to_fname(line)
  end
  path = path or line:gsub('\\(.)', '%1')
  local found = path:sub(1, 1) == '/' and M.kind(path) and uv.fs_stat(path)
  return found and path or nil
end

---What is pasted into a prompt: a path of a picture or a sound names it.
---@param lines string[]
---@param before string the line up to where they go
---@param cwd string of the session
---@return string[]
local function pasted(lines, before, cwd)
  local paths = vim.tbl_map(dropped, lines)
  if #lines == 0 or vim.tbl_count(paths) ~= #lines then
    return lines
  end
  local mention = require('acp.prompt.mention')
  local words = vim.tbl_map(function(path)
    return mention.text(mention.relative(path, cwd))
  end, paths)
  return { (before:match('%S$') and ' ' or '') .. table.concat(words, ' ') .. ' ' }
end

---Lets prompts take what is dropped on them. Everything else is pasted as before.
function M.watch()
  local paste = vim.paste
  vim.paste = function(lines, phase) -- luacheck: ignore 122
    local ours = package.loaded['acp.prompt.media'] == M and vim.bo.filetype == 'acp-prompt'
    if ours and phase == -1 then
      local col = api.nvim_win_get_cursor(0)[2]
      local session = require('acp.rpc.state').sessions[vim.b.acp_session]
      lines = pasted(lines, api.nvim_get_current_line():sub(1, col), session and session.cwd or '')
    end
    return paste(lines, phase)
  end
end

return M
