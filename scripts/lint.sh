#!/usr/bin/env bash
# Runs all linters, prints what they find, and exits 1 if any found something or could not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=

# lint runs one linter; its name comes first.
lint() {
  local name=$1
  shift
  "$@" || failed="$failed $name"
}

# go_formatted prints the Go files that gofmt would change, and fails if there are any.
go_formatted() {
  local files
  files=$("$(go env GOROOT)/bin/gofmt" -l .) || return
  [ -z "$files" ] && return
  printf 'not as gofmt has it:\n%s\n' "$files" >&2
  return 1
}

lint gofmt go_formatted
lint vet go vet ./...
lint staticcheck go tool -modfile=scripts/tools.mod staticcheck ./...
lint stylua node scripts/stylua.mjs --check
lint luacheck scripts/luacheck.sh --quiet --codes --no-color .
lint doc "$(scripts/nvim.sh any)" -l scripts/doc.lua --check

if [ -n "$failed" ]; then
  echo "lint: FAILED:$failed" >&2
  exit 1
fi
echo 'lint: all clean'
