---Hints for beginners, in the first chat of this Neovim until something is said in it. They are not
---text of the chat: exports and searches ignore them.
local M = {}

local api = vim.api
local space = api.nvim_create_namespace('acp_welcome')

---@type boolean
local shown = false

---@return string[] lines, short enough for half of a screen of 80 columns
local function lines()
  local keys = require('acp.config').get().keys
  local function key(action)
    return keys[action] or ('<Plug>(%s)'):format(action)
  end
  return {
    ('Send with %s, in Insert mode %s'):format(key('send'), key('send_insert')),
    "@ adds files, / the agent's commands",
    ('%s allows what it asks, %s refuses'):format(key('allow'), key('reject')),
    ':Acp review shows what it changed',
    ':Acp undo takes back a turn',
    ('%s lists the keys · :Acp tutor'):format(key('help')),
  }
end

---Shows it in a new chat, unless there was one already.
---@param buf integer
---@param session acp.Session
function M.show(buf, session)
  local empty = api.nvim_buf_line_count(buf) == 1
    and api.nvim_buf_get_lines(buf, 0, 1, true)[1] == ''
  if shown or session.agent_session_id or not empty then
    return
  end
  shown = true
  local virtual = vim.tbl_map(function(line)
    return { { '  ' .. line, 'Comment' } }
  end, lines())
  require('acp.ui.virt_lines').guard(buf)
  api.nvim_buf_set_extmark(buf, space, 0, 0, { virt_lines = virtual })
  api.nvim_buf_attach(buf, false, {
    on_lines = function()
      api.nvim_buf_clear_namespace(buf, space, 0, -1)
      return true
    end,
  })
end

return M
