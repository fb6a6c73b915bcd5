---Keys and marks that a buffer of the user's has for a while. The user's own keys of the same name
---come back. No key is taken that is the beginning of another mapping there, or begins with one:
---that mapping would do something else, or only after a delay.
local M = {}

---@class acp.Key
---@field lhs string
---@field mode? string default: Normal mode
---@field run fun()
---@field action string
---@field otherwise? string the key where lhs would be in the way of another one
---@field yields? boolean it is not taken where the user has mapped it, here or everywhere

---@class acp.MappedKey
---@field mode string
---@field lhs string
---@field had? table the user's own mapping of the buffer, as |maparg()| gives it
---@field run fun()

---@type table<integer, acp.MappedKey[][]> by buffer
local taken = {}

---The keys that are mapped in a buffer, but for ours.
---@param buf integer
---@param mode string
---@return table[] as |maparg()| gives them
local function mapped(buf, mode)
  local ours = {}
  for _, borrowed in ipairs(taken[buf] or {}) do
    for _, key in ipairs(borrowed) do
      ours[key.run] = true
    end
  end
  local list =
    vim.list_extend(vim.api.nvim_buf_get_keymap(buf, mode), vim.api.nvim_get_keymap(mode))
  return vim.tbl_filter(function(map)
    return not (map.callback and ours[map.callback])
  end, list)
end

---Whether a key is in the way of a longer one or behind a shorter one. A shorter one that does not
---wait is in nobody's way: a plugin's that shows the keys behind it.
---@param lhs string
---@param maps table[]
---@return boolean
local function clashes(lhs, maps)
  local raw = vim.keycode(lhs)
  for _, map in ipairs(maps) do
    local other = map.lhsraw
    if #other > #raw and vim.startswith(other, raw) then
      return true
    elseif #other < #raw and map.nowait == 0 and vim.startswith(raw, other) then
      return true
    end
  end
  return false
end

---The key that a buffer can have.
---@param key acp.Key
---@param maps table[]
---@return string? lhs nil where there is none
local function choose(key, maps)
  if vim.startswith(key.lhs, '<Plug>') or not clashes(key.lhs, maps) then
    return key.lhs
  end
  return key.otherwise and not clashes(key.otherwise, maps) and key.otherwise or nil
end

---The keys that M.map() takes.
---@param buf integer
---@param keys acp.Key[]
---@return acp.Key[]
function M.choose(buf, keys)
  local modes, chosen = {}, {}
  for _, key in ipairs(keys) do
    local mode = key.mode or 'n'
    modes[mode] = modes[mode] or mapped(buf, mode)
    local lhs = choose(key, modes[mode])
    if lhs then
      table.insert(chosen, vim.tbl_extend('force', key, { lhs = lhs }))
    end
  end
  return chosen
end

---Maps keys.
---@param buf integer
---@param keys acp.Key[]
---@return acp.MappedKey[]
function M.map(buf, keys)
  local borrowed = {}
  for _, key in ipairs(M.choose(buf, keys)) do
    local mode = key.mode or 'n'
    local had
    vim.api.nvim_buf_call(buf, function()
      had = vim.fn.maparg(key.lhs, mode, false, true)
    end)
    if not key.yields or vim.tbl_isempty(had) then
      had = had.buffer == 1 and had or nil
      table.insert(borrowed, { lhs = key.lhs, mode = mode, had = had, run = key.run })
      -- It waits for a longer key that the user maps from now on.
      local desc = require('acp.config').desc(key.action)
      vim.keymap.set(mode, key.lhs, key.run, { buffer = buf, desc = desc })
    end
  end
  taken[buf] = taken[buf] or {}
  table.insert(taken[buf], borrowed)
  return borrowed
end

---Takes them away, but for those that somebody has mapped anew.
---@param buf integer
---@param borrowed acp.MappedKey[]
function M.unmap(buf, borrowed)
  local others = vim.tbl_filter(function(other)
    return other ~= borrowed
  end, taken[buf] or {})
  taken[buf] = #others > 0 and others or nil
  if not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local function forget(key)
    for _, other in ipairs(vim.iter(others):flatten():totable()) do
      if other.had and other.had.callback == key.run then
        other.had = key.had
      end
    end
  end
  vim.api.nvim_buf_call(buf, function()
    for _, key in ipairs(borrowed) do
      local is = vim.fn.maparg(key.lhs, key.mode, false, true)
      if is.buffer == 1 and is.callback == key.run then
        vim.keymap.del(key.mode, key.lhs, { buffer = buf })
        if key.had then
          vim.fn.mapset(key.mode, false, key.had)
        end
      else
        forget(key)
      end
    end
  end)
end

---Takes keys away, and all marks of namespaces.
---@param buf integer
---@param namespaces integer[]
---@param borrowed? acp.MappedKey[]
function M.clear(buf, namespaces, borrowed)
  if vim.api.nvim_buf_is_loaded(buf) then
    for _, ns in ipairs(namespaces) do
      vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
    end
  end
  M.unmap(buf, borrowed or {})
end

return M
