#!/usr/bin/env bash
# Runs a command on both Neovims: ACP_NVIM_OLDEST and ACP_NVIM_NEWEST are set to their paths.
#
#   neovims.sh COMMAND…
#
# A Neovim that cannot be had is unset, so that everything runs on the other; this is said loudly
# before and after. Without both the command does not run, and the exit code is 3.
set -euo pipefail
scripts=$(dirname "${BASH_SOURCE[0]}")
missing=

loudly() { printf '\n*** %s ***\n\n' "$*" >&2; }

oldest=$("$scripts/nvim.sh" oldest) || missing='the oldest supported Neovim'
newest=$("$scripts/nvim.sh" newest) || missing="${missing:+$missing and }the newest Neovim"
unset ACP_NVIM_OLDEST ACP_NVIM_NEWEST
if [ -n "$oldest" ]; then export ACP_NVIM_OLDEST=$oldest; fi
if [ -n "$newest" ]; then export ACP_NVIM_NEWEST=$newest; fi
if [ -z "$oldest$newest" ]; then
  loudly "CANNOT RUN WITHOUT NEOVIM: $missing cannot be had"
  exit 3
fi
[ -z "$missing" ] || loudly "WITHOUT $missing: it cannot be had; everything runs on the other"

status=0
"$@" || status=$?
if [ -n "$missing" ]; then
  loudly "RAN WITHOUT $missing"
else
  echo "ran with $oldest and $newest"
fi
exit "$status"
