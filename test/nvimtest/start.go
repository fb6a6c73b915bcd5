package nvimtest

import (
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/neovim/go-client/nvim"
)

// Option changes how Neovim is started.
type Option func(*options)

type options struct {
	cols, rows      int
	runtimePath     string // "." is the module's root
	env             []string
	dir             string
	golden, variant string // the test whose golden screens are these, and how it is varied
	init            string
	settings        []string
	args            []string
	allowErrors     []*regexp.Regexp
	allowGoroutines bool
	patience        time.Duration // for anything waited for
}

// Size is the screen's size in cells, 80 x 24 by default.
func Size(cols, rows int) Option {
	return func(o *options) { o.cols, o.rows = cols, rows }
}

// RuntimePath is the plugin under test: a folder put first on 'runtimepath'. By default it is the
// nearest folder upwards with a go.mod; "" is none.
func RuntimePath(dir string) Option { return func(o *options) { o.runtimePath = dir } }

// GoldenOf has the golden screens be those of another test, by its name. Where a variant rightly differs,
// <name>.<variant>.txt stands for it.
func GoldenOf(test, variant string) Option {
	return func(o *options) { o.golden, o.variant = test, variant }
}

// Env adds "KEY=value" entries to Neovim's environment, over the test's own.
func Env(entries ...string) Option {
	return func(o *options) { o.env = append(o.env, entries...) }
}

// Dir is the folder to work in; by default a new, empty one.
func Dir(dir string) Option { return func(o *options) { o.dir = dir } }

// Init is Lua that runs before the plugins are loaded, as a user's init.lua does.
func Init(lua string) Option { return func(o *options) { o.init += lua + "\n" } }

// Background is 'background': "dark" (the default) or "light".
func Background(value string) Option {
	return func(o *options) { o.settings = append(o.settings, "background="+value) }
}

// TermGUIColors sets 'termguicolors'.
func TermGUIColors() Option {
	return func(o *options) { o.settings = append(o.settings, "termguicolors") }
}

// Args adds arguments, such as files to open.
func Args(args ...string) Option {
	return func(o *options) { o.args = append(o.args, args...) }
}

// AllowErrors lets the test pass although Neovim reported errors, those whose line in :messages
// matches one of the regular expressions; without any it allows all.
func AllowErrors(patterns ...string) Option {
	if len(patterns) == 0 {
		patterns = []string{""}
	}
	return func(o *options) {
		for _, p := range patterns {
			o.allowErrors = append(o.allowErrors, regexp.MustCompile(p))
		}
	}
}

// AllowGoroutines leaves goroutines that the test starts and that outlive Neovim unchecked, for a
// test that ends them later.
func AllowGoroutines() Option { return func(o *options) { o.allowGoroutines = true } }

// patience is how long anything is waited for by default. It is no expectation: only what is stuck ever takes so long.
const patience = 30 * time.Second * slowdown

// prelude runs before the user's configuration: it records the events and tells when Neovim is up.
//
//go:embed prelude.lua
var prelude string

// Start starts the Neovim at bin, with a user interface attached, no configuration but Init's, and
// its own home; it returns once Neovim is up and has drawn its screen. The end of the test ends it
// and checks what the package's documentation says.
func Start(t testing.TB, bin string, opts ...Option) *Nvim {
	t.Helper()
	o := options{cols: 80, rows: 24, runtimePath: ".", patience: patience, settings: []string{"background=dark"}}
	for _, opt := range opts {
		opt(&o)
	}
	version, err := versionOf(bin)
	if err != nil {
		t.Fatalf("start Neovim: %v", err)
	}
	n := &Nvim{
		Version:  version,
		Dir:      o.dir,
		t:        t,
		opts:     o,
		exited:   make(chan struct{}),
		served:   make(chan struct{}),
		marker:   "ACP_TEST_ID=" + rand.Text(),
		sessions: map[int]bool{},
		screen:   screen{highlights: map[int]string{}},
		awaited:  map[string]int{},
		changed:  make(chan struct{}),
	}
	n.labelGoroutines()
	if err := n.start(bin); err != nil {
		t.Fatalf("start Neovim: %v", err)
	}
	t.Cleanup(n.end)
	if err := n.attach(); err != nil {
		t.Fatalf("start Neovim: %v\n%s", err, n.report())
	}
	n.Await("Neovim to be up", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.ready
	})
	n.Redraw()
	return n
}

// start makes Neovim's folders and runs the process.
func (n *Nvim) start(bin string) (err error) {
	// Not t.TempDir, whose path may grow too long for the sockets in it.
	if n.Home, err = os.MkdirTemp("", "nvimtest"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(n.Home)
		}
	}()
	own := map[string]string{
		"HOME":            "",
		"XDG_CONFIG_HOME": "config",
		"XDG_DATA_HOME":   "data",
		"XDG_STATE_HOME":  "state",
		"XDG_CACHE_HOME":  "cache",
		"XDG_RUNTIME_DIR": "run",
		"XDG_CONFIG_DIRS": "etc",
		"XDG_DATA_DIRS":   "share",
		"TMPDIR":          "tmp",
	}
	var env []string
	for _, entry := range os.Environ() {
		key, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(key, "XDG_") && !strings.Contains(key, "VIM") {
			env = append(env, entry)
		}
	}
	for key, dir := range own {
		path := filepath.Join(n.Home, dir)
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		env = append(env, key+"="+path)
	}
	env = append(env, "LC_ALL=C.UTF-8", "TERM=xterm-256color", n.marker)
	if n.Dir == "" {
		n.Dir = filepath.Join(n.Home, "proj")
		if err := os.Mkdir(n.Dir, 0o777); err != nil {
			return err
		}
	}

	// The status line and what stands beside it differ between versions: tests show their own.
	args := []string{"--embed", "--clean", "-n", "--cmd", "set shortmess+=I noruler noshowcmd statusline=%f%m"}
	for _, s := range n.opts.settings {
		args = append(args, "--cmd", "set "+s)
	}
	if n.opts.runtimePath != "" {
		dir := n.opts.runtimePath
		if dir == "." {
			if dir, err = Root(); err != nil {
				return err
			}
		}
		args = append(args, "--cmd", `let &runtimepath = $NVIMTEST_RUNTIME .. "," .. &runtimepath`)
		env = append(env, "NVIMTEST_RUNTIME="+strings.ReplaceAll(dir, ",", `\,`))
	}
	if n.opts.init != "" {
		path := filepath.Join(n.Home, "init.lua")
		if err := os.WriteFile(path, []byte(n.opts.init), 0o666); err != nil {
			return err
		}
		args = append(args, "--cmd", "luafile "+path)
	}
	n.cmd = exec.Command(bin, append(args, n.opts.args...)...)
	n.cmd.Env = append(env, n.opts.env...)
	n.cmd.Dir = n.Dir
	// A session of its own: no signal of the test's terminal reaches it, and what it leaves behind can be told by it.
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return n.run()
}

// run starts the process on pipes of our own, so that its end and the end of the connection are each waited for alone.
func (n *Nvim) run() error {
	stdin, toNvim, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	fromNvim, stdout, err := os.Pipe()
	if err != nil {
		toNvim.Close()
		return err
	}
	defer stdout.Close()
	conn := pipes{toNvim, fromNvim}
	stderr, err := os.Create(filepath.Join(n.Home, "stderr.log"))
	if err != nil {
		conn.Close()
		return err
	}
	defer stderr.Close()
	n.cmd.Stdin, n.cmd.Stdout, n.cmd.Stderr = stdin, stdout, stderr
	// What the client logs are our own late calls and the plugin's notifications to nobody.
	client, err := nvim.New(fromNvim, toNvim, conn, func(string, ...any) {})
	if err != nil {
		conn.Close()
		return err
	}
	n.Nvim = client
	for method, handler := range map[string]any{
		"redraw":         n.redraw,
		"nvimtest_event": n.event,
		"nvimtest_ready": func(...any) { n.update(func() { n.ready = true }) },
		"nvimtest_mark": func(args ...any) {
			if v, ok := ints(args, 1); ok {
				n.update(func() { n.mark = v[0] })
			}
		},
	} {
		if err := n.RegisterHandler(method, handler); err != nil {
			conn.Close()
			return fmt.Errorf("handle %s: %w", method, err)
		}
	}
	if err := n.cmd.Start(); err != nil {
		conn.Close()
		return err
	}
	go func() {
		n.exitErr = n.cmd.Wait()
		close(n.exited)
	}()
	go func() {
		_ = n.Serve()
		close(n.served)
	}()
	return nil
}

// attach makes the test Neovim's user interface. Until then Neovim waits with its configuration.
func (n *Nvim) attach() error {
	_, err := answer(n, "attach the user interface", func() (any, error) {
		if err := n.ExecLua(prelude, nil, n.ChannelID()); err != nil {
			return nil, err
		}
		return nil, n.AttachUI(n.opts.cols, n.opts.rows, map[string]any{
			"rgb": true, "ext_linegrid": true, "ext_hlstate": true,
		})
	})
	return err
}

// pipes are the test's ends of Neovim's standard input and output.
type pipes struct{ in, out *os.File }

func (p pipes) Close() error { return errors.Join(p.in.Close(), p.out.Close()) }

var versionLine = regexp.MustCompile(`^NVIM v(\d+\.\d+\.\d+\S*)`)

// versions holds what versionOf was told, by path.
var versions sync.Map

// versionOf asks a Neovim for its version, once per test binary.
func versionOf(bin string) (string, error) {
	if v, ok := versions.Load(bin); ok {
		return v.(string), nil
	}
	out, err := exec.Command(bin, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", bin, err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s does not say which Neovim it is", bin)
	}
	versions.Store(bin, string(m[1]))
	return string(m[1]), nil
}

// Root is the checkout: the nearest folder upwards from the test's own that has a go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return "", fmt.Errorf("find the module's root: %w", err)
		}
		dir = parent
	}
}
