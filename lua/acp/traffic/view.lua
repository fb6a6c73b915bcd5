---Shows the messages to and from an agent, in a buffer.
local M = {}

---@param msg table|nil
---@param text string
---@return string summary what the message is, in few words
local function summary(msg, text)
  if type(msg) ~= 'table' then
    return text
  end
  if msg.method then
    local update = vim.tbl_get(msg, 'params', 'update', 'sessionUpdate')
    local kind = msg.id ~= nil and ('request %s'):format(tostring(msg.id)) or 'notification'
    return ('%s %s%s'):format(kind, msg.method, type(update) == 'string' and (' ' .. update) or '')
  end
  if msg.error then
    return ('error to %s'):format(tostring(msg.id))
  end
  if msg.__not_json__ then
    return 'not JSON'
  end
  return ('answer to %s'):format(tostring(msg.id))
end

---@param entries {dir: string, t: integer, msg: string, note?: string}[]
function M.show(entries)
  local lines = {}
  for _, entry in ipairs(entries) do
    local ok, msg = pcall(vim.json.decode, entry.msg)
    local arrow = entry.dir == 'c2a' and '→' or '←'
    table.insert(
      lines,
      ('%s %9.3f s  %s'):format(
        arrow,
        entry.t / 1000,
        summary(ok and msg or nil, entry.msg:sub(1, 200))
      ) .. (entry.note and ' · left out: ' .. entry.note or '')
    )
    table.insert(lines, '    ' .. entry.msg:gsub('\n', ' '))
  end
  if #lines == 0 then
    lines = { 'Nothing has been said yet.' }
  end
  local buf = vim.api.nvim_create_buf(false, true)
  pcall(vim.api.nvim_buf_set_name, buf, ('acp://%d/traffic'):format(buf))
  vim.bo[buf].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = 'acp-traffic'
  vim.cmd.split()
  vim.api.nvim_win_set_buf(0, buf)
  vim.api.nvim_set_option_value('wrap', false, { scope = 'local', win = 0 })
end

return M
