-- A language server inside of Neovim that does what a test says: it answers with the place it was
-- asked about, renames what is there, hangs, crashes, or tells diagnostics when it is told to.
local servers = {}

---@param name string
---@param opts {encoding?: string, pattern?: string, hangs?: boolean, crashes?: boolean,
---  late?: boolean, starts_after?: integer, capabilities?: table,
---  answers?: table<string, fun(params: table, server: table): any>}
return function(name, opts)
  local encoding = opts.encoding or 'utf-16'
  local function start(buf)
    local closing = false
    local server = { notified = {} }
    servers[name] = server
    vim.lsp.start({
      name = name,
      root_dir = vim.fn.getcwd(),
      offset_encoding = encoding,
      cmd = function(dispatchers)
        server.dispatchers = dispatchers
        local id = 0
        function server.edit()
          local zero = { line = 0, character = 0 }
          local edit = { range = { start = zero, ['end'] = zero }, newText = 'done\n' }
          dispatchers.server_request(
            'workspace/applyEdit',
            { edit = { changes = { [server.uri] = { edit } } } }
          )
        end
        local function answer(method, params, callback)
          if method == 'initialize' then
            local capabilities = {
              positionEncoding = encoding,
              textDocumentSync = 1,
              definitionProvider = true,
              referencesProvider = true,
              renameProvider = true,
              codeActionProvider = true,
              executeCommandProvider = { commands = { 'do' } },
            }
            capabilities = vim.tbl_extend('force', capabilities, opts.capabilities or {})
            return vim.defer_fn(function()
              callback(nil, { capabilities = capabilities })
            end, opts.starts_after or 0)
          elseif method == 'shutdown' then
            return callback(nil, vim.NIL)
          elseif opts.answers and opts.answers[method] then
            return callback(nil, opts.answers[method](params, server))
          elseif opts.hangs then
            return
          elseif opts.crashes then
            closing = true
            vim.schedule(function()
              dispatchers.on_exit(1, 0)
            end)
            return
          end
          local uri, pos = params.textDocument and params.textDocument.uri, params.position
          local range = pos
            and {
              start = pos,
              ['end'] = { line = pos.line, character = pos.character + #'parse' },
            }
          if method == 'textDocument/definition' or method == 'textDocument/references' then
            callback(nil, { { uri = uri, range = range } })
          elseif method == 'textDocument/rename' then
            callback(nil, { changes = { [uri] = { { range = range, newText = params.newName } } } })
          elseif method == 'textDocument/codeAction' then
            server.uri = uri
            callback(nil, { { title = 'Do it', command = { title = 'Do it', command = 'do' } } })
          elseif method == 'workspace/executeCommand' then
            dispatchers.server_request(
              'window/showDocument',
              { uri = server.uri, takeFocus = true }
            )
            if opts.late then
              return
            end
            server.edit()
            callback(nil, vim.NIL)
          end
        end
        return {
          request = function(method, params, callback)
            id = id + 1
            vim.schedule(function()
              answer(method, params, callback)
            end)
            return true, id
          end,
          notify = function(method)
            table.insert(server.notified, method)
            return true
          end,
          is_closing = function()
            return closing
          end,
          terminate = function()
            closing = true
            dispatchers.on_exit(0, 15)
          end,
        }
      end,
    }, { bufnr = buf })
  end
  vim.api.nvim_create_autocmd('BufReadPost', {
    pattern = opts.pattern or '*.txt',
    callback = function(event)
      start(event.buf)
    end,
  })
  return servers
end
