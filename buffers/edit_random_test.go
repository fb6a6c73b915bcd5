package buffers_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// TestRandomEditsOfTheUser lets a user type, and take back places of the file, in turn. Every line is unlike
// all others, so which lines the disk has in common with the buffer is no question.
func TestRandomEditsOfTheUser(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		r := &randomEdits{watching: &watching{neovim: n}, Rand: rand.New(rand.NewPCG(*seed, 1))}
		r.agent = r.lines(12)
		r.file = n.edit("a.txt", join(r.agent))
		w := n.follow()
		r.watching = w
		n.lua("ns = vim.api.nvim_create_namespace('t')")
		for i := range *rounds {
			r.edit()
			if i%10 == 0 {
				w.wantNone()
			}
			if t.Failed() {
				t.Fatalf("in round %d of -seed %d", i, *seed)
			}
		}
		w.wantNone()
		w.quietly()
	})
}

// place is lines of a text, first to last, that become others; none touches the next.
type place struct {
	first, last int
	lines       []string
}

func (r *randomEdits) places(lines []string) (list []place) {
	for at := r.IntN(4); at <= len(lines) && len(list) < 3; {
		p := place{at, min(at+r.IntN(3), len(lines)), r.lines(r.IntN(3))}
		if p.first == p.last && len(p.lines) == 0 {
			p.lines = r.lines(1)
		}
		list = append(list, p)
		at = p.last + 1 + r.IntN(6)
	}
	return list
}

func replaced(lines []string, places []place) []string {
	lines = slices.Clone(lines)
	for _, p := range slices.Backward(places) {
		lines = slices.Replace(lines, p.first, p.last, p.lines...)
	}
	return lines
}

// wantOnDisk checks what the disk has got of a change of the buffer, at places, from before to after.
func (r *randomEdits) wantOnDisk(disk, before, after, got []string, places []place) {
	r.t.Helper()
	wrong := func(what, line string) {
		r.t.Helper()
		r.t.Errorf("%s: %q; from\n%q to\n%q makes of the disk's\n%q\n%q", what, line, before, after, disk, got)
	}
	for _, line := range got {
		if !slices.Contains(disk, line) && (slices.Contains(before, line) || !slices.Contains(after, line)) {
			wrong("it is not of the change", line)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(disk), func(line string) bool {
		return slices.Contains(before, line) && !slices.Contains(after, line)
	})
	if !slices.Equal(kept, slices.DeleteFunc(slices.Clone(got), func(line string) bool { return !slices.Contains(kept, line) })) {
		wrong("these have not stayed, in this order", fmt.Sprint(kept))
	}
	saved := func(line string) bool { return slices.Contains(disk, line) }
	var beside []string // what the unsaved lines have become
	var starts []string // lines that stand for others
	for _, p := range places {
		if p.first < p.last && len(p.lines) > 0 {
			starts = append(starts, p.lines[0])
			if len(p.lines) == p.last-p.first {
				starts = append(starts, p.lines...)
			}
		}
		old := before[p.first:p.last]
		for i, line := range p.lines {
			if len(old) == len(p.lines) && !saved(old[i]) || len(old) > 0 && !slices.ContainsFunc(old, saved) {
				beside = append(beside, line)
			}
		}
	}
	last := -1
	for i, line := range after {
		at := slices.Index(got, line)
		switch own := slices.Contains(before, line); {
		case slices.Contains(beside, line):
			if at >= 0 {
				wrong("it stands for what is not saved", line)
			}
			continue
		case own && !saved(line):
			continue
		case at <= last:
			wrong("it is missing or out of order", line)
		case !own && i > 0 && last >= 0 && got[last] == after[i-1] && at != last+1 && !slices.Contains(starts, line):
			wrong("it is not behind the line before it", line)
		}
		last = at
	}
}

func (r *randomEdits) edit() {
	r.t.Helper()
	for range r.IntN(3) {
		mine := r.buffer()
		at := r.IntN(len(mine))
		r.lua("local at, last, lines = ...; vim.api.nvim_buf_set_lines(0, at, last, true, lines)",
			at, min(at+r.IntN(2), len(mine)), append([]string{}, r.lines(r.IntN(3))...))
	}
	if len(r.buffer()) < 8 {
		r.lua("vim.api.nvim_buf_set_lines(0, -1, -1, true, ...)", r.lines(8))
	}
	r.lua(`
		local row, a = ...
		vim.api.nvim_buf_clear_namespace(0, ns, 0, -1)
		for i, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
			vim.api.nvim_buf_set_extmark(0, ns, i - 1, math.min(1, #line), {id = i})
		end
		vim.api.nvim_win_set_cursor(0, {row, 0})
		vim.api.nvim_buf_set_mark(0, 'a', a, 0, {})`, 1+r.IntN(len(r.buffer())), 1+r.IntN(len(r.buffer())))
	inserting := r.IntN(3) == 0
	if inserting {
		r.count++
		r.input(fmt.Sprintf("Atyped%d", r.count))
	}
	before, disk := r.buffer(), strings.Split(strings.TrimSuffix(r.disk("a.txt"), "\n"), "\n")
	cursor, mark := r.lua("return vim.fn.getline('.')").(string), r.lua("return vim.fn.getline(\"'a\")").(string)
	places := r.places(before)
	want := replaced(before, places)

	w := r.change(r.file, func(now *string) (*string, error) {
		if now == nil || *now != join(before) {
			return nil, errors.New("it is given " + said(now))
		}
		text := join(want)
		return &text, nil
	})
	after := r.buffer()
	check.Slice(r.t, after, want, "the buffer has\n%q")
	wantDisk := strings.Split(strings.TrimSuffix(r.disk("a.txt"), "\n"), "\n")
	r.wantOnDisk(disk, before, want, wantDisk, places)
	r.wantWritten(w, before, want, len(places) > 0)
	r.want("&modified", truth(!slices.Equal(want, wantDisk)))
	for i, line := range before {
		if row := slices.Index(after, line); row >= 0 {
			r.want(fmt.Sprintf("luaeval('vim.api.nvim_buf_get_extmark_by_id(0, ns, %d, {})[1]')", i+1), int64(row))
		}
	}
	if slices.Contains(after, cursor) {
		r.want("getline('.')", cursor)
	}
	if slices.Contains(after, mark) {
		r.want("getline(\"'a\")", mark)
	}
	if inserting {
		r.want("mode()", "i")
		r.input("<Esc>")
	}
	if len(places) > 0 {
		r.cmd("undo")
		check.Slice(r.t, r.buffer(), before, "after undo:\n%q")
		r.want("&modified", truth(!slices.Equal(before, wantDisk)))
		r.cmd("redo")
		check.Slice(r.t, r.buffer(), want, "after redo:\n%q")
		r.want("&modified", truth(!slices.Equal(want, wantDisk)))
	}
	r.asksNothing("checktime")
	check.Slice(r.t, r.buffer(), want, "after checktime:\n%q")
	if r.IntN(3) == 0 {
		r.asksNothing("write")
		r.wantDisk("a.txt", join(want))
	}
}

func (r *randomEdits) wantWritten(w buffers.Written, before, after []string, changed bool) {
	r.t.Helper()
	if w.Changed != changed || w.Conflict || w.Note != "" || w.Before == nil || *w.Before != join(before) || w.After == nil || *w.After != join(after) {
		r.t.Errorf("told is %+v, %s before, %s after; it was\n%q, and is\n%q", w, said(w.Before), said(w.After), before, after)
	}
}
