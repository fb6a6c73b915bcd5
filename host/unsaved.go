package host

import (
	"context"
	"crypto/sha256"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/freshness"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// What goes along with a prompt is bounded, in bytes: the change of one file,
// the texts of all, and a buffer of which more than a link may go.
const (
	maxUnsavedDiff   = 64 << 10
	maxUnsavedAll    = 512 << 10
	maxUnsavedBuffer = 16 << 20
)

// unsavedText stands among a prompt's blocks for the unsaved text in the
// session's folder, which takes its place when the prompt is sent.
type unsavedText struct {
	session.Content
	room int // the most bytes of text that may go along; of the rest go links
}

// unsavedRoom is how many bytes may go along where the user wants at most limit to go unasked; 0: they were asked.
func unsavedRoom(limit int) unsavedText {
	if limit <= 0 {
		limit = maxUnsavedAll
	}
	return unsavedText{room: min(limit, maxUnsavedAll)}
}

// modified is a buffer of a file with unsaved text, as Lua lists it.
type modified struct {
	name      string // the buffer's, absolute
	path      string // without links
	buf, tick int
	size      int // bytes
}

// unsaved is what a session knows of the user's unsaved text. But for reads it
// belongs to the session's goroutine.
type unsaved struct {
	reads    atomic.Bool // the agent has read through its client: it sees what the user sees
	sent     map[string]sentText
	heard    int        // how often Lua has listed the buffers
	sendable []modified // of the last list
	offered  []string   // what would go along, for the prompt
}

// sentText is what the agent was last sent of a file, and in which state of its
// buffer.
type sentText struct {
	sum       [sha256.Size]byte
	buf, tick int
}

// modifiedIn reads Lua's list.
func modifiedIn(list []rpc.UnsavedBuf) []modified {
	found := make([]modified, len(list))
	for i, b := range list {
		found[i] = modified{name: b.Name, buf: b.Buf, tick: b.Tick, size: b.Size}
	}
	return found
}

// sendable leaves those that may go along by themselves: in the session's roots,
// and not private. It reads the disk.
func (s *Session) sendable(list []modified) []modified {
	var found []modified
	for _, b := range list {
		real, err := buffers.RealPath(b.name)
		if err != nil {
			continue
		}
		if a := s.permission.FileAccess(session.KindRead, rules.Path{Given: b.name, Real: real}); a.Outside || a.Private {
			continue
		}
		b.path = real
		found = append(found, b)
	}
	return found
}

// new leaves those whose state the agent was not sent.
func (u *unsaved) new(list []modified) []modified {
	if u.reads.Load() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(list), func(b modified) bool {
		sent, ok := u.sent[b.path]
		return ok && sent.buf == b.buf && sent.tick == b.tick
	})
}

// hearUnsaved tells all sessions of the buffers with unsaved text.
func (h *Host) hearUnsaved(m rpc.UnsavedFiles) {
	list := modifiedIn(m.Files)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		s.base.Box.Put(func() { s.hear(list) })
	}
}

// hear takes the buffers with unsaved text that Lua lists.
func (s *Session) hear(list []modified) {
	s.unsaved.heard++
	heard := s.unsaved.heard
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.name
	}
	s.permission.HearUnsaved(names)
	s.base.Background(func() {
		sendable := s.sendable(list)
		s.base.Box.Put(func() {
			if s.unsaved.heard == heard {
				s.unsaved.sendable = sendable
				s.offer()
			}
		})
	})
}

// offer has the prompt show what would go along with it.
func (s *Session) offer() {
	if offered := s.names(s.unsaved.new(s.unsaved.sendable)); !slices.Equal(offered, s.unsaved.offered) {
		s.unsaved.offered = offered
		s.changed()
	}
}

func (s *Session) names(list []modified) []string {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = styled.VisibleText(s.base.Short(b.name))
	}
	return names
}

// listUnsaved answers which of some buffers the user may be asked about, and
// which may be saved, before a prompt; and how many bytes would go along.
func (s *Session) listUnsaved(m rpc.ListUnsaved) {
	list := modifiedIn(m.Files)
	before, embeds := maps.Clone(s.unsaved.sent), s.info.EmbeddedContext
	s.base.Background(func() {
		sendable, size := s.sendable(list), 0
		if !s.unsaved.reads.Load() {
			size = s.collect(nil, maxUnsavedAll, before, embeds).size
		}
		s.base.Box.Put(func() {
			bufs := make([]int, len(sendable))
			for i, b := range sendable {
				bufs[i] = b.buf
			}
			s.base.Editor.Answer(m.Callback, rpc.Unsaved{
				New: s.names(s.unsaved.new(sendable)), Names: s.names(sendable), Bufs: bufs, Size: size,
			}, "")
		})
	})
}

// readsClient notes that the agent reads through its client.
func (s *Session) readsClient() {
	if !s.unsaved.reads.Swap(true) {
		s.base.Box.Put(s.offer)
	}
}

// forgetSent is for an agent that may not know any more what it was sent.
func (s *Session) forgetSent() {
	clear(s.unsaved.sent)
	s.offer()
}

// alongside is what goes along with a prompt.
type alongside struct {
	sent  []session.Content // to the agent
	shown []session.Content // in the transcript
	texts map[string]sentText
	known map[string]string // fingerprints, see [freshness.Files]
	size  int               // bytes of texts and changes
	lost  string            // why nothing goes along, in words
}

// tookAlong remembers what the agent has been sent.
func (s *Session) tookAlong(along alongside) {
	if s.unsaved.sent == nil {
		s.unsaved.sent = map[string]sentText{}
	}
	maps.Copy(s.unsaved.sent, along.texts)
	for path, print := range along.known {
		s.known.Note(path, print)
	}
	s.offer()
}

// withoutUnsaved takes the place of the unsaved text out of a prompt: how many bytes may go along, 0 where nothing is to.
func withoutUnsaved(blocks []session.Content) (rest []session.Content, room int) {
	rest = slices.DeleteFunc(slices.Clone(blocks), func(b session.Content) bool {
		u, is := b.(unsavedText)
		room = max(room, u.room)
		return is
	})
	return rest, room
}

// gather sends a prompt when the unsaved text that goes along with it has been
// fetched from Neovim. What the user does meanwhile stays behind it.
func (s *Session) gather(blocks []session.Content) {
	words, room := withoutUnsaved(blocks)
	if s.unsaved.reads.Load() {
		s.begin(words, alongside{})
		return
	}
	s.changed()
	before, embeds := maps.Clone(s.unsaved.sent), s.info.EmbeddedContext
	s.base.Background(func() {
		along := s.collect(words, room, before, embeds)
		s.base.Box.Put(func() {
			if s.phase == ready {
				s.begin(words, along)
			} else {
				s.outbox.putBack()
				s.keptFromDead()
				s.changed()
			}
			s.proceed()
		})
	})
}

// collect makes what goes along, at most so many bytes of text. It asks Neovim and reads the disk.
func (s *Session) collect(words []session.Content, room int, before map[string]sentText, embeds bool) alongside {
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	along := alongside{texts: map[string]sentText{}, known: map[string]string{}}
	for _, b := range words { // what the user has attached whole
		if r, ok := b.(session.Resource); ok && r.Text != "" {
			if path, ok := wholeFile(r.URI); ok {
				along.known[path] = freshness.Fingerprint(r.Text)
			}
		}
	}
	value, err := s.base.Editor.Call(ctx, editor.Do(rpc.UnsavedBufs{}))
	if err != nil {
		along.lost = "Neovim was busy: unsaved text did not go along with the prompt."
		return along
	}
	var list []rpc.UnsavedBuf
	rpc.Into(&list, value)
	changed := slices.DeleteFunc(s.sendable(modifiedIn(list)), func(b modified) bool {
		was, known := before[b.path]
		return known && was.buf == b.buf && was.tick == b.tick
	})
	texts := s.unsavedOf(ctx, changed)
	var files []unsavedFile
	for i, b := range changed {
		was, known := before[b.path]
		f := unsavedFile{modified: b, short: s.base.Short(b.name), text: texts[i].text}
		if texts[i].asked && (f.text == nil || !known && f.text.Disk != nil && *f.text.Disk == f.text.Text) {
			continue // saved meanwhile, or as it was
		}
		sent := sentText{buf: b.buf, tick: b.tick}
		if f.text != nil {
			sent.sum = sha256.Sum256([]byte(f.text.Text))
		}
		along.texts[b.path] = sent
		switch _, attached := along.known[b.path]; {
		case attached && f.text != nil:
		case known && f.text != nil && was.sum == sent.sum: // typed and taken back
		default:
			files = append(files, f)
		}
	}
	along.add(files, room, embeds)
	return along
}

// fetched is the unsaved text of a buffer, nil where it has none. That it could not be asked for is no
// failure: a link says that there is something.
type fetched struct {
	asked bool
	text  *buffers.Unsaved
}

// unsavedOf fetches the texts of buffers that are not too large, all at once.
func (s *Session) unsavedOf(ctx context.Context, list []modified) []fetched {
	found := make([]fetched, len(list))
	var wait sync.WaitGroup
	for i, b := range list {
		if b.size > maxUnsavedBuffer {
			continue
		}
		wait.Add(1)
		s.base.Files.Unsaved(ctx, b.path, func(u *buffers.Unsaved, err error) {
			found[i] = fetched{err == nil, u}
			wait.Done()
		})
	}
	wait.Wait()
	return found
}

// wholeFile is the file that a URI names without lines of it, without links.
func wholeFile(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Fragment != "" {
		return "", false
	}
	path, err := buffers.RealPath(u.Path)
	return path, err == nil
}

// unsavedFile is a file whose unsaved text goes along.
type unsavedFile struct {
	modified
	short string           // the name for the user
	text  *buffers.Unsaved // nil where it is not known
}

// add makes of files what the agent takes: their texts, else what changes in
// them, together at most room bytes, else links, each kind behind a sentence for the model.
func (a *alongside) add(files []unsavedFile, room int, embeds bool) {
	all := room
	defer func() { a.size = all - room }()
	var whole, changed, linked []string
	var texts, links []session.Content
	var patches strings.Builder
	for _, f := range files {
		uri := attachment{path: f.name}.uri()
		a.shown = append(a.shown, session.ResourceLink{URI: uri, Name: f.short, Description: "unsaved text"})
		patch := ""
		switch u := f.text; {
		case u == nil || !isText(u.Text):
		case embeds && len(u.Text) <= min(maxEmbedded, room):
			room -= len(u.Text)
			a.known[f.path] = freshness.Fingerprint(u.Text)
			whole = append(whole, f.short)
			texts = append(texts, session.Resource{URI: uri, Text: u.Text})
			continue
		default:
			patch = unified(f.short, u)
		}
		if patch != "" && len(patch) <= min(maxUnsavedDiff, room) {
			room -= len(patch)
			a.known[f.path] = freshness.Fingerprint(f.text.Text)
			changed = append(changed, f.short)
			patches.WriteString(patch)
			continue
		}
		linked = append(linked, f.short)
		links = append(links, session.ResourceLink{URI: uri, Name: f.short})
	}
	if len(whole) > 0 {
		a.say("These files are newer in the user's editor than on disk, where they are not saved yet: " + strings.Join(whole, ", ") + ". Their text in the editor follows.")
		a.sent = append(a.sent, texts...)
	}
	if len(changed) > 0 {
		fence := fence(patches.String())
		a.say("These files have changes in the user's editor that are not saved to disk yet: " + strings.Join(changed, ", ") +
			". This diff leads from the disk to the editor:\n" + fence + "diff\n" + patches.String() + fence)
	}
	if len(linked) > 0 {
		a.say("These files have changes in the user's editor that are not saved to disk yet and could not be sent: " + strings.Join(linked, ", ") + ".")
		a.sent = append(a.sent, links...)
	}
}

func (a *alongside) say(text string) { a.sent = append(a.sent, session.Text{Text: text}) }

// unified is what changes from the disk to the buffer; "" where nothing does.
func unified(name string, u *buffers.Unsaved) string {
	from, disk := "/dev/null", ""
	if u.Disk != nil {
		from, disk = "a/"+name, *u.Disk
	}
	patch, err := linediff.Unified(from, "b/"+name, disk, u.Text)
	if err != nil {
		return ""
	}
	return patch
}
