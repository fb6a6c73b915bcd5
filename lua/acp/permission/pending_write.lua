---How long writes have waited for the user (`review = 'before'`).
local M = {}

---@type uv.uv_timer_t?
local timer

---How long a request has held up a write.
---@param request acp.OpenPermission
---@return string? such as 0:42
function M.clock(request)
  if request.since then
    local seconds = math.max(0, math.floor((vim.uv.now() - request.since) / 1000))
    return ('%d:%02d'):format(math.floor(seconds / 60), seconds % 60)
  end
end

---The oldest pending write of a session.
---@param session? integer any where there is none
---@return acp.OpenPermission?
local function oldest(session)
  for _, request in ipairs(require('acp.rpc.state').permissions()) do
    if request.since and (not session or request.session == session) then
      return request
    end
  end
end

---How long a session's oldest write has waited.
---@param session integer
---@return string?
function M.waits(session)
  local request = oldest(session)
  return request and M.clock(request)
end

---Updates the clocks on the screen while a write waits.
---@param tick fun() called each second
function M.watch(tick)
  if timer or not oldest() then
    return
  end
  timer = assert(vim.uv.new_timer())
  timer:start(
    1000,
    1000,
    vim.schedule_wrap(function()
      if not timer then
        return
      elseif not oldest() then
        timer:close()
        timer = nil
        return
      end
      tick()
      for id, b in require('acp.chat.buffers').each() do
        if b.visible and oldest(id) then
          require('acp.chat.winbar').refresh(id)
        end
      end
    end)
  )
end

return M
