package ledger

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// TestRandomTrees has an agent change a tree of files by commands, in several turns, while the user looks on: refused, or
// undone turn by turn, all is byte for byte what it was, with its permissions.
func TestRandomTrees(t *testing.T) {
	for i := range *rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := &randomTrees{world: newWorld(t), Rand: rand.New(rand.NewPCG(*seed, uint64(i)))}
			defer func() {
				if t.Failed() {
					t.Logf("-seed %d, round %d:\n%s", *seed, i, strings.Join(r.log, "\n"))
				}
			}()
			r.run()
		})
	}
}

type randomTrees struct {
	*world
	*rand.Rand
	count int
	log   []string
	mine  map[string]string // what the user has, by name
}

func (r *randomTrees) did(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

// paths lists the files, or the folders, that there are.
func (r *randomTrees) paths(folders bool) (list []string) {
	r.t.Helper()
	r.must(filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if name, _ := filepath.Rel(r.dir, path); err == nil && d.IsDir() == folders && name != "." {
			list = append(list, name)
		}
		return err
	}))
	return list
}

func (r *randomTrees) some(of []string) string {
	if len(of) == 0 {
		return "none"
	}
	return of[r.IntN(len(of))]
}

// place is a path, of a file or none.
func (r *randomTrees) place() string {
	names := []string{"f", "g", "h", "i"}
	if dir := r.some(append(r.paths(true), "")); dir != "" && dir != "none" && r.IntN(2) == 0 {
		return filepath.Join(dir, r.some(names))
	}
	if r.IntN(4) == 0 {
		return filepath.Join(r.some([]string{"n", "o"}), r.some(names))
	}
	return r.some(names)
}

func (r *randomTrees) text() string {
	var b strings.Builder
	for range r.IntN(4) {
		r.count++
		fmt.Fprintf(&b, "a%d\\n", r.count)
	}
	return b.String()
}

// command is what the agent runs.
func (r *randomTrees) command() string {
	file, dir, to := r.some(r.paths(false)), r.some(r.paths(true)), r.place()
	in := func(path, command string) string { return fmt.Sprintf("mkdir -p $(dirname %s) && %s", path, command) }
	switch r.IntN(21) {
	case 0, 1:
		return fmt.Sprintf("printf '%s' > %s", r.text(), file)
	case 2:
		return fmt.Sprintf("printf '%s' >> %s", r.text(), file)
	case 3:
		return in(to, fmt.Sprintf("printf '%s' > %s", r.text(), to))
	case 4:
		return fmt.Sprintf("rm -f %s", file)
	case 5, 6:
		return in(to, fmt.Sprintf("mv %s %s", file, to))
	case 7:
		return in(to, fmt.Sprintf("cp -p %s %s", file, to))
	case 8:
		return fmt.Sprintf("chmod %s %s", r.some([]string{"600", "755", "644"}), file)
	case 9:
		return fmt.Sprintf("sed -i '1s/^/a/' %s", file)
	case 10:
		return fmt.Sprintf("test ! -d %s || rm -r %s", dir, dir)
	case 11, 12:
		return fmt.Sprintf("test ! -d %s || test -e k%d || mv %s k%d", dir, r.count, dir, r.count)
	case 13:
		return fmt.Sprintf("test ! -d %s || cp -rp %s c%d", dir, dir, r.count)
	case 14:
		other := r.some(r.paths(false))
		return fmt.Sprintf("mv %s t~ && mv %s %s && mv t~ %s", file, other, file, other)
	case 15:
		return fmt.Sprintf("printf '\\000a%d' > %s", r.count, file)
	case 16:
		return fmt.Sprintf("mv %s ../out", file)
	case 17:
		return in(to, fmt.Sprintf("mv ../out %s", to))
	case 18:
		return fmt.Sprintf("rm -f %s && mkdir %s && printf 'a%d\\n' > %s/f", file, file, r.count, file)
	case 19:
		return fmt.Sprintf("test ! -d %s || { rm -r %s && printf 'a%d\\n' > %s; }", dir, dir, r.count, dir)
	default:
		return fmt.Sprintf("tar cf - . | (mkdir -p u%d && cd u%d && tar xf -)", r.count, r.count)
	}
}

func (r *randomTrees) run() {
	r.write("f", "f1\nf2\nf3\n")
	r.write("g", "g1\r\ng2\r\n")
	r.write("d/f", "x1\nx2\nx3\nx4\n")
	r.write("d/g", "")
	r.write("d/e/f", "\x00z")
	r.write("d/e/h", "z1\nz2")
	r.chmod("d/f", 0o755)
	for _, name := range r.paths(false) {
		if r.IntN(4) == 0 {
			r.edit(name)
			r.did("the user opens %s", name)
		}
	}
	r.mine = r.all()
	kills := r.IntN(2) == 0
	if kills {
		r.named()
	}
	turns := 1 + r.IntN(3)
	for range turns {
		r.turn(kills)
		if r.IntN(2) == 0 {
			r.user(false)
		}
	}
	switch r.IntN(3) {
	case 0:
		list := r.changes()
		if r.did("refused of\n%s", list); list != "" {
			r.decide(review.Reject, "")
		}
		r.same()
	case 1:
		for range turns {
			err := r.undo(false)
			if r.did("undone, %v", err); err != nil && !errors.Is(err, errNoTurn) {
				r.t.Error(err)
			}
		}
		r.same()
	default:
		now := r.tree()
		if r.undo(false) == nil {
			r.did("undone, and again")
			r.must(r.undo(true))
			if is := r.tree(); is != now {
				r.t.Errorf("there is\n%s\nwanted\n%s", is, now)
			}
		}
	}
}

// turn has the agent run some commands.
func (r *randomTrees) turn(kills bool) {
	r.begin()
	r.did("turn")
	for range 1 + r.IntN(4) {
		command := r.command()
		do := func() { _ = shell(r.dir, command) }
		switch r.IntN(4) {
		case 0:
			r.did("%s, without a call", command)
			r.ledger.Worked()
			do()
		case 1:
			name := r.some(r.paths(false))
			r.did("%s, in a call that names %s", command, name)
			r.call("edit", do, name)
		default:
			r.did("%s", command)
			r.call("execute", do)
		}
		if r.IntN(3) == 0 {
			r.did("  all is seen")
			for _, path := range r.Loaded() {
				r.follow(path, true)
			}
		}
		if r.IntN(5) == 0 {
			r.user(true)
		}
		if kills && r.IntN(4) == 0 {
			lives := r.IntN(2) == 0
			r.did("the host is killed, Neovim lives: %v", lives)
			r.killed(lives)
			r.did("so far\n%s", r.changes())
			return
		}
	}
	r.end()
	r.did("so far\n%s", r.changes())
}

func (r *randomTrees) same() {
	r.t.Helper()
	alike := func(is, mine string) bool {
		return slices.Equal(usersIn(is), usersIn(mine)) && usersLine.ReplaceAllString(is, "") == usersLine.ReplaceAllString(mine, "")
	}
	if is := r.all(); !maps.EqualFunc(is, r.mine, alike) {
		r.t.Errorf("there is\n%s\nwanted\n%s", listed(is), listed(r.mine))
	}
}

// usersLine is a line that the user has typed, in a quoted text.
var usersLine = regexp.MustCompile(`u\d+(\\r)?\\n`)

// usersIn are the user's lines of a file: where an agent had removed all around them nobody knows where they stood, or with
// which end.
func usersIn(is string) []string {
	list := usersLine.FindAllString(strings.ReplaceAll(is, `\r`, ""), -1)
	slices.Sort(list)
	return list
}

func listed(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%s %s\n", name, files[name])
	}
	return b.String()
}

// all is the tree by name.
func (r *randomTrees) all() map[string]string {
	r.t.Helper()
	files := map[string]string{}
	for line := range strings.Lines(r.tree()) {
		name, is, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		files[name] = is
	}
	return files
}

// user has the user do something to a file that is as they have it. inNeovim says that a turn runs.
func (r *randomTrees) user(inNeovim bool) {
	r.t.Helper()
	r.count++
	line := fmt.Sprintf("u%d\n", r.count)
	is := r.all()
	name := r.some(slices.Sorted(maps.Keys(is)))
	if is[name] == "" || is[name] != r.mine[name] {
		return
	}
	data, err := os.ReadFile(r.path(name))
	r.must(err)
	binary := strings.ContainsRune(string(data), 0)
	if r.IntN(3) == 0 && !inNeovim {
		name = fmt.Sprintf("u%d", r.count)
		r.did("the user makes %s", name)
		r.write(name, line)
	} else if _, loaded := r.bufs[r.path(name)]; inNeovim || loaded {
		if binary {
			return
		}
		if !loaded {
			r.edit(name)
		}
		r.did("the user saves %s", name)
		r.types(name, func(is string) string { return line + is })
		r.saves(name)
	} else {
		r.did("the user changes %s", name)
		r.write(name, string(data)+line)
		r.chmod(name, 0o640)
	}
	r.mine[name] = r.all()[name]
}

// Whatever an agent does to folders comes back, refused or undone.
func TestFoldersComeBack(t *testing.T) {
	for name, c := range map[string]struct {
		turns []string
		names string // of a call at the end of each turn
	}{
		"moved, and a file named in it":        {turns: []string{"mv d k"}, names: "k/e"},
		"moved twice":                          {turns: []string{"mv d k", "mv k l; echo a1 >> l/f"}, names: "l/f"},
		"a file becomes one with it":           {turns: []string{"mv f t; mkdir f; mv t f/f"}},
		"a file becomes one, which is empty":   {turns: []string{"rm f; mkdir -p f/f; echo a1 > f/f/f", "rm f/f/f"}},
		"becomes a file":                       {turns: []string{"rm -r d; echo a1 > d"}},
		"becomes a file, and a file was moved": {turns: []string{"mkdir k; mv d/f k; rm -r d; echo a1 > d"}, names: "d"},
		"no text is moved over a removed one":  {turns: []string{"rm f", "printf '\\000a1' > d/e; mv d/e f"}},
		"no text where one was moved away":     {turns: []string{"mv f g", "rm g; printf '\\000a1' > f"}},
		"a file gets another name":             {turns: []string{"rm f; ln d/f f"}},
		"a file gets another name, and text":   {turns: []string{"ln d/f g", "echo a1 >> g"}},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(fmt.Sprint(name, undo), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\n")
				w.write("d/f", "d1\n")
				w.write("d/e", "")
				before := w.tree()
				for time.Since(changedAt(w.path("d/e"))) < 2*Coarse { // its times say that it was there before
				}
				for _, commands := range c.turns {
					w.begin()
					w.call("execute", func() { w.sh(commands) })
					if c.names != "" {
						w.call("edit", func() {}, c.names)
					}
					w.end()
				}
				if undo {
					for range c.turns {
						w.must(w.undo(false))
					}
				} else {
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.tree(), before, "there is %s")
			})
		}
	}
}
