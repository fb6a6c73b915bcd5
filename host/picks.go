package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// picks are the hunks of one change of a request, and which of them the user has
// refused. It belongs to the session's goroutine.
type picks struct {
	file    *diff.File // that the hunks are of
	hunks   []diff.Run
	refused []bool // by hunk
}

// picksOf are the picks of a request, by its files. What was refused stays so when
// a change was looked for anew, as far as it is still there.
func (s *Session) picksOf(p *permission) []*picks {
	if p.picks == nil {
		p.picks = map[*calldiff.Change]*picks{}
	}
	var list []*picks
	for _, c := range s.diffs.Changes(&p.call) {
		k := p.picks[c]
		if k == nil || k.file != c.File {
			hunks := c.File.Parts()
			refused := make([]bool, len(hunks))
			if k != nil {
				refused = carried(k.file, k.refused, c.File)
			}
			k = &picks{file: c.File, hunks: hunks, refused: refused}
			p.picks[c] = k
		}
		list = append(list, k)
	}
	return list
}

// carried finds refused hunks of a change among those of a later look at it: what
// has lines of one that was refused is.
func carried(was *diff.File, refused []bool, now *diff.File) []bool {
	found := make([]bool, len(now.Parts()))
	for _, pair := range paired(was, now) {
		if refused[pair[0]] {
			found[pair[1]] = true
		}
	}
	return found
}

// stands tells whether two looks at a change found the same hunks, each where it was.
func stands(was, now *diff.File) bool {
	return slices.EqualFunc(was.Parts(), now.Parts(), sameHunk) &&
		!slices.ContainsFunc(paired(was, now), func(pair [2]int) bool { return pair[0] != pair[1] })
}

// paired finds the hunks of a change in a later look at it, as pairs of their numbers:
// those that have a line in common where both stand, by the lines around. Of equal
// ones it may be that each of several could be meant: then they all are.
func paired(was, now *diff.File) [][2]int {
	a, of := linesOf(was)
	b, in := linesOf(now)
	if len(was.Parts()) == 1 && len(now.Parts()) == 1 && len(diff.Runs(was.Hunks))+len(diff.Runs(now.Hunks)) == 0 {
		return [][2]int{{0, 0}} // both have no lines
	}
	var pairs [][2]int
	for range 2 { // from the first line on, and from the last one back
		at, behind := 0, 0 // of the lines in common
		for _, e := range append(linediff.Compare(a, b), linediff.Edit{A0: len(a), B0: len(b)}) {
			for ; at < e.A0; at, behind = at+1, behind+1 {
				pair := [2]int{of[at], in[behind]}
				if pair[0] >= 0 && (len(pairs) == 0 || pairs[len(pairs)-1] != pair) {
					pairs = append(pairs, pair)
				}
			}
			at, behind = e.A1, e.B1
		}
		slices.Reverse(a)
		slices.Reverse(of)
		slices.Reverse(b)
		slices.Reverse(in)
	}
	return pairs
}

// linesOf are the lines of a change and around it, as far as they are known, each with
// what it does; and of which hunk it is, or -1.
func linesOf(f *diff.File) (lines []string, hunks []int) {
	list := f.Hunks
	if f.Located {
		list = []diff.Hunk{f.WholeHunk()}
	}
	hunk := -1
	for i, h := range list {
		if i > 0 {
			lines, hunks = append(lines, "@"), append(hunks, -1)
		}
		open := false
		for _, l := range h.Lines {
			at := -1
			if l.Kind != diff.Equal {
				if !open {
					hunk++
				}
				at = hunk
			}
			open = l.Kind != diff.Equal
			lines, hunks = append(lines, "=-+"[l.Kind:l.Kind+1]+l.Text), append(hunks, at)
		}
	}
	return lines, hunks
}

func sameHunk(a, b diff.Run) bool { return sameLines(a.Old, b.Old) && sameLines(a.New, b.New) }

func sameLines(a, b []diff.Line) bool {
	return slices.EqualFunc(a, b, func(x, y diff.Line) bool { return x.Text == y.Text && x.NoNewline == y.NoNewline })
}

// refusedOf counts the hunks of a request and those that are refused.
func refusedOf(list []*picks) (refused, all int) {
	for _, k := range list {
		all += len(k.hunks)
		for _, r := range k.refused {
			if r {
				refused++
			}
		}
	}
	return refused, all
}

// picked are the picks of a request, where the user has refused a hunk of it, and
// how many.
func (s *Session) picked(p *permission) (list []*picks, refused, all int) {
	if p.picks == nil {
		return nil, 0, 0
	}
	list = s.picksOf(p)
	refused, all = refusedOf(list)
	return list, refused, all
}

// pick refuses hunks of an open request, or takes that back. The answer is false
// where the diff that the user has before them is another by now.
func (s *Session) pick(m rpc.Pick) {
	done := func(ok bool) { s.base.Editor.Answer(m.Callback, ok, "") }
	p := s.permissions.waitingAs(m.Permission)
	if p == nil {
		done(true) // it was answered
		return
	}
	changes, at := s.diffs.Changes(&p.call), m.File-1
	if at < 0 || at >= len(changes) || !changes[at].Settled || changes[at].Looked != m.Looked {
		done(false)
		return
	}
	if p.held != nil && !p.held.known {
		s.base.Editor.Notify("info", "This can only be written or refused as a whole.")
		done(true)
		return
	}
	k := s.picksOf(p)[at]
	for i := max(1, m.First); i <= min(m.Last, len(k.hunks)); i++ {
		k.refused[i-1] = m.Refuse
	}
	s.shown.permissions = true
	s.changed()
	done(true)
}

// pickLines say in the float what is refused, and what an answer makes of it.
func (s *Session) pickLines(p *permission) []styled.Line {
	_, refused, all := s.picked(p)
	var lines []styled.Line
	if p.held != nil && p.held.Conflicts > 0 {
		what := fmt.Sprintf("%d places conflict with your unsaved text: yours stay", p.held.Conflicts)
		if p.held.Conflicts == 1 {
			what = "1 place conflicts with your unsaved text: yours stays"
		}
		lines = styled.Colored("⚠ "+what, styled.ToolWaiting)
	}
	switch {
	case p.held != nil && p.held.editing:
		return append(lines, styled.Colored("✎ you edit the text: :w in its window writes it", styled.ToolWaiting)...)
	case refused == 0:
		return lines
	}
	_, rejects := policy.Choose(p.request.Options, false)
	then := s.base.Title + " would make them too"
	switch {
	case p.held != nil:
		then = "they are not written"
	case rejects && refused == all:
		then = "allowing is refusing"
	case rejects:
		then = "allowing asks for the rest"
	}
	what := fmt.Sprintf("✗ %d of %s refused\n  %s", refused, styled.Many(all, "hunk"), then)
	return append(lines, styled.Visible(styled.Colored(what, styled.ToolWaiting), true)...)
}

// addPicks tells Lua which hunks are refused, by file, and of which look at it.
func (s *Session) addPicks(to *rpc.Permission, p *permission) {
	list, _, _ := s.picked(p)
	if p.held != nil {
		list = s.picksOf(p)
	}
	if list == nil {
		return
	}
	to.Picks = make([]rpc.Picks, len(list))
	for i, k := range list {
		refused := []int{}
		for j, r := range k.refused {
			if r {
				refused = append(refused, j+1)
			}
		}
		to.Picks[i] = rpc.Picks{Looked: s.diffs.Changes(&p.call)[i].Looked, Refused: refused}
	}
}

// outcome is what the user's choice among the options of a request comes to.
type outcome struct {
	option   session.PermissionOption // that the agent gets
	accepted bool                     // the user has allowed the change as it is
	unwanted *unwanted                // what it has nevertheless; or nil
	prompt   string                   // that asks for the rest of it, or ""
	remark   string                   // for the chat, or ""
}

// outcomeOf makes of the user's choice what it means with the hunks that they have
// refused: where some are the agent is told no, and what is kept becomes a prompt.
func (s *Session) outcomeOf(p *permission, chosen session.PermissionOption) outcome {
	list, refused, all := s.picked(p)
	switch {
	case !chosen.Allows():
		return outcome{option: chosen}
	case refused == 0:
		return outcome{option: chosen, accepted: true}
	}
	reject, ok := policy.Choose(p.request.Options, false)
	switch {
	case !ok:
		return outcome{option: chosen, unwanted: &unwanted{p.request.Call.ID, list, refused, all}}
	case refused == all:
		return outcome{option: reject, remark: fmt.Sprintf("You refused all hunks, so %s was told no.", s.base.Title)}
	}
	return outcome{
		option: reject, prompt: s.partly(p.call.Title, list),
		remark: fmt.Sprintf("You refused %d of %s: %s was told no, and a prompt for the rest is the next in the queue.",
			refused, styled.Many(all, "hunk"), s.base.Title),
	}
}

// unwanted is an allowed change of which the user had refused hunks, where the
// agent had no answer for that.
type unwanted struct {
	call         string // its id, or ""
	files        []*picks
	refused, all int
}

// offerTakingOut tells of refused hunks that the agent has made, now that its call
// has ended; or, with the turn, all calls. done says that it did what it said.
func (s *Session) offerTakingOut(call string, all, done bool) {
	for _, u := range s.permissions.takeUnwanted(call, all) {
		if !done {
			continue
		}
		var places []string
		for _, k := range u.files {
			for i, h := range k.hunks {
				if !k.refused[i] {
					continue
				}
				place := styled.VisibleText(s.base.Short(k.file.Path))
				if k.file.Located && h.NewAt > 0 {
					place += fmt.Sprintf(":%d", h.NewAt)
				}
				places = append(places, place)
			}
		}
		if more := len(places) - 10; more > 0 {
			places = append(places[:10], fmt.Sprintf("and %d more", more))
		}
		s.remark("warning", fmt.Sprintf("%s had no answer that refuses, so it was allowed all, with the %d of %s that you refused: %s.\n:Acp review is where you take them out.",
			s.base.Title, u.refused, styled.Many(u.all, "hunk"), strings.Join(places, ", ")))
	}
}
