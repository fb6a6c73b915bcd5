package transcript

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// Agents put tags around what is for the model, and fences around output: neither is shown.
func TestTagsAndFencesAreTakenOff(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain\n": "plain\n",
		"<tool_use_error>no</tool_use_error>":                    "no",
		"\n<tool_use_error>no</tool_use_error>\n":                "no",
		"<tool_use_error>no":                                     "<tool_use_error>no",
		"no</tool_use_error>":                                    "no</tool_use_error>",
		"a\n\n<shell_metadata>\nb\n</shell_metadata>\n":          "a\nb",
		"a\n<bash_metadata>\nb\nc\n</bash_metadata>":             "a\nb\nc",
		"<bash_metadata>\nb\n</bash_metadata>":                   "b",
		"a\n<bash_metadata>\nb\n</bash_metadata>\nc":             "a\n<bash_metadata>\nb\n</bash_metadata>\nc",
		"a\nb\n</bash_metadata>":                                 "a\nb\n</bash_metadata>",
		"<bash_metadata>\nx<bash_metadata>\nb\n</bash_metadata>": "<bash_metadata>\nx\nb",
	} {
		check.Equal(t, untagged(text), want, "%q without tags is %q", text)
	}
	for text, want := range map[string]string{
		"```\na\nb\n```": " a\nb", "```go\na\n```": "go a", "```go x=1\na\n```": "go a", "```console\na\n```": " a",
		"````sh\na\n```": "sh a",
		"``` sh\n```":    "sh ", "```\n```": " ", "```\na```": " a",
		"": "", "a": "", "```": "", "```\na": "", "a\n```": "", "x\na\n```": "", "```\na\n```\nb\n```": "", "``\na\n```": "",
	} {
		body, lang, ok := unfenced(text)
		got := ""
		if ok {
			got = lang + " " + body
		} else {
			check.Equal(t, body, text, "what has no fence is left: %q")
		}
		check.Equal(t, got, want, "%q in a fence is %q", text)
	}
	for text, want := range map[string]bool{
		"": false, "a\tb\nc": false, "\x1b[m": true, "a\x1b": true, "\ra": true, "a\r\nb": true, "\ba": true, "a\bb": true,
	} {
		check.Equal(t, hasControls(text), want, "%q has controls: %v", text)
	}
}

// A call without locations is at the file of its diffs, or else at the only one that its input names.
func TestPlacesOfACall(t *testing.T) {
	diffs := func(paths ...string) (list []session.ToolCallContent) {
		for _, path := range paths {
			list = append(list, change(path, "a\n", "b\n"))
		}
		return list
	}
	for _, c := range []struct {
		kind  session.ToolKind
		diffs []session.ToolCallContent
		input string
		at    string
		want  string
	}{
		{session.KindEdit, diffs("/p/a"), `{"path":"/p/b"}`, "", "/p/a"},
		{session.KindEdit, diffs("/p/a", "/p/a"), "", "", "/p/a"},
		{session.KindEdit, diffs("/p/a", "/p/b"), `{"path":"/p/b"}`, "", ""},
		{session.KindEdit, diffs("/p/a"), "", "/p/c", "/p/c"},
		{session.KindOther, diffs("/p/a"), "", "", "/p/a"},
		{session.KindEdit, nil, `{"path":"/p/b"}`, "", "/p/b"},
		{session.KindDelete, nil, `{"path":"/p/b"}`, "", "/p/b"},
		{session.KindOther, nil, `{"path":"/p/b"}`, "", ""},
		{session.KindRead, nil, `{}`, "", ""},
	} {
		call := &session.ToolCall{Kind: c.kind, Content: c.diffs, RawInput: json.RawMessage(c.input)}
		if c.at != "" {
			call.Locations = []session.Location{{Path: c.at}}
		}
		got := ""
		for _, l := range placesOf(call) {
			got += "at " + l.Path
		}
		want := c.want
		if want != "" {
			want = "at " + want
		}
		check.Equal(t, got, want, "a call of %q with %d diffs and %s is %q", c.kind, len(c.diffs), c.input)
	}
}

// Times, numbers and the tokens of a turn are said in words.
func TestFiguresInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 s", 49 * time.Millisecond: "0.0 s", 50 * time.Millisecond: "0.1 s", 9949 * time.Millisecond: "9.9 s",
		9950 * time.Millisecond:  "10 s",
		59949 * time.Millisecond: "59 s", time.Minute: "1:00", 61 * time.Second: "1:01", time.Hour - time.Second: "59:59", time.Hour: "1:00:00",
		25*time.Hour + 61*time.Second: "25:01:01",
	} {
		check.Equal(t, seconds(d), want, fmt.Sprint(d)+" is %q")
	}
	for n, want := range map[int]string{0: "", 1: "", 2: " ×2"} {
		check.Equal(t, times(n), want, "%d times is %q", n)
	}
	for want, used := range map[string]session.TurnTokens{
		"0 in · 0 out": {}, "7 in · 8 out": {Input: 7, Output: 8},
		"7 in, 1 from the cache · 8 out":                                {Input: 7, Output: 8, Read: 1},
		"7 in, 1 to the cache · 8 out":                                  {Input: 7, Output: 8, Written: 1},
		"7 in · 8 out, 1 in thoughts":                                   {Input: 7, Output: 8, Thought: 1},
		"7 in, 1 from the cache, 2 to the cache · 8 out, 3 in thoughts": {Input: 7, Output: 8, Read: 1, Written: 2, Thought: 3},
	} {
		check.Equal(t, spent(used), want, "%+v is %q", used)
	}
}

// What a call is about is cut to the cells that there are: its end is dropped first, and of a path its beginning.
func TestObjectsInTheirRoom(t *testing.T) {
	path := object{path: "src/deep/down/lexer.lua:40", title: "Fix the last token"}
	found := object{title: "asked the editor", end: " · 1000 places"}
	for _, c := range []struct {
		of    object
		least int
		room  int
		want  string
	}{
		{path, 14, 60, "src/deep/down/lexer.lua:40  Fix the last token"},
		{path, 14, 26 + 2 + leastTitle, "src/deep/down/lexer.lua:40  Fix the…"},
		{path, 14, 26 + 1 + leastTitle, "src/deep/down/lexer.lua:40"},
		{path, 14, 14, "…/lexer.lua:40"},
		{object{path: "a.go"}, 4, 60, "a.go"},
		{found, leastTitle + 14, 60, "asked the editor · 1000 places"},
		{found, leastTitle + 14, 14 + leastTitle, "asked t… · 1000 places"},
		{found, leastTitle + 14, 13 + leastTitle, "asked the editor"},
		{object{title: "make"}, 4, 3, "make"},
		{object{title: "make all of it"}, leastTitle, 9, "make all…"},
	} {
		check.Equal(t, c.of.least(), c.least, "%+v needs %d cells", c.of)
		check.Equal(t, c.of.fitted(c.room), c.want, "%+v in %d cells is %q", c.of, c.room)
	}
}
