package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"github.com/neovim/go-client/nvim"
)

// floorFrame is the least time between two appends.
const floorFrame = 16 * time.Millisecond

// floor is the least a program can do that shows an agent's answer: it decodes the messages and
// appends their text to a plain buffer, in one call a frame. Of tool calls it shows the lines that the
// chat has in the end, as many of them as it has decoded of the messages; of a command the last lines.
type floor struct {
	nvim  *nvim.Nvim
	agent io.Writer
	wake  chan struct{}

	mu      sync.Mutex
	text    []byte // not shown yet
	done    bool   // the turn has ended
	final   []string
	updates int // of tool calls, that were decoded
	tail    []byte
	buffers map[string]int // by path
	reloads bool           // the turn ends when the buffers have what the disk has

	texts map[string]string // by path, as written last; of the goroutine that reads
}

// serveFloor runs until Neovim or the agent ends.
func serveFloor(in io.ReadCloser, out io.WriteCloser) error {
	agent := exec.Command(os.Args[0])
	agent.Env = append(os.Environ(), roleEnv+"=agent")
	agent.Stderr = os.Stderr
	toAgent, err := agent.StdinPipe()
	if err != nil {
		return err
	}
	fromAgent, err := agent.StdoutPipe()
	if err != nil {
		return err
	}
	if err := agent.Start(); err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	v, err := nvim.New(in, out, out, func(string, ...any) {})
	if err != nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	f := &floor{nvim: v, agent: toAgent, wake: make(chan struct{}, 1), texts: map[string]string{}}
	for method, handler := range map[string]func(string){
		"prompt": func(text string) {
			f.mu.Lock()
			f.reloads = changesFiles(text)
			f.mu.Unlock()
			fmt.Fprintf(toAgent, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":`+
				`{"sessionId":"bench","prompt":[{"type":"text","text":%q}]}}`+"\n", text)
		},
		"cancel": func(string) {
			fmt.Fprintln(toAgent, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"bench"}}`)
		},
	} {
		if err := v.RegisterHandler(method, handler); err != nil {
			return fmt.Errorf("speak with Neovim: %w", err)
		}
	}
	if err := v.RegisterHandler("final", func(lines []string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.final = lines
	}); err != nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	if err := v.RegisterHandler("files", func(buffers map[string]int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.buffers = buffers
	}); err != nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	fmt.Fprintln(toAgent, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	fmt.Fprintln(toAgent, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	go f.read(fromAgent)
	go f.show()
	err = v.Serve()
	toAgent.Close()
	fromAgent.Close()
	if werr := agent.Wait(); err == nil {
		err = werr
	}
	return err
}

// read decodes what the agent says.
func (f *floor) read(r io.Reader) {
	lines := bufio.NewReaderSize(r, 8*megabyte) // a message must fit
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		var m floorMessage
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintln(os.Stderr, "decode a message:", err)
			os.Exit(1)
		}
		switch m.Method {
		case "terminal/create":
			fmt.Fprintln(f.agent, `{"jsonrpc":"2.0","id":1,"result":{"terminalId":"t"}}`)
			go f.run(m.Params.Command, m.Params.Args)
		case "terminal/wait_for_exit": // answered by run
			continue
		case "fs/read_text_file":
			err = f.readFile(m.ID, m.Params.Path, m.Params.Limit)
		case "fs/write_text_file":
			err = f.writeFile(m.ID, m.Params.Path, m.Params.Content)
		case "session/request_permission":
			fmt.Fprintf(f.agent, `{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`+"\n", m.ID)
		}
		f.mu.Lock()
		f.text = append(f.text, m.Params.Update.Content.Text...)
		if m.Params.Update.ToolCallID != "" {
			f.updates++
		}
		ended := m.ID == 3 && m.Method == ""
		reloads := ended && f.reloads
		f.mu.Unlock()
		if reloads {
			err = f.reload()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "do what the agent asks:", err)
			os.Exit(1)
		}
		f.mu.Lock()
		f.done = f.done || ended
		f.mu.Unlock()
		if m.ID == 2 {
			go f.nvim.ExecLua("bench.ready()", nil)
		}
		f.changed()
	}
}

// floorMessage is what the floor wants of a message; the texts of tool calls are decoded too.
type floorMessage struct {
	ID     int
	Method string
	Params struct {
		Command string
		Args    []string
		Path    string
		Content string
		Limit   int
		Update  struct {
			ToolCallID string
			Content    floorContent
		}
	}
}

// floorContent is the content of a chunk, or of a tool call.
type floorContent struct {
	Text  string
	items []struct {
		Content          struct{ Text string }
		OldText, NewText string
	}
}

func (c *floorContent) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, &c.items)
	}
	type chunk floorContent
	return json.Unmarshal(data, (*chunk)(c))
}

// run reads what a command writes to a pseudo-terminal, and keeps the end of it to be shown.
func (f *floor) run(command string, args []string) {
	cmd := exec.Command(command, args...)
	tty, err := pty.Start(cmd)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the command:", err)
		os.Exit(1)
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := tty.Read(buf)
		if n > 0 {
			f.mu.Lock()
			f.tail = append(f.tail[:0], buf[max(0, n-1024):n]...)
			f.mu.Unlock()
			f.changed()
		}
		if err != nil {
			break // EIO is the end of a PTY on Linux
		}
	}
	tty.Close()
	_ = cmd.Wait() // its end is all that counts
	fmt.Fprintln(f.agent, `{"jsonrpc":"2.0","id":1,"result":{"exitCode":0}}`)
}

func (f *floor) changed() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// show brings what has come into the buffer.
func (f *floor) show() {
	shown := 0 // of the final lines
	for range f.wake {
		f.mu.Lock()
		text, tail, final, updates, done := string(f.text), string(f.tail), f.final, f.updates, f.done
		f.text, f.done, f.tail = f.text[:0], false, f.tail[:0]
		f.mu.Unlock()
		var err error
		began := time.Now()
		switch {
		case final != nil:
			upto := min(len(final), updates)
			if done {
				upto = len(final)
			}
			shown = min(shown, max(0, upto-8)) // the last lines may have changed
			err = f.nvim.ExecLua("bench.show(...)", nil, shown, final[shown:upto], done)
			shown = upto
		case tail != "":
			lines := strings.Split(strings.ReplaceAll(tail, "\r", ""), "\n")
			err = f.nvim.ExecLua("bench.show(...)", nil, 0, lines[max(0, len(lines)-7):], done)
		case text != "" || done:
			err = f.nvim.ExecLua("bench.append(...)", nil, strings.Split(text, "\n"), done)
		default:
			continue
		}
		if err != nil {
			return
		}
		time.Sleep(floorFrame - time.Since(began))
	}
}
