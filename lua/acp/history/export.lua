---A session as Markdown, in a file or in a buffer.
local M = {}

local api = vim.api
local notify = require('acp.notify')

---@class acp.ExportOpts
---@field session? integer
---@field path? string the file; without one the callback gets the text
---@field replace? boolean a file that is there

---Exports a session in Markdown.
---@param opts? acp.ExportOpts
---@param callback? fun(result: {path?: string, text?: string}?, err: string?)
---@return boolean? ok, string? err
function M.export(opts, callback)
  opts = opts or {}
  local id, err = require('acp.rpc.state').resolve(opts.session)
  if not id then
    return nil, err
  elseif not opts.path and not callback then
    return nil, 'acp.export needs a path, or a callback for the text'
  end
  local path = opts.path and vim.fn.fnamemodify(vim.fs.normalize(opts.path), ':p') or nil
  local args = { session = id, path = path, replace = opts.replace == true }
  require('acp.rpc.host').request('export', args, callback or function(_, failure)
    notify.warn_if(failure)
  end)
  return true
end

---Shows a text in a new buffer that the user may change and write.
---@param text string
local function show(text)
  vim.cmd('botright new')
  local buf = api.nvim_get_current_buf()
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text:gsub('\n$', ''), '\n'))
  vim.bo[buf].filetype = 'markdown'
  vim.bo[buf].modified = false
end

---Writes the session at hand to a file, or shows it.
---@param path string? else it is shown
---@param replace boolean
function M.run(path, replace)
  local _, err = M.export({ path = path, replace = replace }, function(result, failure)
    if not result then
      return notify.warn_if(failure)
    elseif result.path then
      return notify.info(
        ('the session was written to %s'):format(vim.fn.fnamemodify(result.path, ':~:.'))
      )
    end
    require('acp.ui.safe_state').soon(function()
      show(result.text)
    end)
  end)
  notify.warn_if(err)
end

return M
