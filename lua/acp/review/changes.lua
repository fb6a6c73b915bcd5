---The files that the agent has changed: what the host sent about them, and the quickfix list.
local M = {}

local host = require('acp.rpc.host')
local signal = require('acp.rpc.signal')
local state = require('acp.rpc.state')

---The changes of files have changed. Gets their paths, as keys.
M.changed = signal()

---The changes of a session are forgotten.
M.forgotten = signal()

---Files as the host sends them: four numbers for each hunk, and the first letter of its state.
---@class acp.ChangedFileTold
---@field path string
---@field old_path? string
---@field status 'added'|'modified'|'deleted'|'moved'
---@field state 'pending'|'kept'|'rejected'
---@field hunks integer[]
---@field states string

---@type table<integer, table<integer, acp.ChangedFileTold>> by session and by the file's id
local files = {}

local states = { p = 'pending', k = 'kept', r = 'rejected' }

---Sets what the host sends about a session's changes.
---@param session integer
---@param changed {at: integer, file?: acp.ChangedFileTold}[] without a file: it is as it was
function M.set(session, changed)
  files[session] = files[session] or {}
  local paths = {}
  for _, change in ipairs(changed) do
    local before = files[session][change.at]
    files[session][change.at] = change.file
    for _, file in ipairs({ before or change.file, change.file or before }) do
      paths[file.path] = true
    end
  end
  M.changed:emit(paths)
end

---@param session integer
local function forget(session)
  files[session] = nil
  M.forgotten:emit()
end

---@param file acp.ChangedFileTold
---@return boolean whether lines of it wait for a decision
local function pending(file)
  return file.status ~= 'deleted' and file.states:find('p', 1, true) ~= nil
end

---Whether a file has pending changes, in any session.
---@param path string
---@return boolean
function M.pending(path)
  for _, known in pairs(files) do
    for _, file in pairs(known) do
      if file.path == path and pending(file) then
        return true
      end
    end
  end
  return false
end

---The files of the sessions with pending changes, decided ones too.
---@return table<string, true> by path
function M.in_review()
  local paths = {}
  for _, known in pairs(files) do
    if vim.iter(vim.tbl_values(known)):any(pending) then
      for _, file in pairs(known) do
        paths[file.path] = true
      end
    end
  end
  return paths
end

---Whether a session has changes in a file, decided ones too.
---@param path? string default: any file
---@return boolean
function M.has(path)
  for _, known in pairs(files) do
    for _, file in pairs(known) do
      if not path or file.path == path then
        return true
      end
    end
  end
  return false
end

---@param session integer
---@return acp.ChangedFile[] in the order first changed
function M.get(session)
  local known = files[session] or {}
  local ids = vim.tbl_keys(known)
  table.sort(ids)
  return vim.tbl_map(function(id)
    local file = known[id]
    local hunks = {}
    for i = 1, #file.hunks, 4 do
      local n = (i + 3) / 4
      table.insert(hunks, {
        old_start = file.hunks[i],
        old_count = file.hunks[i + 1],
        new_start = file.hunks[i + 2],
        new_count = file.hunks[i + 3],
        state = states[file.states:sub(n, n)],
      })
    end
    return {
      path = file.path,
      old_path = file.old_path,
      status = file.status,
      state = file.state,
      hunks = hunks,
    }
  end, ids)
end

---The file of a session's record at a path.
---@param session integer
---@param path string
---@return acp.ChangedFile?
local function changed_file(session, path)
  local full = vim.fn.fnamemodify(path, ':p')
  local real = require('acp.rpc.path').real(vim.fs.normalize(full))
  for _, file in ipairs(M.get(session)) do
    if file.path == path or file.path == full or file.path == real then
      return file
    end
  end
end

---Decides about a hunk, a file or all changes of a session.
---@param what 'keep'|'reject'
---@param opts? {session?: integer, path?: string, hunk?: integer}
---@return boolean? ok, string? err
function M.decide(what, opts)
  opts = opts or {}
  local id, err = state.resolve(opts.session)
  if not id then
    return nil, err
  end
  local args = { session = id, ['do'] = what }
  if opts.path then
    local file = changed_file(id, opts.path)
    if not file then
      return nil, ('the agent has not changed %s'):format(opts.path)
    end
    args.path = file.path
    if opts.hunk then
      local hunk = file.hunks[opts.hunk]
      if not hunk then
        return nil, ('%s has no change %s'):format(opts.path, tostring(opts.hunk))
      end
      hunk.state = nil
      args = vim.tbl_extend('error', args, hunk, { hunk = opts.hunk })
    end
  elseif opts.hunk then
    return nil, 'a change is named by its path and its number'
  end
  host.request('decide', args, function() end)
  return true
end

---The files with pending changes.
---@return string[] paths, in their order
function M.pending_paths()
  local paths = {}
  for _, known in pairs(files) do
    for _, file in pairs(known) do
      if pending(file) then
        paths[file.path] = true
      end
    end
  end
  paths = vim.tbl_keys(paths)
  table.sort(paths)
  return paths
end

---The first row of each pending change in a file, in order.
---@param path string
---@return integer[]
function M.rows(path)
  local rows = {}
  for _, known in pairs(files) do
    for _, file in pairs(known) do
      if file.path == path and pending(file) then
        for n = 1, #file.states do
          if file.states:sub(n, n) == 'p' then
            local start, count = file.hunks[4 * n - 1], file.hunks[4 * n]
            -- Of removed lines it is the line behind them.
            rows[count > 0 and start - 1 or start] = true
          end
        end
      end
    end
  end
  rows = vim.tbl_keys(rows)
  table.sort(rows)
  return rows
end

---Updates the record, then shows it as the quickfix list and goes there.
---@param session integer
---@param all boolean also what is decided
function M.open(session, all)
  host.request('list_changes', { session = session, all = all }, function(entries, err)
    if err or #entries == 0 then
      require('acp.notify').info(err or 'the agent has changed no file in this session')
      return
    end
    local of = state.sessions[session] or {}
    local items = vim.tbl_map(function(entry)
      if entry.gone then
        -- Nothing to jump to.
        return { text = vim.fn.fnamemodify(entry.path, ':~:.') .. ': ' .. entry.text, valid = 0 }
      end
      return { filename = entry.path, lnum = entry.line, text = entry.text }
    end, entries)
    local title = 'acp: changes of ' .. (of.title or of.agent_title or 'the agent')
    vim.fn.setqflist({}, ' ', { title = title, items = items })
    require('acp.ui.safe_state').soon(function()
      vim.cmd('botright copen')
    end)
  end)
end

state.closed:add(forget)
state.died:add(function()
  files = {}
  M.forgotten:emit()
end)

return M
