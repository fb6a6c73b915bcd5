package buffers_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/need"
	"github.com/neovim/go-client/nvim"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimEnv); dir != "" {
		beVictim(dir)
	}
	goleak.VerifyTestMain(m)
}

// hung is a deadline for what must end by itself; no test waits for it.
const hung = 20 * time.Second

// onNeovims runs a test on each Neovim given, side by side with nothing.
func onNeovims(t *testing.T, fn func(t *testing.T, n *neovim)) {
	t.Helper()
	ran := false
	for _, name := range []string{"OLDEST", "NEWEST"} {
		if path := os.Getenv("ACP_NVIM_" + name); path != "" {
			ran = true
			t.Run(strings.ToLower(name), func(t *testing.T) { fn(t, startNeovim(t, path)) })
		}
	}
	if !ran {
		need.Missing(t, "no Neovim to test with: run `make test`, or set ACP_NVIM_OLDEST and ACP_NVIM_NEWEST")
	}
}

// neovim is a real headless Neovim with the plugin's Lua, as the host reaches it.
type neovim struct {
	*nvim.Nvim
	t     *testing.T
	dir   string // real path of a folder of its own
	files *buffers.Files
	hook  func(fn string) // runs before each call

	mu    sync.Mutex
	calls []string // names of the functions called, guarded by mu
}

// startNeovim runs command, a Neovim or a shell line that execs "$@".
func startNeovim(t *testing.T, command string, shell ...string) *neovim {
	t.Helper()
	root, err := filepath.Abs("..")
	must.Do(t, err)
	// So that go test knows that its result hangs on this file.
	_, err = os.ReadFile(filepath.Join(root, "lua/acp/files/buffers.lua"))
	must.Do(t, err)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	args := []string{
		"--clean", "--embed", "--headless",
		"--cmd", "set runtimepath^=" + root + " directory=" + dir + "/.swap// undofile undodir=" + dir + "/.undo backupdir=" + dir + "/.backup//",
	}
	for _, d := range []string{".swap", ".undo", ".backup"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, d), 0o700))
	}
	if len(shell) > 0 {
		args = append([]string{"-c", shell[0], command, command}, args...)
		command = "/bin/sh"
	}
	v, err := nvim.NewChildProcess(
		nvim.ChildProcessCommand(command), nvim.ChildProcessArgs(args...), nvim.ChildProcessDir(dir),
		nvim.ChildProcessLogf(t.Logf))
	must.Do(t, err)
	n := &neovim{Nvim: v, t: t, dir: dir}
	n.files = buffers.New(n)
	t.Cleanup(func() {
		v.Command("qall!") // its error is that Neovim is gone
		v.Close()
	})
	return n
}

func (n *neovim) CallBuffers(ctx context.Context, fn string, args, result any) error {
	n.mu.Lock()
	n.calls = append(n.calls, fn)
	n.mu.Unlock()
	if n.hook != nil {
		n.hook(fn)
	}
	ended := make(chan error, 1)
	// A call that is given up must not write into result later.
	got := reflect.New(reflect.TypeOf(result).Elem())
	go func() {
		ended <- n.ExecLua("return require('acp.files.buffers')[...](select(2, ...))", got.Interface(), fn, args)
	}()
	select {
	case err := <-ended:
		reflect.ValueOf(result).Elem().Set(got.Elem())
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *neovim) path(name string) string { return filepath.Join(n.dir, name) }

// put writes a file on the disk, as another program would.
func (n *neovim) put(name, data string) string {
	n.t.Helper()
	must.Do(n.t, os.WriteFile(n.path(name), []byte(data), 0o644))
	return n.path(name)
}

func (n *neovim) disk(name string) string {
	n.t.Helper()
	data, err := os.ReadFile(n.path(name))
	must.Do(n.t, err)
	return string(data)
}

func (n *neovim) cmd(command string) {
	n.t.Helper()
	must.Do(n.t, n.Command(command))
}

// keys types keys as a user would; <Esc> and the like are translated.
func (n *neovim) keys(keys string) {
	n.t.Helper()
	keys, err := n.ReplaceTermcodes(keys, true, true, true)
	must.Do(n.t, err)
	must.Do(n.t, n.FeedKeys(keys, "xt", true))
}

// edit opens a file with a text in the current window.
func (n *neovim) edit(name, data string) string {
	n.t.Helper()
	path := n.put(name, data)
	n.cmd("edit! " + path)
	return path
}

func (n *neovim) lua(code string, args ...any) any {
	n.t.Helper()
	var v any
	must.Do(n.t, n.ExecLua(code, &v, args...))
	if u, ok := v.(uint64); ok {
		return int64(u) // how large numbers come
	}
	return v
}

// text is the current buffer's lines joined with newlines.
func (n *neovim) text() string {
	n.t.Helper()
	return n.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')").(string)
}

func (n *neovim) wantText(want string) {
	n.t.Helper()
	check.Equal(n.t, n.text(), want, "the buffer has %.200q")
}

func (n *neovim) wantDisk(name, want string) {
	n.t.Helper()
	check.Equal(n.t, n.disk(name), want, "the disk has %.200q")
}

func (n *neovim) want(expr string, want any) {
	n.t.Helper()
	check.Equal(n.t, n.lua("return vim.api.nvim_eval(...)", expr), want, "%s is %#v", expr)
}

// asksNothing runs what a user might.
func (n *neovim) asksNothing(command string) {
	n.t.Helper()
	if n.asks(func() error { return n.Command(command) }) {
		n.t.Fatalf("the user's :%s asks a question", command)
	}
}

// asks does what a user might, and reports whether Neovim asks a question, which is answered with no.
func (n *neovim) asks(do func() error) (asked bool) {
	n.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	deadline := time.After(hung)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				n.t.Error(err)
			}
			return asked
		case <-ticker.C: // Neovim does not tell that it asks
			mode, err := n.Mode()
			must.Do(n.t, err)
			if mode.Blocking || strings.HasPrefix(mode.Mode, "r") {
				asked = true
				_, err := n.Input("n")
				must.Do(n.t, err)
			}
		case <-deadline:
			n.t.Fatal("Neovim hangs")
		}
	}
}

func (n *neovim) tryRead(r buffers.Read) (string, error) {
	n.t.Helper()
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 2)
	n.files.Read(context.Background(), r, func(text string, err error) { got <- answer{text, err} })
	select {
	case a := <-got:
		return a.text, a.err
	case <-time.After(hung):
		n.t.Fatal("the read has no answer")
		return "", nil
	}
}

func (n *neovim) read(path string) string {
	n.t.Helper()
	text, err := n.tryRead(buffers.Read{Path: path})
	must.Do(n.t, err)
	return text
}

func (n *neovim) tryWrite(path, text string) (buffers.Written, error) {
	n.t.Helper()
	type answer struct {
		w   buffers.Written
		err error
	}
	got := make(chan answer, 2)
	n.files.Write(context.Background(), buffers.Write{Path: path, Text: text}, func(w buffers.Written, err error) {
		got <- answer{w, err}
	})
	select {
	case a := <-got:
		return a.w, a.err
	case <-time.After(hung):
		n.t.Fatal("the write has no answer")
		return buffers.Written{}, nil
	}
}

func (n *neovim) write(path, text string) buffers.Written {
	n.t.Helper()
	w, err := n.tryWrite(path, text)
	must.Do(n.t, err)
	return w
}
