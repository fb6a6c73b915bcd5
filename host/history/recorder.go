package history

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
)

const (
	// delay is how long something may wait before it is written: a crash loses no more.
	delay = 2 * time.Second
	// waiting is how long a message may become before it is written, in bytes, and pending how much else may wait.
	waiting = 64 << 10
	pending = 5000
	// lineLimit is how long a line may be, in bytes: larger ones are left out.
	lineLimit = 8 << 20
)

// Config is what a [Recorder] needs.
type Config struct {
	Store      *Store // nil for none: nothing is kept
	Background func(func())
	Now        func() time.Time
	// Later runs a function on the session's goroutine after a time, unless it is stopped.
	Later func(time.Duration, func()) *time.Timer
	// Scrub removes the user's secrets from a line.
	Scrub func(line []byte) []byte
	// Terminal returns what a terminal has shown.
	Terminal func(id string) (session.TerminalPatch, bool)
	// Failed is told of a failed write, on a goroutine of Background.
	Failed func(error)
}

// Recorder writes the conversation of one session to its file. It belongs to the session's goroutine, which it never
// makes wait for the disk. Streams are joined: chunks of a message become one line, and so do changes of a call until
// it has ended.
type Recorder struct {
	config Config
	about  About
	file   *writer // nil while the session's id is not known
	told   bool    // something of the conversation was written since the session was opened
	turn   bool    // a turn is open
	timer  *time.Timer
	said   []Said // what is complete; its elements never change

	early []Said // written before the first update that adds to the transcript
	chunk *chunk
	calls map[string]*action // of this session, by id
	open  map[string]bool    // those with something waiting
	shown map[string]bool    // terminals that calls of this turn show
	usage *Said
}

// chunk is a growing message.
type chunk struct {
	id   string
	wire string
	of   string
	role session.Role
	text []byte
	at   time.Time
}

// action is what was said about a call: all of it, and the part not written yet, a patch and then more content.
type action struct {
	all   session.ToolCallPatch
	patch session.ToolCallPatch
	more  []session.ToolCallContent
	at    time.Time
}

// NewRecorder returns a recorder of a session that is not open yet.
func NewRecorder(config Config) *Recorder {
	r := &Recorder{config: config}
	r.forget()
	return r
}

func (r *Recorder) forget() {
	r.calls, r.open, r.shown, r.chunk, r.usage = map[string]*action{}, map[string]bool{}, map[string]bool{}, nil, nil
}

// Open must be called once the agent's session id is known, before the session begins.
func (r *Recorder) Open(about About) {
	if r.config.Store == nil || r.file != nil && reflect.DeepEqual(r.about, about) {
		return
	}
	r.Flush(nil)
	r.early, r.told, r.turn = nil, false, false
	r.about, r.file = about, r.config.Store.writer(about.Agent, about.ID)
}

// Begin writes what was said in the session that this one is forked from.
func (r *Recorder) Begin(said []Said) {
	if r.file == nil || len(said) == 0 {
		return
	}
	r.told = true
	r.keep(said)
}

// keep writes what was said, on another goroutine.
func (r *Recorder) keep(said []Said) {
	about := r.about
	r.queue(r.file, func() error {
		var lines []byte
		for _, s := range said {
			next, err := appendLine(lines, s)
			if err == nil && len(next)-len(lines) <= lineLimit { // what cannot be kept is left out
				lines = next
			}
		}
		return r.config.Store.add(about, r.config.Scrub(lines))
	})
}

// Drop deletes what is kept of the session, and ignores all that follows.
func (r *Recorder) Drop() {
	if f := r.file; f != nil {
		r.file, r.said = nil, nil
		r.forget()
		r.queue(f, func() error { return r.config.Store.Remove(r.about.Agent, r.about.ID) })
	}
}

// Note records an update that was applied to the conversation. Settings are left out: the agent sends them again when
// the session is opened.
func (r *Recorder) Note(u session.Update) {
	if r.file == nil {
		return
	}
	switch u := u.(type) {
	case session.CommandsUpdate, session.ModeUpdate, session.OptionsUpdate, session.OptionSet, session.TerminalPatch, session.TerminalChunk:
		return
	case session.MessageChunk:
		if r.grow(u) {
			return
		}
	case session.ToolCallPatch:
		r.see(u.Content.Or(nil))
		if r.change(u) {
			return
		}
	case session.ToolCallChunk:
		r.see(u.Content)
		if r.append(u) {
			return
		}
	case session.UsageUpdate:
		r.usage = &Said{r.config.Now(), u}
		return
	case session.InfoUpdate:
		if title, ok := u.Title.Get(); !ok || title == "" {
			return
		}
	case session.Notice, session.Remark, session.Cancelling, session.AgentGone:
		if !r.turn {
			return // it is about the session's present state, and will be sent again
		}
		r.settle()
	case session.Waiting:
		r.settleCall(u.ToolCallID)
	case session.UnknownUpdate:
		u.Raw = nil
		r.settle()
		r.write(u)
		return
	case session.SessionStart:
		r.settle()
		r.forget()
		r.told, r.early = false, []Said{{r.config.Now(), session.SessionStart{}}}
		return
	case session.TurnStart:
		r.settle()
		r.turn = true
		u.Sent = textsOf(u.Sent)
		if joined(u.Sent) == joined(u.Prompt) {
			u.Sent = nil
		}
		r.write(u)
		return
	case session.TurnEnd:
		r.settle()
		r.terminals()
		r.write(u)
		r.turn = false
		r.hand()
		return
	default:
		r.settle()
	}
	r.write(u)
}

// textsOf returns the blocks that are text: only words are compared with what was sent.
func textsOf(blocks []session.Content) []session.Content {
	return slices.DeleteFunc(slices.Clone(blocks), func(b session.Content) bool {
		_, text := b.(session.Text)
		return !text
	})
}

func joined(blocks []session.Content) string { return session.NewPrompt(blocks).Text() }

// grow lets a chunk wait for more of its message. It reports whether nothing else is to be done.
func (r *Recorder) grow(u session.MessageChunk) bool {
	if t := r.calls[u.Of]; t != nil { // a call has said it, after what it had
		r.settleCall(u.Of)
		t.all.Content = acp.Opt[[]session.ToolCallContent]{}
	}
	text, ok := u.Content.(session.Text)
	if c := r.chunk; ok && c != nil && c.id == u.MessageID && c.role == u.Role && c.of == u.Of {
		c.text = append(c.text, text.Text...)
		if len(c.text) > waiting {
			r.settleChunk()
			r.hand()
		}
		return true
	}
	r.settleChunk()
	if ok {
		r.chunk = &chunk{u.MessageID, u.Wire, u.Of, u.Role, []byte(text.Text), r.config.Now()}
		r.soon()
	}
	return ok
}

// change lets a patch wait for more of its call, unless that is new or has just ended. It reports whether nothing else
// is to be done.
func (r *Recorder) change(u session.ToolCallPatch) bool {
	t := r.call(u.ID)
	if t == nil {
		r.calls[u.ID] = &action{all: u}
		return false
	}
	t.at = r.config.Now()
	u = t.news(u)
	merge(&t.all, u)
	merge(&t.patch, u)
	if !u.Content.IsZero() {
		t.more = nil
	}
	if u.Status.Or("").Finished() || !u.Parent.IsZero() {
		r.settleChunk()
		r.settleCall(u.ID)
	}
	return true
}

// append is change for more content.
func (r *Recorder) append(u session.ToolCallChunk) bool {
	t := r.call(u.ID)
	if t == nil {
		r.calls[u.ID] = &action{all: session.ToolCallPatch{ID: u.ID}}
		return false
	}
	t.at = r.config.Now()
	t.more = append(t.more, u.Content...)
	t.all.Content = acp.Opt[[]session.ToolCallContent]{}
	return true
}

// call returns a call that is about to wait for more; nil for a new one, which goes after everything said so far.
func (r *Recorder) call(id string) *action {
	t := r.calls[id]
	if t == nil {
		r.settle()
	} else if !r.open[id] {
		r.open[id], t.patch, t.more = true, session.ToolCallPatch{ID: id}, nil
	}
	return t
}

// news returns a patch without what was already said: agents repeat much. A status counts each time.
func (t *action) news(u session.ToolCallPatch) session.ToolCallPatch {
	known(&u.Title, t.all.Title)
	known(&u.Name, t.all.Name)
	known(&u.Kind, t.all.Kind)
	known(&u.Content, t.all.Content)
	known(&u.Locations, t.all.Locations)
	known(&u.RawInput, t.all.RawInput)
	known(&u.RawOutput, t.all.RawOutput)
	return u
}

func known[T any](field *acp.Opt[T], was acp.Opt[T]) {
	if !field.IsZero() && reflect.DeepEqual(*field, was) {
		*field = acp.Opt[T]{}
	}
}

// merge merges a patch into the previous one.
func merge(to *session.ToolCallPatch, p session.ToolCallPatch) {
	replace(&to.Title, p.Title)
	replace(&to.Name, p.Name)
	replace(&to.Kind, p.Kind)
	replace(&to.Status, p.Status)
	replace(&to.Content, p.Content)
	replace(&to.Locations, p.Locations)
	replace(&to.RawInput, p.RawInput)
	replace(&to.RawOutput, p.RawOutput)
	replace(&to.Parent, p.Parent)
	both, old := p.Meta, to.Meta
	if fields, ok := both.Get(); ok && !old.IsZero() && !old.IsNull() {
		all := map[string]json.RawMessage{}
		maps.Copy(all, old.Or(nil))
		maps.Copy(all, fields)
		both = acp.Set(all)
	}
	replace(&to.Meta, both)
}

func replace[T any](to *acp.Opt[T], with acp.Opt[T]) {
	if !with.IsZero() {
		*to = with
	}
}

// see notes which terminals are shown.
func (r *Recorder) see(content []session.ToolCallContent) {
	for _, c := range content {
		if ref, ok := c.(session.TerminalRef); ok {
			r.shown[ref.TerminalID] = true
		}
	}
}

// terminals writes what the terminals of a turn have shown.
func (r *Recorder) terminals() {
	for _, id := range slices.Sorted(maps.Keys(r.shown)) {
		if patch, ok := r.config.Terminal(id); ok {
			r.write(patch)
		}
	}
	clear(r.shown)
}

// settle writes everything that waits for more.
func (r *Recorder) settle() {
	r.settleChunk()
	for _, id := range slices.Sorted(maps.Keys(r.open)) {
		r.settleCall(id)
	}
	if r.usage != nil && r.told {
		r.add(*r.usage)
		r.usage = nil
	}
}

func (r *Recorder) settleChunk() {
	if c := r.chunk; c != nil {
		r.chunk = nil
		r.addToTranscript(Said{c.at, session.MessageChunk{MessageID: c.id, Wire: c.wire, Of: c.of, Role: c.role, Content: session.Text{Text: string(c.text)}}})
	}
}

func (r *Recorder) settleCall(id string) {
	if !r.open[id] {
		return
	}
	if r.chunk != nil && r.chunk.of == id {
		r.settleChunk()
	}
	delete(r.open, id)
	t := r.calls[id]
	r.addToTranscript(Said{t.at, t.patch})
	if len(t.more) > 0 {
		r.addToTranscript(Said{t.at, session.ToolCallChunk{ID: id, Content: t.more}})
	}
}

// write records a complete update.
func (r *Recorder) write(u session.Update) {
	said := Said{r.config.Now(), u}
	_, prompt := u.(session.TurnStart)
	switch _, steered := u.(session.Steered); {
	case prompt, steered, session.Tells(u):
		r.addToTranscript(said)
	case r.told:
		r.add(said)
	default:
		if _, titled := u.(session.InfoUpdate); titled {
			r.early = append(r.early, said)
		}
	}
}

// addToTranscript is add for what belongs to the transcript. A file has nothing before that.
func (r *Recorder) addToTranscript(s Said) {
	if !r.told {
		r.told = true
		for _, said := range r.early {
			r.add(said)
		}
		r.early = nil
	}
	r.add(s)
}

func (r *Recorder) add(s Said) {
	r.said = append(r.said, s)
	if r.soon(); len(r.said) >= pending {
		r.hand()
	}
}

// soon writes what is waiting in a moment.
func (r *Recorder) soon() {
	if r.timer == nil {
		r.timer = r.config.Later(delay, func() {
			r.timer = nil
			r.settleChunk() // a call may send all of its output each time
			r.hand()
		})
	}
}

// hand passes what is complete to the writer.
func (r *Recorder) hand() {
	if len(r.said) == 0 || r.file == nil {
		return
	}
	r.keep(r.said)
	r.said = nil
}

func (r *Recorder) queue(to *writer, f func() error) {
	to.run(r.config.Background, func() {
		if err := f(); err != nil {
			r.config.Failed(err)
		}
	})
}

// Flush writes everything, then calls done, which may be nil, on another goroutine.
func (r *Recorder) Flush(done func()) {
	if r.file == nil {
		if done != nil {
			r.config.Background(done)
		}
		return
	}
	r.settle()
	r.hand()
	if done != nil {
		r.file.run(r.config.Background, done)
	}
}

// Close writes everything.
func (r *Recorder) Close() {
	r.terminals()
	r.Flush(nil)
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	r.file = nil
}
