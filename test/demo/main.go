// Demo plays the whole turn that `make demo` shows, without a terminal: a Neovim with an attached
// user interface, the plugin, the host in bin/ and the demo agent, in a copy of the sample project.
// It answers the agent's questions with their first option, prints the last screen as text, and
// fails with the reason if anything is not as it should be. It runs in the repository's root.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: demo NVIM")
		os.Exit(2)
	}
	r := &run{}
	r.do(func() { demo(r, os.Args[1]) })
	if r.end() {
		fmt.Fprintln(os.Stderr, "demo: FAILED")
		os.Exit(1)
	}
}

// mark is what the agent's edit leaves in the README, output the end of what its command prints.
const (
	mark   = "The demo agent of acp-nvim was here."
	output = "all passed"
)

func demo(r *run, bin string) {
	parent, err := os.MkdirTemp("", "acp-demo")
	if err != nil {
		r.Fatalf("make a folder: %v", err)
	}
	r.Cleanup(func() { os.RemoveAll(parent) })
	dir := filepath.Join(parent, "greetings")
	if err := os.CopyFS(dir, os.DirFS("test/sample")); err != nil {
		r.Fatalf("copy the sample project: %v", err)
	}

	n := nvimtest.Start(r, bin, nvimtest.Size(120, 40), nvimtest.Dir(dir), nvimtest.Args("README.md"))
	n.Command("Acp new demo")
	n.Command("Acp prompt Show me what you can do")
	for answered := 0; ; answered++ {
		n.Await("a question or the end of the turn", func() bool {
			return ended(n) || n.LuaBool(`#require('acp').permissions() > 0 or require('acp').sessions()[1].state == 'dead'`)
		})
		if dead := n.LuaString(`local s = require('acp').sessions()[1]; return s.state == 'dead' and s.error or ''`); dead != "" {
			r.Fatalf("the session has ended: %s\n%s", dead, n.Screen())
		}
		if ended(n) {
			if answered != 2 {
				r.Errorf("the agent asked %d times, want 2: for the edit and the command", answered)
			}
			break
		}
		// As a user does: look at the question, then answer it.
		question := n.LuaInt(`require('acp').permissions()[1].id`)
		n.AwaitScreen(" 1 Yes")
		n.Command("Acp permit 1")
		n.Await("the answer to be taken", func() bool {
			return n.LuaBool(`local p = require('acp').permissions()[1]; return not p or p.id ~= ...`, question)
		})
	}
	if end := n.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != "end_turn" {
		r.Errorf("the turn ended so: %v", end)
	}

	if text := n.LuaString(`table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('README.md'), 0, -1, false), '\n')`); !strings.Contains(text, mark) {
		r.Errorf("the edit is not in the buffer:\n%s", text)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || !strings.Contains(string(text), mark) {
		r.Errorf("the edit is not on the disk (%v):\n%s", err, text)
	}
	if text := n.LuaString(`table.concat(vim.api.nvim_buf_get_lines(require('acp').sessions()[1].chat_buf, 0, -1, false), '\n')`); !strings.Contains(text, output) {
		r.Errorf("the command's output is not in the chat:\n%s", text)
	}
	n.AwaitScreen("Summary")
	n.Redraw()
	fmt.Print(n.Screen())
}

func ended(n *nvimtest.Nvim) bool {
	for _, e := range n.Events() {
		if e.Name == "AcpTurnEnd" {
			return true
		}
	}
	return false
}
