#!/usr/bin/env bash
# Runs all Go tests, with the race detector, and ends with a line that says how it went. A test that would be skipped
# for want of a Neovim or of the schema fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

race=-race
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
  race=
  echo '*** WITHOUT THE RACE DETECTOR: it needs a C compiler, such as gcc ***' >&2
fi
export ACP_TEST_ALL=1
ACP_GOPLS=$(scripts/gopls.sh)
export ACP_GOPLS
# Most tests wait for processes most of the time, so more of them run at once than there are cores: two of a package, of
# as many packages as there are cores.
# No results from Go's cache: it does not see that a Lua file or a Neovim has changed.
if go test -count=1 -parallel 2 -timeout 30m ${race:+"$race"} ./...; then
  echo "test: all passed"
else
  echo 'test: FAILED' >&2
  exit 1
fi
