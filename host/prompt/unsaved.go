package prompt

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
	"github.com/acp-nvim/acp-nvim/host/markdown"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// What is sent with a prompt is bounded, in bytes: the change of one file, the texts of all, and a buffer of which more
// than a link may be sent.
const (
	maxUnsavedDiff   = 64 << 10
	maxUnsavedAll    = 512 << 10
	maxUnsavedBuffer = 16 << 20
)

// unsavedText is the placeholder among a prompt's blocks for the unsaved text in the session's folder, which replaces
// it when the prompt is sent.
type unsavedText struct {
	session.Content
	room int // the most bytes of text that may be sent; the rest are links
	// listed is the buffers when the user sent the prompt, nil if it has waited meanwhile: then Neovim is asked for
	// them.
	listed *[]rpc.UnsavedBuf
}

// unsavedRoom returns how many bytes may be sent if the user wants at most limit to be sent unasked; 0: they were
// asked.
func unsavedRoom(limit int) unsavedText {
	if limit <= 0 {
		limit = maxUnsavedAll
	}
	return unsavedText{room: min(limit, maxUnsavedAll)}
}

// Unsaved is what a session knows about the user's unsaved text. It belongs to the session's goroutine, except for
// [Unsaved.ReadByAgent].
type Unsaved struct {
	config   Config
	reads    atomic.Bool // the agent has read through its client: it sees what the user sees
	sent     map[string]sentText
	heard    int      // how often Lua has listed the buffers
	sendable []buffer // of the last list
	offered  []string // what would be sent, for the prompt
}

// buffer is a buffer with unsaved text, as Lua lists it.
type buffer struct {
	rpc.UnsavedBuf
	path string // without links
}

// sentText is what the agent was last sent of a file, and the state of its buffer then.
type sentText struct {
	sum       [sha256.Size]byte
	buf, tick int
}

func (t sentText) isOf(b buffer) bool { return t.buf == b.Buf && t.tick == b.Tick }

func newUnsaved(c Config) *Unsaved { return &Unsaved{config: c, sent: map[string]sentText{}} }

// shared returns the buffers whose text may be sent unasked. It reads the disk.
func (u *Unsaved) shared(list []rpc.UnsavedBuf) []buffer {
	var found []buffer
	for _, b := range list {
		if real, err := buffers.RealPath(b.Name); err == nil && u.config.Shares(b.Name, real) {
			found = append(found, buffer{b, real})
		}
	}
	return found
}

// new returns the buffers whose state the agent was not sent.
func (u *Unsaved) new(list []buffer) []buffer {
	if u.reads.Load() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(list), func(b buffer) bool {
		sent, ok := u.sent[b.path]
		return ok && sent.isOf(b)
	})
}

// Hear notes the buffers with unsaved text that Lua lists.
func (u *Unsaved) Hear(list []rpc.UnsavedBuf) {
	u.heard++
	heard := u.heard
	u.config.Background(func() {
		sendable := u.shared(list)
		u.config.Box.Put(func() {
			if u.heard == heard {
				u.sendable = sendable
				u.offer()
			}
		})
	})
}

// offer makes the prompt show what would be sent with it.
func (u *Unsaved) offer() {
	if offered := u.names(u.new(u.sendable)); !slices.Equal(offered, u.offered) {
		u.offered = offered
		u.config.Changed()
	}
}

// Offered returns the names of the files whose unsaved text would be sent.
func (u *Unsaved) Offered() []string { return u.offered }

func (u *Unsaved) names(list []buffer) []string {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = styled.VisibleText(u.config.Short(b.Name))
	}
	return names
}

// List answers which buffers the user may be asked about, and which may be saved, before a prompt, and how many bytes
// would be sent.
func (u *Unsaved) List(m rpc.ListUnsaved) {
	before, embeds := maps.Clone(u.sent), u.config.Agent().EmbeddedContext
	u.config.Background(func() {
		sendable, size := u.shared(m.Files), 0
		if !u.reads.Load() {
			ctx, cancel := context.WithTimeout(context.Background(), maxWait)
			defer cancel()
			size = u.along(ctx, nil, sendable, maxUnsavedAll, before, embeds).size
		}
		u.config.Box.Put(func() {
			bufs := make([]int, len(sendable))
			for i, b := range sendable {
				bufs[i] = b.Buf
			}
			u.config.Editor.Answer(m.Callback, rpc.Unsaved{
				New: u.names(u.new(sendable)), Names: u.names(sendable), Bufs: bufs, Size: size,
			}, "")
		})
	})
}

// ReadByAgent notes that the agent reads through its client. Any goroutine.
func (u *Unsaved) ReadByAgent() {
	if !u.reads.Swap(true) {
		u.config.Box.Put(u.offer)
	}
}

// Forget is for an agent that may have forgotten what it was sent.
func (u *Unsaved) Forget() {
	clear(u.sent)
	u.offer()
}

// alongside is what is sent with a prompt.
type alongside struct {
	sent  []session.Content // to the agent
	shown []session.Content // in the transcript
	texts map[string]sentText
	known map[string]string // texts that the agent then knows, by path without links
	size  int               // bytes of texts and changes
	lost  string            // why nothing is sent, in words
}

// took remembers what the agent was sent.
func (u *Unsaved) took(along alongside) {
	maps.Copy(u.sent, along.texts)
	for path, text := range along.known {
		u.config.Knows(path, text)
	}
	u.offer()
}

// withoutUnsaved removes the placeholder of the unsaved text from a prompt, and those of empty attachments. The
// placeholder has no room if nothing is to be sent.
func withoutUnsaved(blocks []session.Content) (rest []session.Content, place unsavedText) {
	rest = slices.DeleteFunc(slices.Clone(blocks), func(b session.Content) bool {
		u, is := b.(unsavedText)
		if is {
			place = u
		}
		return is || b == nil
	})
	return rest, place
}

// waiting returns a prompt that is not sent at once: which buffers will have unsaved text is not known yet.
func waiting(blocks []session.Content) []session.Content {
	blocks = slices.Clone(blocks)
	for i, b := range blocks {
		if u, is := b.(unsavedText); is {
			blocks[i] = unsavedText{room: u.room}
		}
	}
	return blocks
}

// collect makes what replaces the placeholder. It asks Neovim and reads the disk.
func (u *Unsaved) collect(words []session.Content, place unsavedText, before map[string]sentText, embeds bool) alongside {
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	if place.listed == nil {
		value, err := u.config.Editor.Call(ctx, editor.Do(rpc.UnsavedBufs{}))
		if err != nil {
			return alongside{known: attachedWhole(words), lost: "Neovim was busy: unsaved text did not go along with the prompt."}
		}
		place.listed = new([]rpc.UnsavedBuf)
		rpc.Into(place.listed, value)
	}
	return u.along(ctx, words, u.shared(*place.listed), place.room, before, embeds)
}

// attachedWhole returns the texts of the files that the user attached whole, by path without links.
func attachedWhole(words []session.Content) map[string]string {
	texts := map[string]string{}
	for _, b := range words {
		if r, ok := b.(session.Resource); ok && r.Text != "" {
			if path, ok := wholeFile(r.URI); ok {
				texts[path] = r.Text
			}
		}
	}
	return texts
}

// along makes what is sent of buffers. It asks Neovim for their texts.
func (u *Unsaved) along(ctx context.Context, words []session.Content, list []buffer, room int, before map[string]sentText, embeds bool) alongside {
	along := alongside{texts: map[string]sentText{}, known: attachedWhole(words)}
	changed := slices.DeleteFunc(slices.Clone(list), func(b buffer) bool {
		was, known := before[b.path]
		return known && was.isOf(b)
	})
	texts := u.fetch(ctx, changed)
	var files []unsavedFile
	for i, b := range changed {
		was, known := before[b.path]
		f := unsavedFile{buffer: b, short: u.config.Short(b.Name), text: texts[i].text}
		if texts[i].asked && (f.text == nil || !known && f.text.Disk != nil && *f.text.Disk == f.text.Text) {
			continue // saved meanwhile, or unchanged
		}
		sent := sentText{buf: b.Buf, tick: b.Tick}
		if f.text != nil {
			sent.sum = sha256.Sum256([]byte(f.text.Text))
		}
		along.texts[b.path] = sent
		switch _, attached := along.known[b.path]; {
		case attached && f.text != nil:
		case known && f.text != nil && was.sum == sent.sum: // typed and undone
		default:
			files = append(files, f)
		}
	}
	along.add(files, room, embeds)
	return along
}

// fetched is the unsaved text of a buffer, nil if it has none. Failing to ask for it is not an error: a link says that
// there is something.
type fetched struct {
	asked bool
	text  *buffers.Unsaved
}

// fetch gets the texts of buffers that are not too large, all at once.
func (u *Unsaved) fetch(ctx context.Context, list []buffer) []fetched {
	found := make([]fetched, len(list))
	var wait sync.WaitGroup
	for i, b := range list {
		if b.Size > maxUnsavedBuffer {
			continue
		}
		wait.Add(1)
		u.config.Files.Unsaved(ctx, b.path, func(text *buffers.Unsaved, err error) {
			found[i] = fetched{err == nil, text}
			wait.Done()
		})
	}
	wait.Wait()
	return found
}

// wholeFile returns the file, without links, that a URI names as a whole.
func wholeFile(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Fragment != "" {
		return "", false
	}
	path, err := buffers.RealPath(u.Path)
	return path, err == nil
}

// unsavedFile is a file whose unsaved text is sent.
type unsavedFile struct {
	buffer
	short string           // the name for the user
	text  *buffers.Unsaved // nil if unknown
}

// add adds files in a form that the agent takes: their texts, else their changes, at most room bytes together, else
// links, each kind introduced by a sentence for the model.
func (a *alongside) add(files []unsavedFile, room int, embeds bool) {
	all := room
	defer func() { a.size = all - room }()
	var whole, changed, linked []string
	var texts, links []session.Content
	var patches strings.Builder
	for _, f := range files {
		uri := file{path: f.Name}.uri()
		a.shown = append(a.shown, session.ResourceLink{URI: uri, Name: f.short, Description: transcript.UnsavedText})
		patch := ""
		switch u := f.text; {
		case u == nil || !isText(u.Text):
		case embeds && len(u.Text) <= min(maxEmbedded, room):
			room -= len(u.Text)
			a.known[f.path] = u.Text
			whole = append(whole, f.short)
			texts = append(texts, session.Resource{URI: uri, Text: u.Text})
			continue
		default:
			patch = unified(f.short, u)
		}
		if patch != "" && len(patch) <= min(maxUnsavedDiff, room) {
			room -= len(patch)
			a.known[f.path] = f.text.Text
			changed = append(changed, f.short)
			patches.WriteString(patch)
			continue
		}
		linked = append(linked, f.short)
		links = append(links, session.ResourceLink{URI: uri, Name: f.short})
	}
	if len(whole) > 0 {
		a.text("These files are newer in the user's editor than on disk, where they are not saved yet: " + strings.Join(whole, ", ") + ". Their text in the editor follows.")
		a.sent = append(a.sent, texts...)
	}
	if len(changed) > 0 {
		fence := markdown.FenceFor(patches.String())
		a.text("These files have changes in the user's editor that are not saved to disk yet: " + strings.Join(changed, ", ") +
			". This diff leads from the disk to the editor:\n" + fence + "diff\n" + patches.String() + fence)
	}
	if len(linked) > 0 {
		a.text("These files have changes in the user's editor that are not saved to disk yet and could not be sent: " + strings.Join(linked, ", ") + ".")
		a.sent = append(a.sent, links...)
	}
}

func (a *alongside) text(text string) { a.sent = append(a.sent, session.Text{Text: text}) }

// unified returns the diff from the disk to the buffer; "" if they are equal.
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
