package editortools

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// A crowd that says nothing, or reads nothing, keeps neither the agent from its tools nor the host from its end.
func TestCrowdAtTheSocket(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "one\n")
		s.WriteFile("large.txt", strings.Repeat("a line of many\n", 8000))
		p, e := begin(t, s, `{ tools = 'read' }`)
		s.Prompt(p, "Go")
		c := connect(t, e)
		deaf := dial(t, e)
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"deaf","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		} {
			_, _ = fmt.Fprintln(deaf, line)
		}
		for i := range 300 { // answers of 30 KB, which nobody takes
			_ = deaf.SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := fmt.Fprintf(deaf, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_buffer","arguments":{"path":"large.txt"}}}`+"\n", i+1); err != nil {
				break // it is not heard any more either
			}
		}
		for range 500 {
			conn, err := net.Dial("unix", e.Env[0].Value)
			if err != nil {
				break // there is no room for more
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
		if r := <-start(t.Context(), c, "read_buffer", obj{"path": "a.txt"}, nil); r.failed || !strings.Contains(r.text, "one") {
			t.Errorf("a client that was there gets %+v", r)
		}
		s.Quit()
		s.AwaitNothingLeft()
	})
}

// dial connects as the shim does, and says a token.
func dial(t *testing.T, e entry) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", e.Env[0].Value)
	if err == nil {
		_, err = fmt.Fprintln(conn, e.Env[1].Value)
	}
	must.Do(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A client that has a token and says nonsense, or nothing, or goes in the middle, harms nobody else.
func TestHostileClients(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "one\n")
		p, e := begin(t, s, `{ tools = 'read' }`)
		s.Prompt(p, "Go")
		random := rand.New(rand.NewPCG(1, 2))
		noise := make([]byte, 1<<20)
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		for _, text := range [][]byte{
			noise,
			[]byte(`[{"jsonrpc":"2.0","id":1,"method":"initialize"},{}]` + "\n"),
			[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}` + "\n"),
			bytes.Repeat([]byte("x"), 8<<20),
			append(bytes.Repeat([]byte("["), 1<<20), '\n'),
		} {
			conn := dial(t, e)
			_ = conn.SetDeadline(time.Now().Add(5 * time.Second)) // it may be cut off at any byte
			_, _ = conn.Write(text)
			_ = conn.(*net.UnixConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
		}
		dial(t, e) // who says nothing
		c := connect(t, e)
		if r := <-start(t.Context(), c, "read_buffer", obj{"path": "a.txt"}, nil); r.failed || !strings.Contains(r.text, "one") {
			t.Errorf("another client gets %+v", r)
		}
		s.Lua(nil, `require('acp.editortools').servers = function()
			_G.asked = true
			return function() _G.given_up = true end
		end`)
		hanging := start(t.Context(), c, "definition", obj{"path": "a.txt", "line": 1, "symbol": "one"}, nil)
		s.AwaitLua(`_G.asked`)
		p.Exit(1, "")
		s.AwaitState("dead")
		<-hanging
		s.AwaitLua(`_G.given_up`)
	})
}

// A call that is given up before Neovim has got to it is never begun.
func TestACallGivenUpBeforeItBegins(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `local tools = require('acp.editortools')
			tools.servers = function() _G.begun = true end
			tools.run({ id = -1, tool = 'definition' })
			tools.cancel(-1)
			vim.schedule(function() _G.over = true end)`)
		s.AwaitLua(`_G.over`)
		if s.Value(`_G.begun`) != nil {
			t.Error("it was begun")
		}
	})
}

// A call is answered when its session goes in the middle of a question, by :Acp restart or by its close, and nothing of it is
// left; the token of before is of nobody.
func TestCallsOfSessionsThatGo(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile(".env", "KEY=1\n")
		p, e := begin(t, s, `{ tools = 'read' }`)
		c := connect(t, e)
		s.Prompt(p, "Look")
		asks := func(c *mcp.ClientSession) <-chan answer {
			got := start(t.Context(), c, "read_buffer", obj{"path": ".env"}, nil)
			s.AwaitPermissions(1)
			return got
		}
		got := asks(c)
		p = s.Restart()
		if a := <-got; !a.failed {
			t.Errorf("the answer is %+v", a)
		}
		s.AwaitPermissions(0)
		p.Initialize(nil)
		again := opened(t, s, p, 1)
		if again.Env[1].Value == e.Env[1].Value {
			t.Error("the token is that of before")
		}
		if said, _ := io.ReadAll(dial(t, e)); !strings.Contains(string(said), "refused") {
			t.Errorf("who has the token of before is told %q", said)
		}
		c = connect(t, again)
		s.Prompt(p, "Look again")
		got = asks(c)
		s.OK(`require('acp').close()`)
		if a := <-got; !a.failed {
			t.Errorf("the answer is %+v", a)
		}
		s.AwaitPermissions(0)
	})
}
