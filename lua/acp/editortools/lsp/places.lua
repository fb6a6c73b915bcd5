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

---How many places that are no symbols are told one by one; the host lists fewer, and of the others
---it needs the number.
local told = 150

---@class acp.NamedSpot
---@field spot acp.Spot
---@field path string
---@field row integer
---@field unit integer

---@param uri any
---@return string|false path of a file
local function path_of(uri)
  if type(uri) ~= 'string' or not vim.startswith(uri, 'file:') then
    return false
  end
  local path = vim.uri_to_fname(uri)
  if path:find('//', 1, true) or path:find('/.', 1, true) or path:find('\\', 1, true) then
    return vim.fs.normalize(path) -- which takes long
  end
  return path
end

---@param spots acp.Spot[]
---@return acp.NamedSpot[]
local function in_files(spots)
  local named, paths = {}, {}
  for _, spot in ipairs(spots) do
    local uri = spot.uri or 0
    local path = paths[uri]
    if path == nil then
      path = path_of(uri)
      paths[uri] = path
    end
    if path then
      local start = spot.range and spot.range.start
      local row, unit = start and start.line or 0, start and start.character or 0
      named[#named + 1] = { spot = spot, path = path, row = row, unit = unit }
    end
  end
  return named
end

---In the order of files and lines, those of one line as they came. Servers mostly tell them so.
---@param named acp.NamedSpot[]
---@return acp.NamedSpot[]
local function sorted(named)
  local by_path, paths = {}, {}
  for _, item in ipairs(named) do
    local list = by_path[item.path]
    if not list then
      list = { ordered = true }
      by_path[item.path] = list
      table.insert(paths, item.path)
    end
    list.ordered = list.ordered and (#list == 0 or list[#list].row <= item.row)
    item.index = #list
    list[#list + 1] = item
  end
  table.sort(paths)
  local all = {}
  for _, path in ipairs(paths) do
    if not by_path[path].ordered then
      table.sort(by_path[path], function(a, b)
        if a.row ~= b.row then
          return a.row < b.row
        end
        return a.index < b.index
      end)
    end
    vim.list_extend(all, by_path[path])
  end
  return all
end

---Turns spots into places, once each, in the order of files and lines where `sort` says so.
---@param spots acp.Spot[]
---@param sort boolean
---@param done fun(places: table[], rest: {path: string, count: integer}[]) the rest is counted
---@return fun() cancel
function M.of(spots, sort, done)
  local named = in_files(spots)
  if sort then
    named = sorted(named)
  end
  local all, rest, seen, counts = {}, {}, {}, {}
  local line_of = text.reader()
  return text.sliced(named, function(item)
    local spot, path, row = item.spot, item.path, item.row
    local of_path = seen[path]
    if not of_path then
      of_path = {}
      seen[path] = of_path
    end
    local key = row * 2 ^ 21 + item.unit
    local line, column
    if #all < told then
      line = line_of(path, row) or ''
      column = position.byte(line, item.unit, spot.encoding) + 1
      key = row * 2 ^ 21 + column - 1
    end
    if spot.name then
      key = key .. spot.name
    end
    if of_path[key] then
      return
    end
    of_path[key] = true
    if #all < told or spot.name then
      all[#all + 1] = {
        path = path,
        line = row + 1,
        column = column,
        text = line and vim.trim(line:sub(1, 600)):sub(1, 300),
        name = spot.name,
        kind = spot.kind,
        container = spot.container,
        depth = spot.depth,
      }
    elseif counts[path] then
      counts[path].count = counts[path].count + 1
    else
      counts[path] = { path = path, count = 1 }
      rest[#rest + 1] = counts[path]
    end
  end, function()
    done(all, rest)
  end)
end

return M
