package session

import (
	"fmt"
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func under(id, parent string) Update { return ToolCallPatch{ID: id, Parent: acp.Set(parent)} }

func TestDepth(t *testing.T) {
	chain := make([]Update, 20)
	for i := range chain {
		chain[i] = under(fmt.Sprint(i+1), fmt.Sprint(i))
	}
	reversed := slices.Clone(chain)
	slices.Reverse(reversed)
	for name, test := range map[string]struct {
		updates []Update
		want    map[string]int
	}{
		"none":                        {[]Update{status("a", StatusPending)}, map[string]int{"a": 0}},
		"a parent that never comes":   {[]Update{under("a", "p")}, map[string]int{"a": 0}},
		"a parent that came before":   {[]Update{status("p", StatusPending), under("a", "p")}, map[string]int{"p": 0, "a": 1}},
		"a parent that comes later":   {[]Update{under("a", "p"), under("b", "a"), ToolCallChunk{ID: "p"}}, map[string]int{"p": 0, "a": 1, "b": 2}},
		"another parent":              {[]Update{under("a", "p"), under("b", "a"), under("a", "q"), under("q", "p"), under("p", "")}, map[string]int{"a": 2, "b": 3}},
		"no parent any more":          {[]Update{status("p", StatusPending), under("a", "p"), ToolCallPatch{ID: "a", Parent: acp.Null[string]()}}, map[string]int{"a": 0}},
		"the call without an id":      {[]Update{status("", StatusPending), status("a", StatusPending), under("b", "")}, map[string]int{"a": 0, "b": 0}},
		"none, though one has no id":  {[]Update{status("", StatusPending), under("b", "p"), under("b", "")}, map[string]int{"b": 0}},
		"its own parent":              {[]Update{under("a", "a")}, map[string]int{"a": 0}},
		"each other's":                {[]Update{under("a", "b"), under("b", "a")}, map[string]int{"a": 0, "b": 0}},
		"below a circle":              {[]Update{under("a", "b"), under("b", "a"), under("c", "b")}, map[string]int{"a": 0, "b": 0, "c": 8}},
		"very deep":                   {chain, map[string]int{"1": 0, "3": 2, "20": 8}},
		"very deep, from the bottom":  {reversed, map[string]int{"1": 0, "3": 2, "20": 8}},
		"a parent of an earlier life": {[]Update{status("p", StatusPending), SessionStart{}, under("a", "p")}, map[string]int{"a": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			c := applied(test.updates...)
			for id, want := range test.want {
				check.Equal(t, c.Depth(c.ToolCall(id)), want, "%s at %d", id)
			}
		})
	}
}

// A call that comes to stand at another depth counts as changed; where it stood before a restart it stays.
func TestDepthChanges(t *testing.T) {
	c := applied(under("a", "p"), under("b", "a"))
	for _, step := range []struct {
		u    Update
		want []int
	}{
		{UsageUpdate{}, []int{0, 1}},
		{under("b", "a"), []int{1}},
		{status("p", StatusPending), []int{0, 1, 2}},
		{under("p", "q"), []int{0, 1, 2}},
		{status("q", StatusPending), []int{0, 1, 2, 3}},
		{under("a", "q"), []int{0, 1}},
		{under("p", ""), []int{2}},
	} {
		c.Apply(step.u)
		check.Slice(t, c.TakeChanged(), step.want, "%+v: changed %v", step.u)
	}
	c.Apply(under("d", "later"))
	b, d := c.ToolCall("b"), c.ToolCall("d")
	c.Apply(SessionStart{})
	c.Apply(status("q", StatusPending))
	c.Apply(status("later", StatusPending))
	if b, d := c.Depth(b), c.Depth(d); b != 2 || d != 0 {
		t.Errorf("after a restart at %d and %d", b, d)
	}
}
