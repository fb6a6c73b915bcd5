package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func unsavedFileOf(name, disk, text string) unsavedFile {
	return unsavedFile{
		buffer: buffer{rpc.UnsavedBuf{Name: "/p/" + name}, "/p/" + name}, short: name,
		text: &buffers.Unsaved{Path: "/p/" + name, Text: text, Disk: &disk},
	}
}

// kinds says how each file went, by the blocks of a prompt.
func kinds(blocks []session.Content) (list []string) {
	for _, b := range blocks {
		switch b := b.(type) {
		case session.Resource:
			list = append(list, "text "+b.URI)
		case session.ResourceLink:
			list = append(list, "link "+b.URI)
		case session.Text:
			for l := range strings.Lines(b.Text) {
				if name, ok := strings.CutPrefix(l, "+++ b/"); ok {
					list = append(list, "diff "+strings.TrimSpace(name))
				}
			}
		}
	}
	return list
}

// size is how many bytes of texts and diffs are sent.
func size(sent []session.Content) (n int) {
	for _, b := range sent {
		switch b := b.(type) {
		case session.Resource:
			n += len(b.Text)
		case session.Text:
			if _, diff, ok := strings.Cut(b.Text, "diff\n"); ok {
				n += strings.LastIndex(diff, "```")
			}
		}
	}
	return n
}

func TestWhatGoesAlong(t *testing.T) {
	long := strings.Repeat("x\n", maxEmbedded/2)
	most := strings.Repeat("x", maxEmbedded-1) + "\n"
	var many []unsavedFile
	for _, name := range []string{"1", "2", "3", "4", "5", "6"} {
		many = append(many, unsavedFileOf(name, "", most))
	}
	binary := unsavedFileOf("b", "", "\x00")
	unknown := unsavedFile{buffer: buffer{rpc.UnsavedBuf{Name: "/p/u"}, "/p/u"}, short: "u"}
	for name, c := range map[string]struct {
		files  []unsavedFile
		embeds bool
		want   []string
	}{
		"a text":                   {[]unsavedFile{unsavedFileOf("a", "1\n", "2\n")}, true, []string{"text file:///p/a"}},
		"a diff":                   {[]unsavedFile{unsavedFileOf("a", "1\n", "2\n")}, false, []string{"diff a"}},
		"a long text":              {[]unsavedFile{unsavedFileOf("a", long, long+"y\n")}, true, []string{"diff a"}},
		"all of a long text":       {[]unsavedFile{unsavedFileOf("a", "", long+"y\n")}, true, []string{"link file:///p/a"}},
		"no text":                  {[]unsavedFile{binary, unknown}, true, []string{"link file:///p/b", "link file:///p/u"}},
		"more than goes at all":    {many, true, []string{"text file:///p/1", "text file:///p/2", "text file:///p/3", "text file:///p/4", "text file:///p/5", "link file:///p/6"}},
		"more than the user wants": {many[:4], true, []string{"text file:///p/1", "text file:///p/2", "link file:///p/3", "link file:///p/4"}},
		"nothing":                  {nil, true, nil},
	} {
		along := alongside{known: map[string]string{}}
		room := maxUnsavedAll
		if name == "more than the user wants" {
			room = 2*maxEmbedded + 10
		}
		along.add(c.files, room, c.embeds)
		check.Equal(t, along.size, size(along.sent), "%s: %d bytes are told", name)
		check.Deep(t, kinds(along.sent), c.want, "%s: sent were %q", name)
		if len(along.shown) != len(c.files) {
			t.Errorf("%s: shown are %v", name, along.shown)
		}
		for _, f := range c.files {
			_, known := along.known[f.path]
			if linked := strings.Contains(strings.Join(kinds(along.sent), "\n"), "link file://"+f.Name); known == linked {
				t.Errorf("%s: that the agent knows %s is %v", name, f.Name, known)
			}
		}
	}
}

// A diff with backticks does not end its own block, and a last line without an end is told.
func TestDiffThatGoesAlong(t *testing.T) {
	along := alongside{known: map[string]string{}}
	along.add([]unsavedFile{unsavedFileOf("a.md", "```\nold", "```\nnew 100%s")}, maxUnsavedAll, false)
	text := along.sent[0].(session.Text).Text
	_, block, _ := strings.Cut(text, "\n")
	want := "````diff\n--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n ```\n-old\n\\ No newline at end of file\n" +
		"+new 100%s\n\\ No newline at end of file\n````"
	check.Equal(t, block, want, "sent was\n%s: %v", text)
}

// The agent reads what the texts, changes and links that go along are; the user sees a link to each file.
func TestHowUnsavedTextIsIntroduced(t *testing.T) {
	long := strings.Repeat("x\n", maxEmbedded/2)
	fresh := unsavedFileOf("new", "", long[:10])
	fresh.text.Disk = nil
	along := alongside{known: map[string]string{}}
	along.add([]unsavedFile{
		unsavedFileOf("a", "1\n", "2\n"), unsavedFileOf("b", long, "y\n"+long), unsavedFileOf("c", "", long+"y\n"),
		unsavedFileOf("d", "\n", "3"), unsavedFileOf("e", long, long+"z\n"), unsavedFileOf("f", "", "\x00"),
	}, maxUnsavedAll, true)
	var told []string
	for _, b := range along.sent {
		switch b := b.(type) {
		case session.Text:
			told = append(told, strings.ReplaceAll(b.Text, " x\n", ""))
		case session.Resource:
			told = append(told, b.URI+" = "+b.Text)
		case session.ResourceLink:
			told = append(told, b.URI+" "+b.Name)
		}
	}
	check.Slice(t, told, []string{
		"These files are newer in the user's editor than on disk, where they are not saved yet: a, d. " +
			"Their text in the editor follows.",
		"file:///p/a = 2\n", "file:///p/d = 3",
		"These files have changes in the user's editor that are not saved to disk yet: b, e. " +
			"This diff leads from the disk to the editor:\n" +
			"```diff\n--- a/b\n+++ b/b\n@@ -1,3 +1,4 @@\n+y\n" +
			fmt.Sprintf("--- a/e\n+++ b/e\n@@ -%d,3 +%[1]d,4 @@\n+z\n```", maxEmbedded/2-2),
		"These files have changes in the user's editor that are not saved to disk yet and could not be sent: c, f.",
		"file:///p/c c", "file:///p/f f",
	}, "it is told %q")
	var shown []string
	for _, b := range along.shown {
		shown = append(shown, b.(session.ResourceLink).URI+" "+b.(session.ResourceLink).Name)
	}
	want := "file:///p/a a, file:///p/b b, file:///p/c c, file:///p/d d, file:///p/e e, file:///p/f f"
	check.Equal(t, strings.Join(shown, ", "), want, "the user sees %s")

	along = alongside{known: map[string]string{}}
	along.add([]unsavedFile{fresh}, maxUnsavedAll, false)
	check.Contains(t, along.sent[0].(session.Text).Text, "--- /dev/null\n+++ b/new\n", "of a new file it is told %s")
	check.Equal(t, len(along.sent), 1, "of a new file it is told in %d blocks")
	along = alongside{known: map[string]string{}}
	along.add([]unsavedFile{unsavedFileOf("a", "1\n", "2\n")}, maxUnsavedAll, true)
	check.Equal(t, len(along.sent), 2, "of a text it is told in %d blocks")
}

func TestStatesThatWereSent(t *testing.T) {
	u := newUnsaved(Config{})
	at := func(path string, buf, tick int) buffer { return buffer{rpc.UnsavedBuf{Buf: buf, Tick: tick}, path} }
	list := []buffer{at("/a", 1, 5), at("/b", 2, 5), at("/c", 4, 5)}
	u.sent = map[string]sentText{"/a": {buf: 1, tick: 5}, "/b": {buf: 2, tick: 4}, "/c": {buf: 3, tick: 5}}
	check.Deep(t, u.new(list), list[1:], "new are %v")
	u.reads.Store(true)
	check.Slice(t, u.new(list), nil, "new are %v for an agent that reads buffers")
}
