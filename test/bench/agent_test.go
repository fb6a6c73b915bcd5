package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// chunkSize is the length in bytes of a streamed chunk.
const chunkSize = 40

// section is the markdown that is streamed, again and again.
const section = `## How the parser reads a file

The **reader** takes one line at a time, so that a *large* file never has to be in memory as a
whole; see [the notes](https://example.org/notes) and ` + "`reader.go`" + ` for what that costs.

- Lines that are empty are counted, not kept.
- A line of ` + "`#`" + ` begins a comment:
  it ends where the line ends.
- Everything else is a **pair**.

` + "```go" + `
// next returns the next pair, or io.EOF.
func (r *reader) next() (key, value string, err error) {
	for r.lines.Scan() {
		line := strings.TrimSpace(r.lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return "", "", fmt.Errorf("line %d: no value", r.n)
		}
		return key, value, nil
	}
	return "", "", io.EOF
}
` + "```" + `

1. Run the tests with ` + "`go test ./...`" + `; they take about a second.
2. Look at the **last** lines of what they print.

`

// chunks are the pieces of the streamed text, which begins anew after them.
var chunks = func() []string {
	text := section
	if rest := len(text) % chunkSize; rest > 0 {
		text = strings.Repeat("-", chunkSize-1-rest) + "\n" + text
	}
	var list []string
	for ; text != ""; text = text[chunkSize:] {
		list = append(list, text[:chunkSize])
	}
	return list
}()

// streamed is the text of the first n chunks.
func streamed(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(chunks[i%len(chunks)])
	}
	return b.String()
}

// The prompts the agent understands, as formats.
const (
	streamPrompt = "stream %d"       // so many chunks, as fast as they are taken
	pacePrompt   = "stream %d at %d" // the same, so many a second
	markPrompt   = "marks %d"        // so many lines, see markAt, at a reading pace
	shapePrompt  = "show %d of %s"   // the text of a shape, in chunks as fast as they are taken
	wholePrompt  = "say %d of %s"    // the same in one chunk
)

// shapes are texts that grow large in one thing, of which they have n.
var shapes = map[string]func(n int) string{
	"bytes":  func(n int) string { return strings.Repeat("some *words* of ", n/16) },
	"rows":   func(n int) string { return "| a | b |\n|---|---|\n" + strings.Repeat("| **one** | `two` |\n", n) },
	"fences": func(n int) string { return strings.Repeat("```lua\nlocal x = 1\n```\n\n", n) },
}

// markAt is a character that nothing but the i-th mark contains. In a chat the time (Unix, in
// nanoseconds) follows it at which the agent wrote it.
func markAt(i int) string { return string(rune('一' + i)) }

// agent speaks as much of version 1 of the protocol as a prompt needs.
type agent struct {
	out       *bufio.Writer
	requests  chan request
	cancelled atomic.Bool
	soaks     int // turns of soakPrompt
	prompted  time.Time
	editor    editorClient
}

// serveAgent answers until its input ends.
func serveAgent(in io.ReadCloser, out io.WriteCloser) error {
	a := &agent{out: bufio.NewWriterSize(out, 64<<10), requests: make(chan request, 16)}
	go func() {
		defer close(a.requests)
		for lines := bufio.NewReaderSize(in, 64<<10); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			r := request{line: line, at: time.Now()}
			if json.Unmarshal(line, &r) != nil {
				return
			}
			if r.Method == "session/cancel" {
				a.cancelled.Store(true)
				continue
			}
			a.requests <- r
		}
	}()
	for r := range a.requests {
		if r.ID != nil {
			a.answer(r)
		}
		if err := a.out.Flush(); err != nil {
			return fmt.Errorf("write to the client: %w", err)
		}
	}
	return nil
}

// request is what the client asks, or, without a method, its answer.
type request struct {
	line []byte
	at   time.Time // it was read

	ID     json.RawMessage
	Method string
	Result struct{ TerminalID string }
	Params struct {
		Prompt     []struct{ Text string }
		MCPServers []editorEntry
	}
}

func (a *agent) answer(r request) {
	result := `{}`
	switch r.Method {
	case "initialize":
		result = `{"protocolVersion":1,"agentCapabilities":{}}`
	case "session/new":
		a.editor.entries = r.Params.MCPServers
		result = `{"sessionId":"bench"}`
	case "session/prompt":
		result = `{"stopReason":"end_turn"}`
		if a.prompt(r); a.cancelled.Swap(false) {
			result = `{"stopReason":"cancelled"}`
		}
	}
	fmt.Fprintf(a.out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
}

func (a *agent) prompt(r request) {
	a.prompted = time.Now()
	text := r.Params.Prompt[0].Text
	var n, rate, limit int
	var shape, path string
	switch {
	case scan(text, callsPrompt, &n):
		a.send(calls(n))
	case scan(text, colourPrompt, &n):
		a.send(growing(n, "\x1b[1;32mok\x1b[0m  %6d  \x1b[36mpackage/of/the/test\x1b[0m\t\x1b[38;5;208m0.01s\x1b[0m\n"))
	case scan(text, growPrompt, &n):
		a.send(growing(n, "ok  %6d  package/of/the/test\t0.01s\n"))
	case scan(text, diffPrompt, &n):
		a.send(changing(n))
	case scan(text, wholeFilePrompt, &n, &path):
		a.send(change("d", path, 0, n))
	case scan(text, partPrompt, &n, &path):
		a.send(change("d", path, around, around+n))
	case scan(text, manyFilesPrompt, &n, &path):
		for i := range n {
			a.send(change(fmt.Sprint("d", i), fmt.Sprint(path, i), 0, megabyte/len(sheet(1000, 1001, false))))
		}
	case scan(text, reviewPrompt, &n, &rate, &path):
		for i := range n {
			a.send(rewritten(i, rate, path))
		}
	case scan(text, everyPrompt, &rate, &n, &path):
		a.write(path, everyLine(n, rate))
	case scan(text, soakPrompt, &path):
		a.soak(path)
	case scan(text, pacedCommandPrompt, &n, &rate):
		a.run("t", paced(n, rate))
	case scan(text, rewritePrompt, &n, &rate, &path):
		a.rewrites(n, rate, path)
	case scan(text, commandPrompt, &n, &rate):
		a.run("t", writes(n, rate))
	case scan(text, manyCommandsPrompt, &n, &rate):
		for i := range n {
			a.run(fmt.Sprint("t", i), fmt.Sprintf("yes what the command has to say | head -n %d", rate))
		}
	case scan(text, toolPrompt, &n, &shape, &path):
		a.out.Write(message(a.editor.call(n, shape, path)))
	case scan(text, askPrompt, &n):
		a.ask(n)
	case scan(text, visitPrompt, &n, &path):
		a.send(visits(n, path))
	case scan(text, readPrompt, &n, &limit, &path):
		a.reads(n, limit, path)
	case scan(text, writePrompt, &n, &rate, &path):
		a.writes(n, rate, path)
	case scan(text, diskPrompt, &rate, &n, &path):
		changeFiles(rate, n, path)
	case scan(text, arrivedPrompt, &n, &path):
		a.arrived(n, path, r)
	case scan(text, shapePrompt, &n, &shape):
		for chunk := range slices.Chunk([]byte(shapes[shape](n)), chunkSize) {
			a.out.Write(message(string(chunk)))
		}
	case scan(text, wholePrompt, &n, &shape):
		a.out.Write(message(shapes[shape](n)))
	case scan(text, pacePrompt, &n, &rate):
		a.stream(n, time.Second/time.Duration(rate))
	case scan(text, streamPrompt, &n):
		a.stream(n, 0)
	case scan(text, markPrompt, &n):
		for i := range n {
			// Not in step with anything's frames.
			time.Sleep(time.Duration(31+7*(i%5)) * time.Millisecond)
			fmt.Fprintf(a.out, "%s", message(fmt.Sprintf("%s%d\n", markAt(i), time.Now().UnixNano())))
			a.out.Flush()
		}
	}
}

// send sends messages, and leaves how long it took to make them: that is not the client's time.
func (a *agent) send(messages [][]byte) {
	leave(madeName(os.Getenv("HOME")), []time.Duration{time.Since(a.prompted)})
	for _, m := range messages {
		a.out.Write(m)
	}
}

// run has the client run a command, shows it, and waits for its end.
func (a *agent) run(call, command string) {
	ask := func(method, params string) request {
		fmt.Fprintf(a.out, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"sessionId":"bench",%s}}`+"\n", method, params)
		a.out.Flush()
		return <-a.requests
	}
	quoted, _ := json.Marshal(command) // a string always encodes
	id := ask("terminal/create", `"command":"sh","args":["-c",`+string(quoted)+`]`).Result.TerminalID
	a.out.Write(update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":%q,"title":"sh","kind":"execute","status":"in_progress",`+
		`"content":[{"type":"terminal","terminalId":%q}]`, call, id)))
	ask("terminal/wait_for_exit", fmt.Sprintf(`"terminalId":%q`, id))
	a.out.Write(update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed"`, call)))
}

// ask asks for permission n times at once, and waits for all answers.
func (a *agent) ask(n int) {
	for i := range n {
		fmt.Fprintf(a.out, `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"bench",`+
			`"toolCall":{"toolCallId":"p%[1]d","title":"make part-%[1]d","kind":"execute","rawInput":{"command":"make part-%[1]d"}},`+
			`"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`+"\n", 100+i)
	}
	a.out.Flush()
	for range n {
		<-a.requests
	}
	for i := range n {
		a.out.Write(update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":"p%d","status":"completed"`, 100+i)))
	}
}

func scan(text, format string, into ...any) bool {
	n, err := fmt.Sscanf(text, format, into...)
	return err == nil && n == len(into)
}

func (a *agent) stream(n int, every time.Duration) {
	messages := make([][]byte, len(chunks))
	for i, c := range chunks {
		messages[i] = message(c)
	}
	start := time.Now()
	for i := 0; i < n && !a.cancelled.Load(); i++ {
		if _, err := a.out.Write(messages[i%len(messages)]); err != nil {
			os.Exit(1) // nobody listens any more
		}
		if every > 0 {
			a.out.Flush()
			time.Sleep(time.Until(start.Add(time.Duration(i+1) * every)))
		}
	}
}

// message is an agent_message_chunk as a line of the wire.
func message(text string) []byte {
	quoted, _ := json.Marshal(text) // a string always encodes
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"bench",`+
		`"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`+"\n", quoted)
}
