package bench

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/neovim/go-client/msgpack"
	"github.com/neovim/go-client/nvim"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// The size of the attached user interface, in cells.
const cols, rows = 200, 50

// patience is how long anything is waited for; only what is stuck ever takes so long.
const patience = 90 * time.Second

//go:embed bench.lua
var benchLua string

// kind is what a Neovim shows the stream with.
type kind string

const (
	chat  kind = "chat"  // the plugin
	plain kind = "floor" // the floor's plain buffer
)

// neovim is a Neovim with a user interface that only watches for marks: keeping the screen, as the
// tests do, would take time from what is measured.
type neovim struct {
	*nvim.Nvim
	tb      testing.TB
	cmd     *exec.Cmd
	pid     int    // of the host or of the floor
	dir     string // that the session is in
	exited  chan error
	results chan result
	stderr  *bytes.Buffer

	mu    sync.Mutex
	marks []string  // that are watched for
	seen  chan seen // those of them that were drawn
}

// seen tells when a mark was drawn.
type seen struct {
	mark string
	at   time.Time
}

// result is what bench.finish tells; times are in milliseconds.
type result struct {
	Ms          float64 `msgpack:"ms"`
	Gap         float64 `msgpack:"gap"`
	CPU         float64 `msgpack:"cpu"`
	Work        float64 `msgpack:"work"` // the most CPU time between two ticks, however busy the machine is
	SinceCancel float64 `msgpack:"since_cancel"`
	At          float64 `msgpack:"at"` // when it began, since 1970
	Error       string  `msgpack:"error"`
}

// start starts the Neovim at bin, ready for a prompt. The end is by [neovim.end].
func start(tb testing.TB, bin string, k kind) *neovim {
	tb.Helper()
	return startIn(tb, bin, k, "")
}

// startIn is start in a project's folder; "" is where Neovim is, of which no copies are kept.
func startIn(tb testing.TB, bin string, k kind, project string) *neovim {
	tb.Helper()
	n, err := launch(tb, bin)
	if err != nil {
		tb.Fatalf("start Neovim: %v", err)
	}
	ready := make(chan int, 1)
	for method, handler := range map[string]any{
		"ready": func(pid int) { ready <- pid },
		"done":  func(r result) { n.results <- r },
	} {
		if err := n.RegisterHandler(method, handler); err != nil {
			tb.Fatalf("start Neovim: %v", err)
		}
	}
	go func() { _ = n.Serve() }()
	exe, err := os.Executable()
	must.Do(tb, err)
	n.lua(nil, benchLua, n.ChannelID(), exe)
	n.lua(nil, "bench."+string(k)+"(...)", project)
	n.pid = await(n, "the session", ready)
	return n
}

func launch(tb testing.TB, bin string) (*neovim, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "bench") // not tb.TempDir: its path may be too long for a socket
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { os.RemoveAll(home) })
	sock := filepath.Join(home, "s")
	listener, err := net.Listen("unix", sock)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	n := &neovim{tb: tb, dir: home, exited: make(chan error, 1), results: make(chan result, 1), stderr: &bytes.Buffer{}}
	n.cmd = exec.Command(bin, "--embed", "--clean", "-n", "--cmd", "luafile "+filepath.Join(home, "init.lua"))
	init := fmt.Sprintf(`
		vim.opt.rtp:prepend(%q)
		vim.g.acp = {
			host = { command = { %[2]q } },
			agents = { bench = { command = { %[2]q }, env = { %[3]s = 'agent' } } },
			permissions = {
				{ command = 'make *', action = 'allow' },
				{ kind = 'edit', path = '/**/every.txt', action = 'allow' },
			},
		}
		vim.api.nvim_create_autocmd('VimEnter', {
			callback = function() vim.fn.sockconnect('pipe', %[4]q, { rpc = true }) end,
		})`, root, exe, roleEnv, sock)
	if err := os.WriteFile(filepath.Join(home, "init.lua"), []byte(init), 0o600); err != nil {
		return nil, err
	}
	n.cmd.Env = append(os.Environ(), roleEnv+"=host", "HOME="+home, "LC_ALL=C.UTF-8")
	for _, name := range []string{"CONFIG_HOME", "DATA_HOME", "STATE_HOME", "CACHE_HOME", "RUNTIME_DIR"} {
		n.cmd.Env = append(n.cmd.Env, "XDG_"+name+"="+home)
	}
	n.cmd.Stderr, n.cmd.Dir = n.stderr, home
	stdin, err := n.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		n.watch(stdout)
		n.exited <- n.cmd.Wait()
	}()
	tb.Cleanup(func() { // where a failure has left it
		_ = n.cmd.Process.Kill()
		<-gone
	})
	ui := map[string]any{"rgb": true, "ext_linegrid": true}
	attach := []any{0, 1, "nvim_ui_attach", []any{cols, rows, ui}}
	if err := msgpack.NewEncoder(stdin).Encode(attach); err != nil {
		return nil, fmt.Errorf("attach the user interface: %w", err)
	}
	if err := listener.(*net.UnixListener).SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	conn, err := listener.Accept()
	if err != nil {
		return nil, fmt.Errorf("wait for Neovim: %w\n%s", err, n.stderr)
	}
	n.Nvim, err = nvim.New(conn, conn, conn, func(string, ...any) {})
	return n, err
}

// watch reads what Neovim draws, and looks for marks in it.
func (n *neovim) watch(r io.Reader) {
	buf := make([]byte, 64<<10)
	kept := 0 // of a mark that is cut in two
	for {
		got, err := r.Read(buf[kept:])
		now := time.Now()
		if err != nil {
			return
		}
		data := buf[:kept+got]
		n.mu.Lock()
		n.marks = slices.DeleteFunc(n.marks, func(mark string) bool {
			drawn := bytes.Contains(data, []byte(mark))
			if drawn {
				n.seen <- seen{mark, now}
			}
			return drawn
		})
		n.mu.Unlock()
		kept = copy(buf, data[max(0, len(data)-3):])
	}
}

// drawn tells when each of these marks, and no others any more, will be drawn.
func (n *neovim) drawn(marks ...string) <-chan seen {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.marks, n.seen = marks, make(chan seen, len(marks))
	return n.seen
}

func await[T any](n *neovim, what string, c <-chan T) T {
	n.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	select {
	case v := <-c:
		return v
	case err := <-n.exited:
		n.tb.Fatalf("waiting for %s: Neovim ended: %v\n%s", what, err, n.stderr)
	case <-deadline.C:
		var messages string
		_ = n.ExecLua("return vim.api.nvim_exec2('messages', {output = true}).output", &messages)
		n.tb.Fatalf("waiting for %s: not within %v\n%s", what, patience, messages)
	}
	panic("unreachable")
}

func (n *neovim) lua(result any, code string, args ...any) {
	n.tb.Helper()
	done := make(chan error, 1)
	go func() { done <- n.ExecLua(code, result, args...) }()
	if err := await(n, "an answer", done); err != nil {
		n.tb.Fatalf("lua: %v", err)
	}
}

func (n *neovim) number(code string) float64 {
	n.tb.Helper()
	var v float64
	n.lua(&v, "return "+code)
	return v
}

// prompt has one turn, and measures it.
func (n *neovim) prompt(format string, args ...any) result {
	n.tb.Helper()
	n.begin(format, args...)
	return n.finish()
}

// begin sends a prompt.
func (n *neovim) begin(format string, args ...any) {
	n.tb.Helper()
	n.lua(nil, "bench.start(...)", fmt.Sprintf(format, args...))
}

// finish waits for the end of the turn.
func (n *neovim) finish() result {
	n.tb.Helper()
	r := await(n, "the end of the turn", n.results)
	if r.Error != "" {
		n.tb.Fatalf("the turn failed: %s", r.Error)
	}
	return r
}

// end quits Neovim.
func (n *neovim) end() {
	n.tb.Helper()
	go func() { _ = n.ExecLua("vim.cmd('qa!')", nil) }()
	select {
	case err := <-n.exited:
		if err != nil {
			n.tb.Errorf("Neovim ended: %v\n%s", err, n.stderr)
		}
	case <-time.After(patience):
		n.tb.Fatalf("Neovim did not end within %v", patience)
	}
	n.Close()
}

// processCPU is the CPU time that a process has used, in milliseconds; 0 where it cannot be known.
func processCPU(pid int) float64 { return cpuOf(pid, 11, 12) }

// allCPU is processCPU with the children that have ended.
func allCPU(pid int) float64 { return cpuOf(pid, 11, 12, 13, 14) }

func cpuOf(pid int, which ...int) (all float64) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The fields begin after the name, which may contain anything; the 14th and 15th, and for the children
	// the next two, are in hundredths of a second.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, i := range which {
		ticks, _ := strconv.ParseFloat(fields[i], 64)
		all += 10 * ticks
	}
	return all
}

// resident is the memory of a process, in MB; 0 where it cannot be known.
func resident(pid int) float64 {
	statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(statm))[1], 64)
	return pages * float64(os.Getpagesize()) / 1e6
}
