---The highlight groups: all linked by default, so that they follow any colour scheme.
local M = {}

M.ns = vim.api.nvim_create_namespace('acp')

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
  AcpDiffAdd = 'Added',
  AcpDiffDelete = 'Removed',
  AcpDiffHunk = 'Comment',
  AcpOutput = 'Comment',
  AcpMore = 'NonText',
  AcpChip = '@markup.link',
  AcpPlanDone = 'Comment',
  AcpPlanNow = 'DiagnosticInfo',
  AcpInfo = 'DiagnosticInfo',
  AcpWarning = 'DiagnosticWarn',
  AcpError = 'DiagnosticError',
  AcpOptionKey = 'Special',
  AcpWinbar = 'WinBar',
  AcpWinbarBusy = 'DiagnosticInfo',
  AcpWinbarWaiting = 'DiagnosticWarn',
}

---Groups that look as the text around them, until the user says otherwise.
local plain = { 'AcpToolTitle', 'AcpPlan', 'AcpOption' }

---Terminal colours, for schemes that define none.
local ansi = {
  'NvimDarkGrey4',
  'Red',
  'Green',
  'Yellow',
  'Blue',
  'Magenta',
  'Cyan',
  'LightGrey',
  'Grey',
  'LightRed',
  'LightGreen',
  'LightYellow',
  'LightBlue',
  'LightMagenta',
  'LightCyan',
  'White',
}

local function link()
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
  for _, name in ipairs(plain) do
    vim.api.nvim_set_hl(0, name, { default = true })
  end
  for i = 0, 15 do
    local color = vim.g['terminal_color_' .. i] or ansi[i + 1]
    vim.api.nvim_set_hl(0, 'AcpAnsi' .. i, { fg = color, ctermfg = i, default = true })
  end
end

---@param names string[]
function M.define(names)
  link()
  for i, name in ipairs(names) do
    M.ids[i - 1] = vim.api.nvim_get_hl_id_by_name(name)
  end
  vim.api.nvim_create_autocmd('ColorScheme', {
    group = vim.api.nvim_create_augroup('acp_highlight', {}),
    desc = 'Link the Acp groups again',
    callback = link,
  })
end

---Sets highlights given as numbers: row, column, end column, group, and so on.
---@param buf integer
---@param marks integer[]
---@param base integer added to each row
function M.set(buf, marks, base)
  local set, ns, ids = vim.api.nvim_buf_set_extmark, M.ns, M.ids
  local opts = { strict = false, priority = 100 }
  for i = 1, #marks, 4 do
    opts.end_col = marks[i + 2]
    opts.hl_group = ids[marks[i + 3]]
    set(buf, ns, marks[i] + base, marks[i + 1], opts)
  end
end

---Highlights whole lines given as numbers: first row, row after the last, group, and so on.
---@param buf integer
---@param runs integer[]
---@param base integer added to each row
function M.set_lines(buf, runs, base)
  for i = 1, #runs, 3 do
    vim.api.nvim_buf_set_extmark(buf, M.ns, runs[i] + base, 0, {
      -- Up to the end of the last line, not the start of the next: what is written there later
      -- neither lengthens nor clears the run.
      end_row = runs[i + 1] - 1 + base,
      end_col = vim.v.maxcol,
      hl_group = M.ids[runs[i + 2]],
      strict = false,
      priority = 90,
    })
  end
end

return M
