---The files that the agent has changed: what the host has told of them, and the quickfix list.
local M = {}

---Old lines are those of the baseline, new ones those of the present text, counted from 1. Where
---there are none, the start is the line before.
---@class acp.Hunk
---@field old_start integer
---@field old_count integer
---@field new_start integer
---@field new_count integer
---@field state 'pending'|'kept'|'rejected'

---@class acp.ChangedFile
---@field path string
---@field old_path? string before it was moved
---@field status 'added'|'modified'|'deleted'|'moved'
---@field state 'pending'|'kept'|'rejected' pending where something of it is
---@field hunks acp.Hunk[]

---Files as the host tells them: four numbers for each hunk, and the first letter of its state.
---@class acp.changes.File
---@field path string
---@field old_path? string
---@field status 'added'|'modified'|'deleted'|'moved'
---@field state 'pending'|'kept'|'rejected'
---@field hunks integer[]
---@field states string

---@type table<integer, table<integer, acp.changes.File>> by session and by the file's id
local files = {}

local states = { p = 'pending', k = 'kept', r = 'rejected' }

---@param session integer
---@param changed {at: integer, file: acp.changes.File|false}[] false: it is as it was
function M.set(session, changed)
  files[session] = files[session] or {}
  local paths = {}
  for _, change in ipairs(changed) do
    local before = files[session][change.at]
    files[session][change.at] = change.file or nil
    for _, file in ipairs({ before or change.file, change.file or before }) do
      paths[file.path] = true
    end
  end
  require('acp.review.marks').changed(paths)
end

---@param session integer
function M.forget(session)
  files[session] = nil
  if package.loaded['acp.review.marks'] then
    require('acp.review.marks').forgot()
  end
end

---@param file acp.changes.File
---@return boolean whether lines of it wait for a decision
local function pending(file)
  return file.status ~= 'deleted' and file.states:find('p', 1, true) ~= nil
end

---Whether lines of a file wait for a decision, in any session.
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

---The files of the sessions in which something waits for a decision, decided ones too.
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

---Whether a session knows of changes in a file, decided ones too.
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

---The files of which lines wait for a decision.
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

---The first row of each change in a file that waits for a decision, in their order.
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

---Has the record brought up to date, then shows it as the quickfix list and goes there.
---@param session integer
---@param all boolean also what is decided
function M.open(session, all)
  require('acp.rpc.host').request(
    'list_changes',
    { session = session, all = all },
    function(entries, err)
      if err or #entries == 0 then
        vim.notify('acp: ' .. (err or 'the agent has changed no file in this session'))
        return
      end
      local of = require('acp.rpc.state').sessions[session] or {}
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
    end
  )
end

return M
