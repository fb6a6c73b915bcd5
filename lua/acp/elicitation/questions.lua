---The questions of agents as users of the Lua API see them, and the answers.
local M = {}

local host = require('acp.rpc.host')
local state = require('acp.rpc.state')

---Opens the form of a question.
---@type fun(question: acp.OpenElicitation)
function M.fill_in() end

---@return acp.Elicitation[]
function M.list()
  return vim.tbl_map(function(q)
    return {
      id = q.id,
      session = q.session,
      tool_call_id = q.tool_call_id,
      message = q.message,
      mode = q.mode,
      schema = q.schema,
      url = q.url,
    }
  end, state.elicitations())
end

---Answers a question.
---@param id integer
---@param answer {action: 'accept'|'decline'|'cancel', content?: table<string, any>}
---@return boolean? ok, string? err
function M.answer(id, answer)
  local question = state.elicitation(id)
  if not question then
    return nil, 'no such question; it may have been answered already'
  end
  local action = type(answer) == 'table' and answer.action
  if not vim.list_contains({ 'accept', 'decline', 'cancel' }, action) then
    return nil, "the action must be 'accept', 'decline' or 'cancel'"
  end
  local content
  if answer.content ~= nil then
    local ok, json = pcall(vim.json.encode, answer.content)
    if type(answer.content) ~= 'table' or not ok then
      return nil, 'the content must be a table of fields'
    end
    content = json
  end
  local message = { session = question.session, id = id, action = action, content = content }
  host.notify('answer', message)
  return true
end

---Answers with an option of the float.
---@param question acp.OpenElicitation
---@param option string its id
---@return string? err
function M.choose(question, option)
  if option == question.fill_in then
    return M.fill_in(question)
  end
  host.notify('choose_answer', { session = question.session, id = question.id, option = option })
end

return M
