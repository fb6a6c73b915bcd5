package draw

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
)

// Every field of an edit goes to Lua, with the highlights of each line in one string.
func TestEdits(t *testing.T) {
	featuretest.Play(t, func(s *featuretest.Session) {
		got := New(s.Base, nil).Edit(page.Edit{
			Seq: 1, Count: 2, Row: 3, EndRow: 4, Append: true, Col: 5, Lines: []string{"a", "b", "c"}, MarkRow: 3, MarkEnd: 6,
			Marks: []int{3, 0, 1, 10, 3, 1, 2, 11, 5, 0, 3, 12},
			Decor: []page.Decor{{Row: 3, Right: "r", RightGroup: 1, Sign: "s", SignGroup: 2}},
			Code: []page.Code{{
				Row: 3, EndRow: 4, Lang: "go", Col: 1, Cols: []int{1, 2}, File: "a.go", Sides: "+-",
				Around: []page.Around{{Line: 1, Lines: []string{"x"}}, {Line: 2, Lines: []string{"y"}}},
			}},
			Prose: [][2]int{{3, 4}}, Images: []page.Image{{Row: 5, Path: "/a.png"}},
		})
		want := rpc.Edit{
			In: rpc.In{Session: 1}, Seq: 1, Count: 2, Row: 3, EndRow: 4, Append: true, Col: 5, Lines: []string{"a", "b", "c"},
			MarkRow: 3, MarkEnd: 6, Marks: []string{"0 1 10 1 2 11 ", "", "0 3 12 "},
			Decor: []rpc.Decor{{Row: 3, Right: "r", RightGroup: 1, Sign: "s", SignGroup: 2}},
			Code: []rpc.Code{{
				Row: 3, EndRow: 4, Lang: "go", Col: 1, Cols: []int{1, 2}, File: "a.go", Sides: "+-",
				Around: []rpc.Around{{Line: 1, Lines: []string{"x"}}, {Line: 2, Lines: []string{"y"}}},
			}},
			Prose: []rpc.Rows{{Row: 3, EndRow: 4}}, Images: []rpc.Image{{Row: 5, Path: "/a.png"}},
		}
		check.Deep(t, got, want, "Lua gets %+v")
		for i := range reflect.TypeFor[rpc.Edit]().NumField() {
			if reflect.ValueOf(got).Field(i).IsZero() {
				t.Errorf("nothing is told as %s", reflect.TypeFor[rpc.Edit]().Field(i).Name)
			}
		}
	})
}

// resets counts how often a page is drawn anew.
type resets int

func (r *resets) Reset() { *r++ }

// A page whose edit has failed is drawn anew, a little later; one whose edit was made is not.
func TestEditsThatFail(t *testing.T) {
	featuretest.Play(t, func(s *featuretest.Session) {
		var drawn resets
		op := New(s.Base, s.Note("marked")).Op(&drawn, editor.Do(rpc.Edit{}))
		s.On(func() { op.Done(nil, nil) })
		s.Expect()
		s.Box.Put(func() { op.Done(nil, errors.New("it cannot be changed")) })
		synctest.Wait()
		check.Equal(t, drawn, 1, "it was drawn anew %d times")
		s.Expect() // Neovim may not be able to yet
		time.Sleep(time.Second)
		s.Expect("marked")
	})
}

// A buffer is filled in slices, each when Neovim has the one before, until it is full or gone.
func TestBuffersAreFilledInSlices(t *testing.T) {
	long := styled.Line{Text: strings.Repeat("x", fillSlice/4), Marks: []styled.Mark{{Col: 0, EndCol: 1, Group: 2}}}
	marked := styled.Line{Text: "m", Marks: make([]styled.Mark, fillSlice/64)}
	for name, c := range map[string]struct {
		lines []styled.Line
		fails bool
		want  string
	}{
		"nothing":        {nil, false, "0 in 5, done true"},
		"a few":          {[]styled.Line{{Text: "a"}, {Text: "b"}}, false, "2 in 5, done true"},
		"long ones":      {[]styled.Line{long, long, long, long, long}, false, "4 in 5, done false; 1 in 5, done true"},
		"many marks":     {[]styled.Line{marked, marked}, false, "1 in 5, done false; 1 in 5, done false; 0 in 5, done true"},
		"a lost buffer":  {[]styled.Line{long, long, long, long, long}, true, "4 in 5, done false"},
		"just one slice": {[]styled.Line{long, long, long, long}, false, "4 in 5, done false; 0 in 5, done true"},
	} {
		synctest.Test(t, func(t *testing.T) {
			nvim := &filled{fails: c.fails}
			e := editor.New(nvim)
			go e.Run()
			defer e.Close()
			rest := c.lines
			Fill(e, 5, func() (l styled.Line, ok bool) {
				if len(rest) == 0 {
					return l, false
				}
				l, rest = rest[0], rest[1:]
				return l, true
			})
			time.Sleep(time.Minute)
			synctest.Wait()
			check.Equal(t, strings.Join(nvim.told, "; "), c.want, "%s: Neovim is told %s", name)
			texts, marks := styled.Flatten(c.lines)
			if !c.fails {
				check.Slice(t, nvim.texts, texts, "%s: the lines are others: %.99q", name)
				check.Equal(t, nvim.marks, len(marks), "%s: there are %d numbers of marks", name)
			}
		})
	}
}

// filled is a Neovim that fills a buffer.
type filled struct {
	fails bool
	told  []string
	texts []string
	marks int
}

func (f *filled) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	for _, op := range ops {
		fill := op.([]any)[1].(rpc.Fill)
		f.told = append(f.told, fmt.Sprintf("%d in %d, done %v", len(fill.Lines.Lines), fill.Buf, fill.Done))
		f.texts = append(f.texts, fill.Lines.Lines...)
		f.marks += len(fill.Lines.Marks)
		answers = append(answers, []any{!f.fails, "the buffer is gone"})
	}
	return answers, 0, nil
}
