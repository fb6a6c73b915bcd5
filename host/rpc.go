package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/neovim/go-client/nvim"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/files"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// Options are how the host is started.
type Options struct {
	Version string
	API     int // the revision the Lua side speaks; 0 is not told
	Log     *slog.Logger

	NerdFont bool   // see transcript.Config
	Cache    string // the folder for files that agents send; "" for none
	State    string // the folder for writes that may be cut short; "" for none
}

// Serve speaks with Neovim until it closes the pipe or ctx ends, then ends all
// agents.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, o Options) error {
	if o.API != 0 && o.API != API {
		return fmt.Errorf("the plugin speaks revision %d, this program %d", o.API, API)
	}
	// What lives is little and what passes through is much: nothing is collected for less than this
	// much of it. The memory is never touched, so it costs none.
	idle := make([]byte, 32<<20)
	defer runtime.KeepAlive(idle)
	v, err := nvim.New(in, out, out, func(format string, args ...any) { o.Log.Debug(fmt.Sprintf(format, args...)) })
	if err != nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	h := newHost(o, lua{v})
	if err := v.RegisterHandler("acp", h.receive); err != nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	h.background(h.editor.Run)
	h.background(h.cleanBlobs)
	h.background(h.offerUnfinished)
	h.editor.Post(editor.Op{Name: "hello", Args: map[string]any{
		"api": API, "version": o.Version, "groups": transcript.Groups(),
	}})
	stop := context.AfterFunc(ctx, func() { in.Close() })
	defer stop()
	err = v.Serve()
	h.shutdown()
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	return nil
}

// lua executes batches with lua/acp/ops.lua.
type lua struct{ *nvim.Nvim }

func (l lua) Batch(ops []any) ([]any, time.Duration, error) {
	var reply struct {
		Busy    float64 `msgpack:"busy"` // milliseconds
		Answers []any   `msgpack:"answers"`
	}
	err := l.ExecLua("return require('acp.ops').batch(...)", &reply, packed{ops})
	return reply.Answers, time.Duration(reply.Busy * float64(time.Millisecond)), err
}

// receive takes one message of Lua. It runs on go-client's only notification
// goroutine, so it does no more than put work where it belongs; and as an
// argument that does not decode would end the connection, it takes anything.
func (h *Host) receive(args ...any) {
	if len(args) == 0 {
		return
	}
	fields, ok := args[0].(map[string]any)
	if !ok {
		h.log.Error("message from Lua", "err", "no table", "got", args[0])
		return
	}
	m := message(fields)
	method := m.text("method")
	handle, known := handlers[method]
	if !known {
		h.log.Error("message from Lua", "err", "unknown method", "method", method)
		return
	}
	handle(h, m)
}

// handlers are the messages of Lua, by method.
var handlers = map[string]func(*Host, message){
	"new": func(h *Host, m message) {
		h.newSession(m.integer("session"), m.agentSpec(), m.text("cwd"), takenUp{
			id: m.text("agent_session_id"), title: m.text("title"), retold: m.flag("retold"), queue: m.texts("queue"), along: m.flag("along"),
		})
	},
	"stored": func(h *Host, m message) {
		h.listStored(m.agentSpec(), m.text("cwd"), m.integer("callback"))
	},
	"delete_stored": func(h *Host, m message) {
		h.deleteStored(m.agentSpec(), m.text("cwd"), m.text("agent_session_id"), m.integer("callback"))
	},
	"delete":       toSession(func(s *Session, m message) { s.remove(m.integer("callback")) }),
	"authenticate": toSession(func(s *Session, m message) { s.authenticate(m.text("method_id")) }),
	"login_ended":  toSession(func(s *Session, m message) { s.loginEnded(m.integer("code")) }),
	"secrets": toSession(func(s *Session, m message) {
		values := map[string]string{}
		for name := range m.table("values") {
			values[name] = m.table("values").text(name)
		}
		s.secrets(m.text("method_id"), values)
	}),
	"logout": toSession(func(s *Session, _ message) { s.logout() }),
	"prompt": toSession(func(s *Session, m message) {
		p := m.prompt("blocks")
		s.submit(func() { s.prompt(p.blocks) }, p)
	}),
	"steer": toSession(func(s *Session, m message) {
		p := m.prompt("blocks")
		s.submit(func() { s.steer(p.blocks) }, p)
	}),
	"cancel":  toSession(func(s *Session, _ message) { s.submitCancel() }),
	"close":   toSession(func(s *Session, _ message) { s.close() }),
	"restart": toSession(func(s *Session, m message) { s.restart() }),
	"respond": toSession(func(s *Session, m message) {
		s.respond(int64(m.integer("id")), m.text("option"))
	}),
	"rules":   func(h *Host, m message) { h.setRules(m) },
	"decided": func(h *Host, m message) { h.background(func() { h.showDecided(m.integer("callback")) }) },
	"revoke":  func(h *Host, m message) { h.background(func() { h.revoke(m.text("id"), m.integer("callback")) }) },
	"fold": toSession(func(s *Session, m message) {
		s.chat.Fold(s.row(m), transcript.Fold(m.text("fold")))
		s.mark()
	}),
	"next": toSession(func(s *Session, m message) {
		row, found := s.row(m), false
		for range m.integer("count") {
			next, ok := s.chat.Next(row, transcript.Kind(m.text("kind")), m.flag("forward"))
			if !ok {
				break
			}
			row, found = next, true
		}
		s.host.callback(m.integer("callback"), map[string]any{"row": row, "found": found}, "")
	}),
	"block": toSession(func(s *Session, m message) {
		row, end := s.chat.Block(s.row(m))
		s.host.callback(m.integer("callback"), map[string]any{"row": row, "end_row": end}, "")
	}),
	"location": toSession(func(s *Session, m message) {
		s.host.callback(m.integer("callback"), s.location(s.row(m)), "")
	}),
	"inspect": toSession(func(s *Session, m message) { s.inspect(s.row(m), m.integer("callback")) }),
	"whole":   toSession(func(s *Session, m message) { s.whole(s.row(m), m.integer("buf"), m.integer("callback")) }),
	"width": toSession(func(s *Session, m message) {
		s.chat.SetWidth(m.integer("width"))
		s.mark()
	}),
	"terminals_at": toSession(func(s *Session, m message) {
		s.host.callback(m.integer("callback"), s.terminalsAt(m.integer("row")), "")
	}),
	"terminal_show": toTerminal(func(t *sessionTerminal, m message) {
		t.view.show(m.flag("anew"), m.integer("cols"), m.integer("rows"))
	}),
	"terminal_shut": toTerminal(func(t *sessionTerminal, _ message) { t.view.shut() }),
	"terminal_focus": toTerminal(func(t *sessionTerminal, m message) {
		t.display.Answering(t.own != nil && m.flag("focused"))
	}),
	"terminal_keys": toTerminal(func(t *sessionTerminal, m message) {
		if t.own != nil {
			t.own.Type([]byte(m.text("keys")))
		}
	}),
	"diff": toSession(func(s *Session, m message) { s.tellDiff(m) }),
	"queue": toSession(func(s *Session, m message) {
		var prompts []prompt
		for _, item := range m.list("prompts") {
			prompts = append(prompts, prompted(item))
		}
		was := m.texts("was")
		s.submit(func() { s.setQueue(was, prompts) }, prompts...)
	}),
	"set_option": toSession(func(s *Session, m message) { s.setOption(m.text("id"), m.text("value")) }),
	"redraw":     toSession(func(s *Session, m message) { s.redraw(errors.New(m.text("why"))) }),
	"changes":    toSession(func(s *Session, m message) { s.changes.list(m.integer("callback")) }),
	"visible": func(h *Host, m message) {
		if s := h.session(m.integer("session")); s != nil {
			s.visible.Store(m.flag("visible"))
			s.mark()
		}
	},
	"tool_call": toSession(func(s *Session, m message) {
		var result any
		if call := s.conv.ToolCall(m.text("id")); call != nil {
			result = mirrorCall(call, 0)
		}
		s.host.callback(m.integer("callback"), result, "")
	}),
	"files": toSession(func(s *Session, m message) {
		s.host.background(func() { s.host.findFiles(s.cwd, m) })
	}),
	"watch":        func(h *Host, m message) { h.trackFiles(m) },
	"unsaved":      func(h *Host, m message) { h.hearUnsaved(m) },
	"list_unsaved": toSession(func(s *Session, m message) { s.listUnsaved(m) }),
	"saved": func(h *Host, m message) {
		if w := h.watching(); w != nil {
			w.Saved(m.text("name"))
		}
	},
	"compare": func(h *Host, m message) { h.compare(m.text("name")) },
	"refused": func(h *Host, m message) {
		h.background(func() { h.callback(m.integer("callback"), h.files.Refused(m.text("name")), "") })
	},
	"recover": func(h *Host, m message) { h.background(func() { h.recoverFile(m.text("id"), m.text("which")) }) },
	"follow":  func(h *Host, m message) { h.follow.heard(m) },
	"check":   func(h *Host, m message) { h.checkDisk(m.text("name")) },
	"traffic": func(h *Host, m message) {
		h.background(func() { h.showTraffic(m.text("agent"), m.text("file"), m.integer("callback")) })
	},
}

// toSession runs a handler on the goroutine of the session it is for.
func toSession(f func(*Session, message)) func(*Host, message) {
	return func(h *Host, m message) {
		s := h.session(m.integer("session"))
		if s != nil && s.box.put(func() { f(s, m) }) {
			return
		}
		if id := m.integer("callback"); id != 0 {
			h.callback(id, nil, "The session is closed.")
		}
	}
}

// toTerminal runs a handler for a terminal on the goroutine of its session.
func toTerminal(f func(*sessionTerminal, message)) func(*Host, message) {
	return toSession(func(s *Session, m message) {
		if t := s.terminals.numbered(m.integer("terminal")); t != nil {
			f(t, m)
		}
	})
}

// callback hands a result to a Lua function that waits for it.
func (h *Host) callback(id int, result any, failure string) {
	args := map[string]any{"id": id, "result": result}
	if failure != "" {
		args["error"] = failure
	}
	h.editor.Post(editor.Op{Name: "callback", Args: args})
}

func (h *Host) showTraffic(agent, file string, callback int) {
	if file != "" {
		if err := h.traffic.recordTo(agent, file); err != nil {
			h.callback(callback, nil, err.Error())
			return
		}
	}
	entries := h.traffic.agent(agent).Entries()
	list := make([]any, len(entries))
	for i, e := range entries {
		list[i] = map[string]any{"dir": string(e.Dir), "t": e.T, "msg": string(e.Msg)}
	}
	h.callback(callback, list, "")
}

// message is a table from Lua. Fields that are missing or of another type
// read as their zero value; an empty Lua table arrives as a list.
type message map[string]any

func (m message) text(key string) string {
	switch v := m[key].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func (m message) integer(key string) int {
	switch v := m[key].(type) {
	case int64:
		return int(v)
	case uint64:
		return int(v)
	case float64:
		return int(v)
	}
	return 0
}

func (m message) flag(key string) bool {
	v, _ := m[key].(bool)
	return v
}

func (m message) table(key string) message {
	v, _ := m[key].(map[string]any)
	return v
}

func (m message) list(key string) []any {
	v, _ := m[key].([]any)
	return v
}

func (m message) texts(key string) []string {
	var texts []string
	for _, item := range m.list(key) {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func (m message) agentSpec() AgentSpec {
	t := m.table("agent")
	spec := AgentSpec{
		Name: t.text("name"), Title: t.text("title"), Cwd: t.text("cwd"), Install: t.text("install"), Login: t.text("login"),
		Env: map[string]string{}, Quirks: map[string]bool{}, Options: map[string]string{},
	}
	for _, arg := range t.list("command") {
		if s, ok := arg.(string); ok {
			spec.Command = append(spec.Command, s)
		}
	}
	for name, value := range t.table("env") {
		spec.Env[name] = fmt.Sprint(value)
	}
	for id, value := range t.table("options") {
		spec.Options[id] = fmt.Sprint(value)
	}
	for name := range t.table("quirks") {
		spec.Quirks[name] = t.table("quirks").flag(name)
	}
	return spec
}

func (m message) prompt(key string) prompt { return prompted(m[key]) }

// prompted reads a prompt: a list of content blocks in the shape of the wire,
// and of files that stand in the place of some.
func prompted(list any) prompt {
	var blocks []session.Content
	attached := map[int]attachment{}
	items, _ := list.([]any)
	for _, item := range items {
		b, ok := item.(map[string]any)
		if !ok {
			continue
		}
		block := message(b)
		switch block.text("type") {
		case "file":
			attached[len(blocks)] = attachment{block.text("path"), block.integer("first"), block.integer("last")}
			blocks = append(blocks, nil)
		case "unsaved":
			blocks = append(blocks, unsavedText{})
		case "text":
			blocks = append(blocks, session.Text{Text: block.text("text")})
		case "resource_link":
			blocks = append(blocks, session.ResourceLink{
				URI: block.text("uri"), Name: block.text("name"), Title: block.text("title"),
				MimeType: block.text("mimeType"), Description: block.text("description"),
			})
		case "resource":
			r := block.table("resource")
			blocks = append(blocks, session.Resource{
				URI: r.text("uri"), MimeType: r.text("mimeType"), Text: r.text("text"), Blob: r.text("blob"),
			})
		case "image":
			blocks = append(blocks, session.Image{MimeType: block.text("mimeType"), Data: block.text("data"), URI: block.text("uri")})
		case "audio":
			blocks = append(blocks, session.Audio{MimeType: block.text("mimeType"), Data: block.text("data")})
		}
	}
	return prompt{blocks, attached}
}

// findFiles answers a completion of a file's name.
func (h *Host) findFiles(cwd string, m message) {
	q := files.Query{Dir: cwd, Text: m.text("query"), Limit: 50}
	for _, path := range m.list("open") {
		if path, ok := path.(string); ok {
			q.Open = append(q.Open, path)
		}
	}
	found := h.finder.Find(q)
	list := make([]any, len(found))
	for i, f := range found {
		list[i] = map[string]any{"path": f.Path, "open": f.Open}
	}
	h.callback(m.integer("callback"), list, "")
}
