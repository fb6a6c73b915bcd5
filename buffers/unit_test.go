package buffers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestMerge3(t *testing.T) {
	for _, c := range []struct {
		name, base, mine, theirs, want string
		conflicts                      int
	}{
		{"nothing", "a b c", "a b c", "a b c", "a b c", 0},
		{"only mine", "a b c", "a M c", "a b c", "a M c", 0},
		{"only theirs", "a b c", "a b c", "a T c", "a T c", 0},
		{"the same", "a b c", "a X c", "a X c", "a X c", 0},
		{"apart", "a b c d e", "M b c d e", "a b c d T", "M b c d T", 0},
		{"neighbours", "a b c", "M b c", "a T c", "M T c", 0},
		{"added beside a change", "a b c", "a x b c", "a T c", "a x T c", 0},
		{"added by both, beside a change", "b", "x b y", "x T T y", "x T T y", 0},
		{"added by both, beside mine", "a b c", "a x M y c", "a x b y c", "a x M y c", 0},
		{"removed and added", "a b c", "a c", "a b x c", "a x c", 0},
		{"one line", "a b c", "a M c", "a T c", "a M c", 1},
		{"added at one place", "a b", "a m b", "a t b", "a m b", 1},
		{"added below mine", "a b", "a m b", "a m t b", "a m t b", 0},
		{"added above theirs", "a b", "a m t b", "a t b", "a m t b", 0},
		{"added around mine", "a b", "a m b", "a t m t b", "a m b", 1},
		{"one added, both changed apart", "a b c d", "a m b c d", "a t b c T", "a m b c T", 1},
		{"overlap", "a b c d e", "a M M d e", "a b T T e", "a M M d e", 1},
		{"chain", "a b c d e f", "M M c M M f", "a T T T e f", "M M c M M f", 1},
		{"one of two", "a b c d e", "M b c d M", "T b c T e", "M b c T M", 1},
		{"removed all", "a b", "a b m", "", "m", 0},
		{"from nothing", "", "m", "t", "m", 1},
	} {
		text := func(s string) string {
			if s == "" {
				return ""
			}
			return strings.ReplaceAll(s, " ", "\n") + "\n"
		}
		got, conflicts := merge3(text(c.base), text(c.mine), text(c.theirs))
		if got != text(c.want) || len(conflicts) != c.conflicts {
			t.Errorf("%s: %q, %v; want %q, %d conflicts", c.name, got, conflicts, c.want, c.conflicts)
		}
	}
}

// What conflicts is no more than the lines that differ, with what the agent has there, and what both had.
func TestConflictsOfAMerge(t *testing.T) {
	text := func(s string) string { return strings.ReplaceAll(s, " ", "\n") }
	for _, c := range []struct {
		name, base, mine, theirs, want string
	}{
		{"one line", "a b c ", "a M c ", "a T c ", "1+1 [T] was [b]"},
		{"added", "a b ", "a m b ", "a t b ", "1+1 [t] was []"},
		{"removed by me", "a b c ", "a c ", "a T c ", "1+0 [T] was [b]"},
		{"removed by the agent", "a b c ", "a M c ", "a c ", "1+1 [] was [b]"},
		{"several, with changes between", "a b c d e ", "M b c d M ", "T b c x T ", "0+1 [T] was [a], 3+2 [x T] was [d e]"},
		{"the same changes at both ends", "a b c d ", "a x M y ", "a x T y ", "2+1 [T], not known"},
		{"begin alike", "a b ", "a x m b ", "a x t b ", "2+1 [t], not known"},
		{"no newline", "a b", "a b ", "a b x", ""},
		{"another last newline", "a ", "b ", "b", ""},
	} {
		_, conflicts := merge3(text(c.base), text(c.mine), text(c.theirs))
		var got []string
		for _, c := range conflicts {
			s := fmt.Sprintf("%d+%d [%s]", c.row, c.count, strings.Join(strings.Fields(strings.Join(c.theirs, "")), " "))
			if c.based {
				s += fmt.Sprintf(" was [%s]", strings.TrimSpace(strings.ReplaceAll(strings.Join(c.base, ""), "\n", " ")))
			} else {
				s += ", not known"
			}
			got = append(got, s)
		}
		check.Equal(t, strings.Join(got, ", "), c.want, "%s: %s", c.name)
	}
}

// Where two texts differ is told as rows of both.
func TestWhereTextsDiffer(t *testing.T) {
	for texts, want := range map[string]string{
		"a b c|a b c":     "[]",
		"a b c|x a B c":   "[0 0 0 1 1 2 2 3]",
		"a b c d|c D":     "[0 2 0 0 3 4 1 2]",
		"a b c|A x b y c": "[0 1 0 2 2 2 3 4]",
	} {
		text, other, _ := strings.Cut(strings.ReplaceAll(texts, " ", "\n"), "|")
		check.Equal(t, fmt.Sprint(differing(text+"\n", other+"\n")), want, "%s: %s", texts)
	}
}

func TestDetectGivesTheBytesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	parts := []string{"a", "\r\n", "\n", "\r", "\xff\xfe", "\xfe\xff", "\xef\xbb\xbf", "é", "\x00", "\xe9", "\x00\xd8", "😀"}
	for range 20_000 {
		var data []byte
		for range r.IntN(6) {
			data = append(data, parts[r.IntN(len(parts))]...)
		}
		text, f := detect(data)
		again, err := f.encode(text)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%q: text %q as %+v gives %q, %v", data, text, f, again, err)
		}
	}
}

func TestCutLinesInPartsIsTheWhole(t *testing.T) {
	for _, text := range []string{"", "a", "a\n", "a\nb", "\n\n", "a\nb\nc\n"} {
		var got string
		for i := range 6 {
			got += cutLines(text, i, i+1)
		}
		check.Equal(t, got, text, "%q in parts is %q", text)
	}
}

func TestChangesOfOtherLines(t *testing.T) {
	for _, c := range []struct{ text, old, next, want string }{
		{"a b c", "a b c", "a x c", "a x c"},
		{"a b c", "a U c", "a X c", "a b c"},           // of unsaved lines
		{"a b c", "a U b c", "a U c", "a c"},           // right below one
		{"a b c", "a b U c", "a r U c", "a r c"},       // right above one
		{"a b c", "a U c", "a U r c", "a b r c"},       // behind what stands for one
		{"a b c", "a c", "a r c", "a r b c"},           // where one is gone
		{"a b c", "U a b c V", "U c V", "c"},           // between two
		{"a b c", "U", "U r", "a b c r"},               // nothing in common
		{"} } }", "} } } }", "} }", "} }"},             // all alike
		{"a b c d", "a B c D", "a x c y z", "a b c d"}, // several
		{"a b", "a U V b", "a x", "a x"},               // one of them
		{"a b c", "a", "x b y", "x b y c"},             // with one of those that are gone
		{"a b c d", "a d", "a x b c y", "a x b c y"},   // with all of them
		{"a b c", "U c", "U b r c", "a b r c"},         // below one that stands for another
		{"a b c", "A b c", "a A b c", "a a b c"},       // of a line that another one stands for
		{"", "U", "U r", "r"},
		{"a b", "U", "a b U", "a b"},     // what unsaved lines stand for comes back above them
		{"a b", "U", "U a b", "a b"},     // or below
		{"a b c", "U", "a U c", "a b c"}, // or around them
	} {
		text := func(words string) string { return strings.ReplaceAll(words+" ", " ", "\n") }
		if c.text == "" {
			text = func(words string) string { return strings.TrimPrefix(strings.ReplaceAll(words+" ", " ", "\n"), "\n") }
		}
		if got := carried(text(c.text), text(c.old), text(c.next)); got != text(c.want) {
			t.Errorf("%q to %q makes of %q: %q, want %q", c.old, c.next, c.text, got, c.want)
		}
	}
	check.Equal(t, carried("a\nb", "a\nb\n", "x\nb\n"), "x\nb", "the last newline comes: %q")
	check.Equal(t, carried("a\nb", "a\nb", "a\nb\n"), "a\nb\n", "the last newline does not come: %q")
}

func TestMemoryIsBounded(t *testing.T) {
	var m memory[known]
	big := strings.Repeat("x", memoryBytes/4)
	for i := range 6 {
		m.put(fmt.Sprint(i), known{text: big})
		m.get("0")
	}
	m.put("5", known{text: "small"})
	m.put("huge", known{text: strings.Repeat("x", memoryBytes+1)})
	var have []string
	for i := range 6 {
		if _, ok := m.get(fmt.Sprint(i)); ok {
			have = append(have, fmt.Sprint(i))
		}
	}
	if fmt.Sprint(have) != "[0 3 4 5]" || m.bytes != 3*len(big)+len("small") || m.used.Len() != len(m.texts) {
		t.Errorf("has %v, %d bytes", have, m.bytes)
	}
	if _, ok := m.get("huge"); ok {
		t.Error("remembers more than it may")
	}
	// All that is remembered of a file takes room.
	for name, most := range map[string]texts{
		"known":   known{text: big + big, given: big + big},
		"in step": inStep{text: big + big, base: big + big},
	} {
		var m memory[texts]
		m.put("first", most)
		_, alone := m.get("first")
		m.put("second", known{text: "x"})
		_, beside := m.get("first")
		check.Equal(t, alone && !beside, true, "%s: the first one goes for the second: %v", name)
	}
}

func TestRealPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	must.Do(t, os.MkdirAll(dir+"/a/b", 0o755))
	must.Do(t, os.WriteFile(dir+"/a/b/there", nil, 0o600))
	must.Do(t, os.Symlink("a/b", dir+"/link"))
	must.Do(t, os.Symlink(dir+"/nowhere/x", dir+"/dangling"))
	must.Do(t, os.Symlink("self", dir+"/self"))
	for _, c := range []struct{ path, want string }{
		{"/a/b/f", "/a/b/f"},
		{"/link/f", "/a/b/f"},
		{"/a/b/there", "/a/b/there"},
		{"/link/there", "/a/b/there"},
		{"/link", "/a/b"},
		{"/link/../f", "/a/f"},
		{"//a/./b//f", "/a/b/f"},
		{"/link/new/f", "/a/b/new/f"},
		{"/dangling", "/nowhere/x"},
		{"/dangling/../y", "/nowhere/y"},
	} {
		if got, err := RealPath(dir + c.path); err != nil || got != dir+c.want {
			t.Errorf("%s: %s, %v; want %s", c.path, got, err, dir+c.want)
		}
	}
	for _, path := range []string{"", "a/b", dir + "/self", dir + "/a\x00b"} {
		if got, err := RealPath(path); err == nil {
			t.Errorf("%q: %s", path, got)
		}
	}
}

// A link that is put into a path after it was decided about leads nowhere.
func TestLinksPutIntoARealPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	must.Do(t, os.Mkdir(dir+"/outside", 0o755))
	must.Do(t, os.WriteFile(dir+"/outside/f", []byte("theirs\n"), 0o600))
	must.Do(t, os.Symlink("outside", dir+"/d"))
	theirs, err := readUpTo(dir+"/outside/f", maxFile)
	must.Do(t, err)
	j := &journal{dir: dir + "/journal"}
	for name, do := range map[string]func(path string) error{
		"read":       func(path string) error { _, err := readUpTo(path, maxFile); return err },
		"read part":  func(path string) error { _, err := readPart(t.Context(), path, 0, 1); return err },
		"before":     func(path string) error { _, err := readOld(path); return err },
		"replace":    func(path string) error { return j.write(path, []byte("x"), theirs, theirs.standing()) },
		"in place":   func(path string) error { return j.rewrite(path, []byte("x"), theirs) },
		"a new file": func(path string) error { return j.write(filepath.Dir(path)+"/new", []byte("x"), file{}, nil) },
		"remove":     removeReal,
	} {
		check.Equal(t, do(dir+"/d/f"), error(ErrMoved), "%s", name)
	}
	names, err := os.ReadDir(dir + "/outside")
	now, _ := os.ReadFile(dir + "/outside/f")
	if err != nil || len(names) != 1 || string(now) != "theirs\n" {
		t.Errorf("outside there are %v, %q, %v", names, now, err)
	}
}

// fake is an Editor of which no buffer shows any file; gate, where set, is called for each.
type fake struct {
	gate func(ctx context.Context, path string) error
}

func (e fake) CallBuffers(ctx context.Context, fn string, args, result any) error {
	return e.gate(ctx, args.(map[string]any)["path"].(string))
}

func TestJobsOfOnePathKeepTheirOrderAndOthersDoNotWait(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Symlink("slow", dir+"/alias"))
	release := make(chan struct{})
	f := New(fake{func(_ context.Context, path string) error {
		if strings.HasSuffix(path, "slow") {
			<-release
		}
		return nil
	}})
	var all sync.WaitGroup
	for i := range 20 {
		all.Add(2)
		name := []string{"/slow", "/alias"}[i%2]
		f.Write(context.Background(), Write{Path: dir + name, Text: fmt.Sprint(i)}, func(_ Written, err error) {
			if err != nil {
				t.Error(err)
			}
			all.Done()
		})
		f.Read(context.Background(), Read{Path: dir + name}, func(text string, err error) {
			if text != fmt.Sprint(i) || err != nil {
				t.Errorf("read after write %d: %q, %v", i, text, err)
			}
			all.Done()
		})
	}
	quick := make(chan struct{})
	f.Write(context.Background(), Write{Path: dir + "/quick", Text: "x"}, func(Written, error) { close(quick) })
	select {
	case <-quick:
	case <-time.After(time.Minute):
		t.Fatal("a file waits for another")
	}
	close(release)
	all.Wait()
}

// What was allowed of a path is the file that it led to then.
func TestALinkThatHasMoved(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	must.Do(t, os.WriteFile(dir+"/a", []byte("a"), 0o666))
	must.Do(t, os.Symlink("a", dir+"/link"))
	f := New(fake{func(context.Context, string) error { return nil }})
	answers := make(chan error, 1)
	read := func() error {
		f.Read(context.Background(), Read{Path: dir + "/link", Real: dir + "/a"}, func(_ string, err error) { answers <- err })
		return <-answers
	}
	must.Do(t, read())
	must.Do(t, os.Remove(dir+"/link"))
	must.Do(t, os.Symlink("b", dir+"/link"))
	if err := read(); !errors.Is(err, ErrMoved) {
		t.Errorf("a read is %v, want %v", err, ErrMoved)
	}
	f.Write(context.Background(), Write{Path: dir + "/link", Real: dir + "/a"}, func(_ Written, err error) { answers <- err })
	if err := <-answers; !errors.Is(err, ErrMoved) {
		t.Errorf("a write is %v, want %v", err, ErrMoved)
	}
	must.Do(t, os.Remove(dir+"/link"), os.Symlink("link", dir+"/link"))
	if err := read(); err == nil || errors.Is(err, ErrMoved) {
		t.Errorf("a read of a link to itself is %v", err)
	}
}

// What cannot be read is an error, whatever the system says of its size.
func TestWhatIsNotReadFromTheDisk(t *testing.T) {
	dir := t.TempDir()
	path := must.Write(t, dir, "a", "0123456789")
	below := filepath.Join(path, "below")
	if data, err := OnDisk(path, 10); err != nil || string(data) != "0123456789" {
		t.Errorf("it has %q, %v", data, err)
	}
	generated := "/proc/self/status" // which has no size
	if _, err := os.Stat(generated); err != nil {
		generated = path
	}
	for _, name := range []string{path, generated} {
		var large tooLarge
		if data, err := OnDisk(name, 9); !errors.As(err, &large) || large.size < 10 || large.limit != 9 || len(data) > 0 {
			t.Errorf("%s has more than %q, %v", name, data, err)
		}
	}
	for what, err := range map[string]error{
		"a file below a file":   Obstacle(below, false),
		"one that is separated": Separate(below),
	} {
		if !errors.Is(err, unix.ENOTDIR) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := Separate(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file is separated: %v", err)
	}
}

func TestDoneIsCalledOnceWhateverHappens(t *testing.T) {
	gone := errors.New("neovim is gone")
	dir := t.TempDir()
	blocked := make(chan struct{}, 1)
	f := New(fake{func(ctx context.Context, path string) error {
		switch filepath.Base(path) {
		case "gone":
			return gone
		case "panic":
			panic("oh")
		}
		blocked <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}})
	answers := make(chan error, 10)
	done := func(_ Written, err error) { answers <- err }
	want := func(target error) {
		t.Helper()
		var typed *Error
		if err := <-answers; !errors.As(err, &typed) || target != nil && !errors.Is(err, target) {
			t.Errorf("%v, want %v", err, target)
		}
	}
	f.Write(context.Background(), Write{Path: dir + "/gone", Text: "x"}, done)
	want(gone)
	f.Write(context.Background(), Write{Path: dir + "/panic", Text: "x"}, done)
	want(nil)

	running, stopRunning := context.WithCancel(context.Background())
	queued, stopQueued := context.WithCancel(context.Background())
	f.Write(running, Write{Path: dir + "/f", Text: "x"}, done)
	<-blocked
	f.Write(queued, Write{Path: dir + "/f", Text: "y"}, done)
	stopQueued()
	want(context.Canceled)
	stopRunning()
	want(context.Canceled)
	// What was cancelled while it waited does not happen later: this comes after it.
	ended, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	f.Write(ended, Write{Path: dir + "/f", Text: "z"}, done)
	want(context.DeadlineExceeded)
	if _, err := os.Stat(dir + "/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("was written: %v", err)
	}
	if len(answers) > 0 {
		t.Error("answered twice")
	}
}

func TestWhatAnotherProgramKnew(t *testing.T) {
	for _, c := range []struct {
		name, given, base, text string
		want                    bool
	}{
		{"has what only it was given", "a\nmine\n", "a\n", "A\nmine\n", true},
		{"rewrote that, or put a line there: who knows", "a\nmine\n", "a\n", "a\nMINE\n", false},
		{"put lines elsewhere", "a\nmine\nb\n", "a\nb\n", "a\nb\n1\n2\n", false},
		{"knows the disk alone", "a\nb\nmine\n", "a\nb\n", "A\nb\n", false},
		{"ends the last line, which it was given so", "a\nmine\n", "a", "a\nA\n", false},
		{"ends no last line", "a\nmine\n", "a\n", "A\na", false},
		{"has what only it was given, without the end", "a\nmine\n", "a\n", "A\nmine", true},
		{"has an empty line", "a\n\nmine\n", "a\n", "a\n\nA\n", false},
		{"has what the user saved since", "a\nb\n", "a\nbx\n", "2\nbx\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			check.Equal(t, tells(c.given, c.base, c.text), c.want, "made of what was given: %v")
		})
	}
}

// Files become UTF-8 by agents that write nothing else, and stay what they are where their bytes say no more.
func TestWhatBecameUTF8(t *testing.T) {
	utf16 := func(text string) string {
		data, err := format{encoding: "utf-16le"}.encode(text)
		must.Do(t, err)
		return string(data)
	}
	for name, c := range map[string]struct {
		encoding, had, data string
		want                bool
	}{
		"latin1":                      {"latin1", "é\n", "éa\n", true},
		"latin1 all the same":         {"latin1", "é\n", "\xe9a\n", false},
		"latin1, with nothing to say": {"latin1", "e\n", "é\n", true},
		"latin1, as the user wants":   {"latin1", "Ã©\n", "éa\n", false},
		"latin1, and a mark":          {"latin1", "e\n", "\ufeffa\n", true},
		"a mark and no UTF-8":         {"latin1", "e\n", "\ufeffa\xe9\n", false},
		"UTF-16":                      {"utf-16le", "é\n", "é\na\n", true},
		"UTF-16, plain letters":       {"utf-16le", "e\n", "e\na\n", true},
		"UTF-16, the other end first": {"utf-16", "é\n", "éa\n", true},
		"UTF-16, that end as it was":  {"utf-16", "e\n", "\x00e\x00a\x00\n", false},
		"UTF-16, and a mark":          {"utf-16le", "é\n", "\ufeffa\n", true},
		"UTF-16 all the same":         {"utf-16le", "é\n", utf16("éa\n"), false},
		"UTF-16, emptied":             {"utf-16le", "é\n", "", false},
		"UTF-8 with a mark":           {"utf-8", "é\n", "\ufeffé\n", false},
		"not known":                   {"", "é\n", "\ufeffé\n", false},
		"another one":                 {"cp1251", "a\n", "é\n", false},
		"another one, and a mark":     {"cp1251", "a\n", "\ufeffé\n", true},
	} {
		check.Equal(t, becameUTF8(live{Encoding: c.encoding}, c.had, []byte(c.data)), c.want, "%s: %v", name)
	}
	for data, want := range map[string]bool{"\x00a\n": true, "\xff\xfea\x00\n\x00": false, "": false} {
		check.Equal(t, becameUTF8(live{Encoding: "utf-16le", Bom: true}, "é\n", []byte(data)), want, "UTF-16 with a mark, then %q: %v", data)
	}
}

// A file that rests is taken at once when somebody waits for it.
func TestTheRestEndsForTheUser(t *testing.T) {
	f := New(deaf{})
	w := &Watch{files: f, ctx: t.Context(), wake: make(chan struct{}, 1), known: map[string]*watched{}, names: map[string]string{}}
	path := filepath.Join(t.TempDir(), "a.txt")
	must.Do(t, os.WriteFile(path, []byte("text\n"), 0o644))
	past := time.Now().Add(-time.Hour)
	w.names[path], w.known[path] = path, &watched{first: past, last: past, rest: time.Now().Add(time.Hour)}
	if next := w.takeDue(); next < 59*time.Minute {
		t.Errorf("it rests for %v", next)
	}
	told := make(chan bool)
	w.hurry(catchUp{path, func(again bool) { told <- again }})
	must.Equal(t, w.takeDue(), 0, "it still rests for %v")
	if <-told {
		t.Error("Neovim is gone, and may be asked again")
	}
	w.hurry(catchUp{"/nowhere", func(again bool) { go func() { told <- again }() }})
	if <-told {
		t.Error("a file that is not tracked may be asked for again")
	}
}

// deaf is a Neovim that is gone.
type deaf struct{}

func (deaf) CallBuffers(context.Context, string, any, any) error { return errors.New("gone") }

// Of a text that is given back what the user has added to its buffer, and not saved, does not get to the disk; what the
// buffer lacks may be the agent's, or in the text by right.
func TestWithoutWhatIsUnsaved(t *testing.T) {
	for name, c := range map[string]struct{ mine, saved, text, want string }{
		"nothing unsaved":           {"1\n2\n", "1\n2\n", "1\n2\n3\n", "1\n2\n3\n"},
		"a line added":              {"1\nmine\n2\n", "1\n2\n", "0\n1\nmine\n2\n", "0\n1\n2\n"},
		"a line changed":            {"1\nmine\n3\n", "1\n2\n3\n", "1\nmine\n3\n4\n", "1\n2\n3\n4\n"},
		"not in the text":           {"1\nmine\n2\n", "1\n2\n", "1\n2\n3\n", "1\n2\n3\n"},
		"the agent's lines deleted": {"1\n3\n", "1\na\n3\n", "1\n2\n3\n", "1\n2\n3\n"},
		"one of two":                {"1\nmine\n2\nmine too\n", "1\n2\n", "1\n2\nmine too\n", "1\n2\n"},
	} {
		check.Equal(t, withoutAdded(c.mine, c.saved, c.text), c.want, "%s: %q", name)
	}
}

// What the user wants back of a file comes into a buffer that conflicts with it; what the buffer lacks of the disk, or has in
// addition, because of the conflict stays so.
func TestTheUsersWishUnderAConflict(t *testing.T) {
	for name, c := range map[string]struct{ base, disk, mine, wish, want string }{
		"another line goes":             {"a b c ", "a c ", "a b c ", "c ", "b c "},
		"another line, in place of one": {"a b c ", "a B c ", "a m c ", "A B c ", "A m c "},
		"the line itself comes back":    {"a b c ", "a B c ", "a m c ", "a b c ", "a m c "},
		"no conflict":                   {"", "a b c ", "a m b c ", "a b ", "a m b "},
		"nothing":                       {"a b c ", "a c ", "a b c ", "a c ", "a b c "},
		"what the disk never had":       {"", "", "a m c e f ", "a T c x e ", "a T m c x e f "},
	} {
		lines := func(words string) string { return strings.ReplaceAll(words, " ", "\n") }
		f := New(deaf{})
		f.synced.put("f", inStep{text: lines(c.disk), base: lines(c.base)})
		got, conflicts := f.merge("f", lines(c.mine), lines(c.wish), true)
		check.Equal(t, got, lines(c.want), "%s: there is %q", name)
		check.Equal(t, len(conflicts), 0, "%s: %d conflicts", name)
	}
}

// Where it is not known what the disk had, what the agent was given is no base for a disk that does not tell of it: the user's
// unsaved lines are not removed.
func TestMergeWithoutABase(t *testing.T) {
	for name, c := range map[string]struct {
		given      known
		mine, disk string
		want       string
		conflicts  int
	}{
		"given the buffer, and nothing on the disk": {known{text: "mine\n"}, "mine\n", "", "mine\n", 1},
		"given the buffer, and an older disk":       {known{text: "1\nmine\n"}, "1\nmine\n", "1\n", "1\nmine\n", 1},
		"given the buffer, and made of that":        {known{text: "1\nmine\n"}, "1\nmine\nmore\n", "0\n1\nmine\n", "0\n1\nmine\nmore\n", 0},
		"given the buffer, a line of which is gone": {known{text: "1\nmine\n"}, "1\nmine\nmore\n", "0\nmine\n", "1\nmine\nmore\n", 2},
		"given the disk":                            {known{text: "1\n2\n", disk: true}, "1\n2\nmine\n", "one\n2\n", "one\n2\nmine\n", 0},
	} {
		f := New(deaf{})
		f.seen.put("f", c.given)
		got, conflicts := f.merge("f", c.mine, c.disk, false)
		check.Equal(t, got, c.want, name+": there is %q")
		check.Equal(t, len(conflicts), c.conflicts, name+": %d conflicts")
	}
}

// What Neovim has failed to write over comes back: where it is gone, in place where it has another text, and not at all where
// there was no file.
func TestRestoredAfterAFailedWrite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ had, has, want string }{
		"as it was":      {"had\n", "had\n", "had\n"},
		"written over":   {"had\n", "some of what was to be written\n", "had\n"},
		"cut short":      {"had\n", "", "had\n"},
		"gone":           {"had\n", "no file", "had\n"},
		"made anew":      {"no file", "new\n", "no file"},
		"there was none": {"no file", "no file", "no file"},
	} {
		path := filepath.Join(t.TempDir(), "f")
		write := func(text string) {
			os.Remove(path)
			if text != "no file" {
				must.Do(t, os.WriteFile(path, []byte(text), 0o640))
			}
		}
		write(c.had)
		old, err := readOld(path)
		must.Do(t, err)
		write(c.has)
		before, _ := os.Stat(path)
		must.Do(t, (*journal)(nil).restore(path, old))
		is := "no file"
		after, err := os.Stat(path)
		if err == nil {
			data, err := os.ReadFile(path)
			must.Do(t, err)
			is = string(data)
			check.Equal(t, after.Mode().Perm(), 0o640, name+": its permissions are %o")
		}
		check.Equal(t, is, c.want, name+": there is %q")
		if before != nil && after != nil && !os.SameFile(before, after) {
			t.Errorf("%s: it is another file", name)
		}
	}
}

// What an earlier host knew of a buffer counts, with a last line as the file had it, unless this one knows better.
func TestWhatAnEarlierHostKnewOfABuffer(t *testing.T) {
	t.Parallel()
	f := New(nil)
	for _, c := range []struct{ path, text, form, want, wantForm string }{
		{"/f", "1\n", "utf-8 unix noeol", "1", "utf-8 unix noeol"},
		{"/g", "1\n", "utf-8 unix", "1\n", "utf-8 unix"},
		{"/g", "2\n", "utf-8 dos", "1\n", "utf-8 unix"},
	} {
		f.WasInStep(c.path, c.text, c.form)
		text, form, known := f.InStep(c.path)
		want := fmt.Sprintf("%q %s true", c.want, c.wantForm)
		check.Equal(t, fmt.Sprintf("%q %s %v", text, form, known), want, c.path+" is in step with %s")
	}
}
