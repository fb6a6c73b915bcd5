//go:build unix

package acp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// childEnv makes the test binary run as the child of that name.
const childEnv = "ACP_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		children[name]()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// children are the processes that the tests start.
var children = map[string]func(){
	"echo": func() { io.Copy(os.Stdout, os.Stdin) },
	"exit": func() {
		code, _ := strconv.Atoi(os.Args[1])
		os.Exit(code)
	},
	"kill": func() {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	},
	"signal": func() {
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -" + os.Args[1] + " $$"}, os.Environ())
	},
	"deaf": func() { ready(); live() }, // to the end of stdin
	"stubborn": func() { // to SIGTERM too
		signal.Ignore(syscall.SIGTERM)
		ready()
		live()
	},
	"mute": func() { // closes its stdout but lives
		os.Stdout.Close()
		os.Stderr.Close()
		io.Copy(io.Discard, os.Stdin)
	},
	"parent": func() { // leaves a child of the kind os.Args[1] that holds its pipes
		pid := startChild(os.Args[1])
		fmt.Printf("%d\n%s\n", pid, strings.Repeat("x", 50_000))
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
	},
	"noisy": func() { // writes for ever, also when nobody reads
		signal.Ignore(syscall.SIGPIPE)
		go live()
		ready()
		for {
			os.Stdout.WriteString("noise\n")
			os.Stderr.WriteString("noise\n")
		}
	},
	"family": func() { // lives as long as its stdin, with a child
		fmt.Println(startChild("deaf"))
		io.Copy(io.Discard, os.Stdin)
	},
	"stderr": func() {
		for i := range 20_000 {
			fmt.Fprintf(os.Stderr, "line %d\n", i)
		}
		fmt.Fprint(os.Stderr, "the end")
	},
	"longline": func() { fmt.Fprint(os.Stderr, strings.Repeat("é", 200_000)) },
	"where": func() {
		dir, _ := os.Getwd()
		pgid, _ := unix.Getpgid(0)
		sid, _ := unix.Getsid(0) // the head of a session has no terminal
		json.NewEncoder(os.Stdout).Encode([]any{dir, os.Getenv("PWD"), os.Getenv("ONLY"), os.Getenv("HOME"),
			sid == os.Getpid(), pgid == os.Getpid(), os.Args})
	},
	"host": func() { // starts an agent and lives
		p, err := Start(Command{Argv: []string{os.Args[0]}, Env: []string{childEnv + "=deaf"}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.PGID())
		live()
	},
	"poor": func() { // starts a process when it may open three files more
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 50, Max: 50})
		var open []*os.File
		take := func() (n int) {
			for {
				f, err := os.Open(os.DevNull)
				if err != nil {
					return n
				}
				open = append(open, f)
				n++
			}
		}
		take()
		for _, f := range open[:3] {
			f.Close()
		}
		_, err := Start(Command{Argv: []string{os.Args[0]}})
		fmt.Printf("%v; %d files are free\n", err, take())
	},
	"agent": func() { // answers one request and dies in the middle of the next message
		bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Print("Starting…\n" + `{"jsonrpc":"2.0","method":"n"}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":1}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"resu`)
		fmt.Fprintln(os.Stderr, "fatal: out of tokens")
		os.Exit(1)
	},
}

// live waits to be killed; a minute is for tests that failed to.
func live() { time.Sleep(time.Minute); os.Exit(9) }

// readyEnv makes a child say that it is ready on its third file.
const readyEnv = "ACP_TEST_READY"

func ready() {
	if os.Getenv(readyEnv) == "" {
		fmt.Println("ready")
		return
	}
	os.NewFile(3, "ready").WriteString("\n")
}

// startChild starts a child of a child, with the same pipes and in the same group, and waits until it is ready.
func startChild(name string) int {
	r, w, _ := os.Pipe()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{childEnv + "=" + name, readyEnv + "=1"}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{w}
	cmd.Start()
	bufio.NewReader(r).ReadString('\n')
	return cmd.Process.Pid
}

// start starts a child and makes sure that nothing of it is left.
func start(t *testing.T, name string, args ...string) *Process {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	p, err := Start(Command{Argv: append([]string{self}, args...), Env: []string{childEnv + "=" + name}})
	must.Do(t, err)
	t.Cleanup(func() {
		p.Shutdown(0, 0)
		must.Receive(t, "the end of "+name, p.Done())
		p.Stdout.Close()
		awaitGone(t, -p.PGID())
	})
	return p
}

// awaitGone waits until a process, or with a negative id a group, is gone or a
// zombie that only its new parent can bury.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	must.Become(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !alive(pid) })
}

func alive(pid int) bool {
	if unix.Kill(pid, 0) != nil {
		return false
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	if len(stats) == 0 {
		return true // no such thing on this system
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// "pid (name) state parent group …", and the name may hold anything.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		id := filepath.Base(filepath.Dir(path))
		if (id == strconv.Itoa(pid) || fields[2] == strconv.Itoa(-pid)) && fields[0] != "Z" {
			return true
		}
	}
	return false
}

func readLine(t *testing.T, r io.Reader) string {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("read %q: %v", line, err)
	}
	return strings.TrimSpace(line)
}

func TestProcessEnvironment(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	self, _ := os.Executable()
	p, err := Start(Command{Argv: []string{self, "a b", ""}, Dir: dir,
		Env: []string{childEnv + "=where", "ONLY=this", "PWD=/elsewhere"}})
	must.Do(t, err)
	got := readLine(t, p.Stdout)
	p.Shutdown(never, 0)
	want, _ := json.Marshal([]any{dir, dir, "this", "", true, true, []string{self, "a b", ""}})
	if got != string(want) {
		t.Fatalf("got %s\nwant %s", got, want)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	plain := write("plain", "x", 0o644)
	script := write("script", "#!/no/such/interpreter\n", 0o755)
	garbage := write("garbage", "\x00\x01", 0o755)
	env := []string{"PATH=" + dir + ":relative"}

	t.Chdir(dir)
	must.Do(t, os.Mkdir("relative", 0o755))
	write("relative/in-the-project", "#!/bin/sh\n", 0o755)

	var notFound *NotFoundError
	for _, program := range []string{"no-such-agent", "in-the-project", "plain", plain, dir, dir + "/none", "./none"} {
		_, err := Start(Command{Argv: []string{program}, Env: env})
		if !errors.As(err, &notFound) || !strings.HasSuffix(notFound.Program, strings.TrimPrefix(program, ".")) {
			t.Errorf("%s: got %v", program, err)
		}
	}
	for program, want := range map[string]string{
		"no-such-agent": "there is no no-such-agent on the PATH", dir + "/none": dir + "/none does not exist or is not executable",
	} {
		_, err := Start(Command{Argv: []string{program}, Env: env})
		check.Contains(t, err.Error(), want, "it says %s")
	}
	var badDir *DirError
	for d, why := range map[string]error{dir + "/none": syscall.ENOENT, plain: syscall.ENOTDIR} {
		_, err := Start(Command{Argv: []string{script}, Dir: d})
		if !errors.As(err, &badDir) || badDir.Dir != d || !errors.Is(err, why) {
			t.Errorf("%s: got %v", d, err)
		}
		check.Equal(t, err.Error(), fmt.Sprintf("working folder %s: %v", d, why), "it says %s")
	}
	if _, err := Start(Command{Argv: []string{script}}); err == nil || !strings.Contains(err.Error(), "interpreter") {
		t.Error(err)
	}
	if _, err := Start(Command{Argv: []string{garbage}}); !errors.Is(err, syscall.ENOEXEC) || strings.Contains(err.Error(), "interpreter") {
		t.Error(err)
	}
	if _, err := Start(Command{}); err == nil {
		t.Error("started nothing")
	}
	if got, err := LookPath("script", "", env); got != script || err != nil {
		t.Error(got, err)
	}
	for name, folder := range map[string]string{"./script": dir, "../script": dir + "/relative"} {
		if got, err := LookPath(name, folder, nil); got != script || err != nil {
			t.Error(got, err)
		}
	}
}

// Where our own working folder is gone, a path within it cannot be looked up, and a program on the PATH can.
func TestLookPathWithoutAFolder(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(bin, "agent"), nil, 0o755))
	t.Chdir(dir)
	must.Do(t, os.Remove(dir))
	_, err := LookPath("./agent", "", nil)
	check.Contains(t, fmt.Sprint(err), "look up ./agent: ", "it says %s")
	path, err := LookPath("agent", "", []string{"PATH=" + bin})
	check.Equal(t, path, filepath.Join(bin, "agent"), "found is %s, %v", err)
}

// A start that fails for want of files says so and keeps none of those that it has opened.
func TestStartWithoutFiles(t *testing.T) {
	p := start(t, "poor")
	check.Equal(t, readLine(t, p.Stdout), "start "+os.Args[0]+": pipe2: too many open files; 3 files are free", "it says %q")
}

func TestExit(t *testing.T) {
	for _, test := range []struct {
		child, arg string
		want       Exit
		text       string
	}{
		{"exit", "0", Exit{}, "exited with code 0"},
		{"exit", "1", Exit{Code: 1}, "exited with code 1"},
		{"exit", "126", Exit{Code: 126}, "exited with code 126 (command not executable)"},
		{"exit", "127", Exit{Code: 127}, "exited with code 127 (command not found)"},
		{"exit", "143", Exit{Code: 143}, "exited with code 143 (killed by SIGTERM)"},
		{"exit", "255", Exit{Code: 255}, "exited with code 255"},
		{"signal", "40", Exit{Signal: "SIG40"}, "was killed by SIG40"}, // one without a name
		{"kill", "", Exit{Signal: "SIGKILL"}, "was killed by SIGKILL (by hand, or for want of memory)"},
	} {
		p := start(t, test.child, test.arg)
		if got := p.Exit(); got != test.want || got.String() != test.text {
			t.Errorf("got %+v, %q, want %+v, %q", got, got, test.want, test.text)
		}
	}
}

func TestShutdownByEndOfInput(t *testing.T) {
	p := start(t, "echo")
	io.WriteString(p.Stdin, "hello\n")
	if got := readLine(t, p.Stdout); got != "hello" {
		t.Fatal(got)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { p.Shutdown(never, never) })
	}
	all.Wait()
	p.Shutdown(never, never)
	must.Receive(t, "Done", p.Done())
	if p.Exit() != (Exit{}) {
		t.Fatal(p.Exit())
	}
}

func TestShutdownByTerm(t *testing.T) {
	p := start(t, "deaf")
	readLine(t, p.Stdout)
	p.Shutdown(0, never)
	if got := p.Exit().Signal; got != "SIGTERM" {
		t.Fatal(p.Exit())
	}
}

func TestShutdownByKill(t *testing.T) {
	p := start(t, "stubborn")
	readLine(t, p.Stdout)
	p.Shutdown(0, time.Millisecond)
	if got := p.Exit().Signal; got != "SIGKILL" {
		t.Fatal(p.Exit())
	}
}

func TestHastySecondShutdown(t *testing.T) {
	p := start(t, "stubborn")
	readLine(t, p.Stdout)
	patient := make(chan struct{})
	go func() { p.Shutdown(never, never); close(patient) }()
	p.Shutdown(0, 0)
	must.Receive(t, "the patient one", patient)
}

func TestShutdownTakesTheWholeGroup(t *testing.T) {
	p := start(t, "family")
	pid, err := strconv.Atoi(readLine(t, p.Stdout))
	must.Do(t, err)
	p.Shutdown(never, 0) // the head exits by itself
	if p.Exit() != (Exit{}) {
		t.Fatal(p.Exit())
	}
	awaitGone(t, pid)
	awaitGone(t, -p.PGID())
}

// TestDeathWithHeirs lets a process die whose children hold its pipes open.
func TestDeathWithHeirs(t *testing.T) {
	for _, heir := range []string{"deaf", "stubborn", "noisy"} {
		t.Run(heir, func(t *testing.T) {
			p := start(t, "parent", heir)
			read := make(chan string)
			go func() {
				all, _ := io.ReadAll(p.Stdout)
				read <- string(all)
			}()
			out := must.Receive(t, "the end of stdout", read)
			must.Receive(t, "Done", p.Done())
			if p.Exit().Code != 3 {
				t.Fatal(p.Exit())
			}
			if !strings.Contains(out, "x\n") || strings.Count(out, "x") != 50_000 {
				t.Fatalf("%d bytes of stdout", len(out))
			}
			if heir != "noisy" && p.Stderr() != "last words\n" {
				t.Fatalf("%q", p.Stderr())
			}
			if !alive(-p.PGID()) {
				t.Fatal("no heir is there: the test tests nothing")
			}
			p.Shutdown(0, time.Millisecond)
			awaitGone(t, -p.PGID())
		})
	}
}

func TestOutputLeftAtTheEnd(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer w.Close() // an heir holds it
	o := &output{f: r}
	w.WriteString("last words")
	o.end()
	got, err := io.ReadAll(o)
	if string(got) != "last words" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := r.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Fatal("the pipe is still open")
	}
}

// TestHeirThatOutrunsTheReader fills the pipe again before every read.
func TestHeirThatOutrunsTheReader(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer w.Close()
	o := &output{f: r}
	o.end()
	chunk, total := make([]byte, 4096), 0
	for {
		w.Write(chunk)
		n, err := o.Read(chunk)
		if total += n; err == io.EOF {
			break
		}
		if err != nil || total > 2*mostLeft {
			t.Fatalf("%d bytes, %v", total, err)
		}
	}
	if total < mostLeft {
		t.Fatalf("only %d bytes", total)
	}
}

func TestStdoutClosedWhileAlive(t *testing.T) {
	p := start(t, "mute")
	h := newEvents()
	c := NewConn(p.Stdout, p.Stdin, h)
	c.Call("a", nil, h.done("a"))
	must.Receive(t, "the end of the connection", c.Done())
	if !errors.Is(c.Err(), ErrPeerClosed) {
		t.Fatal(c.Err())
	}
	h.expect(t, "error a the connection is closed: the agent closed its output")
	p.Shutdown(never, never)
	if p.Exit() != (Exit{}) {
		t.Fatal(p.Exit())
	}
}

func TestDeathOfAnAgent(t *testing.T) {
	p := start(t, "agent")
	h := newEvents()
	traffic := NewTraffic(0)
	c := NewConn(p.Stdout, p.Stdin, h, WithTraffic(traffic))
	c.Call("a", nil, h.done("a"))
	h.expect(t, "notification n ", "result a 1")
	must.Receive(t, "the end of the connection", c.Done())
	must.Receive(t, "the end of the process", p.Done())
	if p.Exit().Code != 1 || p.Stderr() != "fatal: out of tokens\n" {
		t.Fatal(p.Exit(), p.Stderr())
	}
	last := traffic.Entries()[4]
	if text, ok := last.NotJSON(); !ok || text != `{"jsonrpc":"2.0","id":2,"resu` {
		t.Fatalf("%s", last.Msg)
	}
}

func TestShutdownWhileAWriteIsStuck(t *testing.T) {
	p := start(t, "stubborn")
	c := NewConn(p.Stdout, p.Stdin, newEvents(), stallAfter(time.Millisecond))
	must.Do(t, c.Notify("n", strings.Repeat("x", 1<<20)))
	must.Receive(t, "Stalled", c.Stalled())
	p.Shutdown(0, time.Millisecond)
	must.Receive(t, "the end of the connection", c.Done())
}

func TestStderrTail(t *testing.T) {
	p := start(t, "stderr")
	must.Receive(t, "Done", p.Done())
	got := p.Stderr()
	if !strings.HasPrefix(got, "line ") || !strings.HasSuffix(got, "line 19999\nthe end") ||
		len(got) > stderrTail || len(got) < stderrTail-20 {
		t.Fatalf("%d bytes: %.20q … %q", len(got), got, got[len(got)-20:])
	}
	p = start(t, "longline")
	must.Receive(t, "Done", p.Done())
	if got := strings.Trim(p.Stderr(), "�"); len(got) < stderrTail-4 || strings.Trim(got, "é") != "" {
		t.Fatalf("%d bytes: %.20q", len(got), got)
	}
}

// TestDeathOfTheHost kills a host that has an agent.
func TestDeathOfTheHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child of its parent's death")
	}
	host := start(t, "host")
	pid, err := strconv.Atoi(readLine(t, host.Stdout))
	must.Do(t, err)
	if !alive(pid) {
		t.Fatal("no agent is there: the test tests nothing")
	}
	unix.Kill(host.PGID(), unix.SIGKILL) // alone: the agent has a group of its own
	awaitGone(t, pid)
}

// TestStartingThreadMayEnd lets the goroutine that called Start take its thread with it.
func TestStartingThreadMayEnd(t *testing.T) {
	started := make(chan *Process)
	go func() {
		runtime.LockOSThread()
		started <- start(t, "echo")
	}()
	p := must.Receive(t, "the process", started)
	for i := range 100 {
		line := fmt.Sprint(i)
		io.WriteString(p.Stdin, line+"\n")
		if got := readLine(t, p.Stdout); got != line {
			t.Fatal(got)
		}
	}
}
