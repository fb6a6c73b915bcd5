#!/usr/bin/env bash
# Shows a whole turn with the built-in demo agent, in a copy of the sample project.
#
# In a terminal it opens Neovim, for you to take part: answer what the agent asks with :Acp permit N,
# type another prompt, quit with :qa. Without one, Neovim runs unseen, its last screen is printed, and
# the exit code is 0 only if the whole turn went well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

nvim=$(scripts/nvim.sh any)

if ! [ -t 0 ] || ! [ -t 1 ]; then
  exec go run ./test/demo "$nvim"
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -R test/sample "$dir/greetings"
cd "$dir/greetings"
# Nothing of your own configuration, and the plugin as a plugin manager adds it.
ACP_DEMO_ROOT=$root "$nvim" --clean -n \
  --cmd 'let &runtimepath = escape($ACP_DEMO_ROOT, ",") .. "," .. &runtimepath' \
  -c 'Acp new demo' -c 'Acp prompt Show me what you can do' README.md
