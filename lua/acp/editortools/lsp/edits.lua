---Edits of servers as whole new texts: nothing is changed here, the host writes what the user
---allows.
local M = {}

local position = require('acp.editortools.lsp.position')
local text = require('acp.editortools.lsp.text')

---A text with edits of a server made.
---@param whole string
---@param edits table[] TextEdit
---@param encoding string
---@return string
function M.applied(whole, edits, encoding)
  local starts, at = { 1 }, 1
  while true do
    local found = whole:find('\n', at, true)
    if not found then
      break
    end
    at = found + 1
    table.insert(starts, at)
  end
  ---@param pos {line: integer, character: integer}
  ---@return integer byte from 1
  local function offset(pos)
    local first = starts[pos.line + 1]
    if not first then
      return #whole + 1
    end
    local line = whole:sub(first, (starts[pos.line + 2] or #whole + 2) - 2)
    return first + position.byte(line, pos.character, encoding)
  end
  local list = {}
  for i, edit in ipairs(edits) do
    local from, to = offset(edit.range.start), offset(edit.range['end'])
    table.insert(list, { from, math.max(from, to), edit.newText:gsub('\r\n?', '\n'), i })
  end
  table.sort(list, function(a, b)
    if a[1] ~= b[1] then
      return a[1] < b[1]
    end
    return a[4] < b[4]
  end)
  local parts, last = {}, 1
  for _, edit in ipairs(list) do
    if edit[1] >= last then
      table.insert(parts, whole:sub(last, edit[1] - 1))
      table.insert(parts, edit[3])
      last = edit[2]
    end
  end
  table.insert(parts, whole:sub(last))
  return table.concat(parts)
end

---@param uri string
---@return string? path, string? err
local function path_of(uri)
  if not vim.startswith(uri, 'file:') then
    return nil, ('the language server would change %s, which is no file'):format(uri)
  end
  return vim.fs.normalize(vim.uri_to_fname(uri))
end

---What a WorkspaceEdit makes of files.
---@param workspace_edit table
---@param encoding string
---@return table[]? edits, string? err
function M.of(workspace_edit, encoding)
  local list, texts = {}, {}
  ---@param uri string
  ---@param edits table[]
  ---@return string? err
  local function change(uri, edits)
    local path, err = path_of(uri)
    if not path then
      return err
    end
    local entry = texts[path]
    if not entry then
      local whole = text.whole(path)
      if not whole then
        return ('%s cannot be read'):format(path)
      end
      entry = { path = path, text = whole }
      texts[path] = entry
      table.insert(list, entry)
    end
    entry.text = M.applied(entry.text, edits, encoding)
  end
  if workspace_edit.documentChanges then
    for _, part in ipairs(workspace_edit.documentChanges) do
      local err
      if part.kind == 'rename' then
        local path, to = path_of(part.oldUri), path_of(part.newUri)
        if not path or not to then
          return nil, 'the language server would rename what is no file'
        end
        table.insert(list, { path = path, new_path = to })
      elseif part.kind == 'create' or part.kind == 'delete' then
        local path
        path, err = path_of(part.uri)
        if path and part.kind == 'create' then
          local entry = { path = path, create = true, text = '' }
          texts[path] = entry
          table.insert(list, entry)
        elseif path then
          table.insert(list, { path = path, delete = true })
        end
      else
        local buf = text.buf(vim.fs.normalize(vim.uri_to_fname(part.textDocument.uri)))
        local version = part.textDocument.version
        local known = buf and vim.lsp.util.buf_versions[buf]
        if type(version) == 'number' and version > 0 and known and known > version then
          return nil, 'the text has changed since the language server saw it: ask again'
        end
        err = change(part.textDocument.uri, part.edits)
      end
      if err then
        return nil, err
      end
    end
  else
    for uri, edits in vim.spairs(workspace_edit.changes or {}) do
      local err = change(uri, edits)
      if err then
        return nil, err
      end
    end
  end
  return list
end

return M
