package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is the other end of a replay.
type client struct {
	t     *testing.T
	stdin io.WriteCloser // of the replay
	lines chan string    // of the replay; closed at its end
	err   chan error     // of Serve
}

// start replays a recording, one entry in each line: "> " and a message of the client, "< " and one
// of the agent, "! " and junk of the agent.
func start(t *testing.T, recording string) *client {
	t.Helper()
	return serve(t, t.Context(), traffic(t, recording))
}

func traffic(t *testing.T, recording string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(recording) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		dir := map[byte]string{'>': "c2a", '<': "a2c", '!': "a2c"}[line[0]]
		msg := line[2:]
		if line[0] == '!' {
			text, err := json.Marshal(map[string]string{"__not_json__": msg})
			must.Do(t, err)
			msg = string(text)
		}
		fmt.Fprintf(&b, `{"dir":%q,"t":0,"msg":%s}`+"\n", dir, msg)
	}
	return b.String()
}

func serve(t *testing.T, ctx context.Context, traffic string) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW, err := os.Pipe()
	must.Do(t, err)
	c := &client{t: t, stdin: inW, lines: make(chan string, 1000), err: make(chan error, 1)}
	go func() { c.err <- Serve(ctx, strings.NewReader(traffic), inR, outW) }()
	go func() {
		defer close(c.lines)
		for r := bufio.NewReader(outR); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() {
		inW.Close()
		for range c.lines {
		}
		outR.Close()
	})
	return c
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.stdin, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) expect(want ...string) {
	c.t.Helper()
	for _, want := range want {
		select {
		case got, ok := <-c.lines:
			if !ok {
				c.t.Fatalf("the replay has ended, want %s", want)
			}
			must.Equal(c.t, got, want, "got\n%s")
		case <-time.After(must.Patience):
			c.t.Fatalf("nothing came, want %s", want)
		}
	}
}

// barrier checks that the replay sends nothing: it answers a request that it does not know, and that is all.
func (c *client) barrier() {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"probe","method":"_probe"}`)
	c.expect(`{"jsonrpc":"2.0","id":"probe","error":{"code":-32601,"message":"Method not found: _probe"}}`)
}

// end closes the input and expects that nothing more comes.
func (c *client) end() {
	c.t.Helper()
	c.stdin.Close()
	must.Do(c.t, must.Receive(c.t, "the end of Serve after that of its input", c.err))
	for line := range c.lines {
		c.t.Errorf("also got %s", line)
	}
}

const conversation = `
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
! debug: here we go
< {"jsonrpc":"2.0","method":"session/update","params":{"n":1}}
< {"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"path":"/project/a.txt"}}
< {"jsonrpc":"2.0","method":"session/update","params":{"n":2}}
> {"jsonrpc":"2.0","id":0,"result":{"content":"A"}}
< {"jsonrpc":"2.0","method":"session/update","params":{"n":3}}
< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
`

// The client's ids and its folder take the place of the recording's; the agent's ids stay.
func TestReplay(t *testing.T) {
	c := start(t, conversation)
	c.barrier()
	c.send(`{"jsonrpc":"2.0","id":11,"method":"initialize","params":{"protocolVersion":1}}`)
	c.expect(`{"jsonrpc":"2.0","id":11,"result":{"protocolVersion":1}}`)
	c.barrier()
	c.send(`{"jsonrpc":"2.0","id":"12","method":"session/new","params":{"cwd":"/home/me/code/","mcpServers":[]}}`)
	c.expect(`{"jsonrpc":"2.0","id":"12","result":{"sessionId":"s"}}`)
	c.barrier()
	c.send(`{"jsonrpc":"2.0","id":13,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
	c.expect(
		`debug: here we go`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"n":1}}`,
		`{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"path":"/home/me/code/a.txt"}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"n":2}}`)
	c.barrier()
	c.send(`{"jsonrpc":"2.0","id":7,"result":{}}`) // answers nothing
	c.barrier()
	c.send(`{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"no such file"}}`)
	c.expect(
		`{"jsonrpc":"2.0","method":"session/update","params":{"n":3}}`,
		`{"jsonrpc":"2.0","id":13,"result":{"stopReason":"end_turn"}}`)
	c.send(`{"jsonrpc":"2.0","id":14,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
	c.expect(`{"jsonrpc":"2.0","id":14,"error":{"code":-32603,"message":"the recording has ended"}}`)
	c.end()
}

// What comes before its barrier waits for it, and more of it than the recording has is refused.
func TestAhead(t *testing.T) {
	c := start(t, conversation)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	c.send(`{"jsonrpc":"2.0","id":3,"method":"session/prompt"}`)
	c.send(`{"jsonrpc":"2.0","id":4,"method":"session/prompt"}`)
	c.expect(
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`,
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"the recording has no further session/prompt"}}`)
	c.send(`{"jsonrpc":"2.0","id":0,"result":null}`)
	c.send(`[{"jsonrpc":"2.0","id":2,"method":"session/new"}]`)
	c.expect(
		`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`,
		`debug: here we go`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"n":1}}`,
		`{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"path":"/project/a.txt"}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"n":2}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"n":3}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`)
	c.end()
}

const withMode = `
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
> {"jsonrpc":"2.0","id":2,"method":"session/set_mode","params":{}}
< {"jsonrpc":"2.0","id":2,"result":{"mode":"set"}}
< {"jsonrpc":"2.0","method":"mode"}
> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{}}
> {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}
> {"jsonrpc":"2.0","id":4,"method":"session/set_mode","params":{}}
< {"jsonrpc":"2.0","id":4,"result":{"mode":"set again"}}
< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
> {"jsonrpc":"2.0","id":5,"method":"logout"}
< {"jsonrpc":"2.0","id":5,"result":{}}
< {"jsonrpc":"2.0","method":"bye"}
`

// A client need not choose a mode as the one of the recording did, neither before a prompt nor
// while it waits for the answer; nor does it have to choose it at the same time.
func TestFewer(t *testing.T) {
	c := start(t, withMode)
	c.send(`{"jsonrpc":"2.0","id":11,"method":"session/new"}`)
	c.expect(`{"jsonrpc":"2.0","id":11,"result":{"sessionId":"s"}}`)
	c.barrier() // the mode may still come
	c.send(`{"jsonrpc":"2.0","id":12,"method":"session/prompt"}`)
	c.expect(`{"jsonrpc":"2.0","method":"mode"}`, `{"jsonrpc":"2.0","id":12,"result":{"stopReason":"end_turn"}}`)
	c.send(`{"jsonrpc":"2.0","id":13,"method":"session/set_mode"}`)
	c.expect(`{"jsonrpc":"2.0","id":13,"result":{"mode":"set"}}`)
	c.send(`{"jsonrpc":"2.0","id":14,"method":"session/set_mode"}`)
	c.expect(`{"jsonrpc":"2.0","id":14,"result":{"mode":"set again"}}`)
	c.barrier() // nothing is open: it waits for the logout
	c.send(`{"jsonrpc":"2.0","id":15,"method":"logout"}`)
	c.expect(`{"jsonrpc":"2.0","id":15,"result":{}}`, `{"jsonrpc":"2.0","method":"bye"}`)
	c.send(`{"jsonrpc":"2.0","id":16,"method":"session/set_mode"}`)
	c.expect(`{"jsonrpc":"2.0","id":16,"error":{"code":-32603,"message":"the recording has ended"}}`)
	c.end()
}

func TestSameControls(t *testing.T) {
	c := start(t, withMode)
	c.send(`{"jsonrpc":"2.0","id":11,"method":"session/new"}`)
	c.expect(`{"jsonrpc":"2.0","id":11,"result":{"sessionId":"s"}}`)
	c.barrier()
	c.send(`{"jsonrpc":"2.0","id":12,"method":"session/set_mode"}`)
	c.expect(`{"jsonrpc":"2.0","id":12,"result":{"mode":"set"}}`, `{"jsonrpc":"2.0","method":"mode"}`)
	c.barrier()
	c.end()
}

// A prompt that was sent while a turn of its session ran is waited for when that turn is over, in either version; one of
// another session is not moved.
func TestQueuedPrompts(t *testing.T) {
	for name, turn := range map[string][]string{
		"version 1": {`{"method":"update"}`, `{"id":1,"result":{"stopReason":"end_turn"}}`},
		"version 2": {
			`{"id":1,"result":{"messageId":"m"}}`, `{"method":"session/update","params":{"sessionId":"s","update":{"state":"idle"}}}`,
			`{"method":"session/update","params":{"sessionId":"s","update":{"state":"idle","stopReason":"end_turn"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, `
> {"id":1,"method":"session/prompt","params":{"sessionId":"s"}}
> {"id":2,"method":"session/prompt","params":{"sessionId":"s"}}
> {"id":3,"method":"session/prompt","params":{"sessionId":"other"}}
> {"id":4,"method":"session/prompt","params":{"sessionId":"s"}}
< `+strings.Join(turn, "\n< ")+`
< {"method":"second"}
< {"id":2,"error":{"code":-32800}}
< {"method":"third"}
< {"id":4,"result":{"stopReason":"end_turn"}}
`)
			c.send(`{"id":1,"method":"session/prompt"}`)
			c.barrier() // it waits for the other session's
			c.send(`{"id":3,"method":"session/prompt"}`)
			c.expect(turn...)
			c.barrier()
			c.send(`{"id":12,"method":"session/prompt"}`)
			c.expect(`{"method":"second"}`, `{"id":12,"error":{"code":-32800}}`)
			c.barrier()
			c.send(`{"id":14,"method":"session/prompt"}`)
			c.expect(`{"method":"third"}`, `{"id":14,"result":{"stopReason":"end_turn"}}`)
			c.end()
		})
	}
}

// Batches, odd messages and answers to nothing are sent as they were.
func TestOddMessages(t *testing.T) {
	c := start(t, `
> {"jsonrpc":"2.0","id":5,"method":"initialize"}
< [{"jsonrpc":"2.0","method":"a","params":[1, 2]},{"result":{"id":1},"id":"5","jsonrpc":"2.0"}]
< {"jsonrpc":"2.0","id":5,"result":"twice"}
< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}
< {"jsonrpc":"2.0","id":9,"method":7}
< {"jsonrpc":"2.0","id":8,"method":"ask"}
> [{"jsonrpc":"2.0","id":8,"result":1},{"jsonrpc":"2.0","method":"session/cancel"}]
< [3]
`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	c.expect(
		`[{"jsonrpc":"2.0","method":"a","params":[1, 2]},{"result":{"id":1},"id":1,"jsonrpc":"2.0"}]`,
		`{"jsonrpc":"2.0","id":1,"result":"twice"}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`,
		`{"jsonrpc":"2.0","id":9,"method":7}`,
		`{"jsonrpc":"2.0","id":8,"method":"ask"}`)
	c.send(`{"jsonrpc":"2.0","id":8,"result":1}`)
	c.barrier()
	c.send(`{"jsonrpc":"2.0","method":"session/cancel"}`)
	c.expect(`[3]`)
	c.send(`junk`)
	c.send(``)
	c.end()
}

func TestPaths(t *testing.T) {
	var p paths
	p.add("/project", "/before") // of an earlier session
	p.add("/project", `/home/m"e`)
	p.add("/project/sub/", "/elsewhere")
	p.add("/", "/nowhere")
	p.add("relative", "/nowhere")
	for in, want := range map[string]string{
		`{"path":"/project/a.txt"}`:            `{"path":"/home/m\"e/a.txt"}`,
		`{"/project":"/project"}`:              `{"/home/m\"e":"/home/m\"e"}`,
		`["see\n/project.", "\u002fproject"]`:  `["see\n/home/m\"e.", "/home/m\"e"]`,
		`"/project"`:                           `"/home/m\"e"`,
		`["\/project\/a"]`:                     `["/home/m\"e/a"]`,
		`["file:///project/a?x=<&>"]`:          `["file:///home/m\"e/a?x=<&>"]`,
		`["/project/sub/a","/project/subway"]`: `["/elsewhere/a","/home/m\"e/subway"]`,
		`["/projects","/project.txt","/project-x","a/project","~/project","./project","//project"]`: `["/projects","/project.txt","/project-x","a/project","~/project","./project","//project"]`,
		`["/project2","/project_x","/projecté","é/project"]`:                                        `["/project2","/project_x","/projecté","é/project"]`,
		`["\\/project"]`:                 `["\\/home/m\"e"]`,
		`["a\"b", "cd /project && ls"] `: `["a\"b", "cd /home/m\"e && ls"] `,
		`{"n":1.50,"s":"\u00e9 / /"}`:    `{"n":1.50,"s":"\u00e9 / /"}`,
	} {
		check.Equal(t, string(p.in([]byte(in))), want, "%s becomes\n%s", in)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := serve(t, ctx, traffic(t, conversation))
	c.barrier()
	cancel()
	must.Do(t, must.Receive(t, "the end of Serve after that of its context", c.err))
}

// A client that does not read keeps neither the context nor Serve.
func TestCancelledUnread(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	inR, inW := io.Pipe()
	outR, outW, err := os.Pipe()
	must.Do(t, err)
	defer outR.Close()
	ended := make(chan error, 1)
	big := `< {"jsonrpc":"2.0","method":"` + strings.Repeat("x", 1<<20) + `"}`
	go func() { ended <- Serve(ctx, strings.NewReader(traffic(t, big)), inR, outW) }()
	if _, err := outR.Read(make([]byte, 1)); err != nil { // the write is under way
		t.Fatal(err)
	}
	cancel()
	must.Do(t, must.Receive(t, "the end of Serve after that of its context", ended))
	inW.Close()
}

// Between two messages the agent takes its time, within limits; what the client sends meanwhile is answered at once.
func TestPauses(t *testing.T) {
	begun := time.Now()
	c := serve(t, t.Context(), `{"dir":"a2c","t":15,"msg":{"jsonrpc":"2.0","method":"first"}}
{"dir":"a2c","t":30,"msg":{"jsonrpc":"2.0","method":"second"}}`)
	for _, method := range []string{"first", "second"} {
		c.send(`{"jsonrpc":"2.0","method":"anything"}`)
		c.expect(`{"jsonrpc":"2.0","method":"` + method + `"}`)
	}
	if took := time.Since(begun); took < 30*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	c.end()
}

// A client that is gone ends the replay, which says so.
func TestClientThatIsGone(t *testing.T) {
	for recording, asks := range map[string]string{
		`< {"jsonrpc":"2.0","method":"n"}`: "", `< [{"jsonrpc":"2.0","method":"n"}]`: "", `! junk`: "", "": `{"id":1,"method":"x"}` + "\n",
	} {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		outR.Close()
		ended := make(chan error, 1)
		go func() { ended <- Serve(t.Context(), strings.NewReader(traffic(t, recording)), inR, outW) }()
		go func() {
			_, _ = io.WriteString(inW, asks)
			_ = inW.Close()
		}()
		err := must.Receive(t, "the end of Serve", ended)
		check.Equal(t, fmt.Sprint(err), "write to the client: io: read/write on closed pipe", "%s: it says %s", recording)
		_ = inR.Close()
	}
}

func TestBadRecording(t *testing.T) {
	for _, text := range []string{"junk\n", `{"dir":"x","t":0,"msg":{}}`} {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		err := Serve(t.Context(), strings.NewReader(text), inR, outW)
		if err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: error is %v", text, err)
		}
		inW.Close()
		outR.Close()
	}
}

// What was too long for the record's memory is left out.
func TestCut(t *testing.T) {
	c := serve(t, t.Context(), `{"dir":"a2c","t":0,"msg":{"__cut__":"{\"jsonrpc\"","bytes":70000}}
{"dir":"c2a","t":0,"msg":{"__cut__":"{\"jsonrpc\"","bytes":70000}}
{"dir":"a2c","t":100000,"msg":{"jsonrpc":"2.0","method":"after"}}`)
	c.expect(`{"jsonrpc":"2.0","method":"after"}`)
	c.end()
}
