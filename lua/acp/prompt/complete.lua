---Completion in the prompt: the commands after `/`, files and more after `@`. It is an in-process
---language server, so that every plugin that completes from language servers has it; without one
---the menu opens by itself.
local M = {}

local api = vim.api

---As the language server protocol has them. A command is a Keyword: behind a Function plugins
---write brackets.
local kinds = { command = 14, file = 17, context = 18, folder = 19 }

---How many cells of a command's hint the menu shows, which is as wide as its longest line.
local hint_width = 30
---In blink.cmp, what was found here stands before the folders of the disk and the snippets.
local score_offset = 100

---@class acp.CompletionPlace
---@field kind 'command'|'file'|'symbol'
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
  for _, pattern in ipairs({ '()@symbol:"?([^"]*)$', '()@"([^"]*)$', '()@([^%s"]*)$' }) do
    local at, query = before:match(pattern)
    if at and (at == 1 or before:sub(at - 1, at - 1):match('%s')) then
      local kind = pattern:find('symbol', 1, true) and 'symbol' or 'file'
      return { kind = kind, row = row, start = at - 1, typed = before:sub(at), query = query }
    end
  end
end

---The agent's commands, then the user's own prompts.
---@param session acp.Session
---@param query string
---@return acp.CompletionItem[]
local function commands(session, query)
  local list = vim.list_slice(session.commands or {})
  vim.list_extend(list, require('acp.prompt.own_prompts').list(session))
  if query ~= '' then
    list = vim.fn.matchfuzzy(list, query, { key = 'name' })
  end
  return vim.tbl_map(function(command)
    local name, hint = '/' .. command.name, command.hint:gsub('%s+', ' ')
    local shown = require('acp.ui.wrap').cut(hint, hint_width)
    local description = command.description:gsub('%s+', ' ')
    if command.whose then
      description = command.whose .. (description ~= '' and ' · ' .. description or '')
    end
    return {
      kind = kinds.command,
      text = name .. ((hint ~= '' or command.whose) and ' ' or ''),
      label = name .. (hint ~= '' and ' ' .. shown or ''),
      detail = description,
      documentation = command.body or shown ~= hint and name .. ' ' .. hint or nil,
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

---@type fun(session: integer, kind: 'command'|'file')
local again
---@type table<integer, boolean> the sessions whose folder is being listed for the first time
local listing = {}

---@param session integer
---@param query string
---@param callback fun(items: acp.CompletionItem[], partial: boolean)
local function files(session, query, callback)
  local fields = { session = session, query = query, open = open_files() }
  require('acp.rpc.host').request('find_files', fields, function(found)
    found = found or { files = {}, partial = false }
    if found.partial and not listing[session] then
      listing[session] = true
      require('acp.rpc.host').request('await_files', { session = session }, function()
        listing[session] = nil
        again(session, 'file')
      end)
    end
    callback(
      vim.tbl_map(function(file)
        return {
          kind = vim.endswith(file.path, '/') and kinds.folder or kinds.file,
          text = require('acp.prompt.mention').text(file.path),
          label = file.path,
          detail = file.open and 'open' or '',
        }
      end, found.files),
      found.partial
    )
  end)
end

---What is not a file, and begins with what was typed.
---@param session acp.Session
---@param query string
---@return acp.CompletionItem[]
local function contexts(session, query)
  local items = {}
  local context = require('acp.prompt.context')
  for _, name in ipairs(require('acp.prompt.mention').words) do
    if vim.startswith(name, query) then
      local word = (name == 'symbol' or name == 'url') and name .. ':' or name
      local found = context.preview(session.id, session.cwd, { context = name, arg = '' })
      table.insert(items, {
        kind = kinds.context,
        text = '@' .. word,
        label = word,
        detail = found.label ~= name and found.label or '',
        documentation = found.preview(),
      })
    end
  end
  return items
end

---The symbols of the buffer that the user is working on.
---@param query string
---@param callback fun(items: acp.CompletionItem[], partial: boolean)
local function symbols(query, callback)
  require('acp.prompt.context').symbols(function(list, buf)
    if query ~= '' then
      list = vim.fn.matchfuzzy(list, query, { key = 'name' })
    end
    local items = {}
    for i = 1, math.min(#list, 50) do
      local s = list[i]
      local lines = api.nvim_buf_get_lines(buf, s.first - 1, s.last, false)
      items[i] = {
        kind = kinds.context,
        text = '@symbol:' .. (s.name:find('[%s"]') and ('"%s"'):format(s.name) or s.name),
        label = s.name,
        detail = s.kind,
        documentation = table.concat(lines, '\n', 1, math.min(#lines, 20)),
      }
    end
    callback(items, false)
  end)
end

---@type table<integer, boolean> the sessions whose agents tell no commands, as it seems
local silent = {}

---@param buf integer of a prompt
---@param at acp.CompletionPlace?
---@param callback fun(items: acp.CompletionItem[], partial: boolean) perhaps at once. `again` is
---called when more than a part can be found.
local function find(buf, at, callback)
  local session = at and require('acp.rpc.state').sessions[vim.b[buf].acp_session]
  if not at or not session then
    callback({}, false)
  elseif at.kind == 'command' then
    local told = #(session.commands or {}) > 0 or silent[session.id]
    callback(commands(session, at.query), not told)
  elseif at.kind == 'symbol' then
    symbols(at.query, callback)
  else
    local query = require('acp.prompt.mention').unquote(at.query)
    files(session.id, query, function(items, partial)
      local others = vim.startswith(at.typed, '@"') and {} or contexts(session, query)
      callback(vim.list_extend(others, items), partial)
    end)
  end
end

---@class acp.CompletionQuestion of a language client
---@field kind 'command'|'file'
---@field answer fun() with what there is

---@type table<integer, acp.CompletionQuestion> what waits until anything is known, by session: a
---client asks no second time by itself
local waiting = {}
---@type table<integer, integer> how often clients have asked, by session
local questions = {}

---How long a client waits for commands when the agent has started, in ms.
local patience = 5000

---@param session integer
local function answer_waiting(session)
  local question = waiting[session]
  waiting[session] = nil
  if question then
    question.answer()
  end
end

---@param session integer
---@param question acp.CompletionQuestion
local function wait(session, question)
  waiting[session] = question
  local function give_up()
    local s = require('acp.rpc.state').sessions[session]
    if waiting[session] ~= question then
      return
    elseif s and s.state == 'starting' then
      vim.defer_fn(give_up, patience)
      return
    end
    silent[session] = true
    answer_waiting(session)
  end
  if question.kind == 'command' then
    vim.defer_fn(give_up, patience)
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
  local function answer_with(found)
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
  end
  if not at then
    answer_with({})
    return
  end
  local session = vim.b[buf].acp_session
  local mine = (questions[session] or 0) + 1
  questions[session] = mine
  answer_waiting(session) -- the client has gone on
  find(buf, at, function(found, partial)
    if partial and #found == 0 and questions[session] == mine then
      wait(session, {
        kind = at.kind,
        answer = function()
          find(buf, at, answer_with)
        end,
      })
    else
      answer_with(found)
    end
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

---@type string? the first word of the menu that was opened last
local first_word

---@return boolean whether a menu is open that is not from here, or in which the user has chosen
local function other_menu()
  if vim.fn.pumvisible() == 0 then
    return false
  end
  local menu = vim.fn.complete_info({ 'items', 'selected' })
  return menu.selected ~= -1 or (menu.items[1] or {}).word ~= first_word
end

local here = vim.fn.has('nvim-0.11') == 1 and 'local' or 'global' -- where 'completeopt' can be set
---@type string? what the user has it be, while a menu is open
local completeopt

---@param value string
local function set_completeopt(value)
  vim.cmd(('noautocmd set%s completeopt=%s'):format(here, value))
end

---Restores 'completeopt' when the menu is closed. One menu closes before the next one opens.
local function give_back()
  if completeopt and vim.fn.pumvisible() == 0 then
    set_completeopt(completeopt)
    completeopt = nil
    api.nvim_create_augroup('acp_complete', {})
  end
end

---Opens the menu without choosing or inserting anything. What is chosen shows beside it.
---@param col integer byte column, 0-based
---@param items table[]
local function show(col, items)
  completeopt = completeopt or api.nvim_get_option_value('completeopt', { scope = here })
  set_completeopt('menuone,noselect,popup')
  first_word = items[1] and items[1].word
  api.nvim_create_autocmd('CompleteDone', {
    group = api.nvim_create_augroup('acp_complete', {}),
    callback = vim.schedule_wrap(give_back),
  })
  if not pcall(vim.fn.complete, col + 1, items) then
    give_back() -- text may not change now: there is no menu
  end
end

---What there is to complete at the cursor.
---@return acp.CompletionPlace?
local function at_cursor()
  local row, col = unpack(api.nvim_win_get_cursor(0))
  return place(row - 1, api.nvim_get_current_line():sub(1, col))
end

local asked = 0

---Opens the menu when there is something to complete at the cursor.
---@param buf integer the current buffer, a prompt
local function trigger(buf)
  asked = asked + 1
  local mine, at = asked, at_cursor()
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
      if not vim.deep_equal(at, at_cursor()) or other_menu() then
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
            info = item.documentation,
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

---Offers what has become known to whoever asked for it, if the cursor is still there.
again = function(session, kind)
  local question = waiting[session]
  if question and question.kind == kind then
    answer_waiting(session)
  end
  local buf = api.nvim_get_current_buf()
  local prompt = vim.bo[buf].filetype == 'acp-prompt' and vim.b[buf].acp_session == session
  if not prompt or has_engine() or not api.nvim_get_mode().mode:match('^i') or other_menu() then
    return
  end
  local at = at_cursor()
  if at and at.kind == kind then
    trigger(buf)
  end
end

require('acp.rpc.state').changed:add(function(session, before)
  local now = require('acp.rpc.state').sessions[session]
  if before and #(before.commands or {}) == 0 and #(now.commands or {}) > 0 then
    again(session, 'command')
  end
end)

require('acp.chat.buffers').forgotten:add(function(session)
  answer_waiting(session)
  listing[session], silent[session], questions[session] = nil, nil, nil
end)

---'omnifunc' of the prompt: the menu opens later.
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
  vim.bo[buf].omnifunc = "v:lua.require'acp.prompt.complete'.omnifunc"
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
      -- Has the list of files made before it is asked for, and what has changed looked at.
      local session = vim.b[buf].acp_session
      require('acp.prompt.context').look(session, function()
        if vim.fn.pumvisible() == 1 then
          again(session, 'file')
        end
      end)
      files(session, '', function() end)
    end,
  })
  api.nvim_create_autocmd({ 'TextChangedI', 'TextChangedP' }, {
    buffer = buf,
    callback = function()
      if not has_engine() and not other_menu() then
        trigger(buf)
      end
    end,
  })
end

return M
