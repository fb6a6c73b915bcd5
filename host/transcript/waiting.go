package transcript

import (
	"reflect"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Waiting prompts are shown at the end, where they will be said: everything that comes meanwhile goes above them. When
// one is said, its block becomes that of the message, so nothing moves.

// Waiting is a prompt that is not sent yet.
type Waiting struct {
	Blocks []session.Content
	// Why is what the user is told about it; "" if it is on its way and looks as if it were said.
	Why string
	// Brief makes it one line, below a running turn.
	Brief bool
}

// Await sets which prompts are waiting, in order.
func (t *Transcript) Await(prompts []Waiting) { t.awaited = prompts }

// said returns the block of the first waiting prompt, if this entry is what became of it.
func (t *Transcript) said(e session.Entry) *block {
	m, ok := e.(*session.Message)
	if !ok || m.Role != session.RoleUser || len(t.waiting) == 0 || t.waiting[0].waits == nil {
		return nil
	}
	b, shown := t.waiting[0], 0
	for shown < len(t.waiting) && t.waiting[shown].waits != nil {
		shown++
	}
	stays := len(t.awaited) >= shown && reflect.DeepEqual(t.awaited[0].Blocks, b.waits.Blocks)
	if stays || m.Text() != b.entry.(*session.Message).Text() {
		return nil
	}
	t.waiting = t.waiting[1:]
	b.waits = nil
	return b
}

// placeWaiting brings the blocks at the end in step with the waiting prompts.
func (t *Transcript) placeWaiting() {
	for i := range t.awaited {
		w := &t.awaited[i]
		if i == len(t.waiting) {
			b := &block{at: len(t.blocks)}
			t.waiting = append(t.waiting, b)
			t.blocks = append(t.blocks, b)
			t.page.Insert(b.at)
		}
		b := t.waiting[i]
		b.index = len(t.entries) + i
		if b.waits != w && (b.waits == nil || !reflect.DeepEqual(b.waits, w)) {
			b.entry = session.NewPrompt(w.Blocks)
			t.touch(b)
		}
		b.waits = w
	}
	for _, b := range t.waiting[len(t.awaited):] {
		if b.waits != nil {
			b.waits, b.entry = nil, nil // nothing is shown there until another one waits
			t.touch(b)
		}
	}
	for _, b := range t.waiting {
		t.setGap(b.at)
	}
}

// Unsent returns how many of the buffer's last lines belong to waiting prompts.
func (t *Transcript) Unsent() (rows int) {
	for _, b := range t.waiting {
		rows += t.page.Rows(b.at)
	}
	return rows
}

// unsent makes the lines of a prompt look like a waiting one.
func (t *Transcript) unsent(lines []styled.Line, w Waiting) []styled.Line {
	if w.Why == "" || len(lines) == 0 {
		return lines
	}
	if w.Brief {
		first := max(0, slices.IndexFunc(lines, func(l styled.Line) bool { return strings.TrimSpace(l.Text) != "" }))
		more := len(lines) - first - 1
		lines = lines[first : first+1]
		if more > 0 {
			lines[0].Text += " … +" + styled.Many(more, "line")
		}
	}
	for i := range lines {
		l := &lines[i]
		l.Marks, l.Lang, l.SignGroup = nil, "", styled.More
		if l.Text != "" {
			l.Marks = []styled.Mark{{Col: 0, EndCol: len(l.Text), Group: styled.More}}
		}
	}
	room := slices.IndexFunc(lines, func(l styled.Line) bool { return t.width == 0 || styled.Cells(l.Text+w.Why)+3 <= t.width })
	switch {
	case room >= 0:
		lines[room].Right, lines[room].RightGroup = w.Why, styled.More
	case !w.Brief:
		lines = append(lines, styled.Join(styled.Text("  · "+w.Why, styled.More)))
	}
	return lines
}
