package checkpoint

import (
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// changed is when the files of the table changed that it says nothing else of.
const changed = int64(1_800_000_000_000_000_000)

// a builds a file of a table: its inode and the time of its last change follow from its text, if it has one.
func a(path, text string, more ...func(*file)) *file {
	f := &file{path: path, State: State{Kind: File, Mode: 0o644, Size: int64(len(text)), ModTime: changed, Changed: changed}}
	copy(f.Sum[:], "sum of "+text)
	for _, c := range path + "\x00" + text {
		f.Inode = f.Inode*31 + uint64(c)
	}
	for _, m := range more {
		m(f)
	}
	return f
}

func at(inode uint64) func(*file)    { return func(f *file) { f.Inode = inode } }
func mode(m fs.FileMode) func(*file) { return func(f *file) { f.Mode = m } }
func unread(f *file)                 { f.Sum = Sum{} }
func touched(f *file)                { f.ModTime++ }
func rechanged(f *file)              { f.Changed += int64(time.Hour) }
func long(f *file)                   { f.Changed -= int64(time.Hour) }
func other(f *file)                  { f.State = State{Kind: Other, Inode: f.Inode} }
func link(to string) func(*file) {
	return func(f *file) { f.State = State{Kind: Symlink, Target: to, Inode: f.Inode} }
}

func snapshotOf(files []*file, roots ...string) *Snapshot {
	if roots == nil {
		roots = []string{"/p"}
	}
	s := &Snapshot{roots: roots, at: time.Unix(0, changed), files: files}
	slices.SortFunc(s.files, byPath)
	return s
}

func TestChanges(t *testing.T) {
	type files = []*file
	for name, test := range map[string]struct {
		before, after files
		roots         []string // of the second
		want          []string // a sign and a path: + - ~ and > with both paths
	}{
		"nothing":                     {},
		"the same":                    {before: files{a("/p/a", "x")}, after: files{a("/p/a", "x", touched, rechanged)}},
		"saved by another file":       {before: files{a("/p/a", "x")}, after: files{a("/p/a", "x", at(7), touched, rechanged)}},
		"added":                       {after: files{a("/p/a", "x")}, want: []string{"+/p/a"}},
		"added, empty":                {after: files{a("/p/a", "")}, want: []string{"+/p/a"}},
		"deleted":                     {before: files{a("/p/a", "x")}, want: []string{"-/p/a"}},
		"modified":                    {before: files{a("/p/a", "x")}, after: files{a("/p/a", "y")}, want: []string{"~/p/a"}},
		"the mode":                    {before: files{a("/p/a", "x")}, after: files{a("/p/a", "x", mode(0o755))}, want: []string{"~/p/a"}},
		"a link":                      {before: files{a("/p/a", "x")}, after: files{a("/p/a", "x", link("b"))}, want: []string{"~/p/a"}},
		"another target":              {before: files{a("/p/a", "", link("b"))}, after: files{a("/p/a", "", link("c"))}, want: []string{"~/p/a"}},
		"the same target":             {before: files{a("/p/a", "", link("b"))}, after: files{a("/p/a", "", link("b"), at(7))}},
		"a pipe":                      {before: files{a("/p/a", "x")}, after: files{a("/p/a", "x", other)}, want: []string{"~/p/a"}},
		"pipes":                       {before: files{a("/p/a", "x", other)}, after: files{a("/p/a", "y", other)}},
		"large":                       {before: files{a("/p/a", "x", unread)}, after: files{a("/p/a", "x", unread, rechanged)}},
		"large, written":              {before: files{a("/p/a", "x", unread)}, after: files{a("/p/a", "x", unread, touched)}, want: []string{"~/p/a"}},
		"large, another":              {before: files{a("/p/a", "x", unread)}, after: files{a("/p/a", "x", unread, at(7))}, want: []string{"~/p/a"}},
		"large, longer":               {before: files{a("/p/a", "x", unread)}, after: files{a("/p/a", "xx", unread, at(a("/p/a", "x").Inode))}, want: []string{"~/p/a"}},
		"large by now":                {before: files{a("/p/a", "x")}, after: files{a("/p/a", "xx", unread)}, want: []string{"~/p/a"}},
		"read by now":                 {before: files{a("/p/a", "x", unread)}, after: files{a("/p/a", "x")}},
		"renamed":                     {before: files{a("/p/a", "x", at(7))}, after: files{a("/p/b", "x", at(7))}, want: []string{">/p/a /p/b"}},
		"renamed, executable":         {before: files{a("/p/a", "x", at(7))}, after: files{a("/p/b", "x", at(7), mode(0o755))}, want: []string{">/p/a /p/b"}},
		"copied, then deleted":        {before: files{a("/p/a", "x")}, after: files{a("/p/b", "x")}, want: []string{">/p/a /p/b"}},
		"renamed, empty":              {before: files{a("/p/a", "", at(7))}, after: files{a("/p/b", "", at(7))}, want: []string{"-/p/a", "+/p/b"}},
		"renamed, modified":           {before: files{a("/p/a", "x", at(7))}, after: files{a("/p/b", "y", at(7))}, want: []string{"-/p/a", "+/p/b"}},
		"copied":                      {before: files{a("/p/a", "x")}, after: files{a("/p/a", "x"), a("/p/b", "x")}, want: []string{"+/p/b"}},
		"two of one":                  {before: files{a("/p/a", "x")}, after: files{a("/p/b", "x"), a("/p/c", "x")}, want: []string{"-/p/a", "+/p/b", "+/p/c"}},
		"two of one, one renamed":     {before: files{a("/p/a", "x", at(7))}, after: files{a("/p/b", "x"), a("/p/c", "x", at(7))}, want: []string{"+/p/b", ">/p/a /p/c"}},
		"two alike renamed":           {before: files{a("/p/a/1", "x", at(7)), a("/p/a/2", "x", at(8))}, after: files{a("/p/b/1", "x", at(7)), a("/p/b/2", "x", at(8))}, want: []string{">/p/a/1 /p/b/1", ">/p/a/2 /p/b/2"}},
		"two alike copied":            {before: files{a("/p/a/1", "x"), a("/p/a/2", "x")}, after: files{a("/p/b/1", "x"), a("/p/b/2", "x")}, want: []string{"-/p/a/1", "-/p/a/2", "+/p/b/1", "+/p/b/2"}},
		"large, renamed":              {before: files{a("/p/a", "x", unread, at(7))}, after: files{a("/p/b", "x", unread, at(7))}, want: []string{">/p/a /p/b"}},
		"large, others":               {before: files{a("/p/a", "x", unread)}, after: files{a("/p/b", "x", unread)}, want: []string{"-/p/a", "+/p/b"}},
		"a renamed link":              {before: files{a("/p/a", "x", link("c"), at(7))}, after: files{a("/p/b", "x", link("c"), at(7))}, want: []string{"-/p/a", "+/p/b"}},
		"swapped":                     {before: files{a("/p/a", "x", at(7)), a("/p/b", "y", at(8))}, after: files{a("/p/a", "y", at(8)), a("/p/b", "x", at(7))}, want: []string{"~/p/a", "~/p/b"}},
		"a file became a folder":      {before: files{a("/p/a", "x")}, after: files{a("/p/a/b", "y")}, want: []string{"-/p/a", "+/p/a/b"}},
		"not ignored any more":        {after: files{a("/p/a", "x", long)}},
		"a renamed folder":            {before: files{a("/p/a/x", "x", at(7)), a("/p/a/e", "", at(8))}, after: files{a("/p/b/x", "x", at(7), long), a("/p/b/e", "", at(8), long)}, want: []string{"-/p/a/e", "+/p/b/e", ">/p/a/x /p/b/x"}},
		"a renamed folder, made anew": {before: files{a("/p/a/x", "x", at(7))}, after: files{a("/p/a/x", "y"), a("/p/b/x", "x", at(7), long)}, want: []string{"~/p/a/x", "+/p/b/x"}},
		"another root":                {before: files{a("/p/a", "x"), a("/p/d/a", "y")}, after: files{a("/q/a", "x"), a("/p/d/b", "z")}, roots: []string{"/p/d", "/q"}, want: []string{"-/p/d/a", "+/p/d/b"}},
	} {
		var got []string
		for _, c := range snapshotOf(test.before).Changes(snapshotOf(test.after, test.roots...)) {
			switch {
			case c.OldPath != "":
				got = append(got, ">"+c.OldPath+" "+c.Path)
			case c.Before.Kind == None:
				got = append(got, "+"+c.Path)
			case c.After.Kind == None:
				got = append(got, "-"+c.Path)
			default:
				got = append(got, "~"+c.Path)
			}
		}
		check.Slice(t, got, test.want, "%s: the changes are %q", name)
	}
}

func TestBelow(t *testing.T) {
	for _, test := range []struct {
		path, root string
		want       bool
	}{
		{"/p/a", "/p", true}, {"/p/a/b", "/p", true}, {"/p", "/p", false}, {"/pa", "/p", false}, {"/p/a", "/", true}, {"/", "/", true},
	} {
		check.Equal(t, below(test.path, []string{"/other", test.root}), test.want,
			"%s is below %s: %v", test.path, test.root)
	}
}
