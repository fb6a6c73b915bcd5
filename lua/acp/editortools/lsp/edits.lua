---What servers' edits would do to files. Nothing is changed here: the host does what the user
---allows.
local M = {}

local position = require('acp.editortools.lsp.position')
local snippet = require('acp.editortools.lsp.snippet')
local text = require('acp.editortools.lsp.text')

---@class acp.Answered what a server would change
---@field edit table a WorkspaceEdit
---@field encoding string
---@field client integer by its id

---@class acp.Span a part of a text and what is to be in its place
---@field from integer byte from 1
---@field to integer the first byte behind it
---@field text string

---@class acp.Planned what is to become of a file
---@field path string where it is now
---@field new_path? string where it is moved
---@field create? boolean it is not there yet
---@field delete? boolean
---@field text? string what it is to have; nil where nothing of it changes
---@field whole? string what it has before the spans
---@field spans? acp.Span[]
---@field by? integer the server whose spans came last

---What a TextEdit puts into the text, as plain text.
---@param edit table
---@return string
local function new_text(edit)
  local new = edit.newText
  if type(edit.snippet) == 'table' then
    new = snippet.plain(edit.snippet.value)
  elseif edit.insertTextFormat == 2 then
    new = snippet.plain(new)
  end
  return (new:gsub('\r\n?', '\n'))
end

---The parts of a text that a server's edits replace.
---@param whole string
---@param edits table[] TextEdit
---@param encoding string
---@return acp.Span[]
local function spans_of(whole, edits, encoding)
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
    assert(position.counts(pos.line) and position.counts(pos.character))
    local first = starts[pos.line + 1]
    if not first then
      return #whole + 1
    end
    local line = whole:sub(first, (starts[pos.line + 2] or #whole + 2) - 2)
    return first + position.byte(line, pos.character, encoding)
  end
  return vim.tbl_map(function(edit)
    local from, to = offset(edit.range.start), offset(edit.range['end'])
    return { from = from, to = math.max(from, to), text = new_text(edit) }
  end, edits)
end

---A text with its parts replaced; nil if they overlap, which is ambiguous.
---@param whole string
---@param spans acp.Span[]
---@return string?
local function replaced(whole, spans)
  local order = {}
  for i, span in ipairs(spans) do
    order[i] = { span, i }
  end
  table.sort(order, function(a, b)
    local x, y = a[1], b[1]
    if x.from ~= y.from then
      return x.from < y.from
    elseif (x.to == x.from) ~= (y.to == y.from) then
      return x.to == x.from -- what is put in goes before what stands there
    end
    return a[2] < b[2]
  end)
  local parts, last = {}, 1
  for _, pair in ipairs(order) do
    local span = pair[1]
    if span.from < last then
      return nil
    end
    table.insert(parts, whole:sub(last, span.from - 1))
    table.insert(parts, span.text)
    last = span.to
  end
  table.insert(parts, whole:sub(last))
  return table.concat(parts)
end

---@param spans acp.Span[]
---@param span acp.Span
---@return boolean
local function has(spans, span)
  return vim.iter(spans):any(function(other)
    return other.from == span.from and other.to == span.to and other.text == span.text
  end)
end

---@param uri string
---@return string? path, string? err
local function path_of(uri)
  if not vim.startswith(uri, 'file:') then
    return nil, ('the language server would change %s, which is not a file'):format(uri)
  end
  return vim.fs.normalize(vim.uri_to_fname(uri))
end

---@param path string
---@return string? err
local function is_folder(path)
  local stat = vim.uv.fs_stat(path)
  if stat and stat.type == 'directory' then
    return ('the folder %s would be moved or deleted: only files can be'):format(path)
  end
end

---What is to become of files, as one answer after another says.
---@class acp.Plan
---@field list acp.Planned[]
---@field at table<string, acp.Planned> by the path that a file then has
---@field gone table<string, true> paths at which nothing is then
local Plan = {}
Plan.__index = Plan

---@param path string
---@return boolean
function Plan:exists(path)
  return self.at[path] ~= nil or not self.gone[path] and vim.uv.fs_stat(path) ~= nil
end

---@param path string where it then is
---@return acp.Planned
function Plan:entry(path)
  local entry = self.at[path]
  if not entry then
    entry = { path = path }
    self.at[path] = entry
    table.insert(self.list, entry)
  end
  return entry
end

---@param path string
---@param edits table[]
---@param encoding string
---@param by integer
---@return string? err
function Plan:change(path, edits, encoding, by)
  if self.gone[path] then
    return ('the language server would change %s after it is gone'):format(path)
  end
  local entry = self:entry(path)
  entry.whole = entry.whole or entry.create and '' or text.whole(entry.path)
  if not entry.whole then
    return ('%s cannot be read'):format(path)
  end
  if not entry.spans then
    entry.spans = {}
  elseif entry.by == by then -- what a server says next is about what it has said before
    entry.whole, entry.spans = entry.text, {}
  end
  local before = vim.list_extend({}, entry.spans)
  for _, span in ipairs(spans_of(entry.whole, edits, encoding)) do
    if not has(before, span) then -- servers that know the same say the same
      table.insert(entry.spans, span)
    end
  end
  entry.by, entry.text = by, replaced(entry.whole, entry.spans)
  if not entry.text then
    return ('the edits of %s overlap: it is not clear what they mean'):format(path)
  end
end

---@param from string
---@param to string
---@param options table
---@return string? err
function Plan:move(from, to, options)
  local err = is_folder(from)
  if err then
    return err
  elseif not self:exists(from) then
    return ('%s does not exist, so it cannot be moved'):format(from)
  elseif self:exists(to) then
    return not options.ignoreIfExists and ('%s already exists'):format(to) or nil
  end
  local entry = self:entry(from)
  self.at[from], self.at[to] = nil, entry
  self.gone[from], self.gone[to] = true, nil
  if entry.create then
    entry.path = to
  else
    entry.new_path = to ~= entry.path and to or nil
  end
end

---@param path string
---@param options table
---@return string? err
function Plan:create(path, options)
  if not self:exists(path) then
    self.gone[path] = nil
    local entry = self:entry(path)
    entry.create, entry.text, entry.whole = true, '', ''
    return
  elseif options.overwrite then
    local entry = self:entry(path)
    entry.whole, entry.text, entry.spans = '', '', nil
    return
  end
  return not options.ignoreIfExists and ('%s already exists'):format(path) or nil
end

---@param path string
---@param options table
---@return string? err
function Plan:delete(path, options)
  local err = is_folder(path)
  if err then
    return err
  elseif not self:exists(path) then
    return not options.ignoreIfNotExists
        and ('%s does not exist, so it cannot be deleted'):format(path)
      or nil
  end
  local entry = self:entry(path)
  self.at[path], self.gone[path] = nil, true
  if entry.create then
    self.list = vim.tbl_filter(function(other)
      return other ~= entry
    end, self.list)
  else
    entry.delete, entry.text, entry.new_path = true, nil, nil
  end
end

---@param part table one of a WorkspaceEdit's documentChanges
---@param encoding string
---@param by integer
---@return string? err
function Plan:part(part, encoding, by)
  local options = part.options or {}
  local path, err = path_of(part.oldUri or part.uri or part.textDocument.uri)
  if not path then
    return err
  elseif part.kind == 'rename' then
    local to
    to, err = path_of(part.newUri)
    return err or self:move(path, to --[[@as string]], options)
  elseif part.kind == 'create' then
    return self:create(path, options)
  elseif part.kind == 'delete' then
    return self:delete(path, options)
  end
  local buf = text.buf(path)
  local version = part.textDocument.version
  local known = buf and vim.lsp.util.buf_versions[buf]
  if type(version) == 'number' and version > 0 and known and known > version then
    return 'the text has changed since the language server saw it: ask again'
  end
  return self:change(path, part.edits, encoding, by)
end

---@param answers acp.Answered[]
---@return acp.Planned[]? edits, string? err
local function plan_of(answers)
  local plan = setmetatable({ list = {}, at = {}, gone = {} }, Plan)
  for _, answer in ipairs(answers) do
    local parts = answer.edit.documentChanges
    if not parts then
      parts = {}
      for uri, edits in vim.spairs(answer.edit.changes or {}) do
        table.insert(parts, { textDocument = { uri = uri }, edits = edits })
      end
    end
    for _, part in ipairs(parts) do
      local err = plan:part(part, answer.encoding, answer.client)
      if err then
        return nil, err
      end
    end
  end
  return vim.tbl_map(function(entry)
    return {
      path = entry.path,
      new_path = entry.new_path,
      create = entry.create,
      delete = entry.delete,
      text = entry.text,
      same = entry.text == nil or nil,
    }
  end, plan.list)
end

---What answers together would do to files. If anything in them is invalid, nothing is done.
---@param answers acp.Answered[]
---@return acp.Planned[]? edits, string? err
function M.of(answers)
  local ok, list, err = pcall(plan_of, answers)
  if not ok then
    return nil, 'the language server would change files in a way that makes no sense'
  end
  return list, err
end

return M
