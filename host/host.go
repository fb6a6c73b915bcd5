// Package host is the application between Neovim and the agents: the registry
// of sessions and agent processes, and the messages from and to Lua.
//
//	Lua ── rpc.go ──▶ Session (one goroutine each) ──▶ agent (one process, many sessions)
//	agent's reader ──▶ Session ──▶ transcript, state ──▶ editor (one goroutine) ──▶ Lua
package host

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/blobs"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/editortools"
	"github.com/acp-nvim/acp-nvim/host/extension"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/files"
	"github.com/acp-nvim/acp-nvim/host/follow"
	"github.com/acp-nvim/acp-nvim/host/history"
	"github.com/acp-nvim/acp-nvim/host/labels"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/registry"
	"github.com/acp-nvim/acp-nvim/host/reviewui"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/host/secrets"
	"github.com/acp-nvim/acp-nvim/host/traffic"
)

// Host owns the sessions of one Neovim.
type Host struct {
	version   string
	log       *slog.Logger
	nerdFont  bool
	editor    *editor.Editor
	inbox     *inbox // nil in tests
	files     *buffers.Files
	finder    *files.Finder
	traffic   *traffic.Traffic
	secrets   *secrets.Secrets
	blobs     *blobs.Folder
	follow    *follow.Window
	extension *extension.Requests
	registry  *registry.Registry
	overlaps  reviewui.Overlaps
	tools     *editortools.Server // of agents
	marks     *reviewui.Marks
	store     *checkpoint.Store // nil for none
	spare     spare
	over      context.Context // ends when Neovim exits
	leave     func()

	saves      *saved.Sessions
	history    *history.Store // nil for none
	labels     *labels.Store
	taken      string // the folder of which MCP servers agents take, "" for none
	cleanStore sync.Once
	unkept     atomic.Bool // the user wants no history
	tellUnkept sync.Once   // to say that the history cannot be kept

	without    string // what the user has to do without, as a sentence, or ""
	sayWithout sync.Once

	requestIDs   atomic.Int64                  // of permission requests and questions
	policy       atomic.Pointer[policy.Policy] // nil until Lua has sent the rules
	reviewBefore atomic.Bool                   // writes through the client wait for the user
	reviews      atomic.Bool                   // the user is told what awaits review
	keepKey      atomic.Pointer[string]        // the key of the chat that keeps all of that; "" for none
	loops        sync.WaitGroup                // the sessions' goroutines
	work         sync.WaitGroup                // all others

	mu       sync.Mutex // guards the fields below
	sessions map[int]*Session
	agents   map[string]*agent     // by launch key, live ones
	leaving  []*agent              // those that are ending
	folders  map[storedID][]string // of sessions that agents keep, as far as known
	watch    *buffers.Watch        // of the loaded files' disk, while there are sessions
	closing  bool
}

func newHost(o Options, nvim editor.Neovim) *Host {
	without := o.leaveUnwritable()
	h := &Host{
		version:  o.Version,
		log:      o.Log,
		nerdFont: o.NerdFont,
		editor:   editor.New(nvim),
		traffic:  traffic.New(),
		finder:   files.New(),
		sessions: map[int]*Session{},
		agents:   map[string]*agent{},
		folders:  map[storedID][]string{},

		without: without,
	}
	h.secrets = secrets.New(h.traffic)
	h.blobs = blobs.New(o.Cache, h.background, func(path string) { h.editor.Post(editor.Do(rpc.ImageSaved{Path: path})) })
	h.over, h.leave = context.WithCancel(context.Background())
	h.files = buffers.New(bufferCalls{h.editor})
	h.files.Slow = func(ctx context.Context, why string) {
		// Neovim draws between two calls. An error means that Neovim or the write has ended, which the write will find
		// out.
		_, _ = h.editor.Call(ctx, editor.Do(rpc.Notify{Level: "warning", Text: why}))
	}
	h.labels = labels.Open("")
	if o.Data != "" {
		h.labels = labels.Open(filepath.Join(o.Data, "labels"))
		h.taken = filepath.Join(o.Data, "mcp")
		h.history = history.Open(filepath.Join(o.Data, "transcripts"))
		h.store = checkpoint.Open(o.Data)
		h.store.Skip = func(path string) bool { // what we are writing is not a file of the project
			return buffers.IsTemporary(path) || h.traffic.Records(path)
		}
	}
	if o.State != "" {
		h.files.Journal(filepath.Join(o.State, "writes"))
	}
	h.extension = extension.New(h.editor.Post)
	h.registry = newRegistry(h, o.Data)
	h.saves = newSaves(h, o.Data)
	h.follow = newFollowWindow(h)
	h.marks = newMarks(h)
	h.tools = newEditorTools(h)
	return h
}

// bufferCalls lets the buffers package call its Lua half.
type bufferCalls struct{ *editor.Editor }

func (b bufferCalls) CallBuffers(ctx context.Context, fn string, args, result any) error {
	value, err := b.Call(ctx, editor.Do(rpc.Buffers{Fn: fn, Args: args}))
	if err != nil {
		return err
	}
	if _, ok := value.(map[string]any); !ok {
		return fmt.Errorf("buffers.%s: malformed answer from Neovim: %v", fn, value)
	}
	rpc.Into(result, value)
	return nil
}

// background runs f in a goroutine that the host's end waits for.
func (h *Host) background(f func()) { h.work.Go(f) }

// open opens a session.
func (h *Host) open(m rpc.New) {
	id := m.Session
	source := h.session(m.Fork)
	roots := append([]string{m.Cwd}, m.Directories...)
	switch {
	case source != nil:
		roots = source.base.Roots
	case m.AgentSessionID != "":
		roots = h.rootsOf(m)
	}
	s := newSession(h, id, AgentSpec(m.Agent), roots[0], roots[1:])
	s.opening.TakeUp(m.AgentSessionID, m.Retold)
	s.conv.Title = m.Title
	if m.AgentSessionID != "" {
		s.takeLabel(h.labels.Of(m.Agent.Name, m.AgentSessionID))
	}
	s.prompts.Restore(m.Queue, m.Along)
	h.mu.Lock()
	taken := h.sessions[id] != nil || h.closing
	if !taken {
		h.sessions[id] = s
		h.startWatch()
	}
	h.mu.Unlock()
	if taken {
		h.log.Error("open a session", "id", id, "err", "the id is taken, or the host ends")
		return
	}
	h.loops.Go(s.base.Box.Run)
	h.background(s.ledger.Run)
	if m.AgentSessionID != "" {
		s.ledger.Titled(s.conv.Title)
		s.review.TakeUp(s.about(), s.remarks.Remind)
	}
	h.cleanStore.Do(func() {
		h.background(h.cleanCheckpoints)
		h.background(h.cleanHistory)
	})
	if h.without != "" {
		h.sayWithout.Do(func() { s.base.Box.Put(func() { s.base.Remark("warning", h.without) }) })
	}
	switch {
	case m.Fork != 0:
		s.beginFork(source, m.Before)
		return
	case m.AgentSessionID != "" && !m.Retold && h.history != nil:
		s.beginWithPast()
		return
	}
	s.base.Box.Put(s.start)
}

// session returns an open session, or nil.
func (h *Host) session(id int) *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// others runs f for every session but one, each on its own goroutine.
func (h *Host) others(than *Session, f func(*Session)) {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	for _, s := range sessions {
		if s != than {
			s.base.Box.Put(func() { f(s) })
		}
	}
}

func (h *Host) forgetSession(s *Session) {
	h.mu.Lock()
	delete(h.sessions, s.id)
	if len(h.sessions) == 0 {
		h.stopWatch()
	}
	h.mu.Unlock()
}

// agentFor returns the process for a launch configuration, started if needed.
func (h *Host) agentFor(spec AgentSpec, cwd string) (*agent, error) {
	dir := spec.Cwd
	if dir == "" {
		dir = cwd
	}
	key := spec.launchKey(dir)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return nil, feature.ErrClosed
	}
	if a := h.agents[key]; a != nil {
		return a, nil
	}
	a, err := h.startAgent(spec, dir, key)
	if err == nil {
		h.agents[key] = a
	}
	return a, err
}

// forgetAgent says that no more sessions may join this process.
func (h *Host) forgetAgent(a *agent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.agents[a.key] == a {
		delete(h.agents, a.key)
		h.leaving = append(h.leaving, a)
	}
}

// ending reports whether shutdown has begun, which ends all agents itself.
func (h *Host) ending() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closing
}

// ended forgets a process that has ended.
func (h *Host) ended(a *agent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaving = slices.DeleteFunc(h.leaving, func(other *agent) bool { return other == a })
}

// groupOp tells Lua about a process group, which it kills if the host dies.
func groupOp(pgid int, alive bool) editor.Op {
	return editor.Do(rpc.Group{Pgid: pgid, Alive: alive})
}

// graces returns how long an agent has to exit by itself, first after the end of its input, then after SIGTERM. When
// Neovim exits there is no time to lose.
func (h *Host) graces() (eof, term time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return 100 * time.Millisecond, 150 * time.Millisecond
	}
	return 2 * time.Second, 2 * time.Second
}

// lastWords is how long Neovim's last words about files are waited for, when it has exited or was killed.
const lastWords = 300 * time.Millisecond

// hearSaved waits until what Neovim has said about files it has written is known: without that it would count as the agent's.
func (h *Host) hearSaved() {
	w := h.watching()
	if w == nil {
		return
	}
	heard := make(chan struct{})
	w.Heard(func() { close(heard) })
	select {
	case <-heard:
	case <-time.After(lastWords):
	}
}

// shutdown ends every session and every process, quickly, as Neovim is exiting. Open requests are answered before the
// agents lose their input.
func (h *Host) shutdown() {
	h.hearSaved()
	h.leave()
	h.mu.Lock()
	h.closing = true
	sessions := slices.Collect(maps.Values(h.sessions))
	agents := append(slices.Collect(maps.Values(h.agents)), h.leaving...)
	h.mu.Unlock()
	for _, s := range sessions {
		s.base.Box.Put(s.close)
	}
	h.loops.Wait()
	h.tools.Close()
	h.follow.Close()
	for _, a := range agents {
		h.background(a.end)
	}
	h.editor.Close()
	h.finder.Close()
	h.work.Wait()
}

// nextRequestID returns a new number for something an agent asks the user. Any goroutine.
func (h *Host) nextRequestID() int64 { return h.requestIDs.Add(1) }
