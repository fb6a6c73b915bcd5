--- The text of a buffer as the host gets it: in slices, or as a patch of what it knows.

local M = {}

local api = vim.api
local dirty = require('acp.files.dirty')

---@param args { buf: integer, changedtick?: integer }
---@return boolean
function M.moved(args)
  if not api.nvim_buf_is_loaded(args.buf) then
    return true
  end
  local tick = api.nvim_buf_get_changedtick(args.buf)
  return args.changedtick ~= nil and args.changedtick ~= tick
end

---@class (exact) acp.buffers.Slice
---@field buf integer
---@field changedtick? integer the buffer must still be at
---@field first integer 0-based
---@field col? integer from which byte of the first line on
---@field last integer exclusive, -1 for the end of the buffer

---@class (exact) acp.buffers.Lines
---@field text? string
---@field first? integer
---@field last? integer
---@field col? integer where the next piece of line `last` begins, of which the text is one
---@field ended? boolean
---@field moved? boolean

--- How many lines a patch has at most.
local patch_lines = 1000

--- How many lines a buffer has at most of which the host gets all at once.
local small_lines = 10000

--- How many bytes a slice has.
local slice_bytes = 512 * 1024

--- The end of a slice that is not too large.
---@param args acp.buffers.Slice
---@return integer last
local function fitting(args)
  local limit = api.nvim_buf_get_offset(args.buf, args.first) + slice_bytes
  local fits, over = args.first + 1, args.last + 1
  while over - fits > 1 do
    local middle = math.floor((fits + over) / 2)
    if api.nvim_buf_get_offset(args.buf, middle) <= limit then
      fits = middle
    else
      over = middle
    end
  end
  return fits
end

--- How many bytes lines have, with their ends.
---@param buf integer
---@param first integer 0-based
---@param last integer exclusive
---@return integer
local function bytes(buf, first, last)
  return api.nvim_buf_get_offset(buf, last) - api.nvim_buf_get_offset(buf, first)
end

--- Lines joined with newlines, fewer than asked for if they are long and the buffer must not have
--- changed, or a piece of a single one that is too long. `last` is where they end, `ended` says
--- that they include the buffer's last one.
---@param args acp.buffers.Slice
---@return acp.buffers.Lines
function M.lines(args)
  if M.moved(args) then
    return { moved = true }
  end
  local last = args.changedtick and fitting(args) or args.last
  local col = args.col or 0
  local long = args.changedtick and bytes(args.buf, args.first, args.first + 1) - col > slice_bytes
  if long or col > 0 then
    -- The end of a line is up to two bytes, and goes with the last piece.
    local stop = long and col + slice_bytes - 2 or -1
    return {
      text = api.nvim_buf_get_text(args.buf, args.first, col, args.first, stop, {})[1],
      first = args.first,
      last = long and args.first or args.first + 1,
      col = long and stop or nil,
      ended = not long and args.first + 1 >= api.nvim_buf_line_count(args.buf),
    }
  end
  local lines = api.nvim_buf_get_lines(args.buf, args.first, last, false)
  return {
    text = table.concat(lines, '\n'),
    first = args.first,
    last = args.first + #lines,
    ended = args.first + #lines >= api.nvim_buf_line_count(args.buf),
  }
end

--- All lines of a buffer that is not empty, and how they are on the disk.
---@param buf integer
---@return acp.buffers.Info
function M.whole(buf)
  local bo = vim.bo[buf]
  return {
    buf = buf,
    lines = api.nvim_buf_line_count(buf),
    newline = bo.endofline or (bo.fixendofline and not bo.binary),
    format = bo.fileformat,
    encoding = bo.fileencoding,
    bom = bo.bomb,
    slice = M.lines({ buf = buf, first = 0, last = -1 }),
  }
end

---@class (exact) acp.buffers.Ask
---@field path string real path
---@field first? integer 0-based: lines from here on are to come along
---@field last? integer exclusive
---@field known_buf? integer with known_tick: not of this state of a buffer
---@field known_tick? integer

--- Whether a buffer is small enough that the host gets all of it at once.
---@param buf integer
---@param count integer of its lines
---@return boolean
local function is_small(buf, count)
  return count <= small_lines and bytes(buf, 0, count) <= slice_bytes
end

--- What a text of a buffer that is known lacks; nil where that is not known, or is a lot.
---@param buf integer
---@param tick integer the changedtick at which it had that text
---@return acp.buffers.Patch?
local function patch_since(buf, tick)
  local range = dirty.since(buf, tick)
  if
    not range
    or range.last - range.first > patch_lines
    or bytes(buf, range.first, range.last) > slice_bytes
  then
    return nil
  end
  return {
    first = range.first,
    last = range.old_last,
    text = table.concat(api.nvim_buf_get_lines(buf, range.first, range.last, true), '\n')
      .. (range.last > range.first and '\n' or ''),
  }
end

--- The requested lines of a buffer, all of them if it is small, or how they differ from the known
--- text.
---@param buf integer
---@param tick integer its changedtick
---@param args acp.buffers.Ask
---@param count integer of its lines
---@return acp.buffers.Lines?, acp.buffers.Patch?
function M.asked_for(buf, tick, args, count)
  if not args.first or args.first >= count or args.known_buf == buf and args.known_tick == tick then
    return nil, nil
  end
  local patch = args.known_buf == buf and count > 1 and patch_since(buf, args.known_tick) or nil
  local first, last = args.first, math.min(args.last, count)
  if is_small(buf, count) then
    first, last = 0, count
  end
  local slice
  if not patch and last > first then
    slice = M.lines({ buf = buf, changedtick = tick, first = first, last = last })
  end
  dirty.sent(buf)
  return slice, patch
end

--- What the text lacks that the host has got of a small buffer.
---@param buf integer
---@return integer? tick the changedtick at which the buffer had that text
---@return acp.buffers.Patch? nil: nothing
function M.unsent(buf)
  local tick, count = dirty.sent_at(buf), api.nvim_buf_line_count(buf)
  if tick == api.nvim_buf_get_changedtick(buf) then
    return tick, nil
  end
  local patch = tick and count > 1 and is_small(buf, count) and patch_since(buf, tick)
  if not patch then
    return nil, nil
  end
  dirty.sent(buf)
  return tick, patch
end

return M
