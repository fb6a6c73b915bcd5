package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/elsewhere"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editortools"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/mcp"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// AgentSpec says how to start an agent, and what to tell the user about it.
type AgentSpec struct {
	Name    string            // of its entry in the configuration
	Title   string            // shown to the user
	Command []string          // argv
	Env     map[string]string // added to the environment
	Cwd     string            // of the process, absolute; "" for the session's
	Install string            // how to get it, one sentence
	Login   string            // how to log in, one sentence
	Quirks  map[string]bool   // overrides, see session.Quirks
	Options map[string]string // values to begin with, by an option's id or category

	Protocol   int                      // the version to ask for; 0 means 1
	MCPServers map[string]rpc.MCPServer // for its sessions
	Paths      map[string]string        // its names of folders, by the user's

	SystemPrompt rpc.SystemPrompt // of its sessions
}

// agent is one running agent process with the sessions in it. Agents are shared by sessions with the same launch
// configuration and folder.
type agent struct {
	host *Host
	key  string
	spec AgentSpec
	proc *acp.Process
	conn *acp.Conn

	routes   *routes   // from its messages to its sessions
	granting sync.Once // of the editor's tools
	mourned  sync.Once // the user was told of its end without seeing a chat of it

	mu        sync.Mutex // guards the fields below
	phase     agentPhase
	adapter   session.Agent // the protocol, spoken over conn; nil before the answer to initialize
	info      session.Info
	login     session.Login               // who is logged in
	waiting   []func(session.Info, error) // for the answer to initialize
	users     map[*Session]struct{}       // the sessions that keep the process alive
	holds     int                         // how many others keep it alive without a session
	dead      error                       // once phase is agentDead
	grant     *editortools.Grant          // nil for none
	ungranted error                       // why there is none
}

type agentPhase int

const (
	agentStarting agentPhase = iota
	agentReady
	agentDead
)

// launchKey identifies a launch configuration.
func (spec AgentSpec) launchKey(dir string) string {
	env := slices.Sorted(maps.Keys(spec.Env))
	for i, k := range env {
		env[i] = k + "=" + spec.Env[k]
	}
	key, _ := json.Marshal([]any{spec.Name, spec.Command, env, dir, spec.Protocol, spec.Paths, spec.Quirks}) // strings always encode
	return string(key)
}

// startAgent starts the process and begins initialize; h.mu is held.
func (h *Host) startAgent(spec AgentSpec, dir, key string) (*agent, error) {
	paths, err := elsewhere.New(spec.Paths)
	if err != nil {
		return nil, &failure.Failure{Sentence: fmt.Sprintf("%s could not be started: %v.", spec.Title, err), Advice: "See :help acp-elsewhere."}
	}
	release := h.registry.Use(spec.Command[0])
	proc, err := acp.Start(acp.Command{Argv: spec.Command, Env: agentEnv(spec.Env, h.secrets.Login(spec.Name)), Dir: dir})
	if err != nil {
		release()
		return nil, startError(spec, err)
	}
	h.background(func() {
		<-proc.Done()
		release()
	})
	a := &agent{
		host: h, key: key, spec: spec, proc: proc,
		routes: newRoutes(),
		users:  map[*Session]struct{}{},
	}
	h.editor.Post(groupOp(proc.PGID(), true))
	n := session.Negotiate(clientOf{a}, h.version, spec.Quirks, spec.Protocol)
	stdout, stdin := io.Reader(proc.Stdout), io.WriteCloser(proc.Stdin)
	if paths != nil {
		stdout, stdin = paths.In(stdout), paths.Out(stdin)
	}
	a.conn = acp.NewConn(stdout, stdin, n, acp.WithTraffic(h.traffic.Agent(spec.Name)), acp.WithLogger(h.log.With("agent", spec.Name)))
	n.Start(a.conn)
	h.background(a.watch)
	n.Initialize(a.initialized)
	return a, nil
}

// startError says why a process could not be started, and what to do about it.
func startError(spec AgentSpec, err error) error {
	var missing *acp.NotFoundError
	if errors.As(err, &missing) {
		return &failure.Failure{
			Sentence: fmt.Sprintf("%s is not installed: %v.", spec.Title, missing),
			Advice:   spec.Install,
		}
	}
	return &failure.Failure{Sentence: fmt.Sprintf("%s could not be started: %v.", spec.Title, err), Advice: "See :checkhealth acp."}
}

// agentEnv returns an agent's environment: the host's, without what belongs to Neovim.
func agentEnv(given, secrets map[string]string) []string {
	var env []string
	extra := maps.Clone(given)
	if extra == nil {
		extra = map[string]string{}
	}
	maps.Copy(extra, secrets)
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "NVIM", "NVIM_LOG_FILE", "VIM", "VIMRUNTIME", "MYVIMRC":
			continue
		}
		if _, replaced := extra[name]; !replaced {
			env = append(env, kv)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		env = append(env, name+"="+extra[name])
	}
	return env
}

// watch waits for the end of the connection and notifies everybody concerned.
func (a *agent) watch() {
	stalled := a.conn.Stalled()
	for open := true; open; {
		select {
		case <-a.conn.Done():
			open = false
		case <-stalled:
			stalled = nil
			a.tellStalled()
		}
	}
	// Its input is closed now: if it goes on, it closed its output without exiting.
	eof, term := a.host.graces()
	patience := time.NewTimer(eof)
	defer patience.Stop()
	lives := false
	select {
	case <-a.proc.Done():
	case <-patience.C:
		lives = true
	}
	a.proc.Shutdown(0, term)
	a.host.editor.Post(groupOp(a.proc.PGID(), false))
	a.fail(a.death(lives))
	a.host.ended(a)
}

func (a *agent) tellStalled() {
	for _, s := range a.sessions() {
		s.base.Box.Put(func() {
			s.base.Remark("warning", s.base.Title+" has stopped reading its input. :Acp cancel, or :Acp restart to start it again.")
		})
	}
}

// death returns the sentence about a process that has exited or, if it lived on without a connection, was ended.
func (a *agent) death(lived bool) *failure.Failure {
	f := &failure.Failure{Advice: ":Acp restart starts it again."}
	exit := a.proc.Exit()
	words := failure.LastWords(a.host.secrets.Blot(a.spec.Name, a.proc.Stderr()))
	err := a.conn.Err()
	var full *acp.QueueFullError
	switch {
	case errors.As(err, &full):
		f.Sentence = a.spec.Title + " has stopped reading its input and was ended."
	case lived:
		f.Sentence = a.spec.Title + " has closed its output and was ended."
	case exit.Signal == "" && exit.Code == 0:
		f.Sentence = a.spec.Title + " ended."
	default:
		f.Sentence = fmt.Sprintf("%s %s.", a.spec.Title, exit)
	}
	f.Reason = failure.ReasonIn(words, exit.Signal == "" && exit.Code > 0 && exit.Code < 128)
	if len(words) > 1 || len(words) == 1 && words[0] != f.Reason {
		f.Detail = strings.Join(words, "\n")
	}
	if exit.Code == 127 && a.spec.Install != "" {
		f.Advice = a.spec.Install
	}
	return f
}

// initialized is called with the answer to initialize.
func (a *agent) initialized(adapter session.Agent, info session.Info, err error) {
	if errors.Is(err, acp.ErrClosed) {
		return // watch reports the end
	}
	a.mu.Lock()
	waiting := a.waiting
	a.waiting = nil
	if err == nil {
		a.phase, a.info, a.adapter = agentReady, info, adapter
	}
	used := len(a.users) > 0
	a.mu.Unlock()
	if err == nil {
		a.askLogin() // before the sessions that show it begin
	}
	for _, f := range waiting {
		f(info, err)
	}
	if err != nil {
		a.stop()
		return
	}
	if dir := a.host.taken; dir != "" {
		a.host.background(func() {
			if err := mcp.KeepTaken(dir, a.spec.Name, info); err != nil {
				a.host.log.Warn(err.Error())
			}
		})
	}
	if err == nil && used { // an agent that is only tried may be gone by now
		a.host.background(func() { a.hear(info) })
	}
}

// askLogin asks the agent who is logged in, if it can tell; later its notifications do.
func (a *agent) askLogin() {
	if a.said().TellsLogin {
		a.speaks().AskLogin()
	}
}

// join makes s a user of the process; ready is called when initialize has been answered, or with the reason why it will
// not be.
func (a *agent) join(s *Session, ready func(session.Info, error)) {
	a.enter(func() { a.users[s] = struct{}{} }, ready)
}

// hold is join without a session; release ends it.
func (a *agent) hold(ready func(session.Info, error)) {
	a.enter(func() { a.holds++ }, ready)
}

func (a *agent) enter(note func(), ready func(session.Info, error)) {
	a.mu.Lock()
	note()
	phase, info, dead := a.phase, a.info, a.dead
	if phase == agentStarting {
		a.waiting = append(a.waiting, ready)
	}
	a.mu.Unlock()
	switch phase {
	case agentReady:
		ready(info, nil)
	case agentDead:
		ready(info, dead)
	}
}

// leave removes a session; the process ends with its last one.
func (a *agent) leave(s *Session, remoteID string) {
	a.routes.remove(remoteID, s)
	a.mu.Lock()
	_, member := a.users[s]
	delete(a.users, s)
	last := member && len(a.users) == 0 && a.holds == 0
	a.mu.Unlock()
	switch {
	case last:
		a.stop()
	case remoteID != "":
		a.speaks().Close(remoteID)
	}
}

// release ends what hold began.
func (a *agent) release() {
	a.mu.Lock()
	a.holds--
	last := len(a.users) == 0 && a.holds == 0
	a.mu.Unlock()
	if last && !a.host.ending() {
		a.stop()
	}
}

// said returns what the agent said of itself in answer to initialize.
func (a *agent) said() session.Info {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.info
}

// speaks returns the adapter for the agent's protocol; nil before it has answered initialize, when nothing can be asked
// of it yet.
func (a *agent) speaks() session.Agent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.adapter
}

// loggedIn returns who is logged in, as far as the agent says.
func (a *agent) loggedIn() session.Login {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.login
}

// stop ends the process in the background.
func (a *agent) stop() {
	a.host.forgetAgent(a)
	a.host.background(a.end)
}

// end writes what is still queued, then ends the process and waits for that.
func (a *agent) end() {
	a.conn.Close()
	<-a.conn.Done()
	a.proc.Shutdown(a.host.graces())
	<-a.proc.Done()
}

// fail tells the sessions that the process has ended.
func (a *agent) fail(why *failure.Failure) {
	a.host.forgetAgent(a)
	a.mu.Lock()
	a.phase, a.dead = agentDead, why
	grant := a.grant
	waiting, info := a.waiting, a.info
	a.waiting = nil
	a.mu.Unlock()
	if grant != nil {
		grant.Revoke()
	}
	for _, f := range waiting {
		f(info, why)
	}
	for _, s := range a.abandon() {
		s.base.Box.Put(func() { s.agentDied(a, why) })
	}
}

// sessions returns the sessions in the process.
func (a *agent) sessions() []*Session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.users))
}

// abandon removes all sessions from the process and returns them.
func (a *agent) abandon() []*Session {
	a.mu.Lock()
	defer a.mu.Unlock()
	users := slices.Collect(maps.Keys(a.users))
	clear(a.users)
	return users
}
