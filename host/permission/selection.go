package permission

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

// selection is the hunks of one change of a request, and which of them the user has refused.
type selection struct {
	file    *diff.FileDiff // that the hunks are of
	hunks   []diff.Run
	refused []bool // by hunk
}

// selectionsOf returns the selections of a request, by its files. When a change is located again, refused hunks that
// are still there stay refused.
func (rs *Requests) selectionsOf(p *request) []*selection {
	if p.selections == nil {
		p.selections = map[*calldiff.CallDiff]*selection{}
	}
	var list []*selection
	for _, c := range rs.config.Diffs.Changes(&p.call) {
		k := p.selections[c]
		if k == nil || k.file != c.File {
			hunks := c.File.Parts()
			refused := make([]bool, len(hunks))
			if k != nil {
				refused = carried(k.file, k.refused, c.File)
			}
			k = &selection{file: c.File, hunks: hunks, refused: refused}
			p.selections[c] = k
		}
		list = append(list, k)
	}
	return list
}

// carried finds the refused hunks of a change after it was located again: those with lines of a refused one.
func carried(was *diff.FileDiff, refused []bool, now *diff.FileDiff) []bool {
	found := make([]bool, len(now.Parts()))
	for _, pair := range paired(was, now) {
		if refused[pair[0]] {
			found[pair[1]] = true
		}
	}
	return found
}

// unchanged reports whether a change, located twice, has the same hunks in the same places.
func unchanged(was, now *diff.FileDiff) bool {
	return slices.EqualFunc(was.Parts(), now.Parts(), sameHunk) &&
		!slices.ContainsFunc(paired(was, now), func(pair [2]int) bool { return pair[0] != pair[1] })
}

// paired matches the hunks of a change located twice, as pairs of their numbers: those that have a line in common at
// the same place, judging by the lines around. If several equal ones could be meant, all are.
func paired(was, now *diff.FileDiff) [][2]int {
	a, of := linesOf(was)
	b, in := linesOf(now)
	if len(was.Parts()) == 1 && len(now.Parts()) == 1 && len(diff.Runs(was.Hunks))+len(diff.Runs(now.Hunks)) == 0 {
		return [][2]int{{0, 0}} // neither has lines
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

// linesOf returns the known lines of a change and around it, each with its sign, and the hunk of each, or -1.
func linesOf(f *diff.FileDiff) (lines []string, hunks []int) {
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
func refusedOf(list []*selection) (refused, all int) {
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

// refusals returns the selections of a request, how many hunks the user has refused, and of how many; nothing if they
// have not selected any.
func (rs *Requests) refusals(p *request) (list []*selection, refused, all int) {
	if p.selections == nil {
		return nil, 0, 0
	}
	list = rs.selectionsOf(p)
	refused, all = refusedOf(list)
	return list, refused, all
}

// SelectHunks refuses hunks of an open request, or takes that back. The answer is false if the diff that the user looks
// at has changed since.
func (rs *Requests) SelectHunks(m rpc.SelectHunks) {
	done := func(ok bool) { rs.base.Editor.Answer(m.Callback, ok, "") }
	p := rs.queue.waitingAs(m.Permission)
	if p == nil {
		done(true) // already answered
		return
	}
	changes, at := rs.config.Diffs.Changes(&p.call), m.File-1
	if at < 0 || at >= len(changes) || !changes[at].Settled || changes[at].Looked != m.Looked {
		done(false)
		return
	}
	if p.write != nil && !p.write.known {
		rs.base.Editor.Notify("info", "this can only be written or refused as a whole")
		done(true)
		return
	}
	k := rs.selectionsOf(p)[at]
	for i := max(1, m.First); i <= min(m.Last, len(k.hunks)); i++ {
		k.refused[i-1] = m.Refuse
	}
	rs.changed = true
	rs.base.Changed()
	done(true)
}

// selectionLines say in the float what is refused, and what an answer then means.
func (rs *Requests) selectionLines(p *request) []styled.Line {
	_, refused, all := rs.refusals(p)
	var lines []styled.Line
	if p.write != nil && p.write.Conflicts > 0 {
		what := fmt.Sprintf("%d places conflict with your text: yours stay", p.write.Conflicts)
		if p.write.Conflicts == 1 {
			what = "1 place conflicts with your text: yours stays"
		}
		lines = styled.Colored("⚠ "+what, styled.ToolWaiting)
	}
	switch {
	case p.write != nil && p.write.editing:
		return append(lines, styled.Colored("✎ you are editing the text: :w in its window writes it", styled.ToolWaiting)...)
	case refused == 0:
		return lines
	}
	_, rejects := policy.Choose(p.asked.Options, false)
	then := rs.base.Title + " would make them too"
	switch {
	case p.write != nil:
		then = "they are not written"
	case rejects && refused == all:
		then = "allowing it refuses it"
	case rejects:
		then = "allowing asks for the rest"
	}
	what := fmt.Sprintf("✗ %d of %s refused\n  %s", refused, styled.Many(all, "hunk"), then)
	return append(lines, styled.Visible(styled.Colored(what, styled.ToolWaiting), true)...)
}

// addSelections adds which hunks are refused, by file, and for which locating of it.
func (rs *Requests) addSelections(to *rpc.Permission, p *request) {
	list, _, _ := rs.refusals(p)
	if p.write != nil {
		list = rs.selectionsOf(p)
	}
	if list == nil {
		return
	}
	to.Selection = make([]rpc.HunkSelection, len(list))
	for i, k := range list {
		refused := []int{}
		for j, r := range k.refused {
			if r {
				refused = append(refused, j+1)
			}
		}
		to.Selection[i] = rpc.HunkSelection{Looked: rs.config.Diffs.Changes(&p.call)[i].Looked, Refused: refused}
	}
}

// outcome is the result of the user's choice among the options of a request.
type outcome struct {
	option   session.PermissionOption // that the agent gets
	accepted bool                     // the user has allowed the change as it is
	unwanted *unwanted                // what it may do nonetheless; or nil
	prompt   string                   // asks for the rest of it; or ""
	remark   string                   // for the chat, or ""
}

// outcomeOf returns what the user's choice means given the hunks that they refused: if there are any, the agent is told
// no, and a prompt asks for the others.
func (rs *Requests) outcomeOf(p *request, chosen session.PermissionOption) outcome {
	list, refused, all := rs.refusals(p)
	switch {
	case !chosen.Allows():
		return outcome{option: chosen}
	case refused == 0:
		return outcome{option: chosen, accepted: true}
	}
	reject, ok := policy.Choose(p.asked.Options, false)
	switch {
	case !ok:
		return outcome{option: chosen, unwanted: &unwanted{p.asked.Call.ID, list, refused, all}}
	case refused == all:
		return outcome{option: reject, remark: fmt.Sprintf("You refused all hunks, so %s was told no.", rs.base.Title)}
	}
	return outcome{
		option: reject, prompt: rs.partly(p.call.Title, list),
		remark: fmt.Sprintf("You refused %d of %s: %s was told no, and a prompt for the rest is the next in the queue.",
			refused, styled.Many(all, "hunk"), rs.base.Title),
	}
}

// unwanted is a change that was allowed with hunks that the user had refused, because the agent has no option to
// refuse.
type unwanted struct {
	call         string // its id, or ""
	files        []*selection
	refused, all int
}

// warnUnwanted says in the chat which refused hunks an ended call or, at the turn's end, all calls have made. done says
// that the call succeeded.
func (rs *Requests) warnUnwanted(call string, all, done bool) {
	for _, u := range rs.queue.takeUnwanted(call, all) {
		if !done {
			continue
		}
		var places []string
		for _, k := range u.files {
			for i, h := range k.hunks {
				if !k.refused[i] {
					continue
				}
				place := styled.VisibleText(rs.base.Short(k.file.Path))
				if k.file.Located && h.NewAt > 0 {
					place += fmt.Sprintf(":%d", h.NewAt)
				}
				places = append(places, place)
			}
		}
		if more := len(places) - 10; more > 0 {
			places = append(places[:10], fmt.Sprintf("and %d more", more))
		}
		rs.base.Remark("warning", fmt.Sprintf("%s offered no answer that refuses, so all of it was allowed, with the %d of %s that you refused: %s.\n:Acp review is where you can take them out.",
			rs.base.Title, u.refused, styled.Many(u.all, "hunk"), strings.Join(places, ", ")))
	}
}
