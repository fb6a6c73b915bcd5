---Ends everything of the plugin, so that it can be reloaded.
local api = vim.api

---Unsent prompts stay, as the user's text.
---@param buf integer
---@return boolean
local function unsent(buf)
  return vim.bo[buf].filetype == 'acp-prompt'
    and vim.trim(table.concat(api.nvim_buf_get_lines(buf, 0, -1, false))) ~= ''
end

---Removes our keys and marks from the user's own buffers.
local function give_back()
  for _, name in ipairs({ 'acp.files.conflict', 'acp.review.marks' }) do
    for _, buf in ipairs(package.loaded[name] and api.nvim_list_bufs() or {}) do
      require(name).clear(buf)
    end
  end
  if package.loaded['acp.follow.window'] then
    require('acp.follow.window').set(false)
  end
end

local function drop_buffers()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_valid(buf) and vim.startswith(api.nvim_buf_get_name(buf), 'acp://') then
      if unsent(buf) then
        local kept = api.nvim_create_buf(true, true)
        api.nvim_buf_set_lines(kept, 0, -1, false, api.nvim_buf_get_lines(buf, 0, -1, false))
        require('acp.notify').warn(
          ('the prompt that you have not sent is in buffer %d'):format(kept)
        )
      end
      api.nvim_buf_delete(buf, { force = true })
    end
  end
end

return function()
  local host = package.loaded['acp.rpc.host']
  if host and host.running() then
    host.stop()
    require('acp.rpc.state').host_died('the plugin was unloaded')
  end
  if host then
    give_back()
    drop_buffers()
  end
  for _, client in ipairs(host and vim.lsp.get_clients({ name = 'acp' }) or {}) do
    client.stop(vim.fn.has('nvim-0.11') == 1 and client or nil) -- a method since 0.11
  end
  local groups = {}
  for _, autocmd in ipairs(api.nvim_get_autocmds({})) do
    local group = autocmd.group_name or ''
    groups[vim.startswith(group, 'acp_') and group or ''] = true
  end
  groups[''] = nil
  for group in pairs(groups) do
    api.nvim_del_augroup_by_name(group)
  end
end
