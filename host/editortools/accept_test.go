package editortools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// failing is a listener that first fails, as where no more files can be opened, and then has a client.
type failing struct {
	fails   int
	clients chan net.Conn
	closed  chan struct{}
}

func (l *failing) Accept() (net.Conn, error) {
	if l.fails > 0 {
		l.fails--
		return nil, errors.New("too many open files")
	}
	select {
	case conn := <-l.clients:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *failing) Close() error   { close(l.closed); return nil }
func (l *failing) Addr() net.Addr { return &net.UnixAddr{} }

// A listener that fails is asked again, until it is closed.
func TestAcceptAgain(t *testing.T) {
	served := make(chan func(), 1)
	s := New(Config{Log: slog.New(slog.DiscardHandler), Background: func(f func()) { served <- f }})
	l := &failing{fails: 3, clients: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.clients <- &net.UnixConn{}
	over := make(chan struct{})
	go func() {
		s.accept(l)
		close(over)
	}()
	<-served
	select {
	case <-over:
		t.Error("it has ended")
	default:
	}
	l.Close()
	<-over
}

// serving returns a server whose socket is in a folder, and the grant of an agent.
func serving(t *testing.T, folder string, background func(func())) (*Server, *Grant) {
	t.Helper()
	ignore := func(string, []string) {}
	s := New(Config{Log: slog.New(slog.DiscardHandler), Background: background, Hide: ignore, Unhide: ignore, Connected: func() {}})
	s.Offer(rpc.EditorTools{Tools: []string{"read"}, Folder: folder})
	g, err := s.Grant("agent")
	must.Do(t, err)
	t.Cleanup(s.Close)
	return s, g
}

// Whoever has said nothing yet does not keep the host from its end.
func TestCloseSendsTheSilentAway(t *testing.T) {
	var background sync.WaitGroup
	s, _ := serving(t, t.TempDir(), background.Go)
	var silent []net.Conn
	for range maxUnknown + 3 { // some of whom wait to be heard
		conn, err := net.Dial("unix", s.socket())
		must.Do(t, err)
		defer conn.Close()
		silent = append(silent, conn)
	}
	s.Close()
	background.Wait()
	for _, conn := range silent { // one that is waited for is told that it gave no token
		if said, _ := io.ReadAll(conn); len(said) > 0 {
			t.Fatalf("it is told %q", said)
		}
	}
}

// One process of an agent has no more than its share of clients; one that is refused hears why.
func TestTooManyClients(t *testing.T) {
	var background sync.WaitGroup
	s, g := serving(t, t.TempDir(), background.Go)
	connect := func() (net.Conn, string) {
		conn, err := net.Dial("unix", s.socket())
		must.Do(t, err)
		t.Cleanup(func() { conn.Close() })
		_, err = fmt.Fprintln(conn, g.token)
		must.Do(t, err)
		said, _ := readHello(conn)
		return conn, said
	}
	for i := range maxClients {
		if _, said := connect(); said != greeting {
			t.Fatalf("client %d is told %q", i, said)
		}
	}
	_, said := connect()
	check.Equal(t, said, "refused: the agent has ended, or has too many clients", "one more is told %q")
	s.Close()
	background.Wait()
}

// A folder whose path is too long for a socket's address is left as it is, and the socket is elsewhere.
func TestSocketInADeepFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", maxSocketPath))
	must.Do(t, os.Mkdir(dir, 0o700))
	var background sync.WaitGroup
	s, _ := serving(t, dir, background.Go)
	conn, err := net.Dial("unix", s.socket())
	must.Do(t, err)
	conn.Close()
	left, err := os.ReadDir(dir)
	must.Do(t, err)
	check.Equal(t, len(left), 0, "%d things are left in the folder")
	s.Close()
	background.Wait()
	if _, err := os.Stat(s.folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the socket is left: %v", err)
	}
}

// A program that Neovim does not let in says so, in the words of Neovim.
func TestRelayIsRefused(t *testing.T) {
	s, g := serving(t, t.TempDir(), func(f func()) { go f() })
	t.Setenv(socketVariable, s.socket())
	for token, want := range map[string]string{
		"":            "only an agent that runs in Neovim can start this; see :help acp-editor-tools",
		"x" + g.token: "not let in by Neovim: refused: its token belongs to no running agent",
	} {
		t.Setenv(tokenVariable, token)
		if err := Relay(t.Context(), strings.NewReader(""), io.Discard); err == nil || err.Error() != want {
			t.Errorf("with the token %q it fails with %v; want %s", token, err, want)
		}
	}
}

// An agent that cannot have our server works without its tools, and the user hears why.
func TestAgentWithoutTheTools(t *testing.T) {
	_, g := serving(t, t.TempDir(), func(f func()) { go f() })
	stdio := session.Info{StdioServers: true}
	for _, c := range []struct {
		info  session.Info
		grant *Grant
		fails error
		own   []session.MCPServer
		why   string
	}{
		{info: session.Info{HTTPServers: true}, grant: g, own: []session.MCPServer{{}}, why: "it takes servers over http only: set editor.transport to 'http'"},
		{info: stdio, fails: errors.New("there is no room"), own: []session.MCPServer{{}}, why: "there is no room"},
		{info: stdio, grant: g, own: []session.MCPServer{{Name: Name}}, why: "one of your MCP servers is called nvim too"},
		{info: stdio}, // the user wants none
		{grant: g},    // it takes no servers at all
	} {
		var said, want []string
		if c.why != "" {
			want = []string{"warning: Scripted works without the editor's tools: " + c.why + "."}
		}
		base := feature.Base{Title: "Scripted", Remark: func(severity, text string) { said = append(said, severity+": "+text) }}
		tools := NewTools(base, &Caller{}, ToolsConfig{
			Grant: func() (*Grant, error) { return c.grant, c.fails },
			Info:  func() session.Info { return c.info },
		})
		check.Equal(t, len(tools.AddTo(c.own)), len(c.own), "it gets %d servers")
		check.Equal(t, tools.State(), "", "the tools are %q")
		check.Equal(t, tools.Instructions(), "", "it is told of them: %q")
		check.Slice(t, said, want, "the user is told %q")
	}
}

// Whoever sends a first line without end is refused before all of it is read.
func TestAnEndlessToken(t *testing.T) {
	s, _ := serving(t, t.TempDir(), func(f func()) { go f() })
	conn, err := net.Dial("unix", s.socket())
	must.Do(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, strings.Repeat("x", maxHello))
	must.Do(t, err)
	said, err := io.ReadAll(conn)
	must.Do(t, err)
	check.Equal(t, string(said), "refused: it gave no token: it is too long\n", "it is told %q")
}

// What an agent says to the program reaches the server, and what that answers the agent, until one of them ends.
func TestRelay(t *testing.T) {
	for name, end := range map[string]func(agent io.Closer, program func(), host *Server){
		"the agent":   func(agent io.Closer, _ func(), _ *Server) { agent.Close() },
		"the program": func(_ io.Closer, program func(), _ *Server) { program() },
		"the host":    func(_ io.Closer, _ func(), host *Server) { host.Close() },
	} {
		s, g := serving(t, t.TempDir(), func(f func()) { go f() })
		t.Setenv(socketVariable, s.socket())
		t.Setenv(tokenVariable, g.token)
		ctx, cancel := context.WithCancel(t.Context())
		in, agent := io.Pipe()
		answers, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- Relay(ctx, in, out) }()
		client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
		_, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: answers, Writer: agent}, nil)
		must.Do(t, err)
		wd, err := os.Getwd()
		must.Do(t, err)
		check.Equal(t, g.Came(wd), true, "that the agent started it here is known: %v")
		end(agent, cancel, s)
		check.Equal(t, must.Receive(t, name+" ends, and the rest with it", ended), nil, name+" ends, and it fails: %v")
		cancel()
	}
}

// A program that does not reach Neovim says so.
func TestRelayWithoutNeovim(t *testing.T) {
	t.Setenv(socketVariable, "/no/such")
	t.Setenv(tokenVariable, "x")
	err := Relay(t.Context(), strings.NewReader(""), io.Discard)
	check.Equal(t, fmt.Sprint(err), "reach Neovim: dial unix /no/such: connect: no such file or directory", "it says %q")
}

// Where there can be no socket, no agent gets the tools, and whoever asks learns why.
func TestNoPlaceForTheSocket(t *testing.T) {
	s := New(Config{})
	s.Offer(rpc.EditorTools{Tools: []string{"read"}, Folder: "/no/such"})
	g, err := s.Grant("agent")
	if g != nil || err == nil || !strings.HasPrefix(err.Error(), "offer the editor's tools: ") || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it gets %v, %v", g, err)
	}
}

// A folder that is gone is known by its name, and one with links by the folder that it is.
func TestWhereTheServerWasStarted(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Symlink(dir, dir+"/link"))
	s, g := serving(t, t.TempDir(), func(f func()) { go f() })
	told := 0
	s.config.Connected = func() { told++ }
	g.noteCame("/no/such/./folder")
	g.noteCame(dir + "/link")
	g.noteCame(dir)
	check.Equal(t, told, 2, "that an agent has started it in a folder is told %d times")
	for folder, want := range map[string]bool{"/no/such/folder": true, "/no/such/other": false, dir: true, "/": false} {
		check.Equal(t, g.Came(folder), want, "that it was started in %s is %v", folder)
	}
}

// A call is let in while its session has a turn, and found by what the agent says of the session and its calls; not once
// the session is the agent's no longer.
func TestTheSessionOfATool(t *testing.T) {
	_, g := serving(t, t.TempDir(), func(f func()) { go f() })
	callers := []*Caller{{}, {}}
	var of []*Tools
	for _, caller := range callers {
		of = append(of, NewTools(feature.Base{}, caller, ToolsConfig{
			Grant: func() (*Grant, error) { return g, nil },
			Info:  func() session.Info { return session.Info{StdioServers: true} },
		}))
	}
	found := func(step string, from said, caller *Caller, why error) {
		t.Helper()
		got, _, err := g.find(t.Context(), from)
		check.Equal(t, err, why, step+" it is refused: %v")
		check.Equal(t, got, caller, step+" it is the call of %p")
	}
	each := func(do func(t *Tools)) { do(of[0]); do(of[1]) }
	each((*Tools).BeginTurn)
	found("without the tools", said{}, nil, errNoTurn)
	each(func(t *Tools) { t.AddTo(nil) })
	of[0].Seen("c1")
	of[1].Named("s2")
	found("without a turn", said{session: "s2"}, nil, errNoTurn)
	each((*Tools).BeginTurn)
	found("of a call", said{call: "c1"}, callers[0], nil)
	found("of a session", said{session: "s2"}, callers[1], nil)
	found("of either", said{}, nil, errManyTurns)
	of[0].EndTurn()
	found("of a turn that has ended", said{call: "c1"}, nil, errNoTurn)
	found("of the only turn", said{}, callers[1], nil)
	check.Equal(t, of[1].State(), "offered", "the tools are %q")
	of[1].Leave()
	found("after the session", said{session: "s2"}, nil, errNoTurn)
	check.Equal(t, of[1].State(), "", "after the session the tools are %q")
	each(func(t *Tools) { t.Named("s3"); t.Seen("c3"); t.EndTurn(); t.Leave() })
}

// An agent has the tools that are offered to it, and the user's own.
func TestWhichToolsAnAgentHas(t *testing.T) {
	g := &Grant{offer: rpc.EditorTools{Tools: []string{"read"}, Own: []rpc.UserTool{{Name: "deploy"}}}}
	for tool, want := range map[string]bool{
		"read_buffer": true, "show": true, "rename": false, "definition": false, "deploy": true, "none": false,
	} {
		check.Equal(t, g.Has(tool), want, "that it has %s is %v", tool)
	}
	g.offer.Servers = true
	check.Equal(t, g.Has("definition"), true, "that it has what language servers answer is %v")
}
