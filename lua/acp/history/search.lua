---Searching the transcripts of all sessions, and choosing among them.
local M = {}

local host = require('acp.rpc.host')
local notify = require('acp.notify')

---Asks the host about the history, starting it if it is not running.
---@param method string
---@param args table
---@param callback fun(result: any, err: string?)
---@return boolean? ok, string? err
local function ask(method, args, callback)
  if type(callback) ~= 'function' then
    return nil, 'a callback is needed for the answer'
  end
  local ok, err = host.ensure()
  if not ok then
    return nil, err
  end
  host.request(method, args, function(result, failure)
    callback(failure == nil and result or nil, failure)
  end)
  return true
end

---The lines of all kept transcripts that contain a text, those of the latest session first.
---@param text string
---@param callback fun(list: acp.Found[]?, err: string?)
---@return boolean? ok, string? err
function M.search(text, callback)
  if type(text) ~= 'string' or vim.trim(text) == '' then
    return nil, 'acp.search needs a text'
  end
  return ask('search_history', { text = text }, callback)
end

---@param text string
---@param show fun(list: acp.Found[]) called with what is found, unless that is nothing
local function find(text, show)
  local _, err = M.search(text, function(list, failure)
    if failure or #list == 0 then
      return notify.warn(failure or ('no transcript contains %q'):format(text))
    end
    show(list)
  end)
  notify.warn_if(err)
end

---Shows what is found as the quickfix list.
---@param text string
function M.open(text)
  find(text, function(list)
    local items = vim.tbl_map(function(found)
      local wrap = require('acp.ui.wrap')
      return {
        filename = found.path,
        lnum = found.line,
        module = ('%s · %s'):format(found.agent, wrap.cut(found.title, 30)),
        text = vim.trim(found.text),
      }
    end, list)
    require('acp.history.view').forget_hidden()
    vim.fn.setqflist({}, ' ', { title = ('acp: %s'):format(text), items = items })
    require('acp.ui.safe_state').soon(function()
      vim.cmd('botright copen')
    end)
  end)
end

---Lets the user choose among the matches, and shows the line.
---@param text string
function M.pick(text)
  find(text, function(list)
    vim.ui.select(list, {
      prompt = ('What was said with %q'):format(text),
      format_item = function(found)
        local where = ('%s · %s'):format(found.agent, require('acp.ui.wrap').cut(found.title, 30))
        return require('acp.ui.wrap').item(where .. ' · ' .. vim.trim(found.text))
      end,
    }, function(found)
      if found then
        require('acp.history.view').open(found.path, found.line)
      end
    end)
  end)
end

---Lets the user choose a transcript to read.
function M.choose()
  local _, err = ask('list_history', {}, function(list, failure)
    if failure or #list == 0 then
      return notify.warn(failure or 'nothing has been said in any session yet')
    end
    vim.ui.select(list, {
      prompt = 'Transcripts',
      format_item = function(kept)
        local parts = {
          kept.title or kept.agent_session_id,
          kept.agent_title,
          vim.fn.fnamemodify(kept.cwd, ':~'),
          (kept.updated_at:sub(1, 16):gsub('T', ' ')),
        }
        return require('acp.ui.wrap').item(table.concat(parts, ' · '))
      end,
    }, function(kept)
      if kept then
        require('acp.history.view').open(kept.path)
      end
    end)
  end)
  notify.warn_if(err)
end

return M
