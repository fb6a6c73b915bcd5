package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// scene is a session with a project's file and one server of the configuration.
type scene struct {
	*featuretest.Session
	*Servers
	t     *testing.T
	asked []session.ElicitationRequest
}

func play(t *testing.T, answers string, test func(s *scene)) {
	featuretest.Play(t, func(on *featuretest.Session) {
		s := &scene{Session: on, t: t}
		p, err := policy.Set(rpc.SetRules{File: answers}, nil)
		must.Do(t, err)
		s.Servers = New(on.Base, Config{
			Configured: map[string]rpc.MCPServer{"own": {Command: "own"}},
			Ask:        func(e session.ElicitationRequest) { s.asked = append(s.asked, e) },
			Policy:     func() *policy.Policy { return p },
			Hide:       func([]string) {},
			Lookup:     os.LookupEnv,
		})
		test(s)
	})
}

func (s *scene) project(text string) {
	s.t.Helper()
	must.Write(s.t, s.Cwd, projectFile, text)
}

// find looks for the servers, and notes those that are found.
func (s *scene) find(ctx context.Context) {
	s.On(func() {
		s.For(ctx, session.Info{StdioServers: true}, func(found []session.MCPServer) {
			var names []string
			for _, f := range found {
				names = append(names, f.Name)
			}
			s.Did("found", strings.Join(names, " "))
		})
	})
}

// answer answers the question that is open; "" closes it.
func (s *scene) answer(choice string) {
	s.t.Helper()
	must.Equal(s.t, len(s.asked), 1, "%d questions are open")
	a := session.ElicitationAnswer{Action: session.ElicitationCancel}
	if choice != "" {
		a = session.ElicitationAnswer{Action: session.ElicitationAccept, Content: map[string]any{field: choice}}
	}
	reply := s.asked[0].Reply
	s.asked = nil
	s.On(func() { reply(a) })
}

const servers = `{"mcpServers":{"theirs":{"command":"theirs"}}}`

// A project's servers are used as the user says, and for as long: who closes the question is not asked again in this
// session while the file says the same.
func TestAProjectsServers(t *testing.T) {
	play(t, filepath.Join(t.TempDir(), "answers"), func(s *scene) {
		s.find(context.Background())
		s.Expect("found own")
		s.project("")
		s.find(context.Background())
		s.Expect("found own")
		s.project(servers)
		s.find(context.Background())
		s.Expect()
		s.answer("")
		s.Expect("found own")
		s.find(context.Background())
		s.Expect("found own")
		for _, choice := range []string{once, never, always} {
			s.project(servers + strings.Repeat(" ", len(choice)))
			want := "found own theirs"
			if choice == never {
				want = "found own"
			}
			s.find(context.Background())
			s.answer(choice)
			s.Expect(want)
			s.find(context.Background())
			if choice == once {
				s.answer(once)
			}
			s.Expect(want)
		}
	})
}

// What cannot be read of a project's file is said, and the other servers are used.
func TestAProjectsFileThatIsBroken(t *testing.T) {
	for text, why := range map[string]string{
		"{": "unexpected end of JSON input", strings.Repeat(" ", maxProject+1): "it is too long",
	} {
		play(t, filepath.Join(t.TempDir(), "answers"), func(s *scene) {
			s.project(text)
			s.find(context.Background())
			s.Expect(fmt.Sprintf("remark warning: The MCP servers of .mcp.json are left out: %s.", why), "found own")
		})
	}
	for why, make := range map[string]func(path string) error{
		"is a directory":                    func(path string) error { return os.Mkdir(path, 0o700) },
		"too many levels of symbolic links": func(path string) error { return os.Symlink(projectFile, path) },
	} {
		play(t, filepath.Join(t.TempDir(), "answers"), func(s *scene) {
			path := filepath.Join(s.Cwd, projectFile)
			must.Do(t, make(path))
			_, err := os.ReadFile(path)
			check.Contains(t, fmt.Sprint(err), why, "it is read with %q")
			s.find(context.Background())
			s.Expect(fmt.Sprintf("remark warning: The MCP servers of .mcp.json are left out: %v.", err), "found own")
		})
	}
	play(t, filepath.Join(t.TempDir(), "answers"), func(s *scene) {
		s.project(servers + strings.Repeat(" ", maxProject-len(servers)))
		s.find(context.Background())
		check.Equal(t, len(s.asked), 1, "for the longest file %d questions are asked")
	})
}

// The question about a project's servers says what they are, and which answers there are, also to a program.
func TestTheQuestionAboutAProjectsServers(t *testing.T) {
	play(t, filepath.Join(t.TempDir(), "answers"), func(s *scene) {
		s.project(`{"mcpServers":{"two":{"command":"b","args":["-x"]},"one":{"command":"a"}}}`)
		s.find(context.Background())
		must.Equal(t, len(s.asked), 1, "%d questions are open")
		q := s.asked[0]
		check.Equal(t, q.Asker, "acp-nvim", "it is of %q")
		check.Equal(t, q.Message, "The project's .mcp.json has MCP servers for Puppet to use: one (a), two (b -x). Use them?", "it asks %q")
		check.Equal(t, string(q.Form.Schema), `{"properties":{"servers":{"enum":["always","once","never"],"type":"string"}},`+
			`"required":["servers"],"type":"object"}`, "its schema is %s")
		check.Deep(t, q.Form.Fields, []session.FormField{{
			Name: "servers", Title: "MCP servers", Type: session.FieldChoice, Required: true,
			Choices: []session.Choice{
				{Value: "always", Name: "Yes, until the file changes"}, {Value: "once", Name: "Yes, in this session"},
				{Value: "never", Name: "No, until the file changes"},
			},
		}}, "its fields are %+v")
	})
}

// An answer that cannot be saved counts, and the user is told that it is asked again.
func TestAnAnswerThatIsNotSaved(t *testing.T) {
	play(t, "/dev/null/answers", func(s *scene) {
		s.project(servers)
		s.find(context.Background())
		s.answer(always)
		s.Expect("found own theirs",
			"remark warning: Your answer was not saved, so you will be asked again: open /dev/null/answers.lock: not a directory.")
		s.find(context.Background())
		check.Equal(t, len(s.asked), 1, "%d questions are asked")
	})
}

// A session that no longer waits for its servers gets none, whatever the user answers then.
func TestServersThatNobodyWaitsFor(t *testing.T) {
	play(t, filepath.Join(t.TempDir(), "answers"), func(s *scene) {
		s.project(servers)
		ctx, leave := context.WithCancel(context.Background())
		s.find(ctx)
		leave()
		s.answer("")
		s.find(ctx)
		s.Expect()
		s.find(context.Background())
		s.answer(once) // it was not refused
		s.Expect("found own theirs")
	})
}
