---An earlier prompt of the chat, copied into the prompt to edit and resend.
local M = {}

local api = vim.api

---@class acp.EarlierPrompt
---@field text string
---@field waits boolean whether it is not sent yet
---@field attached {path: string, first: integer, last: integer, uri: string}[]
---@field lost string[] what cannot be attached again
---@field prompt integer which of the session's it is, from 1

---@param path string
---@param first integer?
---@param last integer?
---@return string key the same for the same lines
local function key_of(path, first, last)
  local plain = path:gsub('(.)/$', '%1')
  return ('%s:%d-%d'):format(plain, first or 0, last or 0)
end

---The text of a prompt, with words for attachments that it does not name itself.
---@param earlier acp.EarlierPrompt
---@param cwd string of the session
---@return string
local function words(earlier, cwd)
  local mention = require('acp.prompt.mention')
  local text = vim.trim(earlier.text)
  local named, more = {}, {}
  for _, block in ipairs(mention.blocks(text, cwd)) do
    local m = block.mention or block
    named[key_of(m.path or m.arg or '', m.first, m.last)] = true
  end
  for _, a in ipairs(earlier.attached) do
    if a.uri ~= '' and not named[key_of(a.uri)] then
      table.insert(more, '@url:' .. a.uri)
    elseif a.uri == '' and not named[key_of(a.path, a.first, a.last)] then
      local path = mention.relative(a.path, cwd)
      local lines = a.first > 0 and { a.first, a.last } or {}
      table.insert(more, mention.text(path, lines[1], lines[2]))
    end
  end
  return #more > 0 and vim.trim(text .. '\n' .. table.concat(more, ' ')) or text
end

---Puts an earlier prompt into the prompt of a session, and goes there.
---@param id integer session
---@param earlier acp.EarlierPrompt
function M.take(id, earlier)
  local notify = require('acp.notify')
  local session = require('acp.rpc.state').sessions[id]
  local kept = require('acp.prompt.buffer').replace(id, words(earlier, session.cwd))
  require('acp.chat.layout').open(id, true)
  api.nvim_win_set_cursor(0, { api.nvim_buf_line_count(0), 0 })
  vim.cmd('normal! $')
  local told = {}
  if kept then
    local key = require('acp.config').get().keys.history_previous
    table.insert(told, 'What you were writing comes back with ' .. (key or 'u'))
  end
  if #earlier.lost > 0 then
    table.insert(told, 'Not attached again: ' .. table.concat(earlier.lost, ', '))
  end
  if #told > 0 then
    notify.info(table.concat(told, '. '))
  end
end

---Finds the prompt under the cursor of a chat.
---@param found fun(id: integer, earlier: acp.EarlierPrompt) gets one that was sent
function M.here(found)
  local here = require('acp.chat.cursor').here()
  local notify = require('acp.notify')
  require('acp.ui.async_keys').await(function(done)
    require('acp.rpc.host').request('edit_prompt', here, function(earlier, err)
      done()
      if not earlier then
        notify.info(err or 'no prompt of yours here')
      elseif not require('acp.rpc.state').sessions[here.session] then
        notify.warn('the session is closed: its prompts cannot be sent again')
      elseif earlier.waits then
        notify.info('this prompt has not been sent yet: :Acp queue edits it')
      else
        found(here.session, earlier)
      end
    end)
  end)
end

---Copies the prompt under the cursor of a chat into the prompt.
function M.edit()
  M.here(M.take)
end

return M
