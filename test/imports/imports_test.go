// Package imports keeps the project's imports pointing one way.
package imports

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/acp-nvim/acp-nvim/"

// The libraries that one layer alone may know.
const (
	editorClient = "github.com/neovim/go-client"
	jsonRPC      = "github.com/sourcegraph/jsonrpc2"
)

// rule says what the packages below a path may not reach: by themselves (direct), or also through others (never).
type rule struct {
	of     string
	except []string
	never  []string
	direct []string
	why    string
}

var rules = []rule{
	{
		of:    "acp",
		never: []string{editorClient, module + "host", module + "buffers", module + "followalong", module + "cmd"},
		why:   "agents are spoken to without knowing the editor",
	},
	{of: "acp/v1", never: []string{module + "acp/v2", module + "acp/session"}, why: "protocol versions stand apart"},
	{of: "acp/v2", never: []string{module + "acp/v1", module + "acp/session"}, why: "protocol versions stand apart"},
	{of: "acp/wire", never: []string{module + "acp/v1", module + "acp/v2", module + "acp/session"}, why: "it is neither version's"},
	{
		of:    "buffers",
		never: []string{editorClient, module + "acp", module + "host", module + "followalong"},
		why:   "files have nothing to do with sessions, protocols or the way to the editor",
	},
	{
		of:    "followalong",
		never: []string{editorClient, module + "acp/v1", module + "acp/v2", module + "acp/wire", module + "host", module + "buffers"},
		why:   "where to jump is decided without Neovim",
	},
	{
		of:     "host",
		direct: []string{module + "acp/v1", module + "acp/v2", module + "acp/wire", jsonRPC},
		why:    "wire formats end in acp/session",
	},
	{
		of: "host/calldiff", never: []string{module + "host/transcript", module + "host/review", module + "host/rules"},
		why: "the changes of calls are known apart from who asks about them and how they look",
	},
	{
		of: "host/diffview", never: []string{module + "host/transcript", module + "host/calldiff", module + "host/review"},
		direct: []string{"os", "context"}, why: "a change is shown without knowing whose it is",
	},
	{
		of: "host/chat", never: []string{module + "host/ledger", module + "host/review", module + "host/calldiff"}, direct: []string{editorClient, "os", "context"},
		why: "the chat knows the conversation alone",
	},
	{
		of: "host/events", never: []string{module + "buffers", module + "host/editor", module + "host/transcript", module + "host/ledger"},
		direct: []string{editorClient, "time", "context"}, why: "what an event waits for is asked, not known",
	},
	{
		of: "host/luastate", never: []string{module + "host/editor", module + "host/ledger", module + "host/calldiff"}, direct: []string{"os", "context"},
		why: "what Lua keeps of a session is told from the conversation alone",
	},
	{
		of: "host/ledger", never: []string{editorClient, module + "host/editor", module + "host/transcript", module + "host/reviewpage", module + "host/page"},
		why: "what agents do to files is known apart from what is shown of it",
	},
	{of: "host/mailbox", never: []string{editorClient, module + "acp", module + "buffers", module + "host"}, direct: []string{"context", "time"}, why: "whoever owns something can be spoken to"},
	{of: "host/page", never: []string{editorClient, module + "acp", module + "buffers", module + "host/editor", module + "host/review"}, direct: []string{"os", "context", "time"}, why: "what differs is told from lines alone"},
	{
		of: "host/styled", never: []string{editorClient, module + "host/editor", module + "host/transcript", module + "host/reviewpage", module + "host/review"},
		direct: []string{module + "acp", "os", "context"}, why: "how text looks is known apart from what it is about",
	},
	{of: "host/transcript", never: []string{editorClient, module + "host/editor"}, why: "rendering is pure"},
	{of: "host/turns", never: []string{editorClient, module + "acp", module + "host/editor"}, direct: []string{"os", "context"}, why: "what takes a turn back is told from texts"},
	{of: "host/saved", never: []string{editorClient, module + "acp", module + "host/editor", module + "host/transcript"}, direct: []string{"os", "context"}, why: "what is saved knows the store alone"},
	{
		of: "host/reviewui", direct: []string{editorClient, module + "acp", "os", "context"},
		why: "what the user sees of changes is told from the record alone",
	},
	{of: "host/reviewpage", never: []string{editorClient, module + "host/editor"}, direct: []string{"os", "context"}, why: "rendering is pure"},
	{of: "host/diff", never: []string{editorClient, module + "host/editor"}, direct: []string{"os", "context"}, why: "a diff is made of texts"},
	{of: "buffers/linediff", direct: []string{"os", "context"}, why: "comparing is pure"},
	{of: "host/markdown", never: []string{editorClient, module + "acp"}, why: "rendering is pure"},
	{
		of: "host/permission", never: []string{module + "host/ledger", module + "host/transcript", module + "host/review"},
		why: "what the user decides about is known apart from what comes of it, and from where it is shown",
	},
	{of: "host/freshness", never: []string{module + "host/permission", module + "host/policy", module + "host/ledger", module + "host/transcript"}, why: "what an agent knows of files decides nothing"},
	{
		of: "host/policy", never: []string{module + "host/editor", module + "host/ledger", module + "host/transcript", module + "host/review"},
		why: "what rules and answers decide has nothing to do with who is asked and shown",
	},
	{of: "host/rules", never: []string{editorClient, module + "acp", module + "buffers"}, why: "rules are pure"},
	{of: "host/answers", never: []string{editorClient, module + "acp", module + "host/rules"}, why: "a file of answers decides nothing"},
	{
		of: "host/fileaccess", never: []string{editorClient, module + "acp", module + "host/editor", module + "host/rules", module + "host/review"},
		why: "in which order requests are decided about is known apart from how",
	},
	{of: "host/files", never: []string{editorClient, module + "acp"}, why: "finding files knows neither agents nor the editor"},
	{
		of: "host/checkpoint", never: []string{editorClient, module + "acp", module + "buffers", module + "host/editor", module + "host/review"},
		why: "what files were has nothing to do with who changed them",
	},
	{of: "host/terminal", never: []string{editorClient, module + "acp"}, why: "a terminal knows neither agents nor the editor"},
	{
		of: "host/terminals", never: []string{module + "host/ledger", module + "host/rules", module + "host/review", module + "host/prompt", module + "host/follow"},
		why: "the terminals of a session know no other feature of it",
	},
	{
		of: "host/follow", never: []string{module + "host/ledger", module + "host/rules", module + "host/review", module + "host/prompt", module + "host/terminals"},
		why: "where agents work is told by each session and shown by one window, which know no other feature",
	},
	{
		of: "host/prompt", never: []string{module + "host/ledger", module + "host/rules", module + "host/review", module + "host/follow", module + "host/terminals"},
		why: "what the user sends is known apart from what the agent makes of it",
	},
	{
		of: "host/history", never: []string{editorClient, module + "host/editor", module + "host/ledger", module + "host/review", module + "host/terminals"},
		why: "what is kept of a conversation is written and read without an editor",
	},
	{of: "host/failure", never: []string{editorClient, module + "host/editor"}, direct: []string{"os", "context"}, why: "words are found in errors alone"},
	{of: "host/blobs", never: []string{editorClient, module + "acp", module + "host"}, why: "what is in a file does not matter to who keeps it"},
	{of: "host/traffic", never: []string{module + "buffers", module + "host/editor"}, why: "what was said is kept without knowing who asks"},
	{
		of: "host/elicitation", never: []string{module + "host/ledger", module + "host/rules", module + "host/review", module + "host/prompt", module + "host/permission"},
		why: "what agents ask for is shown and answered apart from what they may do",
	},
	{of: "host/control", never: []string{module + "host/ledger", module + "host/rules", module + "host/review", module + "host/prompt"}, why: "how long an agent takes is known apart from what is asked"},
	{of: "cmd", direct: []string{editorClient, jsonRPC, module + "acp/v1", module + "acp/v2", module + "acp/wire"}, why: "main has no logic"},
	{of: "", except: []string{"acp", "test"}, direct: []string{jsonRPC}, why: "only acp knows the JSON-RPC library"},
	{of: "", except: []string{"host", "test"}, direct: []string{editorClient}, why: "only the host knows the editor's client"},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestImportsPointOneWay(t *testing.T) {
	var project []pkg
	for _, p := range list(t) {
		if strings.HasPrefix(p.ImportPath, module) {
			project = append(project, p)
		}
	}
	if len(project) < 10 {
		t.Fatalf("go list found only %d packages of the project", len(project))
	}
	for _, broken := range violations(project) {
		t.Error(broken)
	}
}

// TestRulesBite shows the rules packages that break them.
func TestRulesBite(t *testing.T) {
	for _, r := range rules {
		of := r.of
		if of == "" {
			of = "somewhere"
		}
		for _, target := range r.never {
			p := pkg{ImportPath: module + of + "/new", Deps: []string{target}}
			if len(violations([]pkg{p})) == 0 {
				t.Errorf("%s may reach %s", p.ImportPath, target)
			}
		}
		for _, target := range r.direct {
			p := pkg{ImportPath: module + of + "/new", Imports: []string{target}}
			if len(violations([]pkg{p})) == 0 {
				t.Errorf("%s may import %s", p.ImportPath, target)
			}
		}
	}
}

func violations(project []pkg) []string {
	var broken []string
	for _, p := range project {
		for _, r := range rules {
			name := strings.TrimPrefix(p.ImportPath, module)
			if !below(name, r.of) || slices.ContainsFunc(r.except, func(e string) bool { return below(name, e) }) {
				continue
			}
			for _, target := range r.never {
				if reaches(p.Deps, target) {
					broken = append(broken, p.ImportPath+" must not reach "+target+": "+r.why)
				}
			}
			for _, target := range r.direct {
				if reaches(p.Imports, target) {
					broken = append(broken, p.ImportPath+" must not import "+target+": "+r.why)
				}
			}
		}
	}
	return broken
}

func reaches(imports []string, target string) bool {
	return slices.ContainsFunc(imports, func(i string) bool { return below(i, target) })
}

// below reports whether a path is another one or lies under it.
func below(path, root string) bool {
	return root == "" || path == root || strings.HasPrefix(path, root+"/")
}

func list(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps", module+"...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}
