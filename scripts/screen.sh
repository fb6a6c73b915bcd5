#!/usr/bin/env bash
# Draws the pictures in the README, a real Neovim in a real terminal with the demo agent: doc/screen.svg,
# waiting for the user's permission to change a file, and doc/review.svg, where the user reviews what it
# has changed. Needs tmux.
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
  echo "screen.sh: the terminal never showed: $1; it shows" >&2
  "${tmux[@]}" capture-pane -p >&2
  exit 1
}

export COLORTERM=truecolor

# neovim opens a file, and a session of the demo agent that is asked something.
neovim() {
  "${tmux[@]}" kill-server 2>/dev/null || true
  tmux[2]+=x # a server that ends may not be asked for another session
  "${tmux[@]}" new-session -d -x $cols -y $rows -c "$dir" \
    "$nvim" --clean -n --cmd "set rtp^=$PWD" --cmd 'set termguicolors noruler laststatus=0 fillchars=eob:\ ' \
    +'runtime plugin/acp.lua' "$1"
  "${tmux[@]}" set -ga terminal-overrides ',*:Tc'
  await greet
  "${tmux[@]}" send-keys ':Acp new demo' Enter
  await Ask
  "${tmux[@]}" send-keys ":stopinsert | Acp prompt $2" Enter
}

# draw makes a picture of what the terminal shows.
draw() { "${tmux[@]}" capture-pane -e -p | go run ./test/screen $cols $rows >"$1"; }

neovim greet.sh 'Show me what you can do'
await 'wants to edit'
await 'ga allow'
draw doc/screen.svg

neovim greet.sh rename
await 'takes it back'
"${tmux[@]}" send-keys ':Acp review' Enter
await 'Review ·'
await '●'
"${tmux[@]}" send-keys ']v' 'a'
await '1 kept'
"${tmux[@]}" send-keys ']v' 'x'
await '1 refused'
"${tmux[@]}" send-keys ']v' 'c'
await 'take'
"${tmux[@]}" send-keys 'Only where people are meant, please.' C-s
await '1 comment'
draw doc/review.svg
