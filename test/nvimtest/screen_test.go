package nvimtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

const split = `
vim.o.laststatus = 2
vim.api.nvim_buf_set_lines(0, 0, -1, true, {'left one', 'left two'})
vim.cmd('file left | vnew | file right')
vim.api.nvim_buf_set_lines(0, 0, -1, true, {'right one', '日本 wide', 'é e\204\129'})
vim.cmd('wincmd x | wincmd h')
`

func TestScreenOfSplit(t *testing.T) {
	Each(t, func(t *testing.T, n *Nvim) {
		n.Lua(nil, split)
		n.Golden("split")
		n.Resize(30, 5)
		n.AwaitScreenMatch(`\A(.*\n){5}\z`)
	}, Size(40, 7))
}

func TestScreenAttrs(t *testing.T) {
	Each(t, func(t *testing.T, n *Nvim) {
		n.Lua(nil, `
			vim.api.nvim_set_hl(0, 'AcpOwn', {link = 'Title'})
			vim.api.nvim_set_hl(0, 'AcpBold', {bold = true})
			vim.o.cursorline = true
			vim.api.nvim_buf_set_lines(0, 0, -1, true, {'own bold both', 'plain', '日本x'})
			local ns = vim.api.nvim_create_namespace('t')
			local function mark(row, from, to, group)
				vim.api.nvim_buf_set_extmark(0, ns, row, from, {end_col = to, hl_group = group})
			end
			mark(0, 0, 3, 'AcpOwn')
			mark(0, 4, 8, 'AcpBold')
			mark(0, 9, 13, 'AcpOwn')
			mark(0, 9, 13, 'AcpBold')
			mark(2, 0, 6, 'AcpBold')`)
		n.Golden("attrs", Attrs())
		n.Keys("ji")
		n.Golden("insert", Attrs())
	}, Size(40, 7))
}

func TestGoldenReplaces(t *testing.T) {
	Each(t, func(t *testing.T, n *Nvim) {
		n.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, -1, true, {'took ' .. vim.uv.hrtime() .. ' ns'})`)
		n.Golden("took", Replace(`took \d+`, "took N"))
	}, Size(40, 4))
}

func TestGoldenFiles(t *testing.T) {
	both(t, func(t *testing.T, bin string) {
		t.Chdir(t.TempDir())
		dir := filepath.Join("testdata", "golden", t.Name())
		path := filepath.Join(dir, "screen.txt")
		golden := func(shown string) (out, version string) {
			out = record(t, func(tb testing.TB) {
				n := Start(tb, bin, Size(40, 3), RuntimePath(""))
				version = n.Version
				n.Keys("i" + shown + "<Esc>")
				n.AwaitScreen(shown)
				n.opts.patience = 300 * time.Millisecond
				defer func() { n.opts.patience = patience }()
				n.Golden("screen")
			})
			return out, version
		}
		out, version := golden("first")
		contains(t, out, "no golden screen "+path, "-update", "first")

		*updateGolden = true
		defer func() { *updateGolden = false }()
		if out, _ := golden("first"); out != "" {
			t.Fatal(out)
		}
		own := filepath.Join(dir, "screen."+version[:strings.LastIndex(version, ".")]+".txt")
		must.Do(t, os.WriteFile(own, nil, 0o666))
		if out, _ := golden("second"); out != "" {
			t.Fatal(out)
		}
		*updateGolden = false

		out, _ = golden("first")
		contains(t, out, own, "-second\n", "+first\n")
		must.Do(t, os.Remove(own))
		if out, _ := golden("first"); out != "" {
			t.Error(out)
		}
		out, _ = golden("second")
		contains(t, out, path, "-first\n", "+second\n")
	})
}

// Scrolling comes as grid_scroll, of the whole width and of one of two windows; what is on the
// screen after it must be what Neovim itself says is there.
func TestScrolling(t *testing.T) {
	Each(t, func(t *testing.T, n *Nvim) {
		n.Lua(nil, `
			local lines = {}
			for i = 1, 300 do lines[i] = 'line ' .. i .. (i % 7 == 0 and ' 日本' or '') end
			vim.api.nvim_buf_set_lines(0, 0, -1, true, lines)`)
		same := func(keys string) {
			t.Helper()
			n.Keys(keys)
			n.AwaitLua(`vim.fn.getcharstr(1) == '' and not vim.api.nvim_get_mode().blocking`)
			n.Redraw()
			var want []string
			n.Lua(&want, `
				local rows = {}
				for r = 1, vim.o.lines do
					local row = {}
					local c = 1
					while c <= vim.o.columns do
						local s = vim.fn.screenstring(r, c)
						row[#row + 1] = s
						c = c + math.max(1, vim.fn.strdisplaywidth(s))
					end
					rows[r] = (table.concat(row):gsub(' +$', ''))
				end
				return rows`)
			if got := n.Screen(); got != strings.Join(want, "\n")+"\n" {
				t.Errorf("after %s the screen is\n%swant\n%s", keys, got, strings.Join(want, "\n"))
			}
		}
		same("20<C-e>")
		same("5<C-y>")
		same(":vsplit<CR>")
		same("7<C-e>")
		same("3<C-y>")
		same("Gdd")
		same("u")
		same("50Go<Esc>")
		same("5dd")
	}, Size(60, 16))
}

// A burst of output, as fast as Neovim can, with a redraw for each of its 10,000 lines.
func TestBurst(t *testing.T) {
	Each(t, func(t *testing.T, n *Nvim) {
		n.Lua(nil, `
			for i = 1, 10000 do
				vim.api.nvim_buf_set_lines(0, -1, -1, true, {'burst ' .. i})
				vim.api.nvim_win_set_cursor(0, {i + 1, 0})
				vim.cmd.redraw()
			end`)
		n.AwaitScreen("burst 10000\n")
		contains(t, n.Screen(), "burst 9990\nburst 9991\n")
	})
}

func TestScreenRefusesNonsense(t *testing.T) {
	good := []any{"grid_resize", []any{int64(1), int64(4), int64(2)}}
	for _, bad := range []any{
		"flush",
		[]any{},
		[]any{"grid_resize", []any{int64(1)}},
		[]any{"grid_line", []any{int64(1), int64(2), int64(0), []any{[]any{"x"}}}},
		[]any{"grid_line", []any{int64(1), int64(0), int64(3), []any{[]any{"x", int64(0), int64(2)}}}},
		[]any{"grid_line", []any{int64(1), int64(0), int64(0), []any{[]any{}}}},
		[]any{"grid_scroll", []any{int64(1), int64(0), int64(3), int64(0), int64(4), int64(1), int64(0)}},
		[]any{"hl_attr_define", []any{int64(1)}},
		[]any{"mode_change", []any{}},
	} {
		s := screen{highlights: map[int]string{}}
		must.Do(t, s.apply(good))
		if err := s.apply(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

func TestHighlightWithoutGroup(t *testing.T) {
	attrs := map[string]any{"foreground": int64(255), "bold": true}
	check.Equal(t, describe(attrs, []any{}), "bold foreground=#0000ff", "described as %q")
}
