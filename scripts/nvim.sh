#!/usr/bin/env bash
# Prints the path of a Neovim to run or test with.
#
#   nvim.sh oldest   the oldest supported one, 0.10
#   nvim.sh newest   the newest one, 0.12 or later
#   nvim.sh any      the nvim on the PATH if it is 0.10 or later, else one of the above
#
# ACP_NVIM_OLDEST and ACP_NVIM_NEWEST name others to use in their place. On Debian they are fetched
# once (see debian.sh); elsewhere the nvim on the PATH serves if its version fits.
# Exit codes: 0 printed, 2 wrong usage, 3 it cannot be had (the reason is on stderr).
set -euo pipefail
scripts=$(dirname "${BASH_SOURCE[0]}")

fail() {
  echo "nvim.sh: $*" >&2
  exit 3
}

# minor prints the N of "NVIM v0.N.x" (1000 for a later major version), or nothing.
minor() {
  "$1" --version 2>/dev/null </dev/null |
    sed -n '1s/^NVIM v0\.\([0-9]*\).*/\1/p; 1s/^NVIM v[1-9].*/1000/p'
}

# fits says whether the Neovim $1 has a minor version from $2 to $3.
fits() {
  local have
  have=$(minor "$1") || return 1
  [ -n "$have" ] && [ "$have" -ge "$2" ] && [ "$have" -le "$3" ]
}

# get prints the Neovim with a minor version from $2 to $3; it is in the Debian suite $1.
get() {
  local root found
  if command -v apt-get >/dev/null && root=$("$scripts/debian.sh" "$1" neovim nvim); then
    found=$root/usr/bin/nvim
    if fits "$found" "$2" "$3"; then
      echo "$found"
      return
    fi
    echo "nvim.sh: $found is not the wanted version; delete $root to get it anew" >&2
  fi
  if found=$(command -v nvim) && fits "$found" "$2" "$3"; then
    echo "$found"
    return
  fi
  fail "there is no Neovim 0.$2: install it with your package manager and put it on the PATH," \
    'or name one with ACP_NVIM_OLDEST or ACP_NVIM_NEWEST'
}

# chosen prints the Neovim that the variable $1, with the value $2, names.
chosen() {
  fits "$2" 10 1000 || fail "$1=$2 is not a Neovim 0.10 or later"
  echo "$(cd "$(dirname "$2")" && pwd)/$(basename "$2")"
}

oldest() {
  if [ -n "${ACP_NVIM_OLDEST:-}" ]; then
    chosen ACP_NVIM_OLDEST "$ACP_NVIM_OLDEST"
  else
    get trixie 10 10
  fi
}

newest() {
  if [ -n "${ACP_NVIM_NEWEST:-}" ]; then
    chosen ACP_NVIM_NEWEST "$ACP_NVIM_NEWEST"
  else
    get sid 12 1000
  fi
}

case ${1:-} in
  oldest) oldest ;;
  newest) newest ;;
  any)
    if nvim=$(command -v nvim) && fits "$nvim" 10 1000; then
      echo "$nvim"
    else
      (newest) || (oldest)
    fi
    ;;
  *)
    echo 'usage: nvim.sh oldest|newest|any' >&2
    exit 2
    ;;
esac
