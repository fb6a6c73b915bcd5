package fakeagent

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestMain(m *testing.M) {
	Main()
	goleak.VerifyTestMain(m)
}

func play(t *testing.T, input string, script ...Step) (output string, heard []*Received, err error) {
	t.Helper()
	var out closer
	heard, err = Run(t.Context(), script, strings.NewReader(input), &out, io.Discard)
	return out.String(), heard, err
}

type closer struct{ bytes.Buffer }

func (*closer) Close() error { return nil }

func TestStepsInOrder(t *testing.T) {
	got, heard, err := play(t, `{"id":1,"method":"session/new","params":{}}
{"method":"session/cancel","params":{}}
{"id":2,"method":"session/prompt","params":{}}
{"id":7,"result":{}}
`,
		Line("junk"),
		Expect("session/new"),
		Reply(`{"sessionId":"abc"}`),
		Expect("session/prompt"), // passes over the cancel
		Message("one\n"),
		Step{Update: []byte(`{"n":${n}}`), Times: 2, Session: "other"},
		Request(7, "fs/read_text_file", `{"path":"/a"}`),
		Answer(7),
		Expect("session/cancel"),
		Fail(-32603, "no"),
	)
	must.Do(t, err)
	want := `junk
{"jsonrpc":"2.0","id":1,"result":{"sessionId":"abc"}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"abc","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"one\n"}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"n":1}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"n":2}}}
{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"path":"/a"}}
{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}
`
	check.Equal(t, got, want, "got:\n%s")
	if len(heard) != 4 || heard[3].Of != "fs/read_text_file" {
		t.Errorf("heard %d messages, the last an answer to %q", len(heard), heard[len(heard)-1].Of)
	}
}

func TestBarrierThatNeverComes(t *testing.T) {
	got, _, err := play(t, `{"method":"session/cancel"}`+"\n", Expect("initialize"), Line("too soon"))
	if !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "step 1: wait for a initialize") {
		t.Errorf("error %v", err)
	}
	check.Equal(t, got, "", "said %q before the barrier")
}

func TestProgram(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	must.Do(t, syscall.Mkfifo(gate, 0o600))
	argv, env := Program(t, Line("before"), Step{Gate: gate}, Line("after"), Step{Stderr: "last words"}, Exit(3))
	cmd := exec.Command(argv[0], argv[1:]...)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must.Do(t, cmd.Start())
	f, err := os.OpenFile(gate, os.O_WRONLY, 0) // blocks until the agent is there
	must.Do(t, err)
	f.Close()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("%v: %s", err, stderr.String())
	}
	if stdout.String() != "before\nafter\n" || stderr.String() != "last words" {
		t.Errorf("said %q and %q", stdout.String(), stderr.String())
	}
}

// Only SIGKILL ends it: neither SIGTERM nor the runtime, which would call it a deadlock.
func TestHang(t *testing.T) {
	argv, env := Program(t, Step{Ignore: "term"}, Line("up"), Step{Hang: true})
	cmd := exec.Command(argv[0], argv[1:]...)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	stdout, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	if _, err := io.ReadFull(stdout, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if got := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != syscall.SIGKILL {
		t.Errorf("ended by %v", cmd.ProcessState)
	}
}

func TestReadRejectsUnknown(t *testing.T) {
	script, err := Read(strings.NewReader("# said first\n\n{\"line\":\"x\"}\n{\"exit\":0}\n"))
	if err != nil || len(script) != 2 || script[1].Exit == nil {
		t.Errorf("%v, %v", script, err)
	}
	if _, err := Read(strings.NewReader(`{"lien":"x"}`)); err == nil {
		t.Error("a misspelt step was taken")
	}
}
