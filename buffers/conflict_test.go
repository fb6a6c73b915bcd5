package buffers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// clash is an open conflict as the buffer shows it.
type clash struct {
	First, Last   int // rows, the last one exclusive
	Mine, Theirs  []string
	Base          []string
	Sign, Virtual string // as drawn
}

// clashes are the open conflicts of the current buffer. What they say of their lines is compared with what is drawn.
func (n *neovim) clashes() []clash {
	n.t.Helper()
	var list []clash
	text := n.lua(`
		local list = {}
		for _, place in ipairs(require('acp.files.conflict').get(0 + vim.api.nvim_get_current_buf())) do
			local c = place.conflict
			local drawn = vim.api.nvim_get_namespaces().acp_conflict
			local sign, virtual = '', {}
			for i, id in ipairs(c.shown) do
				local mark = vim.api.nvim_buf_get_extmark_by_id(0, drawn, id, { details = true })
				sign = mark[3].sign_text and (mark[1] .. ' ' .. vim.trim(mark[3].sign_text)) or sign
				for _, line in ipairs(mark[3].virt_lines or {}) do
					table.insert(virtual, vim.trim(line[1][1]))
				end
			end
			table.insert(list, {
				First = place.first, Last = place.last, Sign = sign, Virtual = table.concat(virtual, '|'),
				Mine = vim.api.nvim_buf_get_lines(0, place.first, place.last, false),
				Theirs = c.theirs, Base = c.base,
			})
		end
		return #list > 0 and vim.json.encode(list) or '[]'`).(string)
	text = strings.ReplaceAll(text, `{}`, `[]`)
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		n.t.Fatalf("%v: %s", err, text)
	}
	return list
}

// wantConflict checks that a change has told the user of a conflict in a.txt, and where the lines of both are.
func wantConflict(t *testing.T, w buffers.Written, places, stand string) {
	t.Helper()
	note := "The agent changed lines of a.txt" + places + " that you have changed too: " + stand
	if !w.Conflict || !strings.HasPrefix(w.Note, note) || w.Brief != "a.txt: your lines and the agent's conflict: :Acp conflicts" {
		t.Errorf("told: %+v", w)
	}
}

// wantClashes compares the open conflicts: "first-last mine|theirs" each.
func (n *neovim) wantClashes(want ...string) {
	n.t.Helper()
	got := []string{}
	for _, c := range n.clashes() {
		got = append(got, fmt.Sprintf("%d-%d %s|%s", c.First, c.Last, strings.Join(c.Mine, ","), strings.Join(c.Theirs, ",")))
	}
	check.Equal(n.t, strings.Join(got, "; "), strings.Join(want, "; "), "open conflicts are %q")
	n.want("exists('*maparg') && maparg('c>', 'n', 0, 1)->get('desc', '') ==# 'acp: take the agent''s lines'", truth(len(want) > 0))
}

// hear lets Lua's messages to the host come here: compare is done, all others are dropped.
func (n *neovim) hear() {
	n.lua(`
		asked = {}
		require('acp.rpc.host').notify = function(method, args)
			if method == 'compare' then table.insert(asked, args.name) end
		end`)
}

// compared does what Lua has asked the host for since.
func (n *neovim) compared() {
	n.t.Helper()
	for n.lua("return #asked > 0") == true {
		name := n.lua("return table.remove(asked, 1)").(string)
		done := make(chan error, 1)
		n.files.Compare(context.Background(), name, func(err error) { done <- err })
		select {
		case err := <-done:
			must.Do(n.t, err)
		case <-time.After(hung):
			n.t.Fatal("the comparison does not end")
		}
	}
}

// press types keys and waits until what they have scheduled is done.
func (n *neovim) press(keys string) {
	n.t.Helper()
	n.input(keys)
	n.lua("local done; vim.schedule(function() done = true end); vim.wait(60000, function() return done end, 1)")
	n.compared()
}

// begin makes the one conflict that most tests need: the user's MINE against the agent's ONE and 1.
func (n *neovim) begin() (path string) {
	n.t.Helper()
	n.hear()
	path = n.edit("a.txt", "zero\none\ntwo\nthree\n")
	n.read(path)
	n.press("jccMINE<Esc>")
	w := n.write(path, "zero\nONE\n1\ntwo\nTHREE\n")
	if !w.Conflict || !strings.Contains(w.Note, "c> takes the agent's, c< keeps yours, c= keeps both, :Acp conflicts lists them.") {
		n.t.Errorf("%+v", w)
	}
	n.wantClashes("1-2 MINE|ONE,1")
	return path
}

// A second window shows what is drawn above a closed fold, which is then there no more: Neovim 0.10 would
// draw for ever.
func TestConflictAboveAFoldGoes(t *testing.T) {
	for _, way := range []string{"the user decides", "the user deletes the line", "the user undoes"} {
		t.Run(way, func(t *testing.T) {
			onNeovims(t, func(t *testing.T, n *neovim) {
				n.begin()
				n.lua(`
					vim.cmd('split | setlocal foldmethod=manual | 3,4fold')
					vim.fn.winrestview({ lnum = 3, topline = 3, topfill = 3 })
					vim.cmd('redraw!')
					vim.cmd('wincmd w | 2')`)
				n.want("winsaveview().topline", int64(1))
				n.want("luaeval('vim.api.nvim_win_call(vim.fn.win_getid(1), vim.fn.winsaveview).topfill')", int64(3))
				neovim, err := os.FindProcess(int(n.lua("return vim.fn.getpid()").(int64)))
				must.Do(t, err)
				watchdog := time.AfterFunc(hung, func() {
					t.Error("Neovim draws for ever")
					neovim.Kill()
				})
				defer watchdog.Stop()
				keys := map[string]string{"the user decides": "c<lt>", "the user deletes the line": "dd", "the user undoes": "uu"}[way]
				n.press(keys)
				n.cmd("redraw!")
			})
		})
	}
}

func TestConflictsAreMarked(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.begin()
		c := n.clashes()[0]
		if c.Sign != "1 ≠" || c.Virtual != "agent · c> take · c< yours · c= both|ONE|1" {
			t.Errorf("drawn are %q, %q", c.Sign, c.Virtual)
		}
		n.wantText("zero\nMINE\ntwo\nTHREE")
		n.want("&modified", int64(1))
		// They move with what is above and below them, and with their own lines.
		n.press("ggOabove<Esc>")
		n.wantClashes("2-3 MINE|ONE,1")
		n.press("jjIstill <Esc>")
		n.wantClashes("2-3 still MINE|ONE,1")
		n.press("obelow<Esc>")
		n.wantClashes("2-3 still MINE|ONE,1")
		n.press("kddggdd")
		n.want("getline(1)", "zero")
	})
}

func TestTheirsIsOneUndoStep(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.begin()
		n.press("2Gc>")
		n.wantText("zero\nONE\n1\ntwo\nTHREE")
		n.wantClashes()
		n.want("&modified", int64(0))
		n.write(path, "zero\nONE\n1\ntwo\nTHREE\n") // the same text once more is no change
		n.press("u")
		n.wantText("zero\nMINE\ntwo\nTHREE")
		n.wantClashes("1-2 MINE|ONE,1")
		n.want("&modified", int64(1))
		n.press("<C-r>")
		n.wantText("zero\nONE\n1\ntwo\nTHREE")
		n.wantClashes()
		n.want("&modified", int64(0))
		n.press("u")
		n.wantClashes("1-2 MINE|ONE,1")
		n.press("u")
		n.wantText("zero\nMINE\ntwo\nthree")
		n.press("u")
		n.wantText("zero\none\ntwo\nthree")
		n.wantClashes()
		n.want("&modified", int64(1))
		n.asksNothing("write")
		n.wantDisk("a.txt", "zero\none\ntwo\nthree\n")
	})
}

func TestMineAndBoth(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.begin()
		n.press("2Gc=")
		n.wantText("zero\nMINE\nONE\n1\ntwo\nTHREE")
		n.wantClashes()
		n.want("&modified", int64(1))
		n.press("u")
		n.wantText("zero\nMINE\ntwo\nTHREE")
		n.wantClashes("1-2 MINE|ONE,1")
		n.press("<C-r>")
		n.wantClashes()
		n.press("u")
		n.press("2Gc<lt>")
		n.wantText("zero\nMINE\ntwo\nTHREE")
		n.wantClashes()
		n.want("&modified", int64(1))
		n.asksNothing("write")
		n.wantDisk("a.txt", "zero\nMINE\ntwo\nTHREE\n")
		if got := n.files.Refused(n.path("a.txt")); len(got) != 1 || got[0] != "zero\nONE\n1\ntwo\nTHREE\n" {
			t.Errorf("refused: %q", got)
		}
	})
}

// Whatever makes the lines those of the disk decides.
func TestConflictsEndWithoutKeys(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.begin()
		n.press("2GccONE<CR>1<Esc>")
		n.wantClashes()
		n.want("&modified", int64(0))
		n.press("u")
		n.wantClashes("1-2 MINE|ONE,1")

		// The agent writes what the user has.
		n.write(path, "zero\nMINE\ntwo\nTHREE\nfour\n")
		n.wantClashes()
		n.want("&modified", int64(0))
		n.press("Gofive<Esc>")
		n.wantClashes()
		n.asksNothing("write")

		// One of two.
		n.press("ggccZERO<Esc>GccFIVE<Esc>")
		n.write(path, "0\nMINE\ntwo\nTHREE\nfour\n5\n")
		n.wantClashes("0-1 ZERO|0", "5-6 FIVE|5")
		n.write(path, "ZERO\nMINE\ntwo\nTHREE\nfour\n5\n")
		n.wantClashes("5-6 FIVE|5")
		n.write(path, "ZERO\nMINE\n2\nTHREE\nfour\n5\n6\n")
		n.wantText("ZERO\nMINE\n2\nTHREE\nfour\nFIVE\n6")
		n.wantClashes("5-6 FIVE|5")
		n.press("6Gddu")
		n.wantClashes("5-6 FIVE|5")
		n.write(path, "ZERO\nMINE\n2\nTHREE\nfour\n5!\n6\n")
		n.wantClashes("5-6 FIVE|5!")
		n.cmd("edit!")
		n.wantClashes()
		n.want("&modified", int64(0))
	})
}

func TestConflictsWithRemovedLines(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.hear()
		path := n.edit("a.txt", "one\ntwo\nthree\nfour\nfive\n")
		n.read(path)
		n.press("2Gdd3GccFOUR<Esc>ggdd")
		n.wantText("three\nFOUR\nfive")
		n.write(path, "1\n2\nthree\nfive\n")
		n.wantText("three\nFOUR\nfive")
		n.wantClashes("0-0 |1,2", "1-2 FOUR|")
		for i, want := range []string{"agent, above line 1 · c> take · c< yours · c= both|1|2", "agent removed this · c> take · c< yours · c= both"} {
			check.Equal(t, n.clashes()[i].Virtual, want, "drawn is %q")
		}
		n.press("2Gc>")
		n.wantText("three\nfive")
		n.press("uggc=")
		n.wantText("1\n2\nthree\nFOUR\nfive")
		n.press("4Gc>")
		n.wantText("1\n2\nthree\nfive")
		n.want("&modified", int64(0))

		// All of it.
		n.press("ggdG")
		n.write(path, "1\n2\n3\n5\n")
		n.press("c>")
		n.wantText("1\n2\n3\n5")
		n.want("&modified", int64(0))
	})
}

// The agent has read the user's lines and written them: its older ones are nowhere any more, though the
// user has changed one of his since.
func TestConflictsThatTheAgentHasSettled(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.hear()
		path := n.edit("a.txt", "a\nb\nc\n")
		n.read(path)
		n.press("2GccM1<CR>M2<Esc>")
		n.write(path, "a\nTHEIRS\nc\n")
		n.wantClashes("1-3 M1,M2|THEIRS")
		text := n.read(path)
		n.press("3GAx<Esc>")
		n.write(path, text+"d\n")
		n.wantText("a\nM1\nM2x\nc\nd")
		n.wantClashes()
	})
}

// Lines of the user's that end as the agent's do are not taken for lines above them.
func TestConflictsThatEndAlike(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.hear()
		n.edit("a.txt", "above\nMINE\nONE\ntwo\n")
		n.lua("require('acp.files.conflict').set(0 + vim.api.nvim_get_current_buf(), { { row = 0, count = 3, theirs = { 'ONE' }, noeol = false } }, { 0, 2, 0, 0 }, 'ONE\\ntwo\\n')")
		n.wantClashes("0-3 above,MINE,ONE|ONE")
		n.press("ggc>")
		n.wantClashes()
		n.press("u")
		n.wantClashes("0-3 above,MINE,ONE|ONE")
	})
}

// The agent's last line comes with its newline, or without one.
func TestTheirsAtTheEndOfAFile(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.hear()
		for _, agents := range []string{"one\nTWO\n", "one\nTWO"} {
			path := n.edit("a.txt", "one\ntwo\n")
			n.cmd("setlocal nofixendofline")
			n.read(path)
			n.press("GccMINE<Esc>")
			n.write(path, agents)
			n.press("Gc>")
			n.want("&modified", int64(0))
			n.asksNothing("write!")
			n.wantDisk("a.txt", agents)
			n.cmd("bwipeout!")
		}
	})
}

// Lines that stand for no others are not back at what was there before when the user takes them out.
func TestConflictOfLinesThatWereAdded(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.hear()
		path := n.edit("a.txt", "one\ntwo\n")
		n.read(path)
		n.press("ggosame<CR>mine<Esc>")
		n.write(path, "one\nsame\nagents\ntwo\n")
		n.wantClashes("2-3 mine|agents")
		n.press("3Gdd")
		n.wantClashes("2-2 |agents")
	})
}

// A formatter that replaces all lines, and undoing it.
func TestConflictsAreFoundAgain(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.begin()
		n.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, {'top', 'zero', 'MINE', 'two', 'THREE'})")
		n.wantClashes("2-3 MINE|ONE,1")
		n.press("u")
		n.wantClashes("1-2 MINE|ONE,1")
		n.press("ggdGu")
		n.wantClashes("1-2 MINE|ONE,1")
		n.press(":%!sed s/^//<CR>")
		n.wantClashes("1-2 MINE|ONE,1")
		n.press("gg2ddu")
		n.wantClashes("1-2 MINE|ONE,1")
	})
}

func TestConflictKeysAreBorrowed(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "")
		n.cmd("nnoremap <buffer> c> :let g:own = 1<CR>")
		n.cmd("bwipeout!")
		n.hear()
		path := n.edit("a.txt", "a\nb\nc\nd\ne\n")
		n.cmd("nnoremap <buffer> ]x :let g:own = 1<CR>")
		n.read(path)
		n.press("ggccA<Esc>3GccC<Esc>5GccE<Esc>")
		n.write(path, "1\nb\n3\nd\n5\n")
		n.wantClashes("0-1 A|1", "2-3 C|3", "4-5 E|5")
		n.press("gg]x")
		n.want("line('.')", int64(3))
		n.press("]x]x")
		n.want("line('.')", int64(1))
		n.press("[x")
		n.want("line('.')", int64(5))
		n.press("2[x")
		n.want("line('.')", int64(1))
		n.press("jc>")
		n.wantText("A\nb\nC\nd\nE") // none is here
		n.press("kc>3Gc>5Gc>")
		n.wantText("1\nb\n3\nd\n5")
		n.wantClashes()
		n.want("&modified", int64(0))
		n.press("]x")
		n.want("get(g:, 'own')", int64(1))
		n.want("maparg('c>', 'n')", "")
	})
}

func TestWriteOverConflictsSaysSo(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.begin()
		n.lua("told = {}; vim.notify = function(text) table.insert(told, text) end")
		n.asksNothing("write " + n.path("other.txt"))
		n.wantClashes("1-2 MINE|ONE,1")
		n.asksNothing("write")
		n.press("<Esc>")
		n.want("luaeval('table.concat(told, \"|\")')", "acp: a.txt: your lines overwrote the agent's. :Acp conflicts diff")
		n.wantClashes()
		n.wantDisk("a.txt", "zero\nMINE\ntwo\nTHREE\n")
		n.press("ix<Esc>")
		n.asksNothing("write")
		n.want("luaeval('#told')", int64(1))
	})
}

// The disk's own changes are merged and marked in the same way.
func TestDiskConflictsAreMarked(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.input("ggccMINE<Esc>")
		n.put("a.txt", "ONE\ntwo\nthree\n")
		w.awaitText("MINE\ntwo\nthree")
		w.settle()
		n.wantClashes("0-1 MINE|ONE")
		wantConflict(t, w.onlyChange("the conflict"), "", "yours stay in the buffer, the agent's are on disk. c> takes the agent's")
		n.input("c>")
		n.wantText("ONE\ntwo\nthree")
		w.await("!&modified")
		n.asksNothing("checktime")
		n.asksNothing("write")
	})
}

// What is no text any more is not merged into unsaved text, which keeps the form of its file; a text again is.
func TestNoTextIsNotMerged(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "\ufeffone\r\ntwo\r\n")
		w := n.follow()
		n.input("ggccMINE<Esc>")
		n.put("a.txt", "one\x00\nthree\n")
		w.settle()
		n.wantText("MINE\ntwo")
		n.want("&bomb", int64(1))
		n.want("&fileformat", "dos")
		n.wantClashes()
		if told := w.changes(); len(told) != 1 || !told[0].Conflict || told[0].Changed || !strings.Contains(told[0].Note, "a.txt has changed on disk, and is no text any more") {
			t.Errorf("%+v", told)
		} else {
			check.Equal(t, told[0].Brief, "a.txt: changed on disk, cannot be merged", "in short: %q")
		}
		n.restore(path, "\ufeffone\r\nTWO\r\n", 0o644)
		w.awaitText("MINE\nTWO")
		w.settle()
		n.want("&modified", int64(1))
		n.want("&bomb", int64(1))
	})
}

// Thousands of conflicts cost the one who types no more than one does.
func TestManyConflicts(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		n.hear()
		text := func(word string) string {
			var lines strings.Builder
			for i := range 10_000 {
				if i%2 == 0 {
					fmt.Fprintf(&lines, "%s %d\n", word, i)
				} else {
					fmt.Fprintf(&lines, "same %d\n", i)
				}
			}
			return lines.String()
		}
		path := n.edit("a.txt", text("old"))
		n.read(path)
		n.press(":%s/old/mine/<CR>")
		start := time.Now()
		wantConflict(t, n.write(path, text("theirs")), " in 5000 places", "yours stay in the buffer, the agent's are on disk. ")
		t.Logf("write: %v", time.Since(start))
		n.lua("looked = 0; local get = vim.api.nvim_buf_get_lines; vim.api.nvim_buf_get_lines = function(...) looked = looked + 1; return get(...) end")
		start = time.Now()
		n.press("5001Gx")
		t.Logf("key: %v", time.Since(start))
		if looked := n.lua("return looked").(int64); looked > 10 {
			t.Errorf("one edit looks at %d places", looked)
		}
		start = time.Now()
		n.press("c>")
		t.Logf("decide: %v", time.Since(start))
		n.want("getline(5001)", "theirs 5000")
	})
}

// A conflict ends where the file with the agent's lines is removed: there is nothing to take any more.
func TestConflictOfAFileThatIsRemoved(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\n")
		w := n.follow()
		n.keys("ccmine<Esc>")
		n.put("a.txt", "ONE\n")
		w.settle()
		n.asksNothing("checktime")
		w.settle()
		n.wantClashes("0-1 mine|ONE")
		n.change(path, noFile)
		n.wantClashes()
		n.wantText("mine")
		n.want("&modified", int64(1))
	})
}
