#!/usr/bin/env bash
# Says where the gopls is with which the editor's tools are tested, and gets it if need be.
set -euo pipefail
bin=${XDG_CACHE_HOME:-$HOME/.cache}/acp-nvim/bin
[ -x "$bin/gopls" ] || GOFLAGS= GOBIN=$bin go install golang.org/x/tools/gopls@v0.21.0 >&2
echo "$bin/gopls"
