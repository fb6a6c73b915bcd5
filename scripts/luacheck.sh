#!/usr/bin/env bash
# Runs luacheck with the given arguments: the one on the PATH, else Debian's (see debian.sh).
set -euo pipefail
if command -v luacheck >/dev/null; then
  exec luacheck "$@"
fi
root=$("$(dirname "${BASH_SOURCE[0]}")/debian.sh" trixie lua-check lua5.1) || {
  echo 'luacheck.sh: install luacheck with your package manager or luarocks' >&2
  exit 3
}
libs=$(echo "$root"/usr/lib/*/lua/5.1)
LUA_PATH="$root/usr/share/lua/5.1/?.lua;$root/usr/share/lua/5.1/?/init.lua" \
  LUA_CPATH="$libs/?.so" \
  exec "$root/usr/bin/lua5.1" "$root/usr/bin/luacheck" "$@"
