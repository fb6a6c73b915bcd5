---The picture of the clipboard, for a prompt.
local M = {}

local uv = vim.uv

---@class acp.ClipboardTool
---@field program string
---@field display string the variable of the environment that says it is of use
---@field list? string[] prints the types that the clipboard has
---@field get fun(type: string): string[] prints what it has of a type

---@type acp.ClipboardTool[]
local tools = {
  {
    program = 'wl-paste',
    display = 'WAYLAND_DISPLAY',
    list = { 'wl-paste', '--list-types' },
    get = function(type)
      return { 'wl-paste', '--no-newline', '--type', type }
    end,
  },
  {
    program = 'xclip',
    display = 'DISPLAY',
    list = { 'xclip', '-selection', 'clipboard', '-target', 'TARGETS', '-out' },
    get = function(type)
      return { 'xclip', '-selection', 'clipboard', '-target', type, '-out' }
    end,
  },
  {
    program = 'pngpaste',
    display = 'HOME',
    get = function()
      return { 'pngpaste', '-' }
    end,
  },
}

---@return acp.ClipboardTool?
local function tool()
  local installed = vim.tbl_filter(function(t)
    return vim.fn.executable(t.program) == 1
  end, tools)
  return vim.iter(installed):find(function(t)
    return (vim.env[t.display] or '') ~= ''
  end) or installed[1]
end

---@return string? program that is asked for the picture of the clipboard
function M.program()
  local t = tool()
  return t and t.program
end

---How long a program may take, in ms.
local patience = 5000

---@param command string[]
---@param done fun(output: string?) on the main loop; nil where it failed
local function run(command, done)
  local options = { text = false, timeout = patience }
  vim.system(
    command,
    options,
    vim.schedule_wrap(function(result)
      done(result.code == 0 and result.stdout or nil)
    end)
  )
end

---Writes a picture to a file that the host deletes when it is old.
---@param data string
---@param ending string
---@return string? path, string? err
local function save(data, ending)
  local folder = vim.fs.joinpath(vim.fn.stdpath('cache') --[[@as string]], 'acp')
  pcall(vim.fn.mkdir, folder, 'p', 448) -- 0700
  local name = ('pasted-%s-%d'):format(os.date('%Y%m%d-%H%M%S'), uv.hrtime() % 1000000)
  local path = vim.fs.joinpath(folder, name .. '.' .. ending)
  local fd, err = uv.fs_open(path, 'w', 384) -- 0600
  if not fd then
    return nil, err
  end
  local written = uv.fs_write(fd, data, 0)
  uv.fs_close(fd)
  if written ~= #data then
    return nil, 'not all of it could be written'
  end
  return path
end

---Puts the picture of the clipboard into a prompt.
---@param id integer session
function M.paste(id)
  local notify, most = require('acp.notify'), require('acp.prompt.media').most
  local t = tool()
  if not t then
    return notify.warn('pasting an image needs wl-paste (wl-clipboard), xclip or pngpaste')
  end
  local function got(data, type)
    if not data or data == '' then
      return notify.warn('the clipboard has no image')
    elseif #data > most then
      local why = 'the image was not pasted: it is %.1f MB, and at most %d MB are sent'
      return notify.warn(why:format(#data / 1024 / 1024, most / 1024 / 1024))
    end
    local path, err = save(data, type == 'image/jpeg' and 'jpg' or type:match('%w+$'))
    if not path then
      return notify.error(('the image could not be kept: %s'):format(err))
    end
    require('acp.prompt.add').insert(id, { require('acp.prompt.mention').text(path) })
  end
  if not t.list then
    return run(t.get('image/png'), function(data)
      got(data, 'image/png')
    end)
  end
  run(t.list, function(list)
    local offered = vim.split(list or '', '%s+')
    local type = vim
      .iter({ 'image/png', 'image/jpeg', 'image/webp', 'image/gif' })
      :find(function(t2)
        return vim.tbl_contains(offered, t2)
      end)
    if not type then
      return got(nil, '')
    end
    run(t.get(type), function(data)
      got(data, type)
    end)
  end)
end

return M
