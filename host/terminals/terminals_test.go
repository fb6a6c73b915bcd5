package terminals

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What the agent reports of its terminals is shown; what it reports no end of ends with its call, its turn or itself.
func TestTerminalsOfTheAgent(t *testing.T) {
	urgent := 0
	s := New(Config{
		Base: feature.Base{Session: 1, Editor: editor.New(nil), Log: slog.New(slog.DiscardHandler)},
		Mark: func(now bool) {
			if now {
				urgent++
			}
		},
	})
	told := func() string {
		var list []string
		for _, op := range s.Ops() {
			for _, m := range op.Args.(rpc.Terminals).List {
				list = append(list, strings.TrimSpace(fmt.Sprintln(m.Number, m.ID, m.Command, m.Running, m.Ending)))
			}
		}
		return strings.Join(list, ", ")
	}
	expect := func(want string) {
		t.Helper()
		check.Equal(t, told(), want, "told is %q")
	}
	s.Update(session.TerminalPatch{ID: "a", Command: acp.Set("make")})
	expect("1 a make true")
	s.Update(session.TerminalChunk{ID: "b", Data: []byte("one\ntwo"), Plain: true})
	expect("2 b  true")
	before := urgent
	s.Update(session.TerminalChunk{ID: "b", Data: []byte("\nthree"), Plain: true})
	check.Equal(t, urgent, before, "output is urgent: %v")
	var touched []string
	s.Touched(func(id string) { touched = append(touched, id) })
	if fmt.Sprint(touched) != "[b]" {
		t.Errorf("touched are %v", touched)
	}
	if screen, ok := s.Screenful("b", 2); !ok || screen.Total != 3 || screen.Lines[1].Text != "three" {
		t.Errorf("b shows %+v, %v", screen, ok)
	}
	told()

	call := &session.ToolCall{Content: []session.ToolCallContent{
		session.ContentItem{Content: session.Text{Text: "text"}},
		session.TerminalRef{TerminalID: "c"}, session.TerminalRef{TerminalID: "a"},
	}}
	s.Observe(call)
	expect("3 c  true")
	s.Observe(call)
	expect("") // nothing new
	call.RawInput = json.RawMessage(`{"command": "make all"}`)
	s.Observe(call)
	expect("3 c make all true") // a has a command
	if got := s.Numbers(call); fmt.Sprint(got) != "[3 1]" {
		t.Errorf("the call shows %v", got)
	}
	s.Stop()
	expect("1 a make false, 2 b  false, 3 c make all false")
	s.Update(session.TerminalChunk{ID: "b", Data: []byte("more")})
	expect("2 b  true")
	code := 2
	s.Update(session.TerminalPatch{ID: "a", Exit: acp.Set(session.TerminalExit{Code: &code})})
	expect("1 a make false exited with code 2")
	if screen, _ := s.Screenful("a", 1); screen.State != "exited with code 2" {
		t.Errorf("a shows %+v", screen)
	}

	// What goes on in the background outlives its call and its turn.
	s.Update(session.TerminalPatch{ID: "d"})
	told()
	s.Observe(&session.ToolCall{Status: session.StatusCompleted, Content: []session.ToolCallContent{session.TerminalRef{TerminalID: "d"}}})
	expect("4 d  false")
	s.Behind([]string{"d"})
	expect("4 d  true")
	s.Stop()
	told()
	if screen, _ := s.Screenful("d", 1); !screen.Behind || screen.State != "" {
		t.Errorf("d shows %+v", screen)
	}
	s.Update(session.TerminalPatch{ID: "d", Exit: acp.Set(session.TerminalExit{})})
	told()
	if screen, _ := s.Screenful("d", 1); screen.Behind {
		t.Errorf("once it has ended d shows %+v", screen)
	}
	s.Update(session.TerminalPatch{ID: "d", Exit: acp.Null[session.TerminalExit]()})
	told()
	s.Behind(nil)
	expect("4 d  false")

	none := rpc.InTerminal{Terminal: 99}
	s.Show(rpc.TerminalShow{InTerminal: none, Anew: true, Cols: 80, Rows: 24})
	s.Keys(rpc.TerminalKeys{InTerminal: none, Keys: "x"})
	s.Keys(rpc.TerminalKeys{InTerminal: rpc.InTerminal{Terminal: 1}, Keys: "x"}) // which the agent runs
	s.Focus(rpc.TerminalFocus{InTerminal: none, Focused: true})
	s.Shut(rpc.TerminalShut{InTerminal: none})
	expect("")

	if _, err := s.Get("a"); err == nil {
		t.Error("the agent may kill what it runs itself through this client")
	}
	s.Update(session.TerminalChunk{ID: "a", Data: []byte("more")})
	s.Update(session.TerminalPatch{ID: "a", Exit: acp.Null[session.TerminalExit]()})
	expect("1 a make true") // what it said was not the end
	s.Update(session.TerminalPatch{ID: "e"})
	told()
	s.Release()
	expect("1 a make false, 2 b  false, 3 c make all false, 4 d  false, 5 e  false")
	s.Update(session.TerminalPatch{ID: "a"})
	expect("6 a  true") // another agent

	// Of all but the last that have ended only the end is kept.
	for i := range mostWhole + 1 {
		id := fmt.Sprint("long", i)
		s.Update(session.TerminalChunk{ID: id, Data: []byte(strings.Repeat("line\n", 1000)), Plain: true})
		s.Update(session.TerminalPatch{ID: id, Exit: acp.Set(session.TerminalExit{Code: new(int)})})
		s.Update(session.TerminalPatch{ID: id, Cwd: acp.Set("/")})
	}
	for id, whole := range map[string]bool{"long0": false, "long1": true, fmt.Sprint("long", mostWhole): true} {
		if screen, _ := s.Screenful(id, 1000); screen.Total != 1000 || len(screen.Lines) > 100 != whole {
			t.Errorf("%s has %d lines of %d", id, len(screen.Lines), screen.Total)
		}
	}
}

// A command whose end comes right after its session was closed is shown as ended: nobody asks for it any more.
func TestAnEndAfterTheSessionWasClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, nvim := shown()
		s.Update(session.TerminalPatch{ID: "a", Command: acp.Set("make")})
		s.Ops()
		s.Close()
		s.Update(session.TerminalPatch{ID: "a", Exit: acp.Set(session.TerminalExit{Code: new(int)})})
		synctest.Wait()
		check.Contains(t, fmt.Sprintf("%+v", nvim.told()), "exited with code 0", "Neovim is told %s")
		s.Editor.Close()
	})
}

// Terminals that an agent does not release are bounded; a command that cannot start is none.
func TestTerminalsThatAreNotReleased(t *testing.T) {
	if _, err := exec.LookPath("true"); err != nil {
		t.Skip(err)
	}
	s := running(t)
	create := func(command string) (id string, err error) { return s.create(session.CreateTerminal{Command: command}) }
	last := ""
	for range mostHeld {
		if _, err := create("no-such-command"); err == nil {
			t.Fatal("what is not there was run")
		}
		var err error
		last, err = create("true")
		must.Do(t, err)
	}
	if _, err := create("true"); err == nil || !strings.Contains(err.Error(), "there are 100 terminals: release some with terminal/release") {
		t.Errorf("the agent is told %v", err)
	}
	term, err := s.Get(last)
	must.Do(t, err)
	term.Release()
	term.Release() // nothing more
	if _, err := create("true"); err != nil {
		t.Errorf("after one was released: %v", err)
	}
	if _, err := create("true"); err == nil {
		t.Error("one that was released twice counted twice")
	}
	s.Box.Put(func() { s.Release() })
	if _, err := create("true"); err != nil {
		t.Errorf("the next agent is told %v", err)
	}
}

// What is kept of a terminal shows the same in another session.
func TestWhatIsKeptOfATerminal(t *testing.T) {
	s, _ := shown()
	s.Update(session.TerminalPatch{
		ID: "a", Command: acp.Set("make"), Cwd: acp.Set("/src"), Size: acp.Set(session.TerminalSize{Cols: 20, Rows: 5}),
	})
	s.Update(session.TerminalChunk{ID: "a", Data: []byte(strings.Repeat("line\n", 99) + "10%\r20%"), Plain: true})
	s.Update(session.TerminalPatch{ID: "narrow", Size: acp.Set(session.TerminalSize{Cols: 20, Rows: 5})})
	s.Update(session.TerminalChunk{ID: "narrow", Data: []byte(strings.Repeat("a", 25) + "\rb"), Plain: true})
	screen, _ := s.Screenful("narrow", 1)
	check.Equal(t, screen.Lines[0].Text, strings.Repeat("a", 20)+"baaaa", "in 20 columns it is %s")
	runs, ok := s.Shown("a")
	if !ok || !runs.Exit.IsZero() {
		t.Errorf("of a command that runs %+v is kept, %v", runs.Exit, ok)
	}
	s.Update(session.TerminalPatch{ID: "a", Exit: acp.Set(session.TerminalExit{Signal: "SIGINT"})})
	kept, _ := s.Shown("a")
	again, _ := shown()
	again.Update(kept)
	screen, _ = again.Screenful("a", 2)
	if screen.Total != 100 || screen.Lines[0].Text != "line" || screen.Lines[1].Text != "20%" || screen.State != "killed by SIGINT" {
		t.Errorf("of it %+v is shown", screen)
	}
	m := again.Ops()[0].Args.(rpc.Terminals).List[0]
	if m.ID != "a" || m.Command != "make" || m.Cwd != "/src" || m.Signal != "SIGINT" {
		t.Errorf("Lua is told %+v", m)
	}
	if _, ok := s.Shown("b"); ok {
		t.Error("what is not there is kept")
	}
	if _, ok := s.Screenful("b", 1); ok {
		t.Error("what is not there is shown")
	}
}
