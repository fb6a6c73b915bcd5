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
  AcpToolTitle = 'Normal',
  AcpToolDone = 'DiagnosticOk',
  AcpToolRunning = 'DiagnosticInfo',
  AcpToolWaiting = 'DiagnosticWarn',
  AcpToolFailed = 'DiagnosticError',
  AcpDiffAdd = 'Added',
  AcpDiffDelete = 'Removed',
  AcpDiffHunk = 'Comment',
  AcpOutput = 'Comment',
  AcpMore = 'NonText',
  AcpPlan = 'Normal',
  AcpPlanDone = 'Comment',
  AcpPlanNow = 'DiagnosticInfo',
  AcpInfo = 'DiagnosticInfo',
  AcpWarning = 'DiagnosticWarn',
  AcpError = 'DiagnosticError',
  AcpOption = 'Normal',
  AcpOptionKey = 'Special',
  AcpWinbar = 'WinBar',
  AcpWinbarBusy = 'DiagnosticInfo',
  AcpWinbarWaiting = 'DiagnosticWarn',
}

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

return M
