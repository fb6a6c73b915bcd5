package transcript

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// Each block of code is told once, when it is complete and in the buffer, however its message came and was taken.
func TestCodeIsToldOnce(t *testing.T) {
	const text = "Look:\n\n```go\nx := 1\ny := 2\n```\nand\n~~~ sh -x\nls\n~~~\n\n> ```\n> quoted\n> ```\n\n```\n```\n\n```lua\nreturn\n```"
	want := []page.Code{{Row: 5, EndRow: 7, Lang: "go"}, {Row: 10, EndRow: 11, Lang: "sh"}, {Row: 18, EndRow: 18}, {Row: 21, EndRow: 22, Lang: "lua"}}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := newWorld()
		tr, b := New(w.conv, w.config()), newBuffer()
		w.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "p"}}})
		var got []page.Code
		take := func(budget int) {
			tr.Sync()
			for _, e := range b.take(t, tr, budget) {
				for _, c := range e.Code {
					if c.EndRow > len(b.lines) {
						t.Fatalf("seed %d: code %v in %d lines", seed, c, len(b.lines))
					}
				}
				got = append(got, e.Code...)
			}
		}
		for rest := text; rest != ""; {
			n := min(1+r.IntN(20), len(rest))
			w.apply(says(rest[:n]))
			rest = rest[n:]
			take(r.IntN(60))
		}
		w.apply(session.TurnEnd{StopReason: session.StopEndTurn})
		for take(1 + r.IntN(100)); tr.Dirty(); {
			take(1 + r.IntN(100))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: told %v, want %v\n%s", seed, got, want, b)
		}
	}
}

// column is what the lines say, without the blank ones.
func column(b *buffer) []string {
	var texts []string
	for _, l := range b.lines {
		if l.text != "" {
			texts = append(texts, strings.TrimSpace(l.text))
		}
	}
	return texts
}

func TestFold(t *testing.T) {
	now := time.Unix(5, 0)
	for name, test := range map[string]struct {
		ask  []Fold // at the row of the first thought
		want []string
	}{
		"toggle":             {[]Fold{Toggle}, []string{"p", "▾ Thought for 1.0 s", "a", "▸ ◦ tool   make", "✓ ◦ tool   done", "▸ Thinking … 0.0 s"}},
		"toggle twice":       {[]Fold{Toggle, Toggle}, []string{"p", "▸ Thought for 1.0 s", "▸ ◦ tool   make", "✓ ◦ tool   done", "▸ Thinking … 0.0 s"}},
		"open twice":         {[]Fold{Open, Open}, []string{"p", "▾ Thought for 1.0 s", "a", "▸ ◦ tool   make", "✓ ◦ tool   done", "▸ Thinking … 0.0 s"}},
		"close":              {[]Fold{Open, Close}, []string{"p", "▸ Thought for 1.0 s", "▸ ◦ tool   make", "✓ ◦ tool   done", "▸ Thinking … 0.0 s"}},
		"open all":           {[]Fold{OpenAll}, []string{"p", "▾ Thought for 1.0 s", "a", "▸ ◦ tool   make", "nothing more was reported", "✓ ◦ tool   done", "nothing more was reported", "▾ Thinking … 0.0 s", "b"}},
		"close all, reopen":  {[]Fold{OpenAll, CloseAll, Open}, []string{"p", "▾ Thought for 1.0 s", "a", "▸ ◦ tool   make", "✓ ◦ tool   done", "▸ Thinking … 0.0 s"}},
		"something unknown ": {[]Fold{"sideways"}, []string{"p", "▸ Thought for 1.0 s", "▸ ◦ tool   make", "✓ ◦ tool   done", "▸ Thinking … 0.0 s"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, tr, b := running(t, &now)
			for _, f := range test.ask {
				row := slices.IndexFunc(b.lines, func(l bufferLine) bool { return strings.Contains(l.text, "Thought for") })
				tr.Fold(row, f)
				b.take(t, tr, 1<<20)
			}
			check.Slice(t, column(b), test.want, "got  %q")
		})
	}
	_, tr, b := running(t, &now)
	for _, row := range []int{-1, len(b.lines), 1000} {
		for _, f := range []Fold{Toggle, Open, Close} {
			if tr.Fold(row, f); tr.Dirty() {
				t.Errorf("%s: row %d belongs to a block", f, row)
			}
		}
	}
}

func TestNext(t *testing.T) {
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	done := func(id string) session.Update {
		return session.ToolCallPatch{ID: id, Status: acp.Set(session.StatusCompleted)}
	}
	w.apply(
		session.TurnStart{Prompt: []session.Content{session.Text{Text: "p"}}},                              // row 0
		session.MessageChunk{MessageID: "t", Role: session.RoleThought, Content: session.Text{Text: "hm"}}, // 2
		done("c"), done("d"), // 3, 4
		says("one\ntwo"),           // 6 and 7
		done("e"),                  // 9
		session.Notice{Title: "n"}, // 11
	)
	tr.Sync()
	if _, ok := tr.Next(-1, Calls, true); ok {
		t.Error("there is nothing in the buffer yet")
	}
	b.take(t, tr, 1<<20)
	for _, test := range []struct {
		row     int
		kind    Kind
		forward bool
		want    string
	}{
		{0, Messages, true, "6 true"},
		{6, Messages, true, "0 false"},
		{7, Messages, false, "6 true"},
		{6, Messages, false, "0 true"},
		{0, Messages, false, "0 false"},
		{0, Calls, true, "3 true"},
		{3, Calls, true, "4 true"},
		{4, Calls, true, "9 true"},
		{9, Calls, true, "0 false"},
		{100, Calls, false, "9 true"},
		{9, Calls, false, "4 true"},
		{100, Messages, false, "6 true"},
		{0, "weather", true, "0 false"},
	} {
		row, ok := tr.Next(test.row, test.kind, test.forward)
		if got := fmt.Sprint(row, ok); got != test.want {
			t.Errorf("%s from row %d, forward %v: %s, want %s\n%s", test.kind, test.row, test.forward, got, test.want, b)
		}
	}
}

func TestBlock(t *testing.T) {
	now := time.Unix(5, 0)
	_, tr, b := running(t, &now)
	end := 0
	for row := range b.lines {
		from, to := tr.Block(row)
		if row == end {
			end = to
		}
		if to != end || from > row || to <= row {
			t.Errorf("row %d is in the block %d to %d, want to %d", row, from, to, end)
		}
	}
	for _, row := range []int{-1, len(b.lines)} {
		if from, to := tr.Block(row); from != to {
			t.Errorf("row %d is in the block %d to %d", row, from, to)
		}
	}
}
