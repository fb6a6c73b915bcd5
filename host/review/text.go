package review

import (
	"crypto/sha256"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// text is the baseline and the present text of a file, and which lines of one are which of the other.
// What is in no hunk is the same in both, line by line.
type text struct {
	baseline, present string
	hunks             []Hunk
}

func newText(s string) *text { return &text{baseline: s, present: s} }

// owner says where a line stands, and so whose it is.
type owner byte

const (
	both    owner = iota // nobody's change, or the user's
	removed              // in the baseline alone: the agent has removed it
	added                // in the present text alone: the agent has added it
)

// line is a line of the baseline, of the present text, or of both.
type line struct {
	owner owner
	text  string
}

// change gives the present text another one, which the agent or the user has made of it. What the user
// changes is changed in the baseline too, but for what is made of the agent's lines: that stays the
// agent's.
func (t *text) change(now string, agent bool) {
	lines := t.lines()
	var out []line
	at := 0      // in lines
	present := 0 // how many lines of the present text are behind at
	// copyTo copies up to line n of the present text, without what the agent has removed just before it.
	copyTo := func(n int) {
		for present < n {
			out = append(out, lines[at])
			if lines[at].owner != removed {
				present++
			}
			at++
		}
	}
	text := linediff.Lines(now)
	for _, e := range linediff.Compare(linediff.Lines(t.present), text) {
		copyTo(e.A0)
		fresh := text[e.B0:e.B1]
		if e.A0 == e.A1 {
			// Where the agent has replaced lines the new ones come before both; where it has only removed
			// some, behind them.
			end := at
			for end < len(lines) && lines[end].owner == removed {
				end++
			}
			if end == len(lines) || lines[end].owner == both {
				out = append(out, lines[at:end]...)
				at = end
			}
			out = append(out, owned(fresh, agent)...)
			continue
		}
		var gone []line // of the present text
		from := at
		for present < e.A1 {
			if lines[at].owner != removed {
				gone = append(gone, lines[at])
				present++
			}
			at++
		}
		out = append(out, replaced(lines[from:at], gone, fresh, agent)...)
	}
	out = append(out, lines[at:]...)
	t.present = now
	t.set(out)
}

func owned(texts []string, agent bool) []line {
	whose := both
	if agent {
		whose = added
	}
	lines := make([]line, len(texts))
	for i, s := range texts {
		lines[i] = line{whose, s}
	}
	return lines
}

// replaced is what comes of lines when those of the present text among them, gone, become texts.
func replaced(lines, gone []line, texts []string, agent bool) []line {
	own := 0 // the agent's
	for _, l := range gone {
		if l.owner == added {
			own++
		}
	}
	var out []line
	switch {
	case !agent && len(gone) == len(texts):
		// Line by line.
		i := 0
		for _, l := range lines {
			if l.owner != removed {
				l.text = texts[i]
				i++
			}
			out = append(out, l)
		}
	case !agent && (own == 0 || len(texts) == 0):
		// Lines that were not the agent's, or removed by the user, are gone from both.
		out = owned(texts, false)
		for _, l := range lines {
			if l.owner == removed {
				out = append(out, l)
			}
		}
	default:
		for _, l := range lines {
			if l.owner != added {
				out = append(out, line{removed, l.text})
			}
		}
		out = append(out, owned(texts, true)...)
	}
	return out
}

// lines is the text as one list: in each hunk the removed lines, then the added ones.
func (t *text) lines() []line {
	old, now := linediff.Lines(t.baseline), linediff.Lines(t.present)
	out := make([]line, 0, len(old)+len(now))
	i := 0
	for _, h := range t.hunks {
		start, newStart := h.first()
		for ; i < start; i++ {
			out = append(out, line{both, old[i]})
		}
		for ; i < start+h.OldCount; i++ {
			out = append(out, line{removed, old[i]})
		}
		for _, s := range now[newStart : newStart+h.NewCount] {
			out = append(out, line{added, s})
		}
	}
	for ; i < len(old); i++ {
		out = append(out, line{both, old[i]})
	}
	return out
}

// first is where a hunk begins, counted from 0.
func (h Hunk) first() (old, now int) {
	old, now = h.OldStart, h.NewStart
	if h.OldCount > 0 {
		old--
	}
	if h.NewCount > 0 {
		now--
	}
	return old, now
}

// set finds the baseline and the hunks of a list of lines: what the agent has put back is no change.
func (t *text) set(lines []line) {
	last := -1 // the last line of the baseline
	for i, l := range lines {
		if l.owner != added {
			last = i
		}
	}
	var baseline strings.Builder
	t.hunks = nil
	old, now := 0, 0 // how many lines came before the hunk
	var was, is []string
	end := func() {
		for _, e := range linediff.Compare(was, is) {
			h := Hunk{OldStart: old + e.A0, OldCount: e.A1 - e.A0, NewStart: now + e.B0, NewCount: e.B1 - e.B0}
			if h.OldCount > 0 {
				h.OldStart++
			}
			if h.NewCount > 0 {
				h.NewStart++
			}
			t.hunks = append(t.hunks, h)
		}
		old, now = old+len(was), now+len(is)
		was, is = nil, nil
	}
	for i, l := range lines {
		s := l.text
		if l.owner != added {
			if i != last && !strings.HasSuffix(s, "\n") {
				s += "\n" // it is no longer the last one
			}
			baseline.WriteString(s)
		}
		switch {
		case l.owner == removed:
			was = append(was, s)
		case l.owner == added:
			is = append(is, s)
		case s != l.text:
			was, is = append(was, s), append(is, l.text)
		default:
			if len(was)+len(is) > 0 {
				end()
			}
			old, now = old+1, now+1
		}
	}
	end()
	t.baseline = baseline.String()
}

// sum tells texts apart that are not kept.
func sum(s string) string {
	hash := sha256.Sum256([]byte(s))
	return string(hash[:])
}
