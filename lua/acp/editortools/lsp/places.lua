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

---Turns spots into places, once each, in the order of files and lines where `sort` says so.
---@param spots acp.Spot[]
---@param sort boolean
---@param done fun(places: table[])
---@return fun() cancel
function M.of(spots, sort, done)
  local named, order = {}, {}
  for i, spot in ipairs(spots) do
    if type(spot.uri) == 'string' and vim.startswith(spot.uri, 'file:') then
      local path = vim.fs.normalize(vim.uri_to_fname(spot.uri))
      order[path] = order[path] or i
      table.insert(named, { i, spot, path })
    end
  end
  table.sort(named, function(a, b) -- each file is read once
    return order[a[3]] < order[b[3]] or order[a[3]] == order[b[3]] and a[1] < b[1]
  end)
  local all, seen = {}, {}
  local file, lines
  return text.sliced(named, function(item)
    local spot, path = item[2], item[3]
    if path ~= file then
      file, lines = path, text.lines(path) or {}
    end
    local from = spot.range and spot.range.start or { line = 0, character = 0 }
    local line = lines[from.line + 1] or ''
    local column = position.byte(line, from.character, spot.encoding) + 1
    local key = ('%s\n%d\n%d\n%s'):format(path, from.line, column, spot.name or '')
    if not seen[key] then
      seen[key] = true
      table.insert(all, {
        item[1],
        {
          path = path,
          line = from.line + 1,
          column = column,
          text = vim.trim(line):sub(1, 300),
          name = spot.name,
          kind = spot.kind,
          container = spot.container,
          depth = spot.depth,
        },
      })
    end
  end, function()
    table.sort(all, function(a, b)
      local x, y = a[2], b[2]
      if not sort or x.path == y.path and x.line == y.line then
        return a[1] < b[1]
      elseif x.path ~= y.path then
        return x.path < y.path
      end
      return x.line < y.line
    end)
    done(vim.tbl_map(function(pair)
      return pair[2]
    end, all))
  end)
end

return M
