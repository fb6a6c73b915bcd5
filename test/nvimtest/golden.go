package nvimtest

import (
	"cmp"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// updateGolden is the flag -update, of the test binaries that import this package.
var updateGolden = flag.Bool("update", false, "rewrite the golden screens with what is shown now")

// GoldenOption changes what Golden compares.
type GoldenOption func(*golden)

type golden struct {
	attrs    bool
	replaces []replace
}

type replace struct {
	pattern *regexp.Regexp
	with    string
}

// Attrs compares ScreenAttrs instead of Screen.
func Attrs() GoldenOption { return func(g *golden) { g.attrs = true } }

// Replace puts with (which may name groups, as $1) for what changes from run to run, such as a spinner or a duration.
func Replace(pattern, with string) GoldenOption {
	re := regexp.MustCompile(pattern)
	return func(g *golden) { g.replaces = append(g.replaces, replace{re, with}) }
}

// Golden waits until the screen is that of testdata/golden/<test>/<name>.txt; the test's name is
// taken without Neovim's version. Where the versions rightly differ, <name>.0.10.txt stands for
// one of them. With -update the file that applies is written instead: wait for what the screen must
// show before, and create an empty file to begin a version's own.
func (n *Nvim) Golden(name string, opts ...GoldenOption) {
	n.t.Helper()
	var g golden
	for _, o := range opts {
		o(&g)
	}
	shown := func() string {
		text := n.Screen()
		if g.attrs {
			text = n.ScreenAttrs()
		}
		for _, r := range g.replaces {
			text = r.pattern.ReplaceAllString(text, r.with)
		}
		return text
	}
	path := n.goldenPath(name)
	if *updateGolden {
		n.Redraw()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			n.t.Fatalf("write golden screen: %v", err)
		}
		if err := os.WriteFile(path, []byte(shown()), 0o666); err != nil {
			n.t.Fatalf("write golden screen: %v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		n.t.Fatalf("no golden screen %s (write it with -update); now shown:\n%s", path, shown())
	}
	if err != nil {
		n.t.Fatalf("read golden screen: %v", err)
	}
	if err := n.await(func() bool { return shown() == string(want) }); err != nil {
		n.fail("screen is not that of %s (-update rewrites it): %v\n%s",
			path, err, udiff.Unified("golden", "shown", string(want), shown()))
	}
}

// goldenPath is the file for a name: the version's own where there is one.
func (n *Nvim) goldenPath(name string) string {
	of := cmp.Or(n.opts.golden, n.t.Name())
	elements := slices.DeleteFunc(strings.Split(of, "/"), func(e string) bool { return e == n.Version })
	dir := filepath.Join(append([]string{"testdata", "golden"}, elements...)...)
	series := n.Version[:max(0, strings.LastIndexByte(n.Version, '.'))]
	for _, own := range []string{series, n.opts.variant} {
		path := filepath.Join(dir, name+"."+own+".txt")
		if _, err := os.Stat(path); own != "" && err == nil {
			return path
		}
	}
	return filepath.Join(dir, name+".txt")
}
