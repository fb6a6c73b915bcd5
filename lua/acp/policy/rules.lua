---The rules of the configuration, which the host applies, and `:Acp permissions`: the rules in
---force and the lasting answers.
local M = {}

local api = vim.api

---@return string where lasting answers are kept
local function file()
  return vim.fs.joinpath(vim.fn.stdpath('data') --[[@as string]], 'acp', 'permissions.json')
end

---Tells the host the rules.
function M.send()
  local config = require('acp.config').get()
  local list = {}
  for _, rule in ipairs(config.permissions) do
    local sent = { action = rule.action }
    for _, key in ipairs(require('acp.config').rule_fields) do
      sent[key] = type(rule[key]) == 'string' and { rule[key] } or rule[key]
    end
    table.insert(list, sent)
  end
  require('acp.rpc.host').notify('set_rules', {
    rules = list,
    review = config.review or nil,
    keep_key = config.keys.review_keep or nil,
    private = config.private,
    unkept = not config.history,
    file = file(),
  })
end

---@class acp.Decided
---@field rules {action: string, what: string}[]
---@field answers acp.KeptAnswer[]

---@class acp.KeptAnswer
---@field id string
---@field action string
---@field what string
---@field agent string
---@field project string
---@field at string
---@field session integer 0 where it holds for all

---@param decided acp.Decided
---@return string[] lines, table<integer, acp.KeptAnswer> answers by line
local function compose(decided)
  local lines, answers = {}, {}
  table.insert(lines, 'Rules of your configuration; the first match decides')
  for i, rule in ipairs(decided.rules) do
    table.insert(lines, ('  %d  %-6s  %s'):format(i, rule.action, rule.what))
  end
  if #decided.rules == 0 then
    table.insert(lines, '  none')
  end
  vim.list_extend(lines, { '', 'Lasting answers; dd revokes one' })
  for _, answer in ipairs(decided.answers) do
    local scope = answer.session > 0 and ('session %d'):format(answer.session)
      or vim.fn.fnamemodify(answer.project, ':~')
    local what = table.concat({ answer.what, answer.agent, scope }, '  ·  ')
    table.insert(lines, ('  %-6s  %s  %s'):format(answer.action, answer.at, what))
    answers[#lines] = answer
  end
  if #decided.answers == 0 then
    table.insert(lines, '  none')
  end
  return lines, answers
end

local titles = { ['^Rules of'] = 'Title', ['^Answers that'] = 'Title' }

---@param buf integer
---@param decided acp.Decided
local function fill(buf, decided)
  local lines, answers = compose(decided)
  local ns = require('acp.ui.highlight').ns
  vim.bo[buf].modifiable = true
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  for row, line in ipairs(lines) do
    for pattern, group in pairs(titles) do
      if line:find(pattern) then
        api.nvim_buf_set_extmark(buf, ns, row - 1, 0, { end_col = #line, hl_group = group })
      end
    end
  end
  for _, lhs in ipairs({ 'dd', 'x' }) do
    vim.keymap.set('n', lhs, function()
      M.revoke(buf, answers[api.nvim_win_get_cursor(0)[1]])
    end, { buffer = buf, nowait = true, desc = 'acp: revoke the answer' })
  end
end

---@param callback fun(decided: acp.Decided)
local function ask(callback)
  require('acp.rpc.host').request('list_decided', {}, function(decided, err)
    if err then
      require('acp.notify').warn(err)
    else
      callback(decided)
    end
  end)
end

---@param buf integer
---@param answer acp.KeptAnswer?
function M.revoke(buf, answer)
  if not answer then
    require('acp.notify').warn('no answer on this line')
    return
  end
  require('acp.rpc.host').request('revoke', { id = answer.id }, function(_, err)
    require('acp.notify').warn_if(err)
    ask(function(decided)
      if api.nvim_buf_is_valid(buf) then
        fill(buf, decided)
      end
    end)
  end)
end

local none = 'there are no rules and no lasting answers: every request asks you'

---Shows the rules and the answers, or says that there are none.
---@return nil, string? err
function M.show()
  local host = require('acp.rpc.host')
  local rules = require('acp.config').get().permissions
  if not host.running() and #rules == 0 and vim.fn.filereadable(file()) == 0 then
    return nil, none
  end
  local ok, err = host.ensure()
  if not ok then
    return nil, err
  end
  ask(function(decided)
    if #decided.rules == 0 and #decided.answers == 0 then
      require('acp.notify').warn(none)
      return
    end
    local name = 'acp://permissions'
    local old = vim.fn.bufnr('^' .. name .. '$')
    if old ~= -1 then
      api.nvim_buf_delete(old, { force = true })
    end
    local buf = api.nvim_create_buf(false, true)
    api.nvim_buf_set_name(buf, name)
    vim.bo[buf].bufhidden = 'wipe'
    vim.bo[buf].filetype = 'acp-permissions'
    fill(buf, decided)
    local height = math.max(5, math.min(15, api.nvim_buf_line_count(buf)))
    local win = api.nvim_open_win(buf, true, { split = 'below', win = -1, height = height })
    api.nvim_set_option_value('wrap', false, { scope = 'local', win = win })
    vim.keymap.set('n', 'q', function()
      vim.cmd.wincmd('p') -- back to where the user was
      pcall(api.nvim_win_close, win, true) -- not the only one
    end, { buffer = buf, nowait = true, desc = 'acp: close the list' })
  end)
end

return M
