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

	"github.com/neovim/go-client/nvim"
)

// floorFrame is the least time between two appends.
const floorFrame = 16 * time.Millisecond

// floor is the least a program can do that shows an agent's answer: it decodes the messages and
// appends their text to a plain buffer, in one call a frame.
type floor struct {
	nvim  *nvim.Nvim
	agent io.Writer
	wake  chan struct{}

	mu   sync.Mutex
	text []byte // not shown yet
	done bool   // the turn has ended
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
	f := &floor{nvim: v, agent: toAgent, wake: make(chan struct{}, 1)}
	for method, handler := range map[string]func(string){
		"prompt": func(text string) {
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
	lines := bufio.NewReaderSize(r, 1<<20) // a message must fit
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Params struct {
				Update struct {
					Content struct{ Text string }
				}
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintln(os.Stderr, "decode a message:", err)
			os.Exit(1)
		}
		f.mu.Lock()
		f.text = append(f.text, m.Params.Update.Content.Text...)
		f.done = f.done || m.ID == 3
		f.mu.Unlock()
		if m.ID == 2 {
			go f.nvim.ExecLua("bench.ready()", nil)
		}
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// show appends what has come.
func (f *floor) show() {
	for range f.wake {
		f.mu.Lock()
		text, done := string(f.text), f.done
		f.text, f.done = f.text[:0], false
		f.mu.Unlock()
		if text == "" && !done {
			continue
		}
		began := time.Now()
		if f.nvim.ExecLua("bench.append(...)", nil, strings.Split(text, "\n"), done) != nil {
			return
		}
		time.Sleep(floorFrame - time.Since(began))
	}
}
