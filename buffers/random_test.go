package buffers_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

var (
	rounds = flag.Int("rounds", 60, "rounds of random edits on each Neovim")
	seed   = flag.Uint64("seed", 1, "seed of the random edits")
)

// TestRandomEdits lets a user and an agent edit one file, the agent through its client and on the disk, and after each
// of its writes compares what must hold. Every line is unlike all others, so where a line goes is no question.
func TestRandomEdits(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		r := &randomEdits{watching: n.follow(), Rand: rand.New(rand.NewPCG(*seed, 0))}
		r.agent = r.lines(12)
		r.file = n.edit("a.txt", join(r.agent))
		n.lua(`
			asked = {}
			local host = require('acp.rpc.host')
			local notify = host.notify
			host.notify = function(method, args)
				if method == 'compare' then table.insert(asked, args.name) else notify(method, args) end
			end
			ns = vim.api.nvim_create_namespace('t')
			vim.cmd('split | set foldmethod=manual')
			other = vim.fn.win_getid(vim.fn.winnr('#'))`)
		r.settle()
		for i := range *rounds {
			r.round()
			if t.Failed() {
				t.Fatalf("in round %d of -seed %d", i, *seed)
			}
		}
	})
}

type randomEdits struct {
	*watching
	*rand.Rand
	file  string
	agent []string // what the agent takes for the file's text
	given []string // what it was given last
	saved bool     // the user has saved since the agent has read the file through its client
	count int
}

func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func (r *randomEdits) line() string {
	r.count++
	return fmt.Sprintf("%s%d é %s", strings.Repeat("\t", r.IntN(3)), r.count, strings.Repeat("→", r.IntN(3)))
}

func (r *randomEdits) lines(n int) []string {
	var lines []string
	for range n {
		lines = append(lines, r.line())
	}
	return lines
}

// edited returns lines with some added, removed, replaced and changed within.
func (r *randomEdits) edited(lines []string) []string {
	lines = slices.Clone(lines)
	for range 1 + r.IntN(5) {
		at := r.IntN(len(lines) + 1)
		end := min(at+r.IntN(3), len(lines))
		switch r.IntN(4) {
		case 0:
			lines = slices.Insert(lines, at, r.lines(1+r.IntN(3))...)
		case 1:
			lines = slices.Delete(lines, at, end)
		case 2:
			lines = slices.Replace(lines, at, end, r.lines(r.IntN(4))...)
		case 3:
			if at < len(lines) {
				old := []rune(lines[at])
				cut := r.IntN(len(old) + 1)
				lines[at] = string(old[:cut]) + fmt.Sprintf("ü%d", r.count) + string(old[cut:])
				r.count++
			}
		}
	}
	return lines
}

func (r *randomEdits) buffer() []string {
	r.t.Helper()
	var lines []string
	must.Do(r.t, r.ExecLua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)", &lines))
	return lines
}

func (r *randomEdits) onDisk() []string {
	r.t.Helper()
	return strings.Split(strings.TrimSuffix(r.disk("a.txt"), "\n"), "\n")
}

func (r *randomEdits) round() {
	r.t.Helper()
	for range r.IntN(3) * r.IntN(3) { // also past what the agent has written
		r.press([]string{"u", "u", "<C-r>"}[r.IntN(3)])
	}
	if len(r.buffer()) == 1 { // before the first text
		r.press("<C-r>")
	}
	if r.IntN(3) == 0 && len(r.buffer()) > 3 {
		r.press(fmt.Sprintf("%dG%ddd", 1+r.IntN(len(r.buffer())), 1+r.IntN(2)))
	}
	var typed []string // the user's, unsaved
	if r.IntN(2) == 0 {
		line := r.line()
		typed = append(typed, line)
		r.lua("local at, line = ...; vim.api.nvim_buf_set_lines(0, at, at, true, {line})", r.IntN(len(r.buffer())+1), line)
	}
	if r.IntN(3) == 0 {
		r.agent = strings.Split(strings.TrimSuffix(r.read(r.file), "\n"), "\n")
		r.given, r.saved = r.agent, false
	}
	if r.IntN(2) == 0 {
		// Where the agent is likely to edit too.
		at := r.IntN(len(r.buffer()))
		end := min(at+r.IntN(3), len(r.buffer()))
		lines := r.lines(r.IntN(3))
		typed = append(typed, lines...)
		r.lua("local at, last, lines = ...; vim.api.nvim_buf_set_lines(0, at, last, true, lines)", at, end, append([]string{}, lines...))
	}
	inserting := r.IntN(2) == 0
	r.lua(`
		local row, a = ...
		local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
		vim.api.nvim_buf_clear_namespace(0, ns, 0, -1)
		for i, line in ipairs(lines) do
			vim.api.nvim_buf_set_extmark(0, ns, i - 1, math.min(1, #line), {id = i})
		end
		vim.api.nvim_win_set_cursor(0, {row, 0})
		vim.api.nvim_buf_set_mark(0, 'a', a, 0, {})`,
		1+r.IntN(len(r.buffer())), 1+r.IntN(len(r.buffer())))
	fold := r.fold()
	word := ""
	if inserting {
		r.count++
		word = fmt.Sprintf("typed%d", r.count)
		typed = append(typed, word)
		r.input("A" + word)
	}
	before := r.buffer()
	beforeCursor := r.lua("return vim.fn.getline('.')").(string)
	beforeMark := r.lua("return vim.fn.getline(\"'a\")").(string)

	native := r.IntN(3) == 0 // past the client
	if native {
		r.agent = r.onDisk()
	}
	agent := r.edited(r.agent)
	if len(agent) == 0 || native && slices.Equal(agent, r.agent) {
		agent = r.lines(1)
	}
	known, diskBefore := r.agent, r.onDisk()
	var w buffers.Written
	if native {
		w = r.writeDisk(agent)
	} else {
		w = r.write(r.file, join(agent))
	}
	r.agent = agent
	after := r.buffer()

	disk := r.onDisk()
	if native || !r.saved {
		r.wantDisk("a.txt", join(agent))
	}
	empty := len(before) == 1 && before[0] == "" // which may be no line at all
	if w.Before == nil || *w.Before != join(before) && !(empty && *w.Before == "") || w.After == nil || *w.After != join(after) {
		r.t.Errorf("told is %s before, %s after; it was\n%q, and is\n%q", said(w.Before), said(w.After), join(before), join(after))
	}
	r.want("&modified", truth(join(after) != join(disk)))
	r.checkClashes()
	var beside []string // the agent's lines that are shown beside the user's
	for _, c := range r.clashes() {
		beside = append(beside, c.Theirs...)
	}
	for _, line := range agent {
		if !slices.Contains(known, line) && !slices.Contains(after, line) && !slices.Contains(beside, line) {
			r.t.Errorf("the agent's line %q is lost", line)
		}
	}
	for _, line := range diskBefore {
		if !native && r.saved && !slices.Contains(known, line) && !slices.Contains(disk, line) {
			r.t.Errorf("the user's saved line %q is lost on the disk", line)
		}
	}
	for _, line := range disk {
		if !slices.Contains(diskBefore, line) && !slices.Contains(agent, line) {
			r.t.Errorf("the user's unsaved line %q is on the disk", line)
		}
	}
	for _, line := range typed {
		// What was made of the disk's text can have new lines just where the agent was given the user's line. Then
		// nothing tells it from a text in which that line is rewritten, which is the agent's to do; undo has the line.
		rewritten := native && slices.Contains(r.given, line)
		if strings.Contains(join(before), line) && !strings.Contains(join(after), line) && !(w.Buf == 0) && !slices.Contains(known, line) && !rewritten {
			r.t.Errorf("the user's %q is lost", line)
		}
	}
	for i, line := range before {
		if row := slices.Index(after, line); single(line, before, after) {
			r.want(fmt.Sprintf("luaeval('vim.api.nvim_buf_get_extmark_by_id(0, ns, %d, {})[1]')", i+1), int64(row))
		}
	}
	if single(beforeCursor, before, after) {
		r.want("getline('.')", beforeCursor)
	}
	if single(beforeMark, before, after) {
		r.want("getline(\"'a\")", beforeMark)
	}
	if r.t.Failed() {
		r.t.Logf("on the disk %v, before\n%q\nthe agent's\n%q\nafter\n%q", native, before, agent, after)
	}
	fold.check(after)
	if inserting {
		r.want("mode()", "i")
		// What is typed on is a step of its own, where the cursor was.
		more := ""
		if !slices.Equal(before, after) && r.IntN(2) == 0 {
			more = fmt.Sprintf("more%d", r.count)
			r.input(more)
			check.Contains(r.t, join(r.buffer()), word+more, "typed on is %q behind %q:\n%q", more, word)
		}
		r.press("<Esc>")
		if more != "" {
			r.press("u")
			check.Slice(r.t, r.buffer(), after, "after undo of what was typed on:\n%q")
		}
	}
	if !slices.Equal(before, after) {
		r.cmd("undo")
		check.Slice(r.t, r.buffer(), before, "after undo:\n%q")
		if join(before) != join(disk) {
			r.want("&modified", int64(1))
		}
		r.cmd("redo")
		check.Slice(r.t, r.buffer(), after, "after redo:\n%q")
		r.want("&modified", truth(join(after) != join(disk)))
	}
	r.checkClashes()
	for r.IntN(3) > 0 && r.decide() {
		r.checkClashes()
	}
	if r.IntN(3) == 0 {
		now := r.buffer()
		r.asksNothing("write")
		r.saved = true
		r.wantDisk("a.txt", join(now))
		r.wantClashes()
	}
	if r.IntN(4) == 0 {
		r.overtake()
	}
}

// overtake has another program write the file, and the user write the buffer before anybody has heard of that.
func (r *randomEdits) overtake() {
	r.t.Helper()
	if r.IntN(2) == 0 {
		line := r.line()
		r.lua("local at, line = ...; vim.api.nvim_buf_set_lines(0, at, at, true, {line})", r.IntN(len(r.buffer())+1), line)
	}
	r.settle()
	before, known := r.buffer(), r.onDisk()
	agent := r.edited(known)
	if len(agent) == 0 {
		agent = r.lines(1)
	}
	if r.overtaken("a.txt", join(agent), "write") {
		r.t.Error("Neovim asks")
	}
	after := r.buffer()
	r.wantDisk("a.txt", join(after))
	r.want("&modified", int64(0))
	var beside []string
	for _, c := range r.clashes() {
		beside = append(beside, c.Theirs...)
	}
	for _, line := range agent {
		if !slices.Contains(known, line) && !slices.Contains(after, line) && !slices.Contains(beside, line) {
			r.t.Errorf("the agent's line %q is lost", line)
		}
	}
	for _, line := range before {
		if !slices.Contains(known, line) && !slices.Contains(after, line) {
			r.t.Errorf("the user's %q is lost", line)
		}
	}
	if !slices.Equal(before, after) {
		for _, step := range []struct {
			command string
			want    []string
		}{{"undo", before}, {"redo", after}} {
			r.cmd(step.command)
			check.Slice(r.t, r.buffer(), step.want, "after %s:\n%q", step.command)
		}
	}
	r.asksNothing("write")
	r.wantDisk("a.txt", join(after))
	r.wantClashes()
	r.agent, r.saved = after, true
	if r.t.Failed() {
		r.t.Logf("the user writes\n%q\nover the agent's\n%q\nwhich was\n%q; after\n%q", before, agent, known, after)
	}
}

// writeDisk gives the file a text as another program does, and tells what came of it.
func (r *randomEdits) writeDisk(lines []string) (told buffers.Written) {
	r.t.Helper()
	r.settle()
	r.changes()
	before := join(r.buffer())
	if r.IntN(2) == 0 {
		r.put("a.txt", join(lines))
	} else {
		must.Do(r.t, os.Rename(r.put("a.new", join(lines)), r.file))
	}
	var all []buffers.Written
	for range 10 { // more than it takes: nothing tells that a change of the disk leaves a buffer as it is
		r.settle()
		done := make(chan error, 1)
		r.files.Peek(context.Background(), r.file, func(_ string, err error) { done <- err })
		must.Do(r.t, <-done)
		if all = r.changes(); len(all) > 0 {
			break
		}
	}
	switch {
	case len(all) == 0: // the buffer has stayed as it was
		return buffers.Written{Before: &before, After: &before}
	case len(all) > 1 || all[0].Path != r.file:
		r.t.Errorf("told of a change on the disk is %+v", all)
	}
	return all[0]
}

// folded is what the user has folded in the other window, and where the cursor is there.
type folded struct {
	*randomEdits
	lines, all []string
	cursor     string
}

// fold folds some lines in the other window.
func (r *randomEdits) fold() folded {
	r.t.Helper()
	lines := r.buffer()
	first := r.IntN(len(lines))
	f := folded{r, lines[first:min(first+2+r.IntN(3), len(lines))], lines, ""}
	cursor := r.IntN(len(lines))
	f.cursor = lines[cursor]
	r.lua(`
		local first, last, cursor = ...
		vim.api.nvim_win_call(other, function()
			vim.cmd('normal! zE')
			vim.cmd(first .. ',' .. last .. 'fold')
			vim.api.nvim_win_set_cursor(0, { cursor, 0 })
			vim.cmd(first .. 'foldclose')
		end)`, first+1, first+len(f.lines), cursor+1)
	return f
}

// check checks that lines that are still together are folded still, and none above them.
func (f folded) check(after []string) {
	f.t.Helper()
	if single(f.cursor, f.all, after) {
		f.want("getbufline(bufnr(), line('.', luaeval('other')))[0]", f.cursor)
	}
	if !single(f.lines[0], f.all, after) {
		return
	}
	first := slices.Index(after, f.lines[0])
	if len(f.lines) < 2 || first+len(f.lines) > len(after) || !slices.Equal(after[first:first+len(f.lines)], f.lines) {
		return
	}
	// Neovim may take in what comes below.
	got := f.lua(`local first, last = ...
		return vim.api.nvim_win_call(other, function()
			return vim.fn.foldclosed(first) == first and vim.fn.foldclosedend(first) >= last
		end)`, first+1, first+len(f.lines))
	if got != true {
		f.t.Errorf("lines %d to %d are folded no more, of\n%q", first+1, first+len(f.lines), after)
	}
}

// single reports whether each of two texts has a line once: undo may bring one back that is there.
func single(line string, texts ...[]string) bool {
	for _, lines := range texts {
		first := slices.Index(lines, line)
		if first < 0 || slices.Contains(lines[first+1:], line) {
			return false
		}
	}
	return true
}

// checkClashes checks that each open conflict has other lines of the user's in the buffer than the disk
// has, that the disk has the agent's lines, and that no two are of one place.
func (r *randomEdits) checkClashes() {
	r.t.Helper()
	disk := "\n" + join(r.agent)
	end := -1
	for _, c := range r.clashes() {
		if c.First < end || c.First == end && c.First == c.Last {
			r.t.Errorf("conflict at rows %d to %d begins before the end of the last one, %d", c.First, c.Last, end)
		}
		end = c.Last
		if !strings.Contains(disk, "\n"+join(c.Theirs)) || slices.Equal(c.Mine, c.Theirs) {
			r.t.Errorf("conflict of %q with %q; the disk has\n%q", c.Mine, c.Theirs, r.agent)
		}
	}
}

// decide resolves one open conflict, in one of three ways, as one undo step.
func (r *randomEdits) decide() bool {
	r.t.Helper()
	open := r.clashes()
	if len(open) == 0 {
		return false
	}
	c := open[r.IntN(len(open))]
	// An empty place cannot be told from one that ends above it, by the cursor.
	for _, other := range open {
		if other.Last == c.First && c.First == c.Last {
			return true
		}
	}
	before := r.buffer()
	way := r.IntN(3)
	keys := []string{"c<lt>", "c>", "c="}[way]
	want := slices.Clone(before)
	switch way {
	case 1:
		want = slices.Replace(want, c.First, c.Last, c.Theirs...)
	case 2:
		want = slices.Insert(want, c.Last, c.Theirs...)
	}
	line := c.First + 1
	if c.First == c.Last {
		line = max(c.First, 1)
	}
	r.press(fmt.Sprintf("%dG", line))
	r.press(keys)
	after := r.buffer()
	if len(want) == 0 {
		want = []string{""}
	}
	if !slices.Equal(after, want) {
		r.t.Fatalf("%s of %+v makes\n%q of\n%q, want\n%q", keys, c, after, before, want)
	}
	r.want("&modified", truth(join(after) != join(r.onDisk())))
	if left := r.clashes(); len(left) != len(open)-1 {
		r.t.Errorf("%s of %+v leaves %d of %d", keys, c, len(left), len(open))
	}
	if way == 0 || slices.Equal(after, before) || r.IntN(2) == 0 {
		return true
	}
	r.press("u")
	check.Slice(r.t, r.buffer(), before, "undo of %s of %+v makes\n%q", keys, c)
	r.want("&modified", truth(join(before) != join(r.onDisk())))
	if left := r.clashes(); len(left) != len(open) {
		r.t.Errorf("undo of %s of %+v leaves %d of %d", keys, c, len(left), len(open))
	}
	r.press("<C-r>")
	check.Slice(r.t, r.buffer(), after, "redo of %s makes\n%q", keys)
	r.want("&modified", truth(join(after) != join(r.onDisk())))
	if left := r.clashes(); len(left) != len(open)-1 {
		r.t.Errorf("redo of %s of %+v leaves %d of %d", keys, c, len(left), len(open))
	}
	return true
}

func said(text *string) string {
	if text == nil {
		return "nothing"
	}
	return strconv.Quote(*text)
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
