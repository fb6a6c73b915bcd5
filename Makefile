# acp-nvim: `make help` lists what there is to make.

.DEFAULT_GOAL := build
.PHONY: build release demo test unit lint bench fuzz fmt doc screen clean help

# The host says its version to the user. The build does not depend on git, neither on its presence
# nor on its opinion of who owns this folder.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
export GOFLAGS += -buildvcs=false

build: ## Build the host into bin/; needs only Go
	go build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/acp-nvim ./cmd/acp-nvim

release: ## Build the host for all platforms into dist/, with checksums: make release VERSION=1.2.3
	scripts/release.sh $(VERSION)

demo: build ## Show a whole turn with the built-in demo agent in a Neovim
	scripts/demo.sh

test: build lint ## Get what the tests need, then build, lint and test everything on both Neovims
	scripts/neovims.sh scripts/test.sh

unit: ## Run all tests that need no Neovim, in less than a minute
	scripts/unit.sh

lint: node_modules/.package-lock.json ## Check formatting and code
	scripts/lint.sh

bench: build ## Measure streaming and work with files beside the bare floor on both Neovims
	ACP_GOPLS=$$(scripts/gopls.sh) scripts/neovims.sh go test -run '^$$' -bench . -timeout 90m ./test/bench/...

MINUTES ?= 10
fuzz: build ## Work at full rate, and try random edits, outputs, kills, histories and bytes for MINUTES=10, on both Neovims
	scripts/neovims.sh scripts/fuzz.sh $(MINUTES)

fmt: node_modules/.package-lock.json ## Format Go and Lua
	go fmt ./...
	node scripts/stylua.mjs

doc: ## Bring doc/acp.txt up to date with the options, keys and agents
	"$$(scripts/nvim.sh any)" -l scripts/doc.lua

screen: build ## Draw the picture of the README anew, from a real terminal (needs tmux)
	scripts/screen.sh

clean: ## Remove what was made in the checkout; the Neovims stay in the cache folder
	rm -rf bin dist node_modules

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-7s %s\n", $$1, $$2 }' Makefile

# npm writes this file of its own when it has installed.
node_modules/.package-lock.json: package.json package-lock.json .npmrc
	npm ci
	@touch $@
