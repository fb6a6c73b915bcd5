package calldiff

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// noBuffers is a Neovim without buffers, which answers when it may.
type noBuffers chan struct{}

func (may noBuffers) CallBuffers(ctx context.Context, _ string, _, _ any) error {
	select {
	case <-may:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// scene is the changes of a session in a folder, with a goroutine of its own.
type scene struct {
	*Diffs
	calls map[string]*session.ToolCall
	work  sync.WaitGroup
}

// newScene has a Neovim without buffers: a send on may lets it answer once, and closing may lets it answer always.
func newScene(t *testing.T) (s *scene, dir string, may noBuffers) {
	may, dir = make(noBuffers), t.TempDir()
	s = &scene{calls: map[string]*session.ToolCall{}}
	s.Diffs = New(feature.Base{
		Folder: folder.Folder{Cwd: dir, Roots: []string{dir}}, Box: mailbox.New(), Editor: editor.New(nil), Files: buffers.New(may),
		Background: s.work.Go,
	}, Config{Mark: func() {}, Found: func(*session.ToolCall) {}, Idle: func() {}})
	s.work.Go(s.base.Box.Run)
	t.Cleanup(s.end)
	return s, dir, may
}

// end ends Neovim and the session, and waits for their work.
func (s *scene) end() {
	s.base.Box.Close()
	s.base.Editor.Close()
	s.work.Wait()
}

// on runs f on the session's goroutine.
func (s *scene) on(f func()) {
	done := make(chan struct{})
	s.base.Box.Put(func() { f(); close(done) })
	<-done
}

func (s *scene) call(id string) *session.ToolCall {
	if s.calls[id] == nil {
		s.calls[id] = &session.ToolCall{ID: id}
	}
	return s.calls[id]
}

// tells has a call tell of changes, and returns them as they are known.
func (s *scene) tells(id string, diffs ...session.Diff) (files []*diff.FileDiff) {
	s.on(func() {
		call := s.call(id)
		call.Content = nil
		for _, d := range diffs {
			call.Content = append(call.Content, d)
		}
		s.Observe(call)
		files = s.Shared(call)
	})
	return files
}

// located waits until all changes of a call were looked for, and returns them.
func (s *scene) located(id string) (files []*diff.FileDiff) {
	done := make(chan struct{})
	s.base.Box.Put(func() {
		s.WhenLocated(s.call(id), func() {
			files = s.Shared(s.call(id))
			close(done)
		})
	})
	<-done
	return files
}

func replacing(path, old, text string) session.Diff {
	return session.Diff{Operation: session.OperationModify, Path: path, OldText: &old, NewText: &text}
}

func TestChangesAreLocatedOnce(t *testing.T) {
	s, dir, may := newScene(t)
	path := must.Write(t, dir, "a.txt", "1\n2\n3\n")
	told := s.tells("c", replacing(path, "2", "two"), replacing("a.txt", "3", "three"))
	if len(told) != 2 || told[0].Located || told[0].Added != 1 {
		t.Fatalf("before Neovim has answered: %+v", told)
	}
	close(may)
	first := s.located("c")
	for i, want := range []string{"1\ntwo\n3\n", "1\n2\nthree\n"} {
		if f := first[i]; !f.Located || f.New != want || f == told[i] {
			t.Errorf("change %d is %+v", i, f)
		}
	}

	// Told again in equal words, after it was done.
	must.Write(t, dir, "a.txt", "something else\n")
	s.tells("c", replacing(path, "2", "two"), replacing(path, "x", "y"))
	second := s.located("c")
	check.Equal(t, second[0], first[0], "it was looked for again: %+v")
	if second[1].Located || second[1].Note == "" {
		t.Errorf("what is not there is %+v", second[1])
	}
	s.on(func() {
		check.Equal(t, s.whole.size, len(first[0].Old)+len(first[0].New)+len(second[1].Old)+len(second[1].New),
			"%d bytes are kept")
	})
	if s.tells("c"); len(s.located("c")) != 0 {
		t.Error("what is told no more is kept")
	}
	s.on(func() {
		if s.whole.size != 0 || len(s.whole.list) != 0 {
			t.Errorf("%d bytes are kept of nothing", s.whole.size)
		}
	})
}

// What comes while another is looked for waits, and what is gone by then is not looked for.
func TestChangesWaitForEachOther(t *testing.T) {
	s, dir, may := newScene(t)
	for _, name := range []string{"a", "b", "c"} {
		must.Write(t, dir, name, name+"\n")
	}
	s.tells("a", replacing("a", "a", "x"))
	s.tells("b", replacing("b", "b", "x"))
	s.tells("c", replacing("c", "c", "x"))
	s.tells("b")
	may <- struct{}{}
	if f := s.located("a")[0]; !f.Located {
		t.Errorf("a is %+v", f)
	}
	may <- struct{}{}
	if f := s.located("c")[0]; !f.Located {
		t.Errorf("c is %+v", f)
	}
	s.on(func() {
		if s.working || len(s.waiting) != 0 {
			t.Error("something is still looked for")
		}
	})
}

func TestChangesOfWhatIsNoFile(t *testing.T) {
	s, dir, may := newScene(t)
	close(may)
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666))
	must.Write(t, dir, "large", "")
	must.Do(t, os.Truncate(filepath.Join(dir, "large"), diff.LargestFile+1))
	for path, want := range map[string]string{
		"fifo": "the file cannot be read: it is not a regular file", dir: "the file cannot be read: it is a directory",
		"large": "the file cannot be read: it is too large to be searched", "none": "no such file: as the agent sent it",
	} {
		s.tells(path, replacing(path, "a", "b"))
		if f := s.located(path)[0]; f.Located || f.Note != want {
			t.Errorf("%s: %+v, want %q", path, f, want)
		}
	}
}

// A move is located in the text at its old path, or where it went.
func TestMoveIsLocated(t *testing.T) {
	s, dir, may := newScene(t)
	close(may)
	must.Write(t, dir, "old", "a\n")
	d := replacing("new", "a", "b")
	d.Operation, d.OldPath = session.OperationMove, "old"
	s.tells("1", d)
	if f := s.located("1")[0]; !f.Located || f.Old != "a\n" {
		t.Errorf("before: %+v", f)
	}
	must.Do(t, os.Rename(filepath.Join(dir, "old"), must.Write(t, dir, "new", "")))
	must.Write(t, dir, "new", "b\n")
	s.tells("2", d)
	if f := s.located("2")[0]; !f.Located || f.Old != "a\n" || f.New != "b\n" {
		t.Errorf("after: %+v", f)
	}
}

// Of many large files only the last ones are kept whole.
func TestWholeTextsAreBounded(t *testing.T) {
	s, dir, may := newScene(t)
	close(may)
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "%s number %d\n", strings.Repeat("long line ", 80), i)
	}
	path := must.Write(t, dir, "large", text.String())
	const n = 4
	for i := range n {
		s.tells(fmt.Sprint(i), replacing(path, fmt.Sprintf("number %d\n", 5000+i), "number x\n"))
		s.located(fmt.Sprint(i))
	}
	s.on(func() {
		if s.whole.size > wholeTexts || s.whole.size == 0 {
			t.Errorf("%d bytes are kept", s.whole.size)
		}
	})
	first, last := s.located("0")[0], s.located(fmt.Sprint(n - 1))[0]
	if first.Located || len(first.Old) > 5000 || first.Hunks[0].OldStart < 4900 {
		t.Errorf("the first is %v, %d bytes, at %d", first.Located, len(first.Old), first.Hunks[0].OldStart)
	}
	if !last.Located || len(last.Old) != text.Len() {
		t.Errorf("the last is %v, %d bytes", last.Located, len(last.Old))
	}
}

// Of many changes of many lines only the last ones are kept to their end.
func TestHunksAreBounded(t *testing.T) {
	s, dir, may := newScene(t)
	close(may)
	const n, lines = 16, 10_000
	old, text := strings.Repeat(strings.Repeat("a", 200)+"\n", lines), strings.Repeat(strings.Repeat("b", 200)+"\n", lines)
	for i := range n {
		s.tells(fmt.Sprint(i), replacing(must.Write(t, dir, fmt.Sprint("large", i), old), old, text))
		s.located(fmt.Sprint(i))
	}
	s.on(func() {
		texts := 0
		for _, changes := range s.Diffs.calls {
			texts += changes[0].size()
		}
		if limit := wholeTexts + hunkTexts + n*topLines*201; texts > limit || s.hunks.size > hunkTexts {
			t.Errorf("%d bytes are kept, %d of them of hunks", texts, s.hunks.size)
		}
	})
	first, last := s.located("0")[0], s.located(fmt.Sprint(n - 1))[0]
	if len(first.Hunks[0].Lines) != topLines || first.Removed != lines || first.Note == "" {
		t.Errorf("the first has %d lines, −%d, %q", len(first.Hunks[0].Lines), first.Removed, first.Note)
	}
	if len(last.Hunks[0].Lines) != 2*lines || last.Note != "" {
		t.Errorf("the last has %d lines, %q", len(last.Hunks[0].Lines), last.Note)
	}
	s.on(func() {
		for i := range n {
			s.Forget(s.call(fmt.Sprint(i)))
		}
		if s.hunks.size != 0 || s.whole.size != 0 {
			t.Errorf("%d and %d bytes are kept of nothing", s.whole.size, s.hunks.size)
		}
	})
}

// A host that ends does not wait for a Neovim that does not answer.
func TestShutdownWhileLocating(t *testing.T) {
	s, dir, may := newScene(t)
	s.tells("c", replacing(must.Write(t, dir, "a", "a\n"), "a", "b"))
	s.end()
	close(may)
}

// Edits of one call may build on each other.
func TestChangesBuildOnEachOther(t *testing.T) {
	s, dir, may := newScene(t)
	close(may)
	path := must.Write(t, dir, "a", "one\ntwo\n")
	s.tells("c", replacing(path, "one", "first\nnew"), replacing(path, "new\ntwo", "new\nsecond"))
	files := s.located("c")
	if f := files[1]; !f.Located || f.Old != "first\nnew\ntwo\n" || f.New != "first\nnew\nsecond\n" {
		t.Errorf("the second is %+v", f)
	}
}

// Claude tells a change that is made with two spaces for a tab: what was found before stays.
func TestChangeInOtherWhiteSpace(t *testing.T) {
	s, dir, may := newScene(t)
	close(may)
	path := must.Write(t, dir, "a", "func f() {\n\tone()\n}\n")
	s.tells("c", replacing(path, "\tone()\n", "\ttwo()\n"))
	first := s.located("c")[0]
	must.Write(t, dir, "a", "func f() {\n\ttwo()\n}\n")
	for _, c := range []struct {
		text string
		same bool
	}{{"two()", true}, {"three()", false}} {
		s.tells("c", replacing(path, "func f() {\n  one()\n}\n", "func f() {\n  "+c.text+"\n}\n"))
		if f := s.located("c")[0]; (f == first) != c.same || c.same == (f.Note != "") {
			t.Errorf("with %s it is %+v", c.text, f)
		}
	}
}

// What is looked for again is as it was until then, and in the file's present text afterwards.
func TestAChangeIsLookedForAgain(t *testing.T) {
	s, dir, may := newScene(t)
	path := must.Write(t, dir, "a", "1\n2\n")
	told := replacing(path, "2", "two")
	s.tells("c", told)
	may <- struct{}{}
	check.Equal(t, s.located("c")[0].New, "1\ntwo\n", "at first the file becomes %q")
	must.Write(t, dir, "a", "0\n1\n2\n")
	again := make(chan string, 1)
	s.on(func() {
		s.LookAgain(s.call("c"))
		s.WhenLocated(s.call("c"), func() { again <- s.Files(s.call("c"))[0].New })
		check.Equal(t, s.Files(s.call("c"))[0].New, "1\ntwo\n", "in between it becomes %q")
	})
	may <- struct{}{}
	check.Equal(t, <-again, "0\n1\ntwo\n", "then it becomes %q")

	given := diff.FileDiff{Path: path, Located: true, Old: "old\n", New: "new\n"}
	s.on(func() {
		was := s.Changes(s.call("c"))[0]
		now, before := s.Replace(s.call("c"), replacing(path, "old", "new"), given)
		if before != was || now.Looked != was.Looked+1 || now.File.New != "new\n" {
			t.Errorf("what replaces it is %+v, instead of %+v", now, before)
		}
		check.Equal(t, s.whole.size, len("old\nnew\n"), "%d bytes are kept")
	})
	if f := s.tells("c", replacing(path, "old", "new"))[0]; f.New != "new\n" {
		t.Errorf("what is told as it was replaced is looked for: %+v", f)
	}
	s.on(func() {
		s.LookAgain(s.call("c"))
		s.WhenLocated(s.call("c"), func() { again <- s.Files(s.call("c"))[0].New })
	})
	must.Write(t, dir, "a", "old\n2\n")
	may <- struct{}{}
	check.Equal(t, <-again, "new\n2\n", "what replaced it becomes %q")
}

// A change that fits in several places is where the call says that it is; when it was found nothing waits for a search.
func TestWhereACallSaysThatItIs(t *testing.T) {
	for line, want := range map[int]string{0: "two\nx\n1\nx\n1\n", 3: "1\nx\ntwo\nx\n1\n", 5: "1\nx\n1\nx\ntwo\n"} {
		s, dir, may := newScene(t)
		path := must.Write(t, dir, "a", "1\nx\n1\nx\n1\n")
		s.call("c").Locations = []session.Location{{Path: dir + "/b", Line: 1}, {Path: path}, {Path: path, Line: line}, {Path: path, Line: 1}}
		s.tells("c", replacing(path, "1", "two"))
		s.on(func() { check.Equal(t, s.Locating(), true, "at first it is looked for: %t") })
		close(may)
		check.Equal(t, s.located("c")[0].New, want, "at line %d it becomes %q", line)
		s.on(func() { check.Equal(t, s.Locating(), false, "when it was found it is looked for: %t") })
	}
}

// A session is not kept from its work by a large change.
func TestLargeChangesAreComparedElsewhere(t *testing.T) {
	s, dir, may := newScene(t)
	old := strings.Repeat("one line\n", comparedAtOnce/8)
	path := must.Write(t, dir, "a", old)
	if f := s.tells("c", replacing(path, old, old+"more\n"))[0]; len(f.Hunks) != 0 || f.Note == "" {
		t.Errorf("at first it is %+v", f)
	}
	moved := replacing(path, old, old+"more\n")
	moved.Operation, moved.OldPath = session.OperationMove, dir+"/b"
	f := s.tells("moved", moved)[0]
	want := diff.FileDiff{Path: path, OldPath: dir + "/b", Operation: session.OperationMove, Note: f.Note}
	check.Deep(t, *f, want, "a move is at first %+v")
	close(may)
	if f := s.located("c")[0]; !f.Located || f.Added != 1 || f.Note != "" {
		t.Errorf("then it is +%d %q", f.Added, f.Note)
	}
}

// The diff that is meant is that of the call with an id, or the last that has one.
func TestWhichDiffIsMeant(t *testing.T) {
	s, dir, may := newScene(t)
	close(may)
	conv := session.NewConversation(time.Now)
	s.config.Conversation = conv
	tells := func(id string, content ...session.ToolCallContent) {
		conv.Apply(session.ToolCallPatch{ID: id, Content: acp.Set(content)})
		s.on(func() { s.Observe(conv.ToolCall(id)) })
	}
	d := replacing(filepath.Join(dir, "a"), "x", "y")
	tells("first", d)
	tells("last", d)
	tells("talks", session.ContentItem{Content: session.Text{Text: "so"}})
	for id, want := range map[string]string{"first": "first", "": "last", "talks": "", "unknown": ""} {
		got := ""
		s.on(func() {
			if call := s.meant(rpc.ShowDiff{Call: id}); call != nil {
				got = call.ID
			}
		})
		check.Equal(t, got, want, "with "+id+" it is that of %q")
	}
}
