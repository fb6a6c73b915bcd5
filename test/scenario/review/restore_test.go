package review

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
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
func tree(s *scene.Scene) map[string]string { return treeOf(s, s.Dir) }

func treeOf(s *scene.Scene, dir string) map[string]string {
	s.T.Helper()
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
	must.Do(s.T, err)
	return tree
}

// awaitTree waits until the working folder is as it was.
func awaitTree(s *scene.Scene, what string, want map[string]string) {
	s.T.Helper()
	listed := func(tree map[string]string) string {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			fmt.Fprintf(&b, "%q %s\n", name, tree[name])
		}
		return b.String()
	}
	s.Sync()
	if got := tree(s); !maps.Equal(got, want) {
		s.T.Errorf("%s:\n%s", what, udiff.Unified("wanted", "is", listed(want), listed(got)))
	}
}

// put gives a file bytes, or removes it for "".
func put(s *scene.Scene, name, data string, mode fs.FileMode) {
	s.T.Helper()
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
	must.Do(s.T, err)
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
					scene.Each(t, func(t *testing.T, s *scene.Scene) { restores(s, by, how, loaded != "") })
				})
			}
		}
	}
}

func restores(s *scene.Scene, by, how string, loaded bool) {
	s.T.Helper()
	for _, f := range odd {
		if f.before != "" {
			name := f.name
			if f.old != "" {
				name = f.old
			}
			put(s, name, f.before, f.mode)
		}
	}
	before := tree(s)
	if loaded {
		s.Command("set hidden fileformats=unix,dos")
		for _, f := range odd {
			if f.before != "" {
				s.Lua(nil, `vim.cmd.edit(vim.fn.fnameescape(...))`, cmp.Or(f.old, f.name))
			}
		}
		s.Command("enew")
	}
	p := s.Begin()
	s.Sync()
	turn := s.Prompt(p, "change all")
	if by != "calls" {
		p.ToolCall("command", "execute", nil)
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
			p.ToolCall(id, kind, obj{"rawInput": input})
			p.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": filepath.Join(s.Dir, "crlf.txt")})
			s.Sync()
		}
		switch {
		case f.old != "":
			must.Do(s.T, os.MkdirAll(filepath.Dir(path), 0o755))
			must.Do(s.T, os.Rename(filepath.Join(s.Dir, f.old), path))
			if f.before != f.after {
				put(s, f.name, f.after, f.mode)
			}
			_ = os.Remove(filepath.Dir(filepath.Join(s.Dir, f.old)))
		case by == "client" && !f.bytes && f.after != "":
			text := strings.TrimPrefix(f.after, "\ufeff")
			if text == "\x00empty" {
				text = ""
			}
			p.WriteFile(path, text)
		default:
			put(s, f.name, f.after, f.mode)
		}
		if by == "calls" {
			p.Finish(id, nil)
		}
	}
	p.Finish("command", nil)
	p.EndTurn(turn)
	s.Sync() // the end is told without what takes longer than a second to compare
	after := tree(s)
	told := map[string]int{}
	for _, e := range s.Events() {
		if e.Name == "AcpFileChanged" {
			told[s.Rel(e.Data["path"])]++
		}
	}
	for _, f := range odd {
		check.Equal(s.T, told[f.name], 1, "the change of %q is told %d times", f.name)
		delete(told, f.name)
		delete(told, f.old) // changed too, or looked at half-way, it is removed and another one added
	}
	if len(told) > 0 {
		s.T.Errorf("told is of %v too", told)
	}
	if how == "refused" {
		s.OK(`require('acp').reject({})`)
		awaitTree(s, "refused", before)
		return
	}
	s.OK(`require('acp').undo_turn()`)
	awaitTree(s, "undone", before)
	s.OK(`require('acp').undo_turn({ again = true })`)
	awaitTree(s, "done again", after)
	s.OK(`require('acp').undo_turn()`)
	awaitTree(s, "undone once more", before)
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
				scene.Each(t, func(t *testing.T, s *scene.Scene) { restoresPaths(s, how, loaded != "") })
			})
		}
	}
}

func restoresPaths(s *scene.Scene, how string, loaded bool) {
	s.T.Helper()
	script := func(of func(i int) string) string {
		var b strings.Builder
		for i, shift := range shifts {
			dir := strings.ReplaceAll(shift.name, " ", "_")
			// No two files have the same text.
			fmt.Fprintf(&b, "mkdir -p %s; cd %s\n%s\ncd ..\n", dir, dir, strings.ReplaceAll(of(i), "echo ", "echo "+dir+" "))
		}
		return b.String()
	}
	s.Shell("umask 022\n" + script(func(i int) string { return shifts[i].before }))
	if loaded {
		s.Lua(nil, `vim.o.hidden = true
			for _, path in ipairs(vim.fn.glob('**/*', true, true)) do
				if vim.fn.isdirectory(path) == 0 then
					vim.cmd.edit(path)
				end
			end
			vim.cmd.enew()`)
	}
	p := s.Begin()
	trees := []map[string]string{tree(s)}
	for n := range 3 {
		turn := s.Prompt(p, fmt.Sprint("turn ", n))
		p.ToolCall(fmt.Sprint("command", n), "execute", nil)
		s.Shell(script(func(i int) string {
			if n < len(shifts[i].turns) {
				return shifts[i].turns[n]
			}
			return ""
		}))
		p.Finish(fmt.Sprint("command", n), nil)
		p.EndTurn(turn)
		trees = append(trees, tree(s))
	}
	if how == "refused" {
		s.OK(`require('acp').reject({})`)
		awaitTree(s, "refused", trees[0])
		return
	}
	for n := range slices.Backward(trees[1:]) {
		s.OK(`require('acp').undo_turn()`)
		awaitTree(s, fmt.Sprint("turn ", n, " undone"), trees[n])
	}
	for n := range trees[1:] {
		s.OK(`require('acp').undo_turn({ again = true })`)
		awaitTree(s, fmt.Sprint("turn ", n, " done again"), trees[n+1])
	}
}

// move has a call of the agent's that says so move a file.
func move(p *scene.Puppet, s *scene.Scene, from, to string) {
	p.T.Helper()
	id := from + " to " + to
	named(p, s, id, "move", obj{"rawInput": obj{"source": filepath.Join(s.Dir, from), "destination": filepath.Join(s.Dir, to)}}, filepath.Join(s.Dir, from))
	s.Shell("mv " + from + " " + to)
	p.Finish(id, nil)
	s.Sync()
}

// What is in the way of a file that goes back is never overwritten.
func TestMovedFilesGoBack(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Shell("echo a >a; echo b >b; echo d >d")
		before := tree(s)
		p := s.Begin()
		turn := s.Prompt(p, "move on")
		move(p, s, "b", "c")
		move(p, s, "a", "b")
		move(p, s, "d", "e")
		p.EndTurn(turn)
		after := tree(s)
		check.Equal(t, allChanges(s), "moved c from b\nmoved b from a\nmoved e from d\n", "changed are\n%s")
		s.OK(`require('acp').undo_turn()`)
		awaitTree(s, "undone", before)
		s.OK(`require('acp').undo_turn({ again = true })`)
		awaitTree(s, "done again", after)
		// The user has a new file where one was.
		s.WriteFile("d", "mine\n")
		before["d"], before["e"] = tree(s)["d"], after["e"]
		s.OK(`require('acp').undo_turn()`)
		awaitTree(s, "undone, but for one", before)
		s.AwaitNotification("2 files as before the turn. 1 place left alone.")
		s.OK(`require('acp').undo_turn({ again = true })`)
		s.Sync()
		s.OK(`require('acp').reject({})`)
		awaitTree(s, "refused, but for one", before)
		s.AwaitNotification("e: it cannot go back to d, where another file is")
	})
}

// What an agent names is taken back wherever it is: outside of the session's folder, and where git ignores it.
func TestRestoreWhatIsNamed(t *testing.T) {
	for _, how := range []string{"refused", "undone"} {
		t.Run(how, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.Shell("umask 022; git init -q .; echo node_modules >.gitignore; mkdir -p node_modules/x; echo 1 >node_modules/x/a; printf 'a\\0' >node_modules/x/b")
				s.Shell("mkdir -p ../out; echo 1 >../out/a; printf 'a\\0' >../out/b; echo 1 >../out/gone; chmod 600 ../out/gone; echo 1 >real; ln -s real link; echo same >old")
				out := filepath.Join(filepath.Dir(s.Dir), "out")
				all := func() map[string]string {
					tree := tree(s)
					for name, is := range treeOf(s, out) {
						tree["../out/"+name] = is
					}
					return tree
				}
				before := all()
				p := s.Begin()
				turn := s.Prompt(p, "change")
				change := func(kind, path, script string) {
					t.Helper()
					id := kind + path
					p.ToolCall(id, kind, obj{"locations": []any{obj{"path": path}}})
					p.ReadFile(filepath.Join(s.Dir, "real"), nil)
					s.Sync()
					s.Shell(script)
					p.Finish(id, nil)
				}
				modules := filepath.Join(s.Dir, "node_modules", "x")
				change("edit", filepath.Join(modules, "a"), "echo 2 >node_modules/x/a")
				change("edit", filepath.Join(modules, "b"), "printf 'b\\0' >node_modules/x/b")
				change("edit", filepath.Join(modules, "c"), "echo 3 >node_modules/x/c")
				change("edit", filepath.Join(out, "a"), "echo 2 >../out/a")
				change("edit", filepath.Join(out, "b"), "printf 'b\\0' >../out/b")
				change("delete", filepath.Join(out, "gone"), "rm ../out/gone")
				p.WriteFile(filepath.Join(s.Dir, "link"), "2\n")
				// Moved by writing it anew.
				p.WriteFile(filepath.Join(s.Dir, "new"), "same\n")
				p.ToolCall("rm", "execute", nil)
				s.Shell("rm old")
				p.Finish("rm", nil)
				p.EndTurn(turn)
				after := all()
				is := func(what string, want map[string]string) {
					t.Helper()
					s.Sync()
					if got := all(); !maps.Equal(got, want) {
						t.Errorf("%s it is\n%v\nwanted\n%v\n%s", what, got, want, allChanges(s))
					}
				}
				if how == "refused" {
					s.OK(`require('acp').reject({})`)
					is("refused", before)
					return
				}
				s.OK(`require('acp').undo_turn()`)
				is("undone", before)
				s.OK(`require('acp').undo_turn({ again = true })`)
				is("done again", after)
			})
		})
	}
}

// A file with changes that wait becomes binary some turns later: to refuse that brings back the text before both.
func TestTextThatBecameBinaryIsRefused(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a", "1\n2\n3\n")
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, "1\ntwo\n3\n")
		p.EndTurn(turn)
		for range 3 {
			turn = s.Prompt(p, "talk")
			p.EndTurn(turn)
		}
		turn = s.Prompt(p, "make it binary")
		p.ToolCall("run", "execute", nil)
		s.WriteFile("a", "a\x00b")
		p.EndTurn(turn)
		s.Await("a file without lines", func() bool { return allChanges(s) == "modified a\n" })
		s.OK(`require('acp').reject({ path = ... })`, path)
		s.Await("the text", func() bool { return s.ReadOrNone(path) == "1\n2\n3\n" })
	})
}
