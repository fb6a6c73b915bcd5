---The highlight groups: all linked by default, so that they follow any colour scheme.
local M = {}

local api = vim.api

M.ns = api.nvim_create_namespace('acp')

---@type integer[] ids of the groups the host names by number, from 0
M.ids = {}

local links = {
  AcpHeading1 = 'Title',
  AcpHeading2 = 'Title',
  AcpHeading3 = 'Title',
  AcpHeading4 = 'Title',
  AcpHeading5 = 'Title',
  AcpHeading6 = 'Title',
  AcpBold = '@markup.strong',
  AcpItalic = '@markup.italic',
  AcpStrikethrough = '@markup.strikethrough',
  AcpCode = '@markup.raw',
  AcpCodeBlock = '@markup.raw.block',
  AcpFence = 'Comment',
  AcpLink = '@markup.link.label',
  AcpURL = '@markup.link.url',
  AcpListMarker = '@markup.list',
  AcpTaskDone = '@markup.list.checked',
  AcpTaskOpen = '@markup.list.unchecked',
  AcpQuote = '@markup.quote',
  AcpTableHeader = '@markup.strong',
  AcpTableSep = 'Comment',
  AcpRule = 'Comment',
  AcpHTML = 'Comment',
  AcpUser = 'Special',
  AcpThought = 'Comment',
  AcpToolKind = 'Identifier',
  AcpToolDone = 'DiagnosticOk',
  AcpToolRunning = 'DiagnosticInfo',
  AcpToolWaiting = 'DiagnosticWarn',
  AcpToolFailed = 'DiagnosticError',
  AcpDiffAdded = 'Added',
  AcpDiffRemoved = 'Removed',
  AcpDiffLine = 'LineNr',
  AcpDiffHunk = 'Comment',
  AcpInlineAdd = 'DiffAdd',
  AcpInlineAddWord = 'DiffText',
  AcpInlineDelete = 'DiffDelete',
  AcpInlineDeleteWord = 'DiffText',
  AcpInlineHeader = 'DiagnosticInfo',
  AcpReviewRefused = 'Comment',
  AcpReviewRefusedSign = 'DiagnosticWarn',
  AcpReviewAdd = 'AcpDiffAdd',
  AcpReviewChange = 'AcpDiffAdd',
  AcpReviewWord = 'AcpDiffAddText',
  AcpReviewDelete = 'AcpDiffDelete',
  AcpReviewDeleteWord = 'AcpDiffDeleteText',
  AcpReviewHint = 'Comment',
  AcpReviewAddSign = 'Added',
  AcpReviewChangeSign = 'Changed',
  AcpReviewDeleteSign = 'Removed',
  AcpConflictMine = 'DiffChange',
  AcpConflictTheirs = 'DiffAdd',
  AcpConflictHint = 'DiagnosticWarn',
  AcpConflictSign = 'DiagnosticWarn',
  AcpOutput = 'Comment',
  AcpMore = 'Comment',
  AcpChip = '@markup.link',
  AcpPlanDone = 'Comment',
  AcpPlanNow = 'DiagnosticInfo',
  AcpInfo = 'DiagnosticInfo',
  AcpWarning = 'DiagnosticWarn',
  AcpError = 'DiagnosticError',
  AcpShellCommand = 'Function',
  AcpShellString = 'String',
  AcpShellOperator = 'Operator',
  AcpShellVariable = 'Identifier',
  AcpReviewTitle = 'Title',
  AcpReviewFile = 'Directory',
  AcpReviewKept = 'Comment',
  AcpReviewStruck = '@markup.strikethrough',
  AcpReviewComment = 'DiagnosticInfo',
  AcpOptionKey = 'Special',
  AcpWinbar = 'WinBar',
  AcpWinbarBusy = 'DiagnosticInfo',
  AcpWinbarWaiting = 'DiagnosticWarn',
  AcpWinbarFollow = 'DiagnosticInfo',
  AcpFollow = 'Visual',
}

---Groups that look like the text around them, unless the user changes them.
local plain = { 'AcpToolTitle', 'AcpPlan', 'AcpOption' }

---Terminal colours, for schemes that define none, on a dark and on a light background.
local ansi = {
  dark = vim.split(
    '#6c7078 Red Green Yellow #5f87ff Magenta Cyan LightGrey '
      .. 'Grey LightRed LightGreen LightYellow LightBlue LightMagenta LightCyan White',
    ' '
  ),
  light = vim.split(
    '#07080d #8f0010 #005523 #6b5300 #004c9f #6f006b #006363 #4f5258 '
      .. '#5c6068 #b3261e #1b7f3b #806500 #0b66b0 #8b2f8b #0a7575 #2c2e33',
    ' '
  ),
}

---Backgrounds of changed lines and words: the colour of what is added or removed, mixed into that
---of the text's background, so that the language's colours stay readable on them. The share of the
---colour, and what a terminal of 256 colours has instead, dark and light.
local tints = {
  AcpDiffAdd = { 'Added', 0.15, dark = 22, light = 194 },
  AcpDiffDelete = { 'Removed', 0.15, dark = 52, light = 224 },
  AcpDiffAddText = { 'Added', 0.4, dark = 28, light = 157 },
  AcpDiffDeleteText = { 'Removed', 0.4, dark = 88, light = 217 },
}

---How far two colours are from each other, as the accessibility guidelines of the web count it: 1
---is not at all, 21 is black and white.
---@param a integer
---@param b integer
---@return number
local function contrast(a, b)
  local bright = {}
  for i, color in ipairs({ a, b }) do
    local sum = 0
    for unit, weight in pairs({ [0x10000] = 0.2126, [0x100] = 0.7152, [1] = 0.0722 }) do
      local part = math.floor(color / unit) % 256 / 255
      sum = sum + weight * (part <= 0.03928 and part / 12.92 or ((part + 0.055) / 1.055) ^ 2.4)
    end
    bright[i] = sum + 0.05
  end
  return math.max(bright[1], bright[2]) / math.min(bright[1], bright[2])
end

---@param below integer
---@param color integer
---@param share number
---@return integer
local function mix(below, color, share)
  local mixed = 0
  for _, unit in ipairs({ 0x10000, 0x100, 1 }) do
    local from, to = math.floor(below / unit) % 256, math.floor(color / unit) % 256
    mixed = mixed + math.floor(from + (to - from) * share + 0.5) * unit
  end
  return mixed
end

---No text needs more contrast to its background, nor more than so much of what it has elsewhere.
local enough, of_plain = 3.5, 0.75

local function tint()
  local light = vim.o.background == 'light'
  local normal = api.nvim_get_hl(0, { name = 'Normal', link = false })
  -- What is behind a transparent background is not known: a grey, with more of the colours.
  local below = normal.bg or (light and 0xffffff or 0x1c1c1c)
  local more = normal.bg and 0 or 0.15
  for name, t in pairs(tints) do
    local color = api.nvim_get_hl(0, { name = t[1], link = false }).fg
    color = color or (t[1] == 'Added' and 0x40a040 or 0xd04040)
    local share = t[2] + more
    local mixed = mix(below, color, share)
    local least = normal.fg and math.min(enough, of_plain * contrast(normal.fg, below)) or 0
    while normal.fg and share > 0.25 and contrast(normal.fg, mixed) < least do
      share = share - 0.05
      mixed = mix(below, color, share)
    end
    local ctermbg = light and t.light or t.dark
    api.nvim_set_hl(0, name, { bg = mixed, ctermbg = ctermbg, default = true })
  end
end

local function link()
  tint()
  for name, target in pairs(links) do
    api.nvim_set_hl(0, name, { link = target, default = true })
  end
  for _, name in ipairs(plain) do
    api.nvim_set_hl(0, name, { default = true })
  end
  for i = 0, 15 do
    local color = vim.g['terminal_color_' .. i] or ansi[vim.o.background][i + 1]
    api.nvim_set_hl(0, 'AcpAnsi' .. i, { fg = color, ctermfg = i, default = true })
  end
end

---The highlights of the chats, by buffer and line: each line's as numbers in words: column, end
---column, group, and so on. They are drawn where they are seen, since as many extmarks would cost
---Neovim more than all the rest of a chat.
---@type table<integer, string[]>
local rows = {}

---@type table<string, integer[]>
local parsed = setmetatable({}, { __mode = 'v' })

---@param words string
---@return integer[]
local function parse(words)
  local marks = {}
  for number in words:gmatch('%d+') do
    marks[#marks + 1] = tonumber(number)
  end
  parsed[words] = marks
  return marks
end

---Draws the highlights of lines, for this redraw only.
---@param buf integer
---@param row integer 0-based
---@param end_row integer exclusive
local function draw(buf, row, end_row)
  local lines, set, ids = rows[buf], api.nvim_buf_set_extmark, M.ids
  local opts = { ephemeral = true, strict = false, priority = 100 }
  for at = row, end_row - 1 do
    local words = lines[at + 1]
    if words and words ~= '' then
      local marks = parsed[words] or parse(words)
      for i = 1, #marks, 3 do
        opts.end_col = marks[i + 1]
        opts.hl_group = ids[marks[i + 2]]
        set(buf, M.ns, at, marks[i], opts)
      end
    end
  end
end

local provider = {
  on_win = function(_, _, buf)
    return rows[buf] ~= nil
  end,
}
if vim.fn.has('nvim-0.12') == 1 then
  function provider.on_range(_, _, buf, row, _, end_row, end_col)
    end_row = end_col > 0 and end_row + 1 or end_row
    draw(buf, row, end_row)
    return end_row
  end
else
  function provider.on_line(_, _, buf, row)
    draw(buf, row, row + 1)
  end
end

---Makes a buffer's highlights follow its lines: [row, end_row) were replaced by a number of new
---ones.
---@param buf integer
---@param row integer 0-based
---@param end_row integer exclusive
---@param new integer
---@param count integer lines of the buffer before
function M.splice(buf, row, end_row, new, count)
  local lines = rows[buf]
  local shift = new - (end_row - row)
  if shift > 0 then
    for i = count, end_row + 1, -1 do
      lines[i + shift] = lines[i]
    end
  elseif shift < 0 then
    for i = end_row + 1, count do
      lines[i + shift] = lines[i]
    end
    for i = count, count + shift + 1, -1 do
      lines[i] = nil
    end
  end
  for i = row + 1, row + new do
    lines[i] = ''
  end
end

---Replaces the highlights of lines.
---@param buf integer
---@param row integer the first of them, 0-based
---@param marks string[] one for each line
---@param drawn integer the first line that is drawn anew anyway, as its text has changed
function M.replace(buf, row, marks, drawn)
  local lines = rows[buf]
  local first, last
  for i, words in ipairs(marks) do
    local at = row + i
    if lines[at] ~= words then
      lines[at] = words
      if at <= drawn then
        first, last = first or at, at
      end
    end
  end
  if first then
    -- Setting an extmark has its lines drawn anew.
    local opts = { end_row = last, hl_group = 'AcpCode', strict = false }
    api.nvim_buf_del_extmark(buf, M.ns, api.nvim_buf_set_extmark(buf, M.ns, first - 1, 0, opts))
  end
end

---Begins to keep highlights of a buffer, until it is unloaded.
---@param buf integer
function M.attach(buf)
  rows[buf] = {}
  api.nvim_create_autocmd('BufUnload', {
    buffer = buf,
    desc = 'Forget the highlights of the chat',
    callback = function()
      M.detach(buf)
    end,
  })
end

---Stops keeping them: the buffer shows only its text.
---@param buf integer
function M.detach(buf)
  rows[buf] = nil
end

---How many lines of a buffer have highlights.
---@param buf integer
---@return integer
function M.count(buf)
  local n = 0
  for _, words in pairs(rows[buf]) do
    n = n + (words ~= '' and 1 or 0)
  end
  return n
end

---@param names string[]
function M.define(names)
  link()
  for i, name in ipairs(names) do
    M.ids[i - 1] = api.nvim_get_hl_id_by_name(name)
  end
  api.nvim_create_autocmd('ColorScheme', {
    group = api.nvim_create_augroup('acp_highlight', {}),
    desc = 'Link the Acp groups again',
    callback = link,
  })
  api.nvim_set_decoration_provider(M.ns, provider)
end

---Sets highlights given as numbers: row, column, end column, group, and so on.
---@param buf integer
---@param marks integer[]
---@param base integer added to each row
function M.set(buf, marks, base)
  local set, ns, ids = api.nvim_buf_set_extmark, M.ns, M.ids
  local opts = { strict = false, priority = 100 }
  for i = 1, #marks, 4 do
    opts.end_col = marks[i + 2]
    opts.hl_group = ids[marks[i + 3]]
    set(buf, ns, marks[i] + base, marks[i + 1], opts)
  end
end

return M
