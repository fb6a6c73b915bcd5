package prompt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A file that cannot go along is linked, however it is named.
func TestFilesAreLinkedWhereTheyCannotGoAlong(t *testing.T) {
	p := New(Config{
		Base:  feature.Base{Folder: folder.Folder{Cwd: "/project"}},
		Agent: func() session.Info { return session.Info{} },
	})
	for _, uri := range []string{"file:///project/a%20b.go", "/project/a b.go"} {
		got, err := p.fit([]session.Content{session.Resource{URI: uri, Text: "x"}})
		want := session.ResourceLink{URI: "file:///project/a%20b.go", Name: "a b.go"}
		if err != nil || got.sent[0] != want {
			t.Errorf("%s: %+v, %v", uri, got, err)
		}
	}
	if _, err := p.fit([]session.Content{session.Resource{URI: "https://example.org", Text: "x"}}); err == nil {
		t.Error("what is no file went along")
	}
}

// What Lua sends of a prompt goes to an agent that takes everything as it is.
func TestWhatIsWrittenIsSent(t *testing.T) {
	p := New(Config{
		Base:  feature.Base{Folder: folder.Folder{Cwd: "/project"}},
		Agent: func() session.Info { return session.Info{Images: true, Audio: true, EmbeddedContext: true} },
	})
	for _, c := range []struct {
		block rpc.Content
		want  session.Content
	}{
		{rpc.Content{Type: "text", Text: "go"}, session.Text{Text: "go"}},
		{rpc.Content{Type: "resource_link", URI: "file:///a", Name: "a", Title: "A", MimeType: "text/plain", Description: "the a"},
			session.ResourceLink{URI: "file:///a", Name: "a", Title: "A", MimeType: "text/plain", Description: "the a"}},
		{rpc.Content{Type: "resource", Resource: &rpc.Resource{URI: "file:///a", MimeType: "text/plain", Text: "x", Blob: "AA=="}},
			session.Resource{URI: "file:///a", MimeType: "text/plain", Text: "x", Blob: "AA=="}},
		{rpc.Content{Type: "resource"}, session.Resource{}},
		{rpc.Content{Type: "image", MimeType: "image/png", Data: "AA==", URI: "file:///a"},
			session.Image{MimeType: "image/png", Data: "AA==", URI: "file:///a"}},
		{rpc.Content{Type: "audio", MimeType: "audio/wav", Data: "AA=="}, session.Audio{MimeType: "audio/wav", Data: "AA=="}},
	} {
		got, err := p.fit(decode([]rpc.Content{c.block}).blocks)
		must.Do(t, err)
		check.Equal(t, got.sent[0], c.want, "sent is %+v")
		check.Equal(t, got.shown[0], c.want, "shown is %+v")
	}
	parts, files := []rpc.Part{{Text: "x"}}, []rpc.UnsavedBuf{{Name: "/a"}}
	d := decode([]rpc.Content{
		{Type: "later"}, {Type: "file", Path: "a", First: 2, Last: 3, Gathered: true}, {Type: "diff"},
		{Type: "unsaved", Room: 7, Files: &files},
		{Type: "excerpt", Name: "terminal", Title: "make", Description: "The output", Parts: parts},
	})
	check.Equal(t, len(d.blocks), 4, "there are %d blocks")
	check.Deep(t, d.attached, map[int]attachment{
		0: file{"a", 2, 3, true}, 1: workingDiff{}, 3: excerpt{what: "terminal", of: "make", heading: "The output", parts: parts},
	}, "attached is %+v")
	check.Deep(t, d.blocks[2], unsavedText{room: 7, listed: &files}, "the place of unsaved text is %+v")
}

// The user says how much unsaved text may be sent unasked, up to what may be sent at all.
func TestRoomForUnsavedText(t *testing.T) {
	for limit, want := range map[int]int{-1: maxUnsavedAll, 0: maxUnsavedAll, 1: 1, maxUnsavedAll + 1: maxUnsavedAll} {
		check.Equal(t, unsavedRoom(limit).room, want, "of %d bytes at most %d are sent", limit)
	}
}

// A prompt with what the agent cannot take is not sent, and the user learns what that is.
func TestWhatAnAgentCannotTake(t *testing.T) {
	p := New(Config{Base: inFolder("/project").Base, Agent: func() session.Info { return session.Info{} }})
	for want, block := range map[string]session.Content{
		"Puppet takes no images: the prompt was not sent":             session.Image{},
		"Puppet takes no audio: the prompt was not sent":              session.Audio{},
		"Puppet takes no embedded resources: the prompt was not sent": session.Resource{URI: "https://example.org"},
	} {
		_, err := p.fit([]session.Content{session.Text{Text: "go"}, block})
		check.Equal(t, fmt.Sprint(err), want, "the user is told %q")
	}
}

// noBuffers is a Neovim without buffers.
type noBuffers struct{}

func (noBuffers) CallBuffers(context.Context, string, any, any) error { return nil }

// A file goes along as its text if it is one that is not too long, or as what it shows or sounds, and else as a link. Of
// a private file only the name is sent, unless the user named it.
func TestAttachedFiles(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, dir, "a b.txt", "one\ntwo\nthree\n")
	must.Write(t, dir, "long.txt", strings.Repeat("x", maxEmbedded+1))
	must.Write(t, dir, "most.txt", strings.Repeat("x", maxEmbedded))
	must.Write(t, dir, "large.txt", strings.Repeat("x\n", maxRead/2+1))
	must.Write(t, dir, "binary", "a\x00b")
	must.Write(t, dir, "latin", "\xe9")
	must.Write(t, dir, ".env", "KEY=1\n")
	must.Write(t, dir, "p.PNG", "picture")
	must.Write(t, dir, "s.mp3", "sound")
	must.Write(t, dir, "huge.gif", strings.Repeat("x", maxMedia+1))
	must.Do(t, os.Mkdir(filepath.Join(dir, "folder"), 0o777))
	c := inFolder(dir)
	c.Files = buffers.New(noBuffers{})
	at := "file://" + dir + "/"
	link := func(name string) session.ResourceLink { return session.ResourceLink{URI: at + name, Name: name} }
	typed := func(name, is string) session.ResourceLink {
		l := link(name)
		l.MimeType = is
		return l
	}
	text := func(name, text string) session.Resource { return session.Resource{URI: at + name, Text: text} }
	for _, f := range []struct {
		file file
		want session.Content
		told string
	}{
		{file{path: "a b.txt"}, text("a%20b.txt", "one\ntwo\nthree\n"), ""},
		{file{path: "a b.txt", first: 2, last: 3}, text("a%20b.txt#L2-3", "two\nthree\n"), ""},
		{file{path: "a b.txt", first: 1, last: 2}, text("a%20b.txt#L1-2", "one\ntwo\n"), ""},
		{file{path: "a b.txt", first: 2, last: 2}, text("a%20b.txt#L2", "two\n"), ""},
		{file{path: "most.txt"}, text("most.txt", strings.Repeat("x", maxEmbedded)), ""},
		{file{path: "long.txt"}, link("long.txt"), ""},
		{file{path: "large.txt", first: 1, last: 1}, session.ResourceLink{URI: at + "large.txt#L1", Name: "large.txt:1"}, ""},
		{file{path: "binary"}, link("binary"), ""},
		{file{path: "latin"}, text("latin", "é"), ""},
		{file{path: "none"}, link("none"), ""},
		{file{path: "none.png"}, link("none.png"), ""},
		{file{path: "a b.txt/in"}, session.ResourceLink{URI: at + "a%20b.txt/in", Name: "a b.txt/in"}, ""},
		{file{path: "folder"}, link("folder/"), ""},
		{file{path: "folder/"}, link("folder/"), ""},
		{file{path: ".env"}, text(".env", "KEY=1\n"), ""},
		{file{path: ".env", gathered: true}, link(".env"), ".env is private: its text was not sent. Name it in the prompt to send it."},
		{file{path: "binary", gathered: true}, link("binary"), ""},
		{file{path: "p.PNG"}, either{
			Content:   session.Image{MimeType: "image/png", Data: "cGljdHVyZQ==", URI: at + "p.PNG"},
			otherwise: typed("p.PNG", "image/png"), told: "Puppet takes no images: p.PNG was sent as a link.",
		}, ""},
		{file{path: "s.mp3"}, either{
			Content:   session.Audio{MimeType: "audio/mpeg", Data: "c291bmQ="},
			otherwise: typed("s.mp3", "audio/mpeg"), told: "Puppet takes no audio: s.mp3 was sent as a link.",
		}, ""},
		{file{path: "s.mp3", first: 1, last: 1}, text("s.mp3#L1", "sound"), ""},
		{file{path: "huge.gif"}, typed("huge.gif", "image/gif"),
			"huge.gif is 5.0 MB: it was sent as a link, as at most 5.0 MB are sent."},
	} {
		type answer struct {
			content session.Content
			told    string
		}
		got := make(chan answer, 1)
		f.file.read(c, func(content session.Content, told string) { got <- answer{content, told} })
		a := must.Receive(t, "the file", got)
		check.Equal(t, a.content, f.want, "of "+fmt.Sprint(f.file)+" is sent %.300v")
		check.Equal(t, a.told, f.told, "of "+fmt.Sprint(f.file)+" the user is told %q")
	}
}

// A prompt waits for what is attached to it, and so does the one after it; the user learns what goes along differently.
func TestAPromptWaitsForItsFiles(t *testing.T) {
	s := newScene()
	s.agent = session.Info{Images: true}
	s.config.Cwd = t.TempDir()
	must.Write(t, s.config.Cwd, "small.png", "picture")
	must.Write(t, s.config.Cwd, "huge.png", strings.Repeat("x", maxMedia+1))
	s.write(words("see "), rpc.Content{Type: "file", Path: "huge.png"}, rpc.Content{Type: "file", Path: "small.png"})
	s.write(words("and on"))
	check.Slice(t, s.done, nil, "before the files are read there is done %q")
	s.later()
	check.Slice(t, s.done, []string{
		"warning huge.png is 5.0 MB: it was sent as a link, as at most 5.0 MB are sent.", "begin see  3 3",
	}, "when they are there is done %q")
	check.Slice(t, s.Queued(), []string{"and on"}, "%q wait")
}
