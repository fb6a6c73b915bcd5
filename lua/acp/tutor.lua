---`:Acp tutor`: the page |acp-tutor| beside a chat with the demo agent, in a project that is
---removed when Neovim ends.
local M = {}

local files = {
  ['README.md'] = {
    '# Greetings',
    '',
    'A project of two files, for you to try things with.',
    'Nothing that happens here touches your own.',
  },
  ['greet.lua'] = {
    'local function greet(name)',
    "  return ('Hello, %s!'):format(name or 'world')",
    'end',
    '',
    'print(greet())',
  },
}

---@return string? dir, string? err
local function project()
  local dir = vim.fs.normalize(vim.fn.tempname()) .. '/greetings'
  local ok, err = pcall(function()
    vim.fn.mkdir(dir, 'p')
    for name, lines in pairs(files) do
      assert(vim.fn.writefile(lines, vim.fs.joinpath(dir, name)) == 0, 'it cannot be written')
    end
  end)
  if not ok then
    return nil, ('the tutor could not make its folder: %s'):format(err)
  end
  return dir
end

---Opens the page as help, also where no tags were made of the plugin's help.
local function open_page()
  if pcall(vim.cmd, 'leftabove help acp-tutor') then
    return
  end
  vim.cmd('leftabove split')
  vim.cmd.view(vim.fn.fnameescape(vim.api.nvim_get_runtime_file('doc/acp-tutor.txt', false)[1]))
  vim.bo.buftype, vim.bo.modifiable, vim.bo.filetype = 'help', false, 'help'
end

function M.open()
  local notify = require('acp.notify')
  local dir, err = project()
  if not dir then
    return notify.error(err)
  end
  vim.cmd.tabnew()
  vim.cmd('silent tcd ' .. vim.fn.fnameescape(dir)) -- typed, it says where it is
  vim.cmd.edit('README.md')
  local id, failure = require('acp').new({ agent = 'demo', cwd = dir })
  if not id then
    vim.cmd.tabclose()
    return notify.error(failure)
  end
  open_page()
  vim.cmd.resize(math.floor(vim.o.lines / 2)) -- the change is shown in the window below
  require('acp.chat.layout').open(id, false)
end

return M
