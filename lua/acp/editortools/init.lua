---The editor as a tool for agents: what the host asks of Neovim for a call, and the user's own
---tools. The host decides what an agent may see and do.
local M = {}

local api = vim.api
local host = require('acp.rpc.host')

---@class acp.Tool
---@field name string
---@field description string
---@field schema? table a JSON schema of its arguments
---@field run fun(args: table, respond: fun(result: any, err: string?))

---@type acp.Tool[]
local own = {}

---Asks the language servers: gets the tool's name, the arguments of a call and a callback for the
---answer, and returns a function that cancels it.
---@param tool string
---@param args table
---@param done fun(result: table)
---@return fun() cancel
function M.servers(tool, args, done)
  return require('acp.editortools.lsp').run(tool, args, done)
end

---@param tool acp.Tool
---@return rpc.UserTool
local function told(tool)
  local schema = tool.schema and vim.json.encode(tool.schema) or ''
  return { name = tool.name, description = tool.description, schema = schema }
end

---Tells the host which tools agents are to have.
function M.offer()
  local config = require('acp.config').get().editor
  local tools, tasks = config.tools, {}
  if type(tools) ~= 'table' then
    tools = tools and { tools } or {}
  end
  for name, command in vim.spairs(config.tasks) do
    command = type(command) == 'string' and { command } or command
    table.insert(tasks, { name = name, command = command })
  end
  host.notify('editor_tools', {
    tools = tools,
    tasks = tasks,
    own = vim.tbl_map(told, own),
    servers = M.servers ~= nil,
    folder = vim.fn.fnamemodify(vim.fn.tempname(), ':h'),
    transport = config.transport,
    instructions = config.instructions,
  })
end

---What is wrong with a user's tool.
---@param tool any
---@return string?
local function wrong(tool)
  if type(tool) ~= 'table' then
    return 'expected a table with name, description, schema and run'
  elseif type(tool.name) ~= 'string' or not tool.name:find('^[%a_][%w_]*$') or #tool.name > 48 then
    return 'the name may have letters, digits and _ only'
  elseif type(tool.description) ~= 'string' or tool.description == '' then
    return 'the description must tell the agent what the tool is for'
  elseif tool.schema ~= nil and type(tool.schema) ~= 'table' then
    return 'the schema must be a table'
  elseif type(tool.run) ~= 'function' then
    return 'run must be a function'
  elseif tool.schema and not pcall(vim.json.encode, tool.schema) then
    return 'the schema is not JSON'
  end
end

---Adds a user's tool, for agents that start from now on; it replaces one of the same name.
---@param tool acp.Tool
---@return true?, string? err
function M.add(tool)
  local problem = wrong(tool)
  if problem then
    return nil, 'acp.tool: ' .. problem
  end
  own = vim.tbl_filter(function(other)
    return other.name ~= tool.name
  end, own)
  table.insert(own, tool)
  if host.running() then
    M.offer()
  end
  return true
end

---Whether a buffer is a file of the user's, not one of the plugin's or a terminal.
---@param buf integer
---@return boolean
local function is_file(buf)
  return api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].buftype == ''
    and vim.bo[buf].buflisted
    and api.nvim_buf_get_name(buf) ~= ''
end

---The file that the user looks at, or looked at before they went to the chat.
---@return integer? buf, integer? win
local function current()
  local win = api.nvim_get_current_win()
  if is_file(api.nvim_win_get_buf(win)) then
    return api.nvim_win_get_buf(win), win
  end
  win = vim.fn.win_getid(vim.fn.winnr('#'))
  if win ~= 0 and is_file(api.nvim_win_get_buf(win)) then
    return api.nvim_win_get_buf(win), win
  end
  for _, other in ipairs(api.nvim_tabpage_list_wins(0)) do
    if is_file(api.nvim_win_get_buf(other)) then
      return api.nvim_win_get_buf(other), other
    end
  end
end

---@type table<string, fun(args: table): table> by tool
local here = {}

function here.open_files()
  local files, now = {}, current()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if is_file(buf) then
      local win = vim.fn.win_findbuf(buf)[1]
      table.insert(files, {
        path = vim.fs.normalize(api.nvim_buf_get_name(buf)),
        modified = vim.bo[buf].modified,
        visible = win ~= nil,
        current = buf == now,
        line = win and api.nvim_win_get_cursor(win)[1] or 0,
      })
    end
  end
  return { files = files }
end

function here.selection()
  local buf = current()
  if not buf then
    return {}
  end
  local first, last = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  local mode = api.nvim_buf_call(buf, function()
    first, last = vim.fn.getpos("'<"), vim.fn.getpos("'>")
    return vim.fn.visualmode()
  end)
  local now = api.nvim_get_mode().mode
  if api.nvim_get_current_buf() == buf and now:find('^[vV\22]') then
    first, last, mode = vim.fn.getpos('v'), vim.fn.getpos('.'), now
    if first[2] > last[2] or first[2] == last[2] and first[3] > last[3] then
      first, last = last, first
    end
  end
  if first[2] == 0 then
    return {}
  end
  local lines = api.nvim_buf_get_lines(buf, first[2] - 1, last[2], false)
  if mode == 'v' and #lines > 0 then
    local stop = vim.str_utf_end(lines[#lines], math.max(1, math.min(last[3], #lines[#lines])))
    lines[#lines] = lines[#lines]:sub(1, last[3] + stop)
    lines[1] = lines[1]:sub(first[3])
  end
  local path = vim.fs.normalize(api.nvim_buf_get_name(buf))
  return {
    places = { { path = path, line = first[2], end_line = last[2] } },
    text = table.concat(lines, '\n'),
  }
end

function here.quickfix()
  local places = {}
  for _, item in ipairs(vim.fn.getqflist()) do
    if item.valid == 1 and item.bufnr > 0 and api.nvim_buf_is_valid(item.bufnr) then
      table.insert(places, {
        path = vim.fs.normalize(api.nvim_buf_get_name(item.bufnr)),
        line = math.max(1, item.lnum),
        column = item.col,
        text = item.text,
      })
    end
  end
  return { places = places }
end

---How many lines of a help file a topic is.
local help_lines = 80

function here.help(args)
  local topic = args.query:gsub('[^%g]', '')
  for _, tags in ipairs(api.nvim_get_runtime_file('doc/tags', true)) do
    for line in io.lines(tags) do
      local tag, file = line:match('^([^\t]+)\t([^\t]+)\t')
      if tag == topic then
        local lines = {}
        local at
        for text in io.lines(vim.fs.dirname(tags) .. '/' .. file) do
          at = at or text:find('*' .. topic .. '*', 1, true)
          if at then
            table.insert(lines, text)
          end
          if #lines >= help_lines then
            break
          end
        end
        return { text = ('%s:\n%s'):format(file, table.concat(lines, '\n')) }
      end
    end
  end
  return { err = ('there is no help for %s'):format(topic) }
end

---@type table<integer, fun()> what gives up a call, by its id
local running = {}

---Answers a call, once.
---@param id integer
---@return fun(result: table)
local function answer(id)
  local answered = false
  return function(result)
    if answered then
      return
    end
    answered = true
    running[id] = nil
    result.id = id
    host.notify('editor_tool_done', result)
  end
end

---@param tool acp.Tool
---@param args string as JSON
---@param done fun(result: table)
local function run_own(tool, args, done)
  tool.run(vim.json.decode(args), function(result, err)
    if err ~= nil then
      done({ err = tostring(err) })
      return
    end
    local text = type(result) == 'string' and result or vim.json.encode(result)
    done({ text = text })
  end)
end

---Does Neovim's part of a call. It never makes the editor wait.
---@param args table
function M.run(args)
  local done = answer(args.id)
  running[args.id] = function() end
  vim.schedule(function()
    if not running[args.id] then
      return -- given up meanwhile
    end
    local ok, err = pcall(function()
      if args.own then
        for _, tool in ipairs(own) do
          if tool.name == args.tool then
            run_own(tool, args.own, done)
            return
          end
        end
        done({ err = 'the user has withdrawn this tool' })
      elseif here[args.tool] then
        done(here[args.tool](args))
      else
        local asked = vim.tbl_extend('force', args, { id = args.action })
        local stop = M.servers(args.tool, asked, done)
        running[args.id] = running[args.id] and stop
      end
    end)
    if not ok then
      done({ err = tostring(err) })
    end
  end)
end

---Cancels a call that nobody waits for any more.
---@param id integer
function M.cancel(id)
  local stop = running[id]
  running[id] = nil
  if stop then
    stop()
  end
end

return M
