-- Lua as Neovim runs it: the language of 5.1, whether LuaJIT or PUC Lua interprets it.
std = 'lua51'
globals = { 'vim' }
max_line_length = 100
self = false -- a method need not use its receiver
cache = false
exclude_files = { 'node_modules' }
