package terminals

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// The buffer of a terminal gets what is new while a window shows it, and then how the command ended.
func TestWhatABufferShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, nvim := shown()
		defer s.Editor.Close()
		in := rpc.InTerminal{In: rpc.In{Session: 1}, Terminal: 1}
		show := func(anew bool, cols int) { s.Show(rpc.TerminalShow{InTerminal: in, Anew: anew, Cols: cols, Rows: 24}) }
		write := func(text string) {
			s.Update(session.TerminalChunk{ID: "a", Data: []byte(text), Plain: true})
		}
		exit := func(code int) {
			s.Update(session.TerminalPatch{ID: "a", Exit: acp.Set(session.TerminalExit{Code: &code})})
		}
		expect := func(when string, want ...string) {
			t.Helper()
			time.Sleep(time.Second) // of this bubble
			synctest.Wait()
			var got []string
			for _, op := range nvim.told() {
				if o, ok := op.(rpc.TerminalOutput); ok {
					check.Equal(t, o.Session*10+o.Number, 11, "of session and terminal %d")
					text, end, _ := strings.Cut(o.Data, "\x18") // before the end is said
					text = strings.ReplaceAll(text, "\r\n", "|")
					if _, end, _ = strings.Cut(end, "\x1b[2m"); end != "" {
						text += "END " + strings.TrimSuffix(end, "\x1b[m")
					}
					if o.Anew {
						text = "ANEW " + text
					}
					got = append(got, text)
				}
			}
			check.Equal(t, strings.Join(got, ", "), strings.Join(want, ", "), when+" it gets %q")
		}
		write("one\n")
		expect("without a buffer")
		show(true, 0)
		expect("in no window")
		show(false, 80)
		expect("in a window", "one|")
		write("two\n")
		expect("for more output", "two|")
		show(false, 0)
		write("three\n")
		expect("hidden")
		show(false, 80)
		expect("in a window again", "three|")
		exit(2)
		expect("at the end", "END [exited with code 2]")
		exit(2)
		expect("when told again")
		s.Update(session.TerminalPatch{ID: "a", Output: acp.Set([]byte("other\n")), Plain: true})
		expect("for another output", "ANEW other|END [exited with code 2]")
		show(true, 80)
		expect("reopened", "other|END [exited with code 2]")
		long := strings.Repeat("0123456789\n", viewLimit/10)
		s.Update(session.TerminalPatch{ID: "a", Output: acp.Set([]byte(long)), Plain: true})
		time.Sleep(time.Second)
		pieces := nvim.told()
		for i, op := range pieces {
			_, ends := strings.CutSuffix(op.(rpc.TerminalOutput).Data, "[exited with code 2]\x1b[m")
			check.Equal(t, ends, i == len(pieces)-1, fmt.Sprintf("of %d pieces that piece %d says the end is", len(pieces), i)+" %v")
		}
		if len(pieces) < 2 {
			t.Errorf("%d bytes come in %d pieces", len(long), len(pieces))
		}
		s.Shut(rpc.TerminalShut{InTerminal: in})
		s.Update(session.TerminalPatch{ID: "a", Output: acp.Set([]byte("third\n")), Plain: true})
		expect("shut")
		show(false, 80)
		expect("shut, whatever its windows")

		// What is left when the session is closed comes in any case.
		s.Update(session.TerminalPatch{ID: "a", Exit: acp.Set(session.TerminalExit{})})
		show(true, 0)
		expect("reopened in no window")
		s.Close()
		expect("when the session is closed", "third|END [ended]")
	})
}

// A buffer that cannot be written to gets nothing more.
func TestABufferThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, nvim := shown()
		defer s.Editor.Close()
		nvim.fail = true
		s.Update(session.TerminalChunk{ID: "a", Data: []byte("one\n"), Plain: true})
		s.Show(rpc.TerminalShow{InTerminal: rpc.InTerminal{In: rpc.In{Session: 1}, Terminal: 1}, Anew: true, Cols: 80, Rows: 24})
		time.Sleep(time.Second)
		check.Equal(t, len(nvim.told()), 1, "%d pieces were tried")
		s.Update(session.TerminalChunk{ID: "a", Data: []byte("two\n"), Plain: true})
		time.Sleep(time.Second)
		check.Equal(t, len(nvim.told()), 0, "%d more pieces were tried")
	})
}
