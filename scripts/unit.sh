#!/usr/bin/env bash
# Runs the tests that need no Neovim, and says which were skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing='those that need a Neovim'
if command -v npm >/dev/null; then
  make --no-print-directory node_modules/.package-lock.json
elif ! [ -e node_modules/.package-lock.json ]; then
  missing="$missing, or the protocol's schema, which npm gets"
fi
unset ACP_NVIM_OLDEST ACP_NVIM_NEWEST ACP_TEST_ALL
go test -short -parallel 4 ./... # -short takes fewer rounds, and leaves out no test
echo "unit: all passed, without $missing: \`make test\` runs all"
