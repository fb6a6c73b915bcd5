package editortools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Caller is what the tools need from a session. Any goroutine may call its functions; each done is called once.
type Caller struct {
	feature.Base

	Read    func(session.ReadTextFile)                                              // as the agent's client reads
	Allow   func(ctx context.Context, path string, done func(real string, e error)) // asks the user, if reading the file is not allowed outright
	Private func(listed, counted []string) map[string]bool                          // which files may not be listed, or not even counted
	Show    func(path string, line int) bool                                        // in the following window; false if there is none
	Locate  func(callID string, at []session.Location)                              // reports where a tool call works
	Ask     func(q Question, done func(error))                                      // the user or their rules decide
	Change  func(ctx context.Context, title string, edits []ServerEdit, done func(changed []string, e error))
	Pending func(done func([]string))                                                            // the changes that await review, a line for each
	Run     func(ctx context.Context, command []string, done func(output, exit string, e error)) // in a terminal
}

// Question describes what a tool is about to do.
type Question struct {
	Context   context.Context
	Title     string
	Tool      string          // by which rules know it, "" where they know the command
	Arguments json.RawMessage // of the tool
	Command   string          // that runs, as one types it; or ""
}

// ServerEdit is what a language server wants to do to a file. At most one of To, Delete and Create is set.
type ServerEdit struct {
	Path   string
	Text   *string // nil: as it is
	To     string  // where the file is moved
	Delete bool
	Create bool // it does not exist yet
}

// call is one call of a tool.
type call struct {
	*Caller
	server *Server
	offer  rpc.EditorTools
	tool   tool
	id     string // of the agent's tool call, "" where it is not told
	raw    json.RawMessage
	args   arguments
	note   string // how the language servers' part understood it
}

// arguments has the arguments of all tools.
type arguments struct {
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Symbol   string `json:"symbol"`
	Column   int    `json:"column"`
	First    int    `json:"first"`
	Last     int    `json:"last"`
	Query    string `json:"query"`
	Severity string `json:"severity"`
	WaitMS   *int   `json:"wait_ms"` // nil where it is not told
	ID       string `json:"id"`
	NewName  string `json:"new_name"`
	Name     string `json:"name"`
	Topic    string `json:"topic"`
}

// call answers one call. An error becomes the text of a result, which models read; no failure ends the connection.
func (g *Grant) call(ctx context.Context, t tool, r *mcp.CallToolRequest) (result *mcp.CallToolResult) {
	answer := func(text string, failed bool) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: failed}
	}
	defer func() {
		if p := recover(); p != nil {
			g.server.config.Log.Error("a tool of the editor's", "tool", t.name, "err", p)
			result = answer("internal error", true)
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.ctx, func() { cancel(errTurnEnded) })()
	from := saidBy(r.Params.Meta)
	s, turn, err := g.find(ctx, from)
	if err != nil {
		return answer(err.Error(), true)
	}
	defer context.AfterFunc(turn.ctx, func() { cancel(context.Cause(turn.ctx)) })()
	defer g.beats(ctx, r)()

	c := &call{Caller: s, server: g.server, offer: g.offer, tool: t, id: from.call, raw: r.Params.Arguments}
	if err := c.understand(); err != nil {
		return answer(err.Error(), true)
	}
	text, err := t.run(ctx, c)
	if err != nil {
		if cause := cmp.Or(context.Cause(turn.ctx), context.Cause(ctx)); cause != nil {
			err = cause
		}
		return answer(err.Error(), true)
	}
	if c.note != "" {
		text = "(" + c.note + ")\n" + text
	}
	return answer(strings.ToValidUTF8(text, "\uFFFD"), false)
}

// beats tells the agent periodically that the call is still running, until the returned function is called.
func (g *Grant) beats(ctx context.Context, r *mcp.CallToolRequest) (stop func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	g.server.config.Background(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: "waiting"}) != nil {
					return
				}
			}
		}
	})
	return cancel
}

// understand decodes the arguments, and says what is wrong with them.
func (c *call) understand() error {
	if len(c.raw) > 0 && c.tool.params != nil {
		if err := json.Unmarshal(c.raw, &c.args); err != nil {
			return fmt.Errorf("the arguments do not match the schema: %w", err)
		}
	}
	given := map[string]bool{
		"path": c.args.Path != "", "line": c.args.Line > 0, "symbol": c.args.Symbol != "", "query": c.args.Query != "", "id": c.args.ID != "",
		"new_name": c.args.NewName != "", "name": c.args.Name != "", "topic": c.args.Topic != "",
	}
	for _, p := range c.tool.params {
		if !p.optional && !given[p.name] {
			return fmt.Errorf("the argument %s is missing", p.name)
		}
		if p.name == "severity" && c.args.Severity != "" && !slices.Contains(p.values, c.args.Severity) {
			return fmt.Errorf("severity is one of %s", strings.Join(p.values, ", "))
		}
	}
	return nil
}

// wait runs a function that calls done, and waits for that or for ctx.
func wait[T any](ctx context.Context, run func(done func(T, error))) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	got := make(chan outcome, 1)
	run(func(value T, err error) {
		select {
		case got <- outcome{value, err}:
		default:
		}
	})
	select {
	case o := <-got:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// access returns the file of a call, by its path without links, once the agent may read it.
func (c *call) access(ctx context.Context) (real string, err error) {
	path, ok := c.Absolute(c.args.Path)
	if !ok {
		return "", fmt.Errorf("%q is not a path", c.args.Path)
	}
	real, err = wait(ctx, func(done func(string, error)) { c.Allow(ctx, path, done) })
	if err == nil {
		c.works(real, c.args.Line)
	}
	return real, err
}

// works reports where the call works, for following windows.
func (c *call) works(path string, line int) {
	if c.id != "" {
		c.Locate(c.id, []session.Location{{Path: path, Line: line}})
	}
}

// ask has Lua answer, given the file that the call names, if any.
func (c *call) ask(ctx context.Context) (rpc.EditorToolDone, error) {
	a := c.args
	op := rpc.EditorTool{
		Tool: c.tool.name, Line: a.Line, Symbol: a.Symbol, Column: a.Column, Query: a.Query, Severity: a.Severity,
		Action: a.ID, NewName: a.NewName, LimitMS: int(languageServerTimeout.Milliseconds()),
	}
	if a.WaitMS != nil {
		wait := min(max(*a.WaitMS, 0), int(diagnosticsTimeout.Milliseconds()))
		op.WaitMS = &wait
	}
	if a.Topic != "" {
		op.Query = a.Topic
	}
	if a.Path != "" {
		path, err := c.access(ctx)
		if err != nil {
			return rpc.EditorToolDone{}, err
		}
		op.Path = path
	}
	m, err := c.server.askLua(ctx, op)
	c.note = m.Note
	return m, err
}

func openFiles(ctx context.Context, c *call) (string, error) {
	m, err := c.ask(ctx)
	if err != nil {
		return "", err
	}
	return c.files(m.Files), nil
}

func readBuffer(ctx context.Context, c *call) (string, error) {
	path, ok := c.Absolute(c.args.Path)
	if !ok {
		return "", fmt.Errorf("%q is not a path", c.args.Path)
	}
	text, err := wait(ctx, func(done func(string, error)) {
		c.Read(session.ReadTextFile{Context: ctx, Path: path, Reply: done})
	})
	if err != nil {
		return "", err
	}
	c.works(path, c.args.First)
	return c.lines(text), nil
}

// inWords makes a tool that asks Neovim, and turns the answer into text.
func inWords(words func(*call, rpc.EditorToolDone) string) func(context.Context, *call) (string, error) {
	return func(ctx context.Context, c *call) (string, error) {
		m, err := c.ask(ctx)
		if err != nil {
			return "", err
		}
		return words(c, m), nil
	}
}

var placesOf = inWords((*call).places)

func selection(ctx context.Context, c *call) (string, error) {
	m, err := c.ask(ctx)
	switch {
	case err != nil:
		return "", err
	case len(m.Places) == 0:
		return "nothing is selected", nil
	}
	p := m.Places[0]
	c.args.Path = p.Path
	if _, err := c.access(ctx); err != nil { // the user selected it, yet it may be private
		return "", err
	}
	return fmt.Sprintf("%s, lines %d to %d:\n%s", c.Short(p.Path), p.Line, max(p.Line, p.EndLine), m.Text), nil
}

func changes(ctx context.Context, c *call) (string, error) {
	list, err := wait(ctx, func(done func([]string, error)) { c.Pending(func(list []string) { done(list, nil) }) })
	if err != nil {
		return "", err
	}
	return counted(len(list), "change", "changes", list), nil
}

func help(ctx context.Context, c *call) (string, error) {
	m, err := c.ask(ctx)
	return m.Text, err
}

func show(ctx context.Context, c *call) (string, error) {
	path, err := c.access(ctx)
	if err != nil {
		return "", err
	}
	if !c.Show(path, c.args.Line) {
		return "not shown: no window of the user's follows you", nil
	}
	return "shown in the window that follows you", nil
}

// edit runs the tools whose edits language servers compute: Lua reports the edits, and they are made as the agent's
// own.
func edit(ctx context.Context, c *call) (string, error) {
	m, err := c.ask(ctx)
	if err != nil {
		return "", err
	}
	var edits []ServerEdit
	became := map[string]string{} // by the file's resulting path, what happened to it
	for _, e := range m.Edits {
		one := ServerEdit{Path: e.Path, To: e.NewPath, Delete: e.Delete, Create: e.Create}
		if !e.Same {
			one.Text = &e.Text
		}
		edits = append(edits, one)
		switch {
		case e.Delete:
			became[e.Path] = " (deleted)"
		case e.Create:
			became[e.Path] = " (new)"
		case e.NewPath != "":
			became[e.NewPath] = " (moved from " + c.Short(e.Path) + ")"
		}
	}
	if len(became) == 0 { // otherwise their order may matter
		slices.SortFunc(edits, func(a, b ServerEdit) int { return strings.Compare(a.Path, b.Path) })
	}
	changed, err := wait(ctx, func(done func([]string, error)) { c.Change(ctx, c.sentence(m.Text), edits, done) })
	if err != nil {
		return "", err
	}
	if len(changed) == 0 {
		return "there is nothing to change", nil
	}
	for i, path := range changed {
		changed[i] = c.Short(path) + became[path]
	}
	return counted(len(changed), "file changed", "files changed", changed), nil
}

// sentence describes for the user what a call changes; action is the title of a code action.
func (c *call) sentence(action string) string {
	switch c.tool.name {
	case "rename":
		return fmt.Sprintf("Rename %s to %s", styled.VisibleText(c.args.Symbol), styled.VisibleText(c.args.NewName))
	case "format":
		return "Format " + styled.VisibleText(c.Short(c.args.Path))
	}
	if action = styled.Cut(styled.OneLine(action), maxLine); action != "" {
		return "Apply the code action " + styled.VisibleText(action)
	}
	return "Apply a code action"
}

func runTask(ctx context.Context, c *call) (string, error) {
	i := slices.IndexFunc(c.offer.Tasks, func(t rpc.Task) bool { return t.Name == c.args.Name })
	if i < 0 {
		return "", fmt.Errorf("there is no task %q", c.args.Name)
	}
	argv := c.offer.Tasks[i].Command
	if len(argv) == 1 {
		argv = []string{"/bin/sh", "-c", argv[0]}
	}
	line := session.Quoted(c.offer.Tasks[i].Command)
	if len(c.offer.Tasks[i].Command) == 1 {
		line = c.offer.Tasks[i].Command[0]
	}
	allowed := Question{Context: ctx, Title: "Run the task " + styled.VisibleText(c.args.Name), Command: line}
	if _, err := wait(ctx, func(done func(bool, error)) { c.Ask(allowed, func(err error) { done(err == nil, err) }) }); err != nil {
		return "", err
	}
	type ran struct{ output, exit string }
	r, err := wait(ctx, func(done func(ran, error)) {
		c.Run(ctx, argv, func(output, exit string, err error) { done(ran{output, exit}, err) })
	})
	if err != nil {
		return "", err
	}
	return r.exit + ":\n" + tail(r.output), nil
}

func userTool(ctx context.Context, c *call) (string, error) {
	raw := string(c.raw)
	if raw == "" {
		raw = "{}"
	}
	if c.tool.fits != nil {
		var given any
		err := json.Unmarshal([]byte(raw), &given)
		if err == nil {
			err = c.tool.fits(given)
		}
		if err != nil {
			return "", fmt.Errorf("the arguments do not match the schema: %w", err)
		}
	}
	q := Question{Context: ctx, Title: Name + ": " + c.tool.name, Tool: c.tool.name, Arguments: c.raw}
	if _, err := wait(ctx, func(done func(bool, error)) { c.Ask(q, func(err error) { done(err == nil, err) }) }); err != nil {
		return "", err
	}
	m, err := c.server.askLua(ctx, rpc.EditorTool{Tool: c.tool.name, Own: raw})
	return m.Text, err
}

// inside reports whether a path is in one of the session's folders, as it is named.
func (c *call) inside(path string) bool {
	return slices.ContainsFunc(c.Roots, func(root string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
	})
}
