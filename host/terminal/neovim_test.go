package terminal

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

var (
	rounds = flag.Int("rounds", 150, "random outputs that each Neovim shows")
	seed   = flag.Uint64("seed", 1, "seed of the random outputs")
)

// shower shows outputs in the plugin's terminal buffers.
type shower struct {
	*nvimtest.Nvim
	t *testing.T
}

// onNeovims runs f on both Neovims, with floats of any size to show terminals in.
func onNeovims(t *testing.T, f func(t *testing.T, s *shower)) {
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) {
		n.Lua(nil, `
			require('acp.rpc.host').notify = function() end
			local terminal, number, win = require('acp.terminal.view'), 0, nil
			local function where(cols, rows)
				return { relative = 'editor', row = 0, col = 0, width = cols, height = rows }
			end
			function begin(cols, rows)
				if buf then
					for _, chan in ipairs(vim.api.nvim_list_chans()) do
						if chan.buffer == buf then
							vim.fn.chanclose(chan.id) -- which takes over what is not in the buffer yet
						end
					end
					vim.cmd.redraw()
					vim.api.nvim_buf_delete(buf, { force = true })
				end
				number = number + 1
				terminal.set({ { session = 1, number = number, id = 'a', running = true, command = 'test' } })
				buf = terminal.list(1)[number].buf
				win = vim.api.nvim_open_win(buf, false, where(80, 20))
				-- The window becomes as it is wanted when the terminal has begun.
				vim.wait(1000, function() return vim.bo[buf].buftype == 'terminal' end, 1)
				vim.api.nvim_win_set_config(win, where(cols, rows))
			end
			function resize(cols, rows)
				vim.api.nvim_win_set_config(win, where(cols, rows))
			end
			function send(data)
				terminal.output({ session = 1, number = number, anew = false, data = data })
			end`)
		f(t, &shower{n, t})
	})
}

// show has Neovim take the outputs in a terminal of this size; each may give it another one before.
func (s *shower) show(cols, rows int, outputs ...output) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Logf("by a terminal of %dx%d that shows %+q", cols, rows, fmt.Sprint(outputs))
		}
	}()
	calls := []any{[]any{"begin", cols, rows}}
	d := newDisplay(0)
	d.Answering(true)
	var r Reader
	for _, out := range outputs {
		if out.cols > 0 {
			d.Resize(out.cols, out.rows)
			calls = append(calls, []any{"resize", out.cols, out.rows})
		}
		d.Write([]byte(out.text), false)
		for more := true; more; {
			var data []byte
			data, _, more = d.Read(&r, 16<<10)
			calls = append(calls, []any{"send", string(data)})
		}
	}
	calls = append(calls, []any{"send", string(d.Epilogue("[exited with code 0]"))})
	s.Lua(nil, `for _, call in ipairs(...) do
		_G[call[1]](unpack(call, 2))
	end`, calls)
	s.Redraw()
}

type output struct {
	text       string
	cols, rows int // of the window from here on, if they are not 0
}

// Each of these has ended a Neovim, or comes near to what has.
func TestHostileOutputs(t *testing.T) {
	many := func(n int, with string) string { return strings.TrimSuffix(strings.Repeat("1"+with, n), with) }
	var outputs []string
	for _, n := range []int{16, 17, 18, 32, 33, 34, 100, 120} {
		for _, with := range []string{";", ":"} {
			for _, form := range []string{"\x1b[%sm", "\x1b[%sH", "\x1b[?%sh", "\x1b[%sn", "\x1b[>%sc", "\x1b[?%s$p"} {
				outputs = append(outputs, fmt.Sprintf(form, many(n, with)))
			}
			outputs = append(outputs, "\x1b["+strings.Repeat(with, n)+"m")
		}
	}
	for _, final := range "@ABCDEFGHIJKLMPSTXZ`abdefgmrsu" {
		for _, n := range []string{"2147483647", "2147483648", "4294967296", "99999999999999999999", "0;2147483647", "65536;65536"} {
			outputs = append(outputs, "x\x1b["+n+string(final))
		}
	}
	outputs = append(outputs, "漢", "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "\u0301", "漢\x1b[b\x1b[9999b", "\x1b[999b", "👩‍👩‍👧‍👦", "\x1b[?1049h漢\x1b[9;9r\x1b[?1049l", "\x1b#8\x1b[M\x1b[L\x1b[S\x1b[T")
	onNeovims(t, func(t *testing.T, s *shower) {
		for _, size := range [][2]int{{80, 20}, {10, 1}, {1, 1}, {1, 5}, {3, 2}} {
			for some := range slices.Chunk(outputs, 20) {
				var shown []output
				for i, out := range some {
					shown = append(shown, output{"\x1bc" + out, size[0], size[1] + i%2})
				}
				s.show(size[0], size[1], shown...)
			}
		}
		for _, text := range []string{"\x1b[7;14r\r\n", "\x1b[7r", "\x1b[12H\x1b7", "\x1b[12H\x1b[s", "\x1b[12H\x1b[?1049h\x1b[3H", "\x1b[12H\x1b[?1048h"} {
			for _, end := range []string{"\x1b8", "\x1b[u", "\x1b[?1049l", "\x1b[?1048l"} {
				s.show(20, 15, output{text: text}, output{"\r\n\r\n\r\na", 20, 3}, output{end, 20, 3}, output{"x", 21, 2}, output{"x", 20, 15})
			}
		}
	})
}

// What comes while no window is wide enough is shown when one is.
func TestNarrowTerminal(t *testing.T) {
	onNeovims(t, func(t *testing.T, s *shower) {
		s.Lua(nil, `begin(5, 4)`)
		for i := range 3 {
			s.Lua(nil, `send(...)`, fmt.Sprintf("漢字 %d\r\n", i))
		}
		s.Lua(nil, `resize(40, 9)`)
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(buf, 0, 3, false), ' ') == '漢字 0 漢字 1 漢字 2'`)
		s.Lua(nil, `send('later')`)
		s.AwaitLua(`vim.api.nvim_buf_get_lines(buf, 3, 4, false)[1] == 'later'`)
	})
}

// Whatever comes out of a program, and through the filter, Neovim lives.
func TestRandomOutputs(t *testing.T) {
	onNeovims(t, func(t *testing.T, s *shower) {
		r := randomOutput{rand.New(rand.NewPCG(*seed, 0))}
		for range *rounds {
			var outputs []output
			for range 1 + r.IntN(6) {
				out := output{text: r.text()}
				if r.IntN(2) == 0 {
					out.cols, out.rows = r.size()
				}
				outputs = append(outputs, out)
			}
			cols, rows := r.size()
			s.show(cols, rows, outputs...)
		}
	})
}

// However long a terminal is shown, Neovim keeps no more lines of it than it would of its own.
func TestScrollback(t *testing.T) {
	onNeovims(t, func(t *testing.T, s *shower) {
		s.Lua(nil, `begin(40, 10)`)
		for i := range 24 {
			var lines strings.Builder
			for j := range 500 {
				fmt.Fprintf(&lines, "line %d\r\n", 500*i+j)
			}
			s.Lua(nil, `send(...)`, lines.String())
		}
		s.Lua(nil, `send('the end')`)
		s.AwaitLua(`vim.api.nvim_buf_get_lines(buf, -10, -1, false)[9] == 'the end' or vim.api.nvim_buf_get_lines(buf, -2, -1, false)[1] == 'the end'`)
		if n := s.LuaInt(`vim.api.nvim_buf_line_count(buf)`); n < 9_000 || n > 10_100 {
			t.Errorf("%d lines are kept", n)
		}
	})
}

type randomOutput struct{ *rand.Rand }

func (r randomOutput) size() (cols, rows int) {
	if r.IntN(2) == 0 {
		return 1 + r.IntN(12), 1 + r.IntN(2)
	}
	return 1 + r.IntN(80), 1 + r.IntN(20)
}

func (r randomOutput) of(list []string) string { return list[r.IntN(len(list))] }

func (r randomOutput) text() string {
	var b strings.Builder
	for range r.IntN(60) {
		switch r.IntN(8) {
		case 0:
			for range r.IntN(20) {
				b.WriteByte(byte(r.IntN(256)))
			}
		case 1, 2:
			b.WriteString(strings.Repeat(r.of([]string{"a", "漢", "e\u0301", "\u0301", "\u200d", "👩‍👩‍👧", "🇩🇪", "\xff", "\u00a0", "\u2028", "﷽"}), 1+r.IntN(9)))
		case 3:
			b.WriteString(r.of([]string{"\r", "\n", "\r\n", "\t", "\b", "\v", "\f", "\a", "\x00", "\x0e", "\x0f", "\x18", "\x7f", "\u009b", "\u0085"}))
		case 4:
			b.WriteString(r.of([]string{
				"\x1b7", "\x1b8", "\x1bD", "\x1bE", "\x1bH", "\x1bM", "\x1bc", "\x1b#8", "\x1b(0", "\x1b)A", "\x1b=", "\x1bZ", "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_",
				"\x1b]8;;http://a\x1b\\", "\x1b]11;?\a", "\x1bP$qm\x1b\\", "\x1b]0;t\a",
			}))
		default:
			b.WriteString("\x1b[" + r.of([]string{"", "", "", "?", ">", "=", "<", "??"}))
			for range r.IntN(40) * r.IntN(2) * r.IntN(2) {
				b.WriteString(r.parameter() + r.of([]string{";", ":"}))
			}
			b.WriteString(r.parameter() + r.of([]string{"", "", "", " ", "!", "$", "\"", "\n", "!!"}))
			b.WriteByte("@ABCDEFGHIJKLMPSTXZ`abcdefghlmnpqrstux"[r.IntN(38)])
		}
	}
	return b.String()
}

func (r randomOutput) parameter() string {
	return r.of([]string{"", "0", "1", "2", "3", "5", "7", "38", "48", "47", "1047", "1048", "1049", "4", "6", "20", "25", "80", "255", "9999", "65536", "2147483647", "99999999999"})
}
