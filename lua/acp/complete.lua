---Completion in the prompt: the agent's commands after `/`, files after `@`. It is an in-process
---language server, so that whatever completes from language servers has it; without such a plugin
---the menu opens by itself.
local M = {}

local api = vim.api

---As the language server protocol has them. A command is a Keyword: behind a Function plugins
---write brackets.
local kinds = { command = 14, file = 17, folder = 19 }

---How many cells of a command's hint the menu shows, which is as wide as its longest line.
local hint_width = 30
---In blink.cmp, what was found here stands before the folders of the disk and the snippets.
local score_offset = 100

---@class acp.CompletionPlace
---@field kind 'command'|'file'
---@field row integer 0-based
---@field start integer byte column where the text to replace begins, 0-based
---@field typed string the text to replace
---@field query string

---@class acp.CompletionItem
---@field kind integer of the language server protocol
---@field text string what it is replaced with
---@field label string
---@field detail string
---@field documentation? string what the label has not all of

---What there is to complete.
---@param row integer 0-based
---@param before string the line up to the cursor
---@return acp.CompletionPlace?
local function place(row, before)
  local command = row == 0 and before:match('^/(%S*)$')
  if command then
    return { kind = 'command', row = row, start = 0, typed = before, query = command }
  end
  for _, pattern in ipairs({ '()@"([^"]*)$', '()@([^%s"]*)$' }) do
    local at, query = before:match(pattern)
    if at and (at == 1 or before:sub(at - 1, at - 1):match('%s')) then
      return { kind = 'file', row = row, start = at - 1, typed = before:sub(at), query = query }
    end
  end
end

---@param session acp.Session
---@param query string
---@return acp.CompletionItem[]
local function commands(session, query)
  local list = session.commands or {}
  if query ~= '' then
    list = vim.fn.matchfuzzy(list, query, { key = 'name' })
  end
  return vim.tbl_map(function(command)
    local name, hint = '/' .. command.name, command.hint:gsub('%s+', ' ')
    local shown = require('acp.wrap').cut(hint, hint_width)
    return {
      kind = kinds.command,
      text = name .. (hint ~= '' and ' ' or ''),
      label = name .. (hint ~= '' and ' ' .. shown or ''),
      detail = (command.description:gsub('%s+', ' ')),
      documentation = shown ~= hint and name .. ' ' .. hint or nil,
    }
  end, list)
end

---The files of the user's buffers, the one used last first.
---@return string[]
local function open_files()
  local infos = vim.tbl_filter(function(info)
    return info.name ~= '' and vim.bo[info.bufnr].buftype == ''
  end, vim.fn.getbufinfo({ buflisted = 1 }))
  table.sort(infos, function(a, b)
    return a.lastused > b.lastused
  end)
  return vim.tbl_map(function(info)
    return info.name
  end, infos)
end

---@param session integer
---@param query string
---@param callback fun(items: acp.CompletionItem[])
local function files(session, query, callback)
  local fields = { session = session, query = query, open = open_files() }
  require('acp.host').request('files', fields, function(found)
    callback(vim.tbl_map(function(file)
      return {
        kind = vim.endswith(file.path, '/') and kinds.folder or kinds.file,
        text = require('acp.mention').text(file.path),
        label = file.path,
        detail = file.open and 'open' or '',
      }
    end, found or {}))
  end)
end

---@param buf integer of a prompt
---@param at acp.CompletionPlace?
---@param callback fun(items: acp.CompletionItem[]) perhaps at once
local function find(buf, at, callback)
  local session = require('acp.mirror').sessions[vim.b[buf].acp_session]
  if not at or not session then
    callback({})
  elseif at.kind == 'command' then
    callback(commands(session, at.query))
  else
    files(session.id, require('acp.mention').unquote(at.query), callback)
  end
end

---Answers textDocument/completion.
---@param params table
---@param reply fun(result: table)
local function answer(params, reply)
  local buf = vim.fn.bufnr(vim.uri_to_fname(params.textDocument.uri))
  local row, col = params.position.line, params.position.character
  local line = buf ~= -1 and api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local at = place(row, line:sub(1, col))
  find(buf, at, function(found)
    local items = {}
    for i, item in ipairs(found) do
      items[i] = {
        label = item.label,
        detail = item.detail,
        documentation = item.documentation,
        kind = item.kind,
        score_offset = score_offset,
        -- What was found fits, and in this order, whatever else a client would make of it.
        filterText = at.typed,
        sortText = ('%04d'):format(i),
        textEdit = {
          newText = item.text,
          range = {
            start = { line = row, character = at.start },
            ['end'] = { line = row, character = col },
          },
        },
      }
    end
    reply({ isIncomplete = true, items = items })
  end)
end

---@param dispatchers table
---@return table the server, as vim.lsp.start() takes it
local function serve(dispatchers)
  local closed, last_id = false, 0
  local function close()
    if not closed then
      closed = true
      dispatchers.on_exit(0, 0)
    end
  end
  return {
    request = function(method, params, callback, notify_reply)
      last_id = last_id + 1
      local id = last_id
      local function reply(result)
        vim.schedule(function()
          if notify_reply then
            notify_reply(id)
          end
          callback(nil, result)
        end)
      end
      if method == 'initialize' then
        reply({
          capabilities = {
            positionEncoding = 'utf-8',
            completionProvider = { triggerCharacters = { '/', '@', '"', '.' } },
            -- There are none, but navic complains of a server that does not offer them.
            documentSymbolProvider = true,
          },
          serverInfo = { name = 'acp' },
        })
      elseif method == 'textDocument/completion' then
        answer(params, reply)
      elseif method == 'textDocument/documentSymbol' then
        reply({})
      else
        reply(vim.NIL)
      end
      return true, id
    end,
    notify = function(method)
      if method == 'exit' then
        close()
      end
      return true
    end,
    is_closing = function()
      return closed
    end,
    terminate = close,
  }
end

---@return boolean whether a plugin shows what language servers have to complete
local function has_engine()
  return package.loaded['blink.cmp'] ~= nil or package.loaded.cmp ~= nil or _G.MiniCompletion ~= nil
end

---Opens the menu without choosing or inserting anything.
---@param col integer byte column, 0-based
---@param items table[]
local function show(col, items)
  local here = vim.fn.has('nvim-0.11') == 1 and 'local' or 'global' -- where the option can be set
  local before = api.nvim_get_option_value('completeopt', { scope = here })
  local set = ('noautocmd set%s completeopt='):format(here)
  vim.cmd(set .. 'menuone,noselect')
  pcall(vim.fn.complete, col + 1, items) -- where text may not change now, there is no menu
  vim.cmd(set .. before)
end

local asked = 0

---Opens the menu when there is something to complete at the cursor.
---@param buf integer the current buffer, a prompt
local function trigger(buf)
  local function here()
    local row, col = unpack(api.nvim_win_get_cursor(0))
    return place(row - 1, api.nvim_get_current_line():sub(1, col))
  end
  asked = asked + 1
  local mine, at = asked, here()
  if not at then
    return
  end
  find(
    buf,
    at,
    vim.schedule_wrap(function(found)
      local mode = api.nvim_get_mode().mode
      if mine ~= asked or buf ~= api.nvim_get_current_buf() or not mode:match('^i') then
        return
      end
      if not vim.deep_equal(at, here()) then
        return
      end
      local complete = found[1] and found[1].text == at.typed and found[1].kind ~= kinds.folder
      local items = {}
      for _, item in ipairs(complete and {} or found) do
        if item.text ~= at.typed then
          table.insert(items, {
            word = item.text,
            abbr = item.label,
            menu = item.detail,
            equal = 1, -- fits without beginning with what was typed
            dup = 1,
          })
        end
      end
      if #items > 0 or vim.fn.pumvisible() == 1 then
        show(at.start, items)
      end
    end)
  )
end

---'omnifunc' of the prompt: the menu comes when it is there.
---@param findstart integer
---@return integer|table
function M.omnifunc(findstart)
  if findstart == 1 then
    trigger(api.nvim_get_current_buf())
    return -2
  end
  return {}
end

---Makes a prompt complete.
---@param buf integer
---@param cwd fun(): string the folder of its session, which others take from the language server
function M.attach(buf, cwd)
  vim.bo[buf].omnifunc = "v:lua.require'acp.complete'.omnifunc"
  local function start()
    -- vim.lsp throws where Neovim cannot make the folder of its log; the menu here does without.
    pcall(function()
      vim.lsp.start({ name = 'acp', cmd = serve, root_dir = cwd() }, { bufnr = buf, silent = true })
    end)
  end
  api.nvim_create_autocmd('BufEnter', { buffer = buf, once = true, callback = start })
  api.nvim_create_autocmd('InsertEnter', {
    buffer = buf,
    callback = function()
      -- Has the list of files made before it is asked for.
      files(vim.b[buf].acp_session, '', function() end)
    end,
  })
  api.nvim_create_autocmd({ 'TextChangedI', 'TextChangedP' }, {
    buffer = buf,
    callback = function()
      if not has_engine() and vim.fn.complete_info({ 'selected' }).selected == -1 then
        trigger(buf)
      end
    end,
  })
end

return M
