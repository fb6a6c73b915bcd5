package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editortools"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// toolPrompt has the agent call a tool of the editor's so many times, with arguments that have no spaces, and say the
// shortest time, in milliseconds, and how the answer begins: what else runs on the machine is no part of it.
const toolPrompt = "tool %d times %s %s"

// editorEntry is the editor's server as the agent is told of it.
type editorEntry struct {
	Command string
	Args    []string
	Env     []struct{ Name, Value string }
}

// editorClient is the agent's client of the editor's server: it writes lines and reads lines, as what an agent makes of
// them is its own.
type editorClient struct {
	entries []editorEntry
	to      io.Writer // nil before the first call
	from    *bufio.Reader
	last    int // the id of a request
}

// serveEditor is `acp-nvim mcp`.
func serveEditor(in io.ReadCloser, out io.WriteCloser) error {
	return editortools.Relay(context.Background(), in, out)
}

func (c *editorClient) connect() error {
	if c.to != nil {
		return nil
	}
	if len(c.entries) == 0 {
		return fmt.Errorf("there is no server")
	}
	e := c.entries[0]
	cmd := exec.Command(e.Command, e.Args...)
	cmd.Env = append(os.Environ(), roleEnv+"=mcp")
	for _, v := range e.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	to, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.to, c.from = to, bufio.NewReaderSize(from, 64<<10)
	hello := `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`
	if err := c.request("initialize", hello, new(any)); err != nil {
		return err
	}
	_, err = io.WriteString(c.to, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

// request sends a request and reads its answer, before which nothing else comes.
func (c *editorClient) request(method, params string, result any) error {
	c.last++
	if _, err := fmt.Fprintf(c.to, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.last, method, params); err != nil {
		return err
	}
	line, err := c.from.ReadBytes('\n')
	if err != nil {
		return err
	}
	answer := struct {
		ID     int
		Result any
		Error  any
	}{Result: result}
	if err := json.Unmarshal(line, &answer); err != nil {
		return err
	}
	if answer.ID != c.last || answer.Error != nil {
		return fmt.Errorf("%s: %s", method, line)
	}
	return nil
}

// call says what toolPrompt is answered.
func (c *editorClient) call(n int, tool, args string) string {
	if err := c.connect(); err != nil {
		return "failed: " + err.Error()
	}
	var took []float64
	first := ""
	for range n {
		var r struct {
			Content []struct{ Text string }
			IsError bool
		}
		began := time.Now()
		err := c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args), &r)
		took = append(took, time.Since(began).Seconds()*1e3)
		if err != nil {
			return "failed: " + err.Error()
		}
		if first, _, _ = strings.Cut(r.Content[0].Text, "\n"); r.IsError {
			return "failed: " + r.Content[0].Text
		}
	}
	return fmt.Sprintf("took %f, %s\n", slices.Min(took), first)
}

// tool has the agent call a tool, and gives the shortest time. The answer begins with what is wanted.
func (n *neovim) tool(times int, tool string, args map[string]any, wanted string) (float64, result) {
	n.tb.Helper()
	encoded, err := json.Marshal(args)
	must.Do(n.tb, err)
	var before, after string
	n.lua(&before, "return bench.text()")
	r := n.prompt(toolPrompt, times, tool, encoded)
	n.lua(&after, "return bench.text()")
	said := after[strings.LastIndex(after, "took")+1:]
	var took float64
	if _, err := fmt.Sscanf(said, "ook %f,", &took); err != nil || !strings.Contains(said, wanted) || after == before {
		n.tb.Fatalf("%s: %q, wanted %q", tool, after[len(after)-min(len(after), 500):], wanted)
	}
	return took, r
}

// editorTools measures the tools of the editor that bring much: places from the real gopls, and diagnostics. The floor of
// places is the same request of Lua's in the same Neovim, without any use of its answer: the way to the agent and back is
// no part of it, and a call that finds nothing tells how long that is.
func editorTools(b *bench) {
	b.places(100, 10)
	for _, files := range []int{1, 100} {
		v := start(b, b.bin, chat)
		v.lua(nil, "bench.diagnose(...)", filepath.Join(v.dir, "d"), files, 10_000/files)
		_, r := v.tool(5, "diagnostics", map[string]any{"wait_ms": 0}, "10000 diagnostics:")
		what := fmt.Sprintf("10000 diagnostics in %d files: ", files)
		b.add(what+"a call, ms", r.Ms/5, 0, none)
		b.add(what+"longest gap, ms", r.Gap, 0, atMost(25))
		b.add(what+"Neovim's CPU in a gap, ms", r.Work, 0, atMost(25))
		v.end()
	}
}

// places measures the references of a function that is used so many times in so many files.
func (b *bench) places(files, uses int) {
	gopls := os.Getenv("ACP_GOPLS")
	if gopls == "" {
		gopls, _ = exec.LookPath("gopls")
	}
	if gopls == "" {
		b.Log("references are not measured: there is no gopls, which scripts/gopls.sh gets")
		return
	}
	dir := b.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(b, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("go.mod", "module example.com/many\n\ngo 1.24\n")
	path := write("parse.go", "package many\n\nfunc Parse(s string) int { return len(s) }\n")
	for i := range files {
		write(fmt.Sprintf("use%03d.go", i), fmt.Sprintf("package many\n\nfunc use%d() (n int) {\n", i)+
			strings.Repeat("\tn += Parse(\"ü\") // one of the uses\n", uses)+"\treturn n\n}\n")
	}
	v := startIn(b, b.bin, chat, dir)
	v.lua(nil, "bench.language_server(...)", gopls, dir, path)
	args := map[string]any{"path": path, "line": 3, "symbol": "Parse"}
	wanted := fmt.Sprintf("%d places:", files*uses+1)
	v.tool(3, "references", args, wanted) // when it has read all
	var inside, ours, floor, least []float64
	for range 60 { // in turn, as other work on the machine comes and goes, and nothing is asked twice in a row
		v.lua(nil, "bench.ask_server(...)", 1, path, false)
		floor = append(floor, v.finish().Ms)
		v.lua(nil, "bench.ask_server(...)", 1, path, true)
		inside = append(inside, v.finish().Ms)
		took, _ := v.tool(1, "references", args, wanted)
		ours = append(ours, took)
		took, _ = v.tool(1, "open_files", map[string]any{}, "no files are open")
		least = append(least, took)
	}
	what := fmt.Sprintf("references with %d places: ", files*uses)
	b.add(what+"in Neovim, against gopls itself, ms", median(inside), median(floor), ratio(1.5))
	b.add(what+"as the agent sees it, against gopls itself, ms", median(ours), median(floor), ratio(1.5))
	b.add(what+"a call that finds nothing, as the agent sees it, ms", median(least), 0, none)
	v.end()
}
