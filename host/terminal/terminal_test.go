package terminal

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// never is a deadline for what must happen, on however slow a machine.
const never = 30 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv("TERMINAL_TEST_HOST") != "" {
		actAsHost()
	}
	goleak.VerifyTestMain(m)
}

// start runs the command and, when the test ends, closes it and looks for processes left behind.
func start(t *testing.T, c Config) *Terminal {
	t.Helper()
	term, err := Start(c)
	must.Do(t, err)
	t.Cleanup(func() {
		term.Close(0)
		eventually(t, "the process group is empty", func() bool { return len(members(t, term.PGID())) == 0 })
	})
	return term
}

func sh(t *testing.T, script string) *Terminal {
	t.Helper()
	return start(t, Config{Command: "sh", Args: []string{"-c", script}})
}

func wait(t *testing.T, term *Terminal) Output {
	t.Helper()
	select {
	case <-term.Done():
	case <-time.After(never):
		t.Fatalf("the command does not end; output %q", term.Output().Text)
	}
	return term.Output()
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(never); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not reached: %s", what)
		}
	}
}

// members returns the processes of a process group. Dead ones that wait for init do not count.
func members(t *testing.T, pgid int) (pids []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Skip("no /proc to look for processes in")
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		// pid (name) state ppid pgrp …
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if fields[0] != "Z" && fields[2] == strconv.Itoa(pgid) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

func showsExit(e *Exit) string {
	switch {
	case e == nil:
		return "running"
	case e.Code != nil && e.Signal == "":
		return strconv.Itoa(*e.Code)
	case e.Code == nil && e.Signal != "":
		return e.Signal
	}
	return fmt.Sprintf("%+v", *e)
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	spaced := filepath.Join(dir, "a program")
	script := "#!/bin/sh\necho \"spaced $*\"\n"
	for _, path := range []string{spaced, filepath.Join(dir, "local")} {
		must.Do(t, os.WriteFile(path, []byte(script), 0o755))
	}
	tests := []struct {
		name   string
		config Config
		want   string
		exit   string
	}{
		{"program", Config{Command: "printf", Args: []string{"%s|", "a b", "$HOME"}}, "a b|$HOME|", "0"},
		{"no arguments", Config{Command: "true"}, "", "0"},
		{"shell line's name", Config{Command: "echo $0"}, "sh\n", "0"},
		{"exit code", Config{Command: "sh", Args: []string{"-c", "exit 3"}}, "", "3"},
		{"signal", Config{Command: "sh", Args: []string{"-c", "kill -9 $$"}}, "", "SIGKILL"},
		{"shell line", Config{Command: "echo one && echo two | tr a-z A-Z"}, "one\nTWO\n", "0"},
		{"shell line with an assignment", Config{Command: "A=b sh -c 'echo $A'"}, "b\n", "0"},
		{"shell line that fails", Config{Command: "exit 7"}, "", "7"},
		{"path with a blank", Config{Command: spaced}, "spaced\n", "0"},
		{"path with a blank and arguments", Config{Command: spaced, Args: []string{"x"}}, "spaced x\n", "0"},
		{"relative to the folder", Config{Command: "./local", Dir: dir}, "spaced\n", "0"},
		{"wherever the folder is", Config{Command: filepath.Join(dir, "local"), Dir: filepath.Dir(dir)}, "spaced\n", "0"},
		{"on a PATH relative to the folder", Config{Command: "local", Dir: filepath.Dir(dir), Env: []string{"PATH=" + filepath.Base(dir)}}, "spaced\n", "0"},
		{"on the agent's PATH", Config{Command: "local", Env: []string{"PATH=" + dir + ":/usr/bin:/bin"}}, "spaced\n", "0"},
		{"folder", Config{Command: `pwd; echo "$PWD"`, Dir: "/"}, "/\n/\n", "0"},
		{"errors too", Config{Command: "echo out; echo err >&2"}, "out\nerr\n", "0"},
		{"input is at its end", Config{Command: "cat; read x; echo $?"}, "1\n", "0"},
		{"what is a terminal", Config{Command: "for i in 0 1 2; do test -t $i; echo $?; done"}, "1\n0\n0\n", "0"},
		{"controlling terminal and size", Config{Command: "stty size < /dev/tty"}, "40 120\n", "0"},
		{"environment", Config{Command: `echo $TERM $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT`}, "xterm-256color cat cat 0\n", "0"},
		{"agent's environment wins", Config{Command: `echo $PAGER $NEW`, Env: []string{"PAGER=more", "NEW=x=y"}}, "more x=y\n", "0"},
		{"resolved", Config{Command: `printf '\033[32m10%%\r100%%\033[0m\n'`}, "100%\n", "0"},
		{"truncated", Config{Command: "seq", Args: []string{"100000"}, OutputByteLimit: 13}, "99999\n100000\n", "0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			term := start(t, test.config)
			got := wait(t, term)
			if got.Text != test.want || showsExit(got.Exit) != test.exit || got.Truncated != (test.name == "truncated") {
				t.Errorf("output %q, truncated %t, exit %s; want %q, %s", got.Text, got.Truncated, showsExit(got.Exit), test.want, test.exit)
			}
			if exit, ok := term.Exit(); !ok || showsExit(&exit) != test.exit {
				t.Errorf("Exit() = %s, %t", showsExit(&exit), ok)
			}
		})
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	junk := filepath.Join(dir, "junk")
	must.Do(t, os.WriteFile(plain, nil, 0o644), os.WriteFile(junk, []byte("\x01\x02"), 0o755))
	tests := []struct {
		config Config
		want   string
	}{
		{Config{Command: "no-such-program"}, `command "no-such-program" was not found on the PATH`},
		{Config{Command: "no such program", Args: []string{"x"}}, `command "no such program" was not found on the PATH`},
		{Config{Command: "/no/such/program"}, `command "/no/such/program" does not exist`},
		{Config{Command: plain}, "cannot be executed: permission denied"},
		{Config{Command: dir}, "cannot be executed: it is a folder"},
		{Config{Command: junk}, "exec format error"},
		{Config{Command: " "}, "the command is empty"},
		{Config{Command: "true", Dir: "/no/such/folder"}, `folder "/no/such/folder" does not exist`},
		{Config{Command: "true", Dir: plain}, "is not a folder"},
		{Config{Command: "true", Dir: filepath.Join(plain, "x")}, `plain/x": stat `},
		{Config{Command: "true", Dir: "relative"}, `folder "relative" is not an absolute path`},
	}
	for _, test := range tests {
		term, err := Start(test.config)
		if err == nil {
			term.Close(0)
			t.Errorf("%+v started", test.config)
		} else if !strings.HasPrefix(err.Error(), "start terminal: ") || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "%!") {
			t.Errorf("%+v: %v", test.config, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	host := []string{"HOME=/h", "NVIM=/sock", "NVIM_LOG_FILE=x", "VIMRUNTIME=/r", "VIM=/v", "MYVIMRC=x", "GH_PAGER=less", "TMUX=x", "TERM=dumb", "VIMINIT=mine"}
	env := environment(host, "/dir", []string{"TERM=mine"})
	for _, name := range []string{"NVIM", "NVIM_LOG_FILE", "VIMRUNTIME", "VIM", "MYVIMRC", "GH_PAGER", "TMUX"} {
		if slices.ContainsFunc(env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			t.Errorf("%s is inherited", name)
		}
	}
	for name, want := range map[string]string{
		"HOME": "/h", "PAGER": "cat", "TERM": "mine", "PWD": "/dir", "VIMINIT": "mine", "COLORTERM": "truecolor",
		"EDITOR": "true", "VISUAL": "true", "GIT_EDITOR": "true", "DEBIAN_FRONTEND": "noninteractive", // else they ask
		"NONE": "",
	} {
		check.Equal(t, lookup(env, name), want, "%s = %q", name)
	}
	check.Equal(t, host[1], "NVIM=/sock", "the host's environment was changed: %v")
}

func TestRunning(t *testing.T) {
	term := sh(t, "echo ready; exec sleep 1000")
	eventually(t, "output while it runs", func() bool { return term.Output().Text == "ready\n" })
	if _, ok := term.Exit(); ok || term.Output().Exit != nil {
		t.Error("has ended")
	}
	select {
	case <-term.Done():
		t.Error("is done")
	default:
	}
	if lines, total := term.Display().Tail(1); total != 1 || lines[0].Text != "ready" {
		t.Errorf("Tail: %d, %+v", total, lines)
	}
	if pgid, err := unix.Getpgid(term.PGID()); err != nil || pgid != term.PGID() || pgid == unix.Getpgrp() {
		t.Errorf("process group %d, %v, PGID() = %d", pgid, err, term.PGID())
	}
}

func TestKill(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"a command", "echo ready; exec sleep 1000", "SIGTERM"},
		{"a shell and its children", "sleep 1000 & sleep 1000 | cat & echo ready; wait", "SIGTERM"},
		{"one that ends by itself", "trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.01; done", "4"},
		{"a deaf one", "trap '' TERM HUP; echo ready; while :; do sleep 1000; done", "SIGKILL"},
		{"a stopped one", "echo ready; kill -STOP $$", "SIGTERM"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			term := sh(t, test.script)
			eventually(t, "ready", func() bool { return strings.Contains(term.Output().Text, "ready") })
			term.Kill()
			term.Kill()
			got := wait(t, term)
			if showsExit(got.Exit) != test.want || !strings.HasPrefix(got.Text, "ready\n") {
				t.Errorf("exit %s, output %q, want %s", showsExit(got.Exit), got.Text, test.want)
			}
			eventually(t, "nobody is left", func() bool { return len(members(t, term.PGID())) == 0 })
			check.Equal(t, term.Output().Text, got.Text, "afterwards %q")
		})
	}
}

func TestBackgroundProcess(t *testing.T) {
	scripts := map[string]string{
		"silent":             "trap '' HUP; sleep 1000 & echo started",
		"noisy":              "trap '' HUP; yes & echo started",
		"deaf":               "trap '' HUP TERM; sleep 1000 & echo started",
		"without our output": "trap '' HUP; sleep 1000 > /dev/null 2>&1 & echo started",
	}
	for name, script := range scripts {
		for _, how := range []string{"kill", "close"} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				term := sh(t, script)
				got := wait(t, term)
				check.Equal(t, showsExit(got.Exit), "0", "exit %s")
				if name != "noisy" && got.Text != "started\n" {
					t.Errorf("output %q", got.Text)
				}
				if len(members(t, term.PGID())) == 0 {
					t.Fatal("the background process did not survive; the test tests nothing")
				}
				if how == "kill" {
					term.Kill()
				} else {
					term.Close(100 * time.Millisecond)
				}
				eventually(t, "nobody is left", func() bool { return len(members(t, term.PGID())) == 0 })
			})
		}
	}
}

func TestBackgroundOutputIsShown(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	term := sh(t, "trap '' HUP; (while ! test -e "+gate+"; do sleep 0.01; done; echo late) & echo started")
	wait(t, term)
	must.Do(t, os.WriteFile(gate, nil, 0o644))
	eventually(t, "late output", func() bool { return term.Output().Text == "started\nlate\n" })
}

func TestAllOutputIsThereWhenDone(t *testing.T) {
	for range 10 {
		got := wait(t, sh(t, "seq 5000; echo end"))
		if !strings.HasPrefix(got.Text, "1\n2\n") || !strings.HasSuffix(got.Text, "\n5000\nend\n") || strings.Count(got.Text, "\n") != 5001 {
			t.Fatalf("%d bytes: …%q", len(got.Text), got.Text[max(0, len(got.Text)-40):])
		}
	}
}

func TestManyLines(t *testing.T) {
	const limit = 100_000
	term := start(t, Config{Command: "seq", Args: []string{"300000"}, OutputByteLimit: limit})
	got := wait(t, term)
	if !got.Truncated || len(got.Text) > limit || !strings.HasSuffix(got.Text, "\n299999\n300000\n") {
		t.Errorf("truncated %t, %d bytes", got.Truncated, len(got.Text))
	}
	if lines, total := term.Display().Tail(2); total != 300_000 || lines[1].Text != "300000" {
		t.Errorf("Tail: %d, %+v", total, lines)
	}
}

func TestChanged(t *testing.T) {
	var calls atomic.Int64
	var term atomic.Pointer[Terminal]
	var once sync.Once
	sawExit := make(chan struct{})
	begin := time.Now()
	ready := make(chan struct{})
	started := start(t, Config{Command: "seq 50000; sleep 0.1; echo end", Changed: func() {
		<-ready
		calls.Add(1)
		if _, ended := term.Load().Exit(); ended {
			once.Do(func() { close(sawExit) })
		}
	}})
	term.Store(started)
	close(ready)
	select {
	case <-sawExit:
	case <-time.After(never):
		t.Fatal("the end was not told")
	}
	n, most := calls.Load(), int64(time.Since(begin)/changeInterval)+2
	if n < 2 || n > most {
		t.Errorf("%d calls, at most %d expected", n, most)
	}
}

func TestNothingIsToldAfterClose(t *testing.T) {
	for range 5 {
		var telling atomic.Bool
		told := make(chan struct{}, 1)
		term := start(t, Config{Command: "yes", Changed: func() {
			telling.Store(true)
			select {
			case told <- struct{}{}:
			default:
			}
			for range 10_000 {
				runtime.Gosched()
			}
			telling.Store(false)
		}})
		<-told
		term.Close(0)
		if telling.Load() {
			t.Fatal("Changed runs after Close")
		}
	}
}

func TestClose(t *testing.T) {
	term := sh(t, "echo ready; exec sleep 1000")
	eventually(t, "ready", func() bool { return term.Output().Text == "ready\n" })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { term.Close(never) })
		all.Go(term.Kill)
	}
	all.Wait()
	term.Kill()
	got := wait(t, term)
	if got.Text != "ready\n" || showsExit(got.Exit) != "SIGTERM" {
		t.Errorf("after Close: %q, %s", got.Text, showsExit(got.Exit))
	}
	if lines, total := term.Display().Tail(1); total != 1 || lines[0].Text != "ready" {
		t.Errorf("after Close: %d, %+v", total, lines)
	}
}

// A process that left the group, keeps the PTY open and has another environment is not known to be ours,
// and nobody waits for it.
func TestCloseDoesNotWaitForOthers(t *testing.T) {
	term := sh(t, "trap '' HUP; env -i setsid sleep 1000 & echo $!")
	pid, err := strconv.Atoi(strings.TrimSpace(wait(t, term).Text))
	must.Do(t, err)
	defer unix.Kill(pid, unix.SIGKILL)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		term.Close(0)
	}()
	select {
	case <-closed:
	case <-time.After(never):
		t.Fatal("Close does not return")
	}
}

func TestCloseLeavesNoDescriptor(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(entries)
	}
	Start(Config{Command: "/dev/null/x"})
	before := count()
	junk := filepath.Join(t.TempDir(), "junk")
	must.Do(t, os.WriteFile(junk, []byte("\x01"), 0o755))
	for range 10 {
		Start(Config{Command: junk})
		term := sh(t, "echo x; exec sleep 1000")
		term.Close(0)
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// actAsHost runs a command until it is killed.
func actAsHost() {
	term, err := Start(Config{Command: os.Getenv("TERMINAL_TEST_HOST")})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for term.Output().Text != "ready\n" {
		time.Sleep(time.Millisecond)
	}
	fmt.Println(term.PGID())
	select {}
}

func TestKilledHost(t *testing.T) {
	scripts := map[string]string{
		"alone":         "echo ready; exec sleep 1000",
		"with children": "sleep 1000 & echo ready; wait",
	}
	if runtime.GOOS == "linux" {
		scripts["deaf"] = "trap '' HUP TERM; echo ready; exec sleep 1000"
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			host := exec.Command(os.Args[0])
			host.Env = append(os.Environ(), "TERMINAL_TEST_HOST="+script)
			out, err := host.StdoutPipe()
			must.Do(t, err)
			must.Do(t, host.Start())
			var pgid int
			_, err = fmt.Fscan(out, &pgid)
			host.Process.Kill()
			host.Wait()
			must.Do(t, err)
			if name == "with children" { // the system forgets these if the terminal goes while the shell ends
				EndOrphans(host.Process.Pid)
			}
			eventually(t, "the command is gone", func() bool { return len(members(t, pgid)) == 0 })
		})
	}
}

// The floor is a PTY whose output is read and thrown away.
func BenchmarkTerminal(b *testing.B) {
	flows := map[string]string{
		"plain":  "2026-11-20 12:00:00 INFO building package number one hundred and three",
		"colour": "\x1b[32mok\x1b[0m \x1b[1;34mpkg/name\x1b[0m built in \x1b[38;5;208m1.2s\x1b[0m with no warnings at all",
	}
	for name, line := range flows {
		b.Run(name, func(b *testing.B) {
			const size = 20_000_000
			b.SetBytes(size)
			for b.Loop() {
				term, err := Start(Config{Command: "sh", Args: []string{"-c", `yes "$0" | head -c $1`, line, strconv.Itoa(size)}})
				must.Do(b, err)
				<-term.Done()
				term.Close(0)
			}
		})
		b.Run(name+" floor", func(b *testing.B) {
			const size = 20_000_000
			b.SetBytes(size)
			for b.Loop() {
				ptmx, tty, err := openPTY()
				must.Do(b, err)
				cmd := exec.Command("sh", "-c", `yes "$0" | head -c $1`, line, strconv.Itoa(size))
				cmd.Stdout = tty
				must.Do(b, cmd.Start())
				tty.Close()
				_, _ = io.Copy(io.Discard, ptmx) // until EIO
				_ = cmd.Wait()
				ptmx.Close()
			}
		})
	}
}
