---The prompts that wait, as a plain buffer: edit, reorder, delete, then `:w`.
local M = {}

local api = vim.api
local rule = ('─'):rep(40) -- a shorter one will do

---@param buf integer
---@return string[] prompts
local function parse(buf)
  local prompts, current = {}, {}
  local function add()
    local text = vim.trim(table.concat(current, '\n'))
    if text ~= '' then
      table.insert(prompts, text)
    end
    current = {}
  end
  for _, line in ipairs(api.nvim_buf_get_lines(buf, 0, -1, false)) do
    if #line >= #rule / 10 and line:gsub('─', '') == '' then
      add()
    else
      table.insert(current, line)
    end
  end
  add()
  return prompts
end

---@param id integer session
function M.open(id)
  local session = require('acp.rpc.state').sessions[id]
  local was = vim.tbl_filter(function(text)
    return vim.trim(text) ~= ''
  end, session.queue or {})
  local lines = {}
  for i, text in ipairs(was) do
    if i > 1 then
      table.insert(lines, rule)
    end
    vim.list_extend(lines, vim.split(text, '\n'))
  end
  local name = require('acp.chat.buffers').name('queue', id)
  local old = vim.fn.bufnr(name)
  if old ~= -1 then
    api.nvim_buf_delete(old, { force = true })
  end
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(buf, name)
  require('acp.ui.buffer').fill(buf, lines)
  vim.bo[buf].buftype = 'acwrite'
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modified = false
  vim.bo[buf].filetype = 'acp-queue'
  vim.b[buf].acp_session = id
  api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    callback = function()
      local texts = parse(buf)
      local room = require('acp.prompt.unsaved').room()
      local prompts, missing, before = {}, #texts, was
      local function send()
        local fields = { session = id, was = before, prompts = prompts }
        require('acp.rpc.host').notify('queue', fields)
      end
      for i, text in ipairs(texts) do
        require('acp.prompt.context').blocks(text, session, function(blocks, err)
          require('acp.notify').warn_if(err)
          local along = room and { { type = 'unsaved', room = room } } or {}
          prompts[i] = vim.list_extend(along, blocks or { { type = 'text', text = text } })
          missing = missing - 1
          if missing == 0 then
            send()
          end
        end)
      end
      if #texts == 0 then
        send()
      end
      was = texts
      vim.bo[buf].modified = false
    end,
  })
  api.nvim_open_win(buf, true, { split = 'below', height = math.max(5, math.min(15, #lines + 1)) })
  api.nvim_set_option_value(
    'winbar',
    ' Queue of ' .. session.agent_title:gsub('%%', '%%%%') .. '%=:w keeps your changes ',
    { scope = 'local', win = 0 }
  )
end

return M
