---Servers' places in the form of the tools: paths, lines and columns from 1, and the text of the
---line.
local M = {}

local api = vim.api
local position = require('acp.editortools.lsp.position')
local text = require('acp.editortools.lsp.text')

---@class acp.Spot a symbol as a server names it
---@field uri string
---@field range table
---@field encoding string
---@field name? string
---@field kind? string
---@field container? string
---@field depth? integer

---@param uri any
---@return string|false path of a file
local function path_of(uri)
  if type(uri) ~= 'string' or not vim.startswith(uri, 'file:') then
    return false
  end
  local plain = uri:match('^file://(/[%w_./+@-]*)$')
  if plain and not plain:find('/[/.]') then
    return plain -- as both functions below take long
  end
  return vim.fs.normalize(vim.uri_to_fname(uri))
end

---Where a range begins; nil where a server has told none that there can be.
---@param range any
---@return integer? row, integer unit
local function start_of(range)
  local start = type(range) == 'table' and range.start
  if type(start) ~= 'table' then
    return nil, 0
  end
  local row, unit = start.line, start.character
  if position.counts(row) and position.counts(unit) then
    return row, unit
  end
  return nil, 0
end

---@class acp.Located the places that an answer has in a file
---@field path string
---@field encoding string
---@field at integer[] line and unit of each place from 0, as the server tells them
---@field loaded? boolean a buffer has the file
---@field rows? integer[] of the lines that are told
---@field lines? string[] of the first places, where a buffer has the file

---How many lines of buffers are included, which is more than the host lists.
local told = 110

---Sorts an answer's places by their files: a location, or a list of them, or of links.
---@param result any
---@param encoding string
---@param files acp.Located[] where they are added
---@param done fun()
---@return fun() cancel
function M.locate(result, encoding, files, done)
  if type(result) ~= 'table' then
    done()
    return function() end
  end
  local list = vim.islist(result) and result or { result }
  local of_uri = {} ---@type table<any, acp.Located|false>
  ---@param from integer
  ---@param to integer
  local function locate(from, to)
    for i = from, to do
      local place = type(list[i]) == 'table' and list[i] or {}
      local uri, range = place.uri, place.range
      if not uri then
        uri, range = place.targetUri or 0, place.targetSelectionRange
      end
      local file = of_uri[uri]
      if file == nil then
        local path = path_of(uri)
        file = path and { path = path, encoding = encoding, at = {} }
        if file then
          files[#files + 1] = file
        end
        of_uri[uri] = file
      end
      local row, unit = start_of(range)
      if file and row then
        local at = file.at
        local n = #at
        if at[n] ~= unit or at[n - 1] ~= row then -- some servers repeat themselves
          at[n + 1], at[n + 2] = row, unit
        end
      end
    end
  end
  local parts, part = {}, 1000
  for from = 1, #list, part do
    parts[#parts + 1] = from
  end
  return text.sliced(parts, function(from)
    locate(from, math.min(#list, from + part - 1))
  end, done)
end

---@class acp.Counted how many more there are in files
---@field paths string[]
---@field counts integer[]

---Adds the first lines that a buffer has of the places in its file.
---@param file acp.Located
---@param buf integer
---@param most integer
local function add_lines(file, buf, most)
  local rows = {}
  for i = 1, #file.at, 2 do
    rows[#rows + 1] = file.at[i]
  end
  table.sort(rows)
  file.loaded, file.rows, file.lines = true, {}, {}
  for i = 1, math.min(#rows, most) do
    file.rows[i] = rows[i]
    file.lines[i] = api.nvim_buf_get_lines(buf, rows[i], rows[i] + 1, false)[1] or ''
  end
end

---Adds the lines that buffers have of the places that may be listed. For later files the number of
---their places is enough for the host, unless several answers may have the same ones.
---@param files acp.Located[] which are put in the order of their paths
---@param answers integer
---@return acp.Located[] listed
---@return acp.Counted counted
function M.shorten(files, answers)
  table.sort(files, function(a, b)
    return a.path < b.path
  end)
  local listed, paths, counts = {}, {}, {}
  local bufs, left = text.bufs(), told
  for _, file in ipairs(files) do
    local path, count = file.path, #file.at / 2
    if left == 0 and answers == 1 then
      paths[#paths + 1], counts[#counts + 1] = path, count
    else
      listed[#listed + 1] = file
    end
    local buf = bufs[path]
    if buf then
      add_lines(file, buf, left)
    end
    left = math.max(0, left - count)
  end
  return listed, { paths = paths, counts = counts }
end

---@param kind any
---@return string?
local function kind_name(kind)
  local name = kind and vim.lsp.protocol.SymbolKind[kind]
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
      if type(symbol) == 'table' and type(symbol.name) == 'string' then
        local location = type(symbol.location) == 'table' and symbol.location or {}
        table.insert(spots, {
          uri = location.uri or uri,
          range = location.range or symbol.selectionRange or symbol.range,
          encoding = encoding,
          name = symbol.name,
          kind = kind_name(symbol.kind),
          container = symbol.containerName or container,
          depth = depth > 0 and depth or nil,
        })
        if type(symbol.children) == 'table' then
          add(symbol.children, depth + 1, symbol.name)
        end
      end
    end
  end
  if type(result) == 'table' then
    add(result, 0)
  end
end

---@class acp.NamedSpot
---@field spot acp.Spot
---@field path string
---@field row integer
---@field unit integer

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
      local row, unit = start_of(spot.range)
      named[#named + 1] = { spot = spot, path = path, row = row or 0, unit = unit }
    end
  end
  return named
end

---Sorted by file and line, those of one line as they came. Servers mostly send them so.
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

---Turns symbols into places, once each, in the order of files and lines where `sort` says so.
---@param spots acp.Spot[]
---@param sort boolean
---@param done fun(places: table[])
---@return fun() cancel
function M.of(spots, sort, done)
  local named = in_files(spots)
  if sort then
    named = sorted(named)
  end
  local all, seen = {}, {}
  local line_of = text.reader()
  return text.sliced(named, function(item)
    local spot, path, row = item.spot, item.path, item.row
    local line, column
    if #all < told then
      line = line_of(path, row) or ''
      column = position.byte(line, item.unit, spot.encoding) + 1
    end
    local key = ('%s\0%d\0%d\0%s'):format(path, row, column or item.unit, spot.name or '')
    if not seen[key] then
      seen[key] = true
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
    end
  end, function()
    done(all)
  end)
end

return M
