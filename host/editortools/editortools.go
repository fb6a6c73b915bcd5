// Package editortools offers the editor to agents as tools: an MCP server for what only the editor knows, such as
// unsaved text and language servers, which changes files as the user does.
//
//	agent ── stdio ── acp-nvim mcp (Relay) ── Unix socket ── Server ── Caller: the session that calls
//	      ── http on 127.0.0.1, see http.go ─────────────────┘
//
// An agent process gets one [Grant], with a token that ends with it, and the same entry for all of its sessions,
// because for some agents the last entry of a name applies to all sessions. So the session of a call is found by what
// the call says, see callers.go. The session's policy decides what a tool may see and do, see access in call.go;
// tools.go has the tools, answer.go turns what they find into text.
package editortools

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/editortools/sentence"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Name is the server's name, by which agents name its tools.
const Name = sentence.Server

const (
	tokenPatience = 5 * time.Second // for a client to send its token
	maxHello      = 8 << 10         // bytes of a client's first line
	maxSocketPath = 100             // bytes; a socket's address takes little more
	maxClients    = 64              // of one agent process at a time
	maxUnknown    = 64              // unidentified clients; others wait to be let in
)

// Config is what the server needs. Any goroutine may call its functions.
type Config struct {
	Version    string
	Log        *slog.Logger
	Editor     *editor.Editor
	Background func(func())
	Hide       func(agent string, secrets []string) // keeps values out of the logs
	Unhide     func(agent string, secrets []string) // those that are no longer valid
	Connected  func()                               // a client has connected or gone
}

// Server serves the agents of one host. Any goroutine may use it. Nothing is opened before the first [Server.Grant].
type Server struct {
	config Config
	lua    answers
	ctx    context.Context // ends with the server
	end    func()

	mu       sync.Mutex // guards the fields below
	offer    rpc.EditorTools
	listener net.Listener
	folder   string // of the socket
	web      web
	grants   map[string]*Grant
	closed   bool
}

// New returns a server that is not open yet.
func New(config Config) *Server {
	s := &Server{config: config, grants: map[string]*Grant{}, lua: answers{waiting: map[int]chan rpc.EditorToolDone{}}}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// Offer sets the tools of the configuration. It applies to agents that start later.
func (s *Server) Offer(m rpc.EditorTools) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offer = m
}

// Grant is an agent process's right to call tools. Any goroutine may use it.
type Grant struct {
	*callers
	server *Server
	agent  string
	token  string
	offer  rpc.EditorTools
	mcp    *mcp.Server
	ctx    context.Context // ends with the grant
	end    func()

	mu      sync.Mutex // guards the fields below
	clients map[net.Conn]struct{}
	came    map[string]bool // the folders in which the agent has started the server, without links
}

// Grant gives an agent's process the tools; nil without an error if the user wants none.
func (s *Server) Grant(agent string) (*Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.offer.Tools) == 0 || s.closed {
		return nil, nil
	}
	err := s.listen()
	if err == nil && s.offer.Transport == http {
		err = s.listenHTTP()
	}
	if err != nil {
		return nil, fmt.Errorf("offer the editor's tools: %w", err)
	}
	g := &Grant{
		callers: newCallers(), server: s, agent: agent, token: rand.Text() + rand.Text(), offer: s.offer,
		clients: map[net.Conn]struct{}{}, came: map[string]bool{},
	}
	g.ctx, g.end = context.WithCancel(context.Background())
	g.mcp = g.newMCP()
	s.config.Hide(agent, []string{g.token})
	s.grants[g.token] = g
	return g, nil
}

// Entry returns the server as described to the agent for a session in a folder, the same for all sessions there. Every
// agent takes at least one kind of server.
func (g *Grant) Entry(folder string, agent session.Info) (session.MCPServer, error) {
	if agent.HTTPServers && g.offer.Transport == http {
		return g.webEntry(folder), nil
	}
	if !agent.StdioServers {
		return session.MCPServer{}, errors.New("it takes servers over http only: set editor.transport to 'http'")
	}
	self, err := os.Executable()
	if err != nil {
		return session.MCPServer{}, fmt.Errorf("find this program: %w", err)
	}
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	return session.MCPServer{
		Name: Name, Type: "stdio", Command: self, Args: []string{"mcp"},
		Env: []session.Pair{{Name: socketVariable, Value: g.server.socket()}, {Name: tokenVariable, Value: g.token}},
	}, nil
}

// Instructions returns what the model is told about the tools besides their descriptions; "" if the user wants none.
func (g *Grant) Instructions() string {
	if !g.offer.Instructions {
		return ""
	}
	return instructions
}

// Came reports whether the agent has started the server in a folder, as agents do for the sessions there.
func (g *Grant) Came(folder string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.came[plain(folder)]
}

// plain returns a folder without links, if that can be determined.
func plain(folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		return real
	}
	return filepath.Clean(folder)
}

func (g *Grant) noteCame(folder string) {
	folder = plain(folder)
	g.mu.Lock()
	first := !g.came[folder]
	g.came[folder] = true
	g.mu.Unlock()
	if first {
		g.server.config.Connected()
	}
}

// Revoke ends the grant, and everything running under it.
func (g *Grant) Revoke() {
	g.server.mu.Lock()
	delete(g.server.grants, g.token)
	g.server.mu.Unlock()
	g.server.config.Unhide(g.agent, []string{g.token})
	g.end()
	g.mu.Lock()
	defer g.mu.Unlock()
	for conn := range g.clients {
		conn.Close()
	}
}

func (s *Server) socket() string { return filepath.Join(s.folder, "mcp") }

// listen opens the socket, in a folder that only the user can enter; s.mu is held.
func (s *Server) listen() error {
	if s.listener != nil {
		return nil
	}
	dir, err := os.MkdirTemp(s.offer.Folder, "acp")
	if err == nil && len(filepath.Join(dir, "mcp")) > maxSocketPath {
		_ = os.Remove(dir)
		dir, err = os.MkdirTemp("/tmp", "acp-nvim-")
	}
	if err != nil {
		return err
	}
	s.folder = dir // which MkdirTemp makes accessible only to its owner
	l, err := net.Listen("unix", s.socket())
	if err != nil {
		_ = os.RemoveAll(dir)
		return err
	}
	s.listener = l
	s.config.Background(func() { s.accept(l) })
	return nil
}

// Close ends the server and all grants.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.end()
	var grants []*Grant
	for _, g := range s.grants {
		grants = append(grants, g)
	}
	l, folder := s.listener, s.folder
	s.web.close()
	s.mu.Unlock()
	if l != nil {
		l.Close()
		_ = os.RemoveAll(folder) // Neovim removes what it is in
	}
	for _, g := range grants {
		g.Revoke()
	}
}

// accept serves clients until the server is closed. Other failures may pass, such as too many open files.
func (s *Server) accept(l net.Listener) {
	const longest = time.Second
	var pause time.Duration
	unknown := make(chan struct{}, maxUnknown)
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			pause = min(max(2*pause, 5*time.Millisecond), longest)
			s.config.Log.Warn("a client of the editor's tools", "err", err)
			time.Sleep(pause)
			continue
		}
		pause = 0
		select {
		case unknown <- struct{}{}:
		case <-s.ctx.Done():
			conn.Close()
			return
		}
		s.config.Background(func() { s.serve(conn, func() { <-unknown }) })
	}
}

// serve talks to one client until it or its grant ends. known is called when the client is identified.
func (s *Server) serve(conn net.Conn, known func()) {
	defer conn.Close()
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	g, folder, err := s.admit(conn)
	known()
	if err != nil {
		s.config.Log.Warn("a client of the editor's tools is refused", "err", err)
		_ = conn.SetWriteDeadline(time.Now().Add(tokenPatience))
		_, _ = fmt.Fprintln(conn, "refused: "+err.Error()) // it may be gone
		return
	}
	if !g.add(conn) {
		_, _ = fmt.Fprintln(conn, "refused: the agent has ended, or has too many clients")
		return
	}
	defer g.drop(conn)
	if _, err := fmt.Fprintln(conn, greeting); err != nil {
		return
	}
	g.noteCame(folder)
	transport := &mcp.IOTransport{Reader: conn, Writer: conn, MaxLineLength: 4 << 20}
	client, err := g.mcp.Connect(g.ctx, transport, nil)
	if err == nil {
		err = client.Wait()
	}
	if err != nil && g.ctx.Err() == nil {
		s.config.Log.Debug("a client of the editor's tools", "agent", g.agent, "err", err)
	}
}

// admit lets in a client of the same user that knows a token; folder is where the agent started it.
func (s *Server) admit(conn net.Conn) (g *Grant, folder string, err error) {
	uid, err := peer(conn.(*net.UnixConn))
	if err != nil {
		return nil, "", fmt.Errorf("ask who it is: %w", err)
	}
	if uid != os.Getuid() {
		return nil, "", errors.New("it belongs to another user")
	}
	if err := conn.SetReadDeadline(time.Now().Add(tokenPatience)); err != nil {
		return nil, "", err
	}
	said, err := readHello(conn)
	if err != nil {
		return nil, "", fmt.Errorf("it gave no token: %w", err)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return nil, "", err
	}
	token, folder, _ := strings.Cut(said, " ")
	if g = s.granted(token); g == nil {
		return nil, "", errors.New("its token belongs to no running agent")
	}
	return g, folder, nil
}

// granted returns the grant of a token; nil for none.
func (s *Server) granted(token string) *Grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	for known, g := range s.grants {
		if subtle.ConstantTimeCompare([]byte(known), []byte(token)) == 1 {
			return g
		}
	}
	return nil
}

// readHello reads a line, byte by byte, as what follows is the protocol's.
func readHello(from io.Reader) (string, error) {
	var line strings.Builder
	one := make([]byte, 1)
	for line.Len() < maxHello {
		if _, err := io.ReadFull(from, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return line.String(), nil
		}
		line.WriteByte(one[0])
	}
	return "", errors.New("it is too long")
}

func (g *Grant) add(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil || len(g.clients) >= maxClients {
		return false
	}
	g.clients[conn] = struct{}{}
	return true
}

func (g *Grant) drop(conn net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.clients, conn)
}

// answers has the calls that wait for Lua.
type answers struct {
	mu      sync.Mutex
	last    int
	waiting map[int]chan rpc.EditorToolDone
}

// Done takes Lua's answer to a call.
func (s *Server) Done(m rpc.EditorToolDone) {
	s.lua.mu.Lock()
	got := s.lua.waiting[m.ID]
	delete(s.lua.waiting, m.ID)
	s.lua.mu.Unlock()
	if got != nil {
		got <- m
	}
}

// askLua has Lua do its part of a call, and waits for that or for ctx.
func (s *Server) askLua(ctx context.Context, op rpc.EditorTool) (rpc.EditorToolDone, error) {
	got := make(chan rpc.EditorToolDone, 1)
	s.lua.mu.Lock()
	s.lua.last++
	op.ID = s.lua.last
	s.lua.waiting[op.ID] = got
	s.lua.mu.Unlock()
	defer func() {
		s.lua.mu.Lock()
		delete(s.lua.waiting, op.ID)
		s.lua.mu.Unlock()
	}()
	giveUp := func() { s.config.Editor.Post(editor.Do(rpc.CancelEditorTool{ID: op.ID})) }
	if _, err := s.config.Editor.Call(ctx, editor.Do(op)); err != nil {
		if ctx.Err() != nil {
			giveUp() // it may be on its way
		}
		return rpc.EditorToolDone{}, err
	}
	select {
	case m := <-got:
		if m.Err != "" {
			return m, errors.New(m.Err)
		}
		return m, nil
	case <-s.config.Editor.Gone():
		return rpc.EditorToolDone{}, editor.ErrGone
	case <-ctx.Done():
		giveUp()
		return rpc.EditorToolDone{}, context.Cause(ctx)
	}
}
