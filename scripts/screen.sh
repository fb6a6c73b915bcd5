#!/usr/bin/env bash
# Draws doc/screen.svg, the picture in the README: a real Neovim in a real terminal, with the demo
# agent, waiting for the user's permission to change a file. Needs tmux.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cols=150 rows=36

nvim=$(scripts/nvim.sh any)
tmp=$(mktemp -d)
dir=$tmp/greetings
tmux=(tmux -L "acp-screen-$$" -f /dev/null)
trap '"${tmux[@]}" kill-server 2>/dev/null || true; rm -rf "$tmp"' EXIT
mkdir "$dir"
cp -r test/sample/. "$dir"

# await waits until the terminal shows a text.
await() {
  for _ in $(seq 300); do
    if "${tmux[@]}" capture-pane -p | grep -qF "$1"; then return; fi
    sleep 0.1 # between two looks; there is no event to wait for
  done
  echo "screen.sh: the terminal never showed: $1" >&2
  exit 1
}

export COLORTERM=truecolor
"${tmux[@]}" new-session -d -x $cols -y $rows -c "$dir" \
  "$nvim" --clean -n --cmd "set rtp^=$PWD" --cmd 'set termguicolors noruler laststatus=0 fillchars=eob:\ ' \
  +'runtime plugin/acp.lua' greet.sh
"${tmux[@]}" set -ga terminal-overrides ',*:Tc'
await greet
"${tmux[@]}" send-keys ':Acp new demo' Enter
await Ask
"${tmux[@]}" send-keys ':stopinsert | Acp prompt Show me what you can do' Enter
await 'wants to edit'
await 'ga allow'
"${tmux[@]}" capture-pane -e -p | go run ./test/screen $cols $rows >doc/screen.svg
