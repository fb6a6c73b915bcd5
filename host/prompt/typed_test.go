package prompt

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// typist is a Neovim in whose buffers the user has typed, and the unsaved text as a session knows it.
type typist struct {
	*Unsaved
	box     *mailbox.Mailbox
	dir     string
	typed   map[string]string // by the name of a file in the folder
	busy    bool              // Neovim does not say which buffers there are
	asking  sync.Mutex        // guards the field below
	asked   []string          // the names of files of which Neovim was asked for the text
	known   []string          // what the agent knows by now
	answers []any
	changed int // how often the prompt was to be shown anew
}

// atTypist plays a test with a folder in which there is a file for each of some names. Names with "secret" in them are
// not shared.
func atTypist(t *testing.T, files string, play func(n *typist)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	for name := range strings.FieldsSeq(files) {
		must.Write(t, dir, name, "on the disk\n")
	}
	synctest.Test(t, func(t *testing.T) {
		n := &typist{dir: dir, typed: map[string]string{}, box: mailbox.New()}
		nvim := editor.New(n)
		n.Unsaved = newUnsaved(Config{
			Base: feature.Base{
				Folder: folder.Folder{Cwd: dir, Roots: []string{dir}}, Files: buffers.New(n), Editor: nvim, Box: n.box,
				Background: func(f func()) { go f() }, Changed: func() { n.changed++ },
			},
			Agent:  func() session.Info { return session.Info{EmbeddedContext: true} },
			Knows:  func(path, text string) { n.known = append(n.known, filepath.Base(path)+" "+text) },
			Shares: func(name, _ string) bool { return !strings.Contains(name, "secret") },
		})
		go nvim.Run()
		go n.box.Run()
		play(n)
		synctest.Wait()
		n.box.Close()
		nvim.Close()
	})
}

// CallBuffers is Neovim's end of the buffers.
func (n *typist) CallBuffers(_ context.Context, _ string, args, result any) error {
	name := filepath.Base(args.(map[string]any)["path"].(string))
	n.asking.Lock()
	n.asked = append(n.asked, name)
	n.asking.Unlock()
	text, typed := n.typed[name]
	if !typed {
		return nil
	}
	if text == "busy" {
		return errors.New("Neovim is busy")
	}
	return json.Unmarshal(fmt.Appendf(nil,
		`{"Buf": 7, "Modified": true, "Modifiable": true, "Lines": 1, "Slice": {"Text": %q, "Last": 1, "Ended": true}}`, text), result)
}

// Batch is Neovim's end of the editor: it has a buffer of each file that was typed into.
func (n *typist) Batch(ops []any) ([]any, time.Duration, error) {
	answers := make([]any, len(ops))
	for i, op := range ops {
		answers[i] = []any{true, nil}
		switch args := op.([]any)[1].(type) {
		case rpc.UnsavedBufs:
			list := []any{}
			for _, b := range n.list() {
				list = append(list, map[string]any{"buf": b.Buf, "name": b.Name, "tick": b.Tick, "size": b.Size})
			}
			answers[i] = []any{true, list}
			if n.busy {
				answers[i] = []any{false, "busy"}
			}
		case rpc.Callback:
			n.answers = append(n.answers, args.Result)
		}
	}
	return answers, 0, nil
}

// list is the buffers that were typed into, by name. Those of "large" files are too large for their text to be sent.
func (n *typist) list() (list []rpc.UnsavedBuf) {
	for name, text := range n.typed {
		b := rpc.UnsavedBuf{Buf: int(name[0]), Name: filepath.Join(n.dir, name), Tick: 5, Size: len(text)}
		if strings.Contains(name, "large") {
			b.Size = maxUnsavedBuffer + 1
		}
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b rpc.UnsavedBuf) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// on has the session do something, and waits until nothing more happens by itself, and Neovim was told of it.
func (n *typist) on(f func()) {
	n.box.Put(f)
	synctest.Wait()
	time.Sleep(time.Second)
	synctest.Wait()
}

// goes says what goes along with a prompt, by the names of the files.
func (n *typist) goes(along alongside) string {
	return strings.ReplaceAll(strings.Join(kinds(along.sent), ", "), "file://"+n.dir+"/", "")
}

// Of the unsaved text in the folder goes along what the agent does not know yet, and nothing that is not shared.
func TestUnsavedTextThatGoesAlong(t *testing.T) {
	was := func(tick int, text string) sentText {
		return sentText{buf: 'a', tick: tick, sum: sha256.Sum256([]byte(text))}
	}
	two := map[string]string{"a": "mine", "b": "mine"}
	for name, c := range map[string]struct {
		typed    map[string]string
		before   *sentText
		attached string // what of a, by its URI after the path
		want     string
		asked    string
	}{
		"typed":                        {typed: map[string]string{"a": "mine"}, want: "text a", asked: "a"},
		"in a new file":                {typed: map[string]string{"new": "mine"}, want: "text new", asked: "new"},
		"in two files":                 {typed: two, want: "text a, text b", asked: "a b"},
		"in a private file":            {typed: map[string]string{"a": "mine", "secret": "mine"}, want: "text a", asked: "a"},
		"as it is on the disk":         {typed: map[string]string{"a": "on the disk\n"}, want: "", asked: "a"},
		"as it is there, typed before": {typed: map[string]string{"a": "on the disk\n"}, before: new(was(4, "x")), want: "text a", asked: "a"},
		"sent before":                  {typed: map[string]string{"a": "mine"}, before: new(was(5, "x")), want: "", asked: ""},
		"typed and undone":             {typed: map[string]string{"a": "mine"}, before: new(was(4, "mine")), want: "", asked: "a"},
		"typed on":                     {typed: map[string]string{"a": "mine"}, before: new(was(4, "x")), want: "text a", asked: "a"},
		"attached":                     {typed: two, attached: " ", want: "text b", asked: "a b"},
		"attached in part":             {typed: two, attached: "#L1", want: "text a, text b", asked: "a b"},
		"another attached":             {typed: map[string]string{"a": "mine"}, attached: ".txt", want: "text a", asked: "a"},
		"too large":                    {typed: map[string]string{"large": "mine"}, want: "link large", asked: ""},
		"unknown":                      {typed: map[string]string{"a": "busy"}, want: "link a", asked: "a"},
	} {
		atTypist(t, "a b secret large", func(n *typist) {
			n.typed = c.typed
			before := map[string]sentText{}
			if c.before != nil {
				before[filepath.Join(n.dir, "a")] = *c.before
			}
			prompt := []session.Content{session.Text{Text: "go on"}}
			if c.attached != "" {
				prompt = append(prompt, session.Resource{URI: "file://" + n.dir + "/a" + strings.TrimSpace(c.attached), Text: "all"},
					session.Resource{URI: "http://" + n.dir + "/b", Text: "all"}, session.Resource{URI: "file://" + n.dir + "/b"})
			}
			along := n.collect(prompt, unsavedText{room: maxUnsavedAll, listed: new(n.list())}, before, true)
			check.Equal(t, n.goes(along), c.want, "%s: along goes %q", name)
			slices.Sort(n.asked)
			check.Equal(t, strings.Join(slices.Compact(n.asked), " "), c.asked, "%s: Neovim is asked for %q", name)
			if c.attached == " " {
				check.Equal(t, along.known[filepath.Join(n.dir, "a")], "all", "of what is attached the agent knows %q")
			}
		})
	}
}

// Text that was saved since it was listed does not go along, and what does is named.
func TestUnsavedTextThatWasSaved(t *testing.T) {
	atTypist(t, "a b", func(n *typist) {
		n.typed = map[string]string{"a": "mine", "b": "mine"}
		listed := n.list()
		along := n.collect(nil, unsavedText{room: maxUnsavedAll, listed: &listed}, nil, true)
		check.Contains(t, along.sent[0].(session.Text).Text, ": a, b. ", "it is told %q")
		delete(n.typed, "a")
		along = n.collect(nil, unsavedText{room: maxUnsavedAll, listed: &listed}, nil, true)
		check.Equal(t, n.goes(along), "text b", "then along goes %q")
	})
}

// Of a file that was never saved its text in the editor is attached.
func TestAFileThatWasNeverSaved(t *testing.T) {
	atTypist(t, "", func(n *typist) {
		n.typed = map[string]string{"new": "mine"}
		c := inFolder(n.dir)
		c.Files = buffers.New(n)
		got := make(chan session.Content, 1)
		file{path: "new"}.read(c, func(content session.Content, _ string) { got <- content })
		check.Equal[session.Content](t, <-got, session.Resource{URI: "file://" + n.dir + "/new", Text: "mine"}, "attached is %+v")
	})
}

// A prompt that has waited takes what Neovim lists by then, and says so if Neovim is busy.
func TestUnsavedTextOfAPromptThatHasWaited(t *testing.T) {
	atTypist(t, "a b", func(n *typist) {
		n.typed = map[string]string{"b": "mine"}
		along := n.collect(nil, unsavedText{room: maxUnsavedAll}, nil, true)
		check.Equal(t, n.goes(along), "text b", "along goes %q")
		n.busy = true
		attached := []session.Content{session.Resource{URI: "file://" + n.dir + "/a", Text: "all"}}
		along = n.collect(attached, unsavedText{room: 1}, nil, true)
		check.Equal(t, along.lost, "Neovim was busy: unsaved text did not go along with the prompt.", "the user is told %q")
		check.Equal(t, along.known[filepath.Join(n.dir, "a")], "all", "of what is attached the agent knows %q")
		check.Equal(t, len(along.sent), 0, "%d blocks go along")
	})
}

// The prompt shows whose unsaved text would be sent with it: what the agent was not sent yet, or may have forgotten, until
// it reads the buffers itself.
func TestWhatIsOffered(t *testing.T) {
	atTypist(t, "a b secret", func(n *typist) {
		offers := func(when, want string, changed int) {
			t.Helper()
			synctest.Wait()
			check.Equal(t, strings.Join(n.Offered(), " "), want, when+" it offers %q")
			check.Equal(t, n.changed, changed, when+" it was changed %d times")
		}
		n.typed = map[string]string{"a": "mine", "secret": "mine"}
		hear := func() { n.on(func() { n.Hear(n.list()) }) }
		n.on(func() {
			n.Hear([]rpc.UnsavedBuf{{Buf: 1, Name: "/no/such"}})
			n.Hear(n.list())
		})
		offers("of what is heard last", "a", 1)
		hear()
		offers("of the same again", "a", 1)
		n.on(func() { n.List(rpc.ListUnsaved{Files: n.list()}) })
		check.Deep(t, n.answers, []any{rpc.Unsaved{New: []string{"a"}, Names: []string{"a"}, Bufs: []int{'a'}, Size: 4}}, "Lua hears %+v")

		along := n.collect(nil, unsavedText{room: maxUnsavedAll, listed: new(n.list())}, nil, true)
		n.on(func() { n.took(along) })
		offers("after it was sent", "", 2)
		check.Slice(t, n.known, []string{"a mine"}, "the agent knows %q")
		n.typed["b"] = "mine"
		hear()
		offers("as there is more", "b", 3)
		n.on(n.Forget)
		offers("as the agent may have forgotten", "a b", 4)
		n.on(n.ReadByAgent)
		n.on(n.ReadByAgent)
		offers("as the agent reads", "", 5)
		n.answers = nil
		n.on(func() { n.List(rpc.ListUnsaved{Files: n.list()}) })
		want := rpc.Unsaved{New: []string{}, Names: []string{"a", "b"}, Bufs: []int{'a', 'b'}}
		check.Deep(t, n.answers, []any{want}, "Lua hears %+v")
	})
}
