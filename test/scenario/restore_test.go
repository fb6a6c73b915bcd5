package scenario

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
)

// odd are files of all kinds, with what they are before an agent's turn and after it.
var odd = []struct {
	name          string
	before, after string // "" is no file
	mode          fs.FileMode
	old           string // the name before it was moved
	bytes         bool   // only a command can make it so
}{
	{name: "utf16.txt", before: utf16("eins\nzwei\ndrei\n"), after: utf16("eins\nZWEI\ndrei\nund mehr\n"), bytes: true},
	{name: "latin1.txt", before: "Stra\xdfe\nz\xfcgig\n", after: "Stra\xdfe\nZ\xdcGIG\n", bytes: true},
	{name: "crlf.txt", before: "one\r\ntwo\r\nthree\r\n", after: "one\r\nTWO\r\nthree\r\n"},
	{name: "mixed.txt", before: "one\r\ntwo\nthree\r\n", after: "one\r\nTWO\nthree\r\n"},
	{name: "bom.txt", before: "\ufeffone\ntwo\n", after: "\ufeffone\nTWO\n"},
	{name: "ends.txt", before: "one\ntwo", after: "one\nTWO"},
	{name: "ended.txt", before: "one\ntwo", after: "one\ntwo\n"},
	{name: "run.sh", before: "#!/bin/sh\nexit 1\n", after: "#!/bin/sh\nexit 0\n", mode: 0o755},
	{name: "secret", before: "one\n", after: "two\n", mode: 0o600},
	{name: "gone.sh", before: "#!/bin/sh\n", mode: 0o755},
	{name: "gone latin1", before: "z\xfcgig\r\n", mode: 0o600},
	{name: "binary", before: "a\x00b\xff\n", after: "a\x00c\xfe\n", bytes: true},
	{name: "binary gone", before: "a\x00b\xff\n\x00", mode: 0o640},
	{name: "binary new", after: "\x00\x01\xff", bytes: true},
	{name: "empty new", after: "\x00empty"},
	{name: "empty gone", before: "\x00empty"},
	{name: "emptied", before: "one\n", after: "\x00empty"},
	{name: "filled", before: "\x00empty", after: "one\n"},
	{name: "new.txt", after: "one\n"},
	{name: "dir/sub/new.txt", after: "one\n"},
	{name: "old/sub/gone.txt", before: "one\n"},
	{name: "with space.txt", before: "one\n", after: "two\n"},
	{name: "quo'te\".txt", before: "one\n", after: "two\n"},
	{name: "%#[1]*$HOME.txt", before: "one\n", after: "two\n"},
	{name: "-dash", before: "one\n", after: "two\n"},
	{name: "ümläut.txt", before: "ä\n", after: "ö\n"},
	{name: "line\nbreak.txt", before: "one\n", after: "two\n", bytes: true},
	{name: "\xff.txt", before: "one\n", after: "two\n", bytes: true},
	{name: "moved.txt", old: "was.txt", before: "one\ntwo\nthree\n", after: "one\ntwo\nthree\n"},
	{name: "to/moved.sh", old: "from/was.sh", before: "one\ntwo\n", after: "one\ntwo\nthree\n", mode: 0o755},
	{name: "moved.bin", old: "was.bin", before: "\x00\x01\xff\n", after: "\x00\x01\xff\n", bytes: true},
}

func utf16(text string) string {
	b := []byte{0xff, 0xfe}
	for _, r := range text {
		b = append(b, byte(r), byte(r>>8))
	}
	return string(b)
}

// tree is all that is in the working folder, by name: folders, links, and files byte for byte with their
// permissions. Git's own folder is not in it.
func (s *scene) tree() map[string]string { return s.treeOf(s.Dir) }

func (s *scene) treeOf(dir string) map[string]string {
	s.t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			return err
		case name == ".git":
			return fs.SkipDir
		case d.IsDir():
			tree[name+"/"] = ""
		case info.Mode()&fs.ModeSymlink != 0:
			tree[name], err = os.Readlink(path)
			tree[name] = "-> " + tree[name]
		default:
			var data []byte
			data, err = os.ReadFile(path)
			tree[name] = fmt.Sprintf("%o %q", info.Mode().Perm(), data)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return tree
}

// awaitTree waits until the working folder is as it was.
func (s *scene) awaitTree(what string, want map[string]string) {
	s.t.Helper()
	listed := func(tree map[string]string) string {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			fmt.Fprintf(&b, "%q %s\n", name, tree[name])
		}
		return b.String()
	}
	s.synced()
	if got := s.tree(); !maps.Equal(got, want) {
		s.t.Errorf("%s:\n%s", what, udiff.Unified("wanted", "is", listed(want), listed(got)))
	}
}

// synced waits until all that was asked of the record of the session used last is done.
func (s *scene) synced() {
	s.t.Helper()
	s.Lua(nil, `_G.synced = nil
		require('acp.rpc.host').request('list_changes', { session = require('acp.rpc.state').resolve() }, function() _G.synced = true end)`)
	s.AwaitLua(`_G.synced`)
}

// put gives a file bytes, or removes it for "".
func (s *scene) put(name, data string, mode fs.FileMode) {
	s.t.Helper()
	path := filepath.Join(s.Dir, name)
	var err error
	switch data {
	case "":
		err = os.Remove(path)
		for dir := filepath.Dir(path); err == nil && dir != s.Dir && os.Remove(dir) == nil; {
			dir = filepath.Dir(dir)
		}
	case "\x00empty":
		data = ""
		fallthrough
	default:
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(data), 0o666)
		}
		if err == nil && mode != 0 {
			err = os.Chmod(path, mode)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestRestore has an agent change files of all kinds, through its client, by calls that name them and by a
// command, and then all of it refused, or the turn undone: the folder is byte for byte as it was, and as the
// agent had left it when that is taken back.
func TestRestore(t *testing.T) {
	for _, by := range []string{"client", "calls", "command"} {
		for _, loaded := range []string{"loaded ", ""} {
			for _, how := range []string{"refused", "undone"} {
				if by == "client" && (loaded == "") != (how == "undone") || by == "calls" && (loaded == "") != (how == "refused") {
					continue // each with one of them is enough
				}
				t.Run(by+", "+loaded+how, func(t *testing.T) {
					each(t, func(t *testing.T, s *scene) { s.restores(by, how, loaded != "") })
				})
			}
		}
	}
}

func (s *scene) restores(by, how string, loaded bool) {
	s.t.Helper()
	for _, f := range odd {
		if f.before != "" {
			name := f.name
			if f.old != "" {
				name = f.old
			}
			s.put(name, f.before, f.mode)
		}
	}
	before := s.tree()
	if loaded {
		s.Command("set hidden fileformats=unix,dos")
		for _, f := range odd {
			if f.before != "" {
				s.Lua(nil, `vim.cmd.edit(vim.fn.fnameescape(...))`, cmp.Or(f.old, f.name))
			}
		}
		s.Command("enew")
	}
	p := s.begin()
	s.synced()
	turn := s.prompt(p, "change all")
	if by != "calls" {
		p.toolCall("command", "execute", nil)
	}
	for i, f := range odd {
		id := fmt.Sprint("call", i)
		path := filepath.Join(s.Dir, f.name)
		if by == "calls" && !strings.Contains(f.name, "\n") && f.name != "\xff.txt" {
			kind, input := "edit", obj{"path": path}
			if f.old != "" {
				kind, input = "move", obj{"source": filepath.Join(s.Dir, f.old), "destination": path}
			} else if f.after == "" {
				kind = "delete"
			}
			p.toolCall(id, kind, obj{"rawInput": input})
			p.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": filepath.Join(s.Dir, "crlf.txt")})
			s.synced()
		}
		switch {
		case f.old != "":
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				s.t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(s.Dir, f.old), path); err != nil {
				s.t.Fatal(err)
			}
			if f.before != f.after {
				s.put(f.name, f.after, f.mode)
			}
			_ = os.Remove(filepath.Dir(filepath.Join(s.Dir, f.old)))
		case by == "client" && !f.bytes && f.after != "":
			text := strings.TrimPrefix(f.after, "\ufeff")
			if text == "\x00empty" {
				text = ""
			}
			p.writeFile(path, text)
		default:
			s.put(f.name, f.after, f.mode)
		}
		if by == "calls" {
			p.finish(id, nil)
		}
	}
	p.finish("command", nil)
	p.stop(turn, "end_turn")
	s.AwaitEvent("AcpTurnEnd")
	s.synced() // the end is told without what takes longer than a second to compare
	after := s.tree()
	told := map[string]int{}
	for _, e := range s.Events() {
		if e.Name == "AcpFileChanged" {
			told[s.name(e.Data["path"])]++
		}
	}
	for _, f := range odd {
		if told[f.name] != 1 {
			s.t.Errorf("the change of %q is told %d times", f.name, told[f.name])
		}
		delete(told, f.name)
		delete(told, f.old) // changed too, or looked at half-way, it is removed and another one added
	}
	if len(told) > 0 {
		s.t.Errorf("told is of %v too", told)
	}
	if how == "refused" {
		s.ok(`require('acp').reject({})`)
		s.awaitTree("refused", before)
		return
	}
	s.ok(`require('acp').undo_turn()`)
	s.awaitTree("undone", before)
	s.ok(`require('acp').undo_turn({ again = true })`)
	s.awaitTree("done again", after)
	s.ok(`require('acp').undo_turn()`)
	s.awaitTree("undone once more", before)
}

// shifts are what commands do to the paths of a folder, turn by turn.
var shifts = []struct {
	name, before string
	turns        []string
}{
	{"moved", "echo a >a", []string{"mv a b"}},
	{"moved twice", "echo a >a", []string{"mv a b; mv b c"}},
	{"moved in each turn", "echo a >a", []string{"mv a b", "mv b c"}},
	{"moved there and back", "echo a >a", []string{"mv a b", "mv b a"}},
	{"moved on", "echo a >a; echo b >b", []string{"mv b c; mv a b"}},
	{"moved around", "echo a >a; echo b >b; echo c >c", []string{"mv c t; mv b c; mv a b; mv t a"}},
	{"swapped", "echo a >a; echo b >b", []string{"mv a t; mv b a; mv t b"}},
	{"moved and changed", "echo a >a; echo more >>a", []string{"mv a b; echo new >>b"}},
	{"moved, then changed", "echo a >a", []string{"mv a b", "echo new >>b"}},
	{"moved, then removed", "echo a >a", []string{"mv a b", "rm b"}},
	{"moved, and another made", "echo a >a", []string{"mv a b; echo new >a"}},
	{"moved over another", "echo a >a; echo b >b", []string{"mv a b"}},
	{"copied", "echo a >a; chmod 750 a", []string{"cp -p a b"}},
	{"changed by a rename", "echo a >a; chmod 600 a", []string{"echo b >t; chmod 755 t; mv t a"}},
	{"made, changed, removed", "", []string{"echo 1 >a", "echo 2 >a", "rm a"}},
	{"removed and made", "echo 1 >a", []string{"rm a", "echo 2 >a"}},
	{"permissions", "echo a >a", []string{"chmod 755 a", "chmod 600 a"}},
	{"permissions and text", "echo a >a", []string{"echo b >a; chmod 755 a"}},
	{"a folder made", "", []string{"mkdir -p x/y; echo 1 >x/y/z", "echo 2 >x/z"}},
	{"a folder removed", "mkdir -p x/y; echo 1 >x/y/z; echo 2 >x/z", []string{"rm -r x"}},
	{"a folder moved", "mkdir -p x/y; echo 1 >x/y/z; echo 2 >x/z", []string{"mv x w", "mkdir v; mv w v"}},
	{"a folder for a file", "echo a >a", []string{"rm a; mkdir a; echo b >a/b"}},
	{"a file for a folder", "mkdir a; echo b >a/b", []string{"rm -r a; echo a >a"}},
	{"through a link", "echo a >a; ln -s a link", []string{"echo b >link"}},
	{"a link in a folder", "mkdir x; echo a >x/a; ln -s x link", []string{"echo b >link/a"}},
}

// TestRestorePaths has commands move, swap and remove files and folders in several turns, and all of it refused
// or undone.
func TestRestorePaths(t *testing.T) {
	for _, loaded := range []string{"loaded ", ""} {
		for _, how := range []string{"refused", "undone"} {
			t.Run(loaded+how, func(t *testing.T) {
				each(t, func(t *testing.T, s *scene) { s.restoresPaths(how, loaded != "") })
			})
		}
	}
}

// sh runs a shell script in the working folder.
func (s *scene) sh(script string) {
	s.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = s.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v: %s", script, err, out)
	}
}

func (s *scene) restoresPaths(how string, loaded bool) {
	s.t.Helper()
	script := func(of func(i int) string) string {
		var b strings.Builder
		for i, shift := range shifts {
			dir := strings.ReplaceAll(shift.name, " ", "_")
			// No two files have the same text.
			fmt.Fprintf(&b, "mkdir -p %s; cd %s\n%s\ncd ..\n", dir, dir, strings.ReplaceAll(of(i), "echo ", "echo "+dir+" "))
		}
		return b.String()
	}
	s.sh("umask 022\n" + script(func(i int) string { return shifts[i].before }))
	if loaded {
		s.Lua(nil, `vim.o.hidden = true
			for _, path in ipairs(vim.fn.glob('**/*', true, true)) do
				if vim.fn.isdirectory(path) == 0 then
					vim.cmd.edit(path)
				end
			end
			vim.cmd.enew()`)
	}
	p := s.begin()
	trees := []map[string]string{s.tree()}
	for n := range 3 {
		turn := s.prompt(p, fmt.Sprint("turn ", n))
		p.toolCall(fmt.Sprint("command", n), "execute", nil)
		s.sh(script(func(i int) string {
			if n < len(shifts[i].turns) {
				return shifts[i].turns[n]
			}
			return ""
		}))
		p.finish(fmt.Sprint("command", n), nil)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		trees = append(trees, s.tree())
	}
	if how == "refused" {
		s.ok(`require('acp').reject({})`)
		s.awaitTree("refused", trees[0])
		return
	}
	for n := range slices.Backward(trees[1:]) {
		s.ok(`require('acp').undo_turn()`)
		s.awaitTree(fmt.Sprint("turn ", n, " undone"), trees[n])
	}
	for n := range trees[1:] {
		s.ok(`require('acp').undo_turn({ again = true })`)
		s.awaitTree(fmt.Sprint("turn ", n, " done again"), trees[n+1])
	}
}

// move has a call of the agent's that says so move a file.
func (p *puppet) move(s *scene, from, to string) {
	p.t.Helper()
	id := from + " to " + to
	p.named(s, id, "move", obj{"rawInput": obj{"source": filepath.Join(s.Dir, from), "destination": filepath.Join(s.Dir, to)}}, filepath.Join(s.Dir, from))
	s.sh("mv " + from + " " + to)
	p.finish(id, nil)
	s.synced()
}

// What is in the way of a file that goes back is never overwritten.
func TestMovedFilesGoBack(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.sh("echo a >a; echo b >b; echo d >d")
		before := s.tree()
		p := s.begin()
		turn := s.prompt(p, "move on")
		p.move(s, "b", "c")
		p.move(s, "a", "b")
		p.move(s, "d", "e")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		after := s.tree()
		if got := s.changes(); got != "moved c from b\nmoved b from a\nmoved e from d\n" {
			t.Errorf("changed are\n%s", got)
		}
		s.ok(`require('acp').undo_turn()`)
		s.awaitTree("undone", before)
		s.ok(`require('acp').undo_turn({ again = true })`)
		s.awaitTree("done again", after)
		// The user has a new file where one was.
		s.write("d", "mine\n")
		before["d"], before["e"] = s.tree()["d"], after["e"]
		s.ok(`require('acp').undo_turn()`)
		s.awaitTree("undone, but for one", before)
		s.awaitNotification("2 files as before the turn. 1 place left alone.")
		s.ok(`require('acp').undo_turn({ again = true })`)
		s.synced()
		s.ok(`require('acp').reject({})`)
		s.awaitTree("refused, but for one", before)
		s.awaitNotification("e: it cannot go back to d, where another file is")
	})
}

// What an agent names is taken back wherever it is: outside of the session's folder, and where git ignores it.
func TestRestoreWhatIsNamed(t *testing.T) {
	for _, how := range []string{"refused", "undone"} {
		t.Run(how, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.sh("umask 022; git init -q .; echo node_modules >.gitignore; mkdir -p node_modules/x; echo 1 >node_modules/x/a; printf 'a\\0' >node_modules/x/b")
				s.sh("mkdir -p ../out; echo 1 >../out/a; printf 'a\\0' >../out/b; echo 1 >../out/gone; chmod 600 ../out/gone; echo 1 >real; ln -s real link; echo same >old")
				out := filepath.Join(filepath.Dir(s.Dir), "out")
				all := func() map[string]string {
					tree := s.tree()
					for name, is := range s.treeOf(out) {
						tree["../out/"+name] = is
					}
					return tree
				}
				before := all()
				p := s.begin()
				turn := s.prompt(p, "change")
				change := func(kind, path, script string) {
					t.Helper()
					id := kind + path
					p.toolCall(id, kind, obj{"locations": []any{obj{"path": path}}})
					p.readFile(filepath.Join(s.Dir, "real"), nil)
					s.synced()
					s.sh(script)
					p.finish(id, nil)
				}
				modules := filepath.Join(s.Dir, "node_modules", "x")
				change("edit", filepath.Join(modules, "a"), "echo 2 >node_modules/x/a")
				change("edit", filepath.Join(modules, "b"), "printf 'b\\0' >node_modules/x/b")
				change("edit", filepath.Join(modules, "c"), "echo 3 >node_modules/x/c")
				change("edit", filepath.Join(out, "a"), "echo 2 >../out/a")
				change("edit", filepath.Join(out, "b"), "printf 'b\\0' >../out/b")
				change("delete", filepath.Join(out, "gone"), "rm ../out/gone")
				p.writeFile(filepath.Join(s.Dir, "link"), "2\n")
				// Moved by writing it anew.
				p.writeFile(filepath.Join(s.Dir, "new"), "same\n")
				p.toolCall("rm", "execute", nil)
				s.sh("rm old")
				p.finish("rm", nil)
				p.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				after := all()
				is := func(what string, want map[string]string) {
					t.Helper()
					s.synced()
					if got := all(); !maps.Equal(got, want) {
						t.Errorf("%s it is\n%v\nwanted\n%v\n%s", what, got, want, s.changes())
					}
				}
				if how == "refused" {
					s.ok(`require('acp').reject({})`)
					is("refused", before)
					return
				}
				s.ok(`require('acp').undo_turn()`)
				is("undone", before)
				s.ok(`require('acp').undo_turn({ again = true })`)
				is("done again", after)
			})
		})
	}
}

// A file with changes that wait becomes binary some turns later: to refuse that brings back the text before both.
func TestTextThatBecameBinaryIsRefused(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("a", "1\n2\n3\n")
		p := s.begin()
		turn := s.prompt(p, "edit")
		p.writeFile(path, "1\ntwo\n3\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		for range 3 {
			turn = s.prompt(p, "talk")
			p.stop(turn, "end_turn")
			s.AwaitEvent("AcpTurnEnd")
		}
		turn = s.prompt(p, "make it binary")
		p.toolCall("run", "execute", nil)
		s.write("a", "a\x00b")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Await("a file without lines", func() bool { return s.changes() == "modified a\n" })
		s.ok(`require('acp').reject({ path = ... })`, path)
		s.Await("the text", func() bool { return s.disk(path) == "1\n2\n3\n" })
	})
}
