---What servers say of places, in the words of the tools: paths, lines and columns from 1, and the
---text of the line.
local M = {}

local position = require('acp.editortools.lsp.position')
local text = require('acp.editortools.lsp.text')

---@class acp.Spot a place as a server names it
---@field uri string
---@field range table
---@field encoding string
---@field name? string
---@field kind? string
---@field container? string
---@field depth? integer

---The spots of an answer: a location, or a list of them, or of links.
---@param result any
---@param encoding string
---@param spots acp.Spot[]
function M.locations(result, encoding, spots)
  if type(result) ~= 'table' then
    return
  end
  local list = vim.islist(result) and result or { result }
  for _, location in ipairs(list) do
    local uri = location.uri or location.targetUri
    local range = location.range or location.targetSelectionRange
    if uri and range then
      table.insert(spots, { uri = uri, range = range, encoding = encoding })
    end
  end
end

---@param kind any
---@return string?
local function kind_name(kind)
  local name = vim.lsp.protocol.SymbolKind[kind]
  return type(name) == 'string' and name:lower() or nil
end

---The spots of an answer with symbols, nested or flat.
---@param result any
---@param encoding string
---@param spots acp.Spot[]
---@param uri? string of the file, where the symbols do not say it
function M.symbols(result, encoding, spots, uri)
  local function add(list, depth, container)
    for _, symbol in ipairs(list) do
      local location = symbol.location
      table.insert(spots, {
        uri = location and location.uri or uri,
        range = location and location.range or symbol.selectionRange or symbol.range,
        encoding = encoding,
        name = symbol.name,
        kind = kind_name(symbol.kind),
        container = symbol.containerName or container,
        depth = depth > 0 and depth or nil,
      })
      if symbol.children then
        add(symbol.children, depth + 1, symbol.name)
      end
    end
  end
  if type(result) == 'table' then
    add(result, 0)
  end
end

---How many places are told with their column and text; the host lists fewer, and counts the others.
local told = 200

---@param spots acp.Spot[]
---@return {index: integer, spot: acp.Spot, path: string, row: integer}[]
local function in_files(spots)
  local named, paths = {}, {}
  for i, spot in ipairs(spots) do
    local uri = spot.uri
    if type(uri) == 'string' and vim.startswith(uri, 'file:') then
      paths[uri] = paths[uri] or vim.fs.normalize(vim.uri_to_fname(uri))
      local row = spot.range and spot.range.start.line or 0
      table.insert(named, { index = i, spot = spot, path = paths[uri], row = row })
    end
  end
  return named
end

---Turns spots into places, once each, in the order of files and lines where `sort` says so.
---@param spots acp.Spot[]
---@param sort boolean
---@param done fun(places: table[])
---@return fun() cancel
function M.of(spots, sort, done)
  local named = in_files(spots)
  if sort then
    table.sort(named, function(a, b)
      if a.path ~= b.path then
        return a.path < b.path
      elseif a.row ~= b.row then
        return a.row < b.row
      end
      return a.index < b.index
    end)
  end
  local all, seen, files = {}, {}, {}
  return text.sliced(named, function(item)
    local spot, path, row = item.spot, item.path, item.row
    local unit = spot.range and spot.range.start.character or 0
    local line, column
    if #all < told then
      files[path] = files[path] or text.lines(path) or {}
      line = files[path][row + 1] or ''
      column = position.byte(line, unit, spot.encoding) + 1
    end
    local key = ('%s\n%d\n%d\n%s'):format(path, row, column or unit + 1, spot.name or '')
    if not seen[key] then
      seen[key] = true
      table.insert(all, {
        path = path,
        line = row + 1,
        column = column,
        text = line and vim.trim(line):sub(1, 300),
        name = spot.name,
        kind = spot.kind,
        container = spot.container,
        depth = spot.depth,
      })
    end
  end, function()
    done(all)
  end)
end

return M
