package elicitation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func choices(names ...string) (list []session.Choice) {
	for _, name := range names {
		list = append(list, session.Choice{Value: strings.ToLower(name), Name: name})
	}
	return list
}

// ticket has a field of each type.
func ticket() *session.Form {
	one, forty, half := 1.0, 40.0, 0.5
	return &session.Form{
		Fields: []session.FormField{
			{Name: "project", Title: "Project", Type: session.FieldText, Required: true, Max: &forty, Pattern: "^[a-z]+$", Default: []string{"parser"}},
			{Name: "text", Title: "What happens", Description: "in your words", Type: session.FieldText},
			{Name: "severity", Title: "Severity", Type: session.FieldChoice, Required: true, Choices: choices("Low", "High")},
			{Name: "labels", Title: "Labels", Type: session.FieldChoices, Min: &one, Choices: choices("Bug", "Docs (all)"), Default: []string{"bug"}},
			{Name: "count", Title: "Count", Type: session.FieldInteger, Min: &one},
			{Name: "share", Title: "Share", Type: session.FieldNumber, Max: &half},
			{Name: "mail", Title: "Mail", Type: session.FieldText, Format: "email"},
			{Name: "notify", Title: "Notify", Type: session.FieldBoolean, Default: []string{"true"}},
		},
	}
}

func TestSheet(t *testing.T) {
	got := sheetOf(ticket()).write([]string{"Claude asks: where to?"})
	want := `# Claude asks: where to?
# :w sends it, q declines, <Space> chooses, <Tab> goes to the next field.

Project*       parser
What happens   
Severity*      ( ) Low
               ( ) High
Labels         [x] Bug
               [ ] Docs (all)
Count          
Share          
Mail           
Notify         [x]`
	check.Equal(t, strings.Join(got.Lines, "\n"), want, "the form is\n%s")
	check.Slice(t, got.Fields, []int{3, 4, 5, 7, 9, 10, 11, 12}, "the fields are at %v")
	notes := fmt.Sprint(got.Notes)
	if want := "[{3 at most 40 characters} {4 in your words} {7 (at least 1)} {9 a whole number, at least 1} {10 a number, at most 0.5} {11 an e-mail address}]"; notes != want {
		t.Errorf("beside it stands %s", notes)
	}
}

// Each field has a label of its own that no comment looks like, and beside a choice stands what the agent says of it.
func TestLabelsOfASheet(t *testing.T) {
	form := &session.Form{Fields: []session.FormField{
		{Title: "Why", Name: "a"}, {Title: "Why", Name: "b"}, {Title: "#1", Name: "c"}, {Title: "Why", Name: "d"},
		{Name: "e", Required: true},
		{Title: "How", Name: "f", Type: session.FieldChoice, Choices: []session.Choice{
			{Value: "x", Description: "as\never"}, {Value: "y"}, {Value: "z", Description: strings.Repeat("z", 201)},
		}},
		{Title: "Who", Name: "g", Type: session.FieldChoices, Description: "all of them", Choices: []session.Choice{
			{Value: "x", Description: "one"}, {Value: "y"},
		}},
	}}
	got := sheetOf(form).write(nil)
	check.Slice(t, got.Lines[2:], []string{
		"Why        ", "Why (2)    ", "field 3    ", "Why (3)    ", "field 5*   ",
		"How        ( ) x", "           ( ) y", "           ( ) z", "Who        [ ] x", "           [ ] y",
	}, "the form is %q")
	want := fmt.Sprintf("[{7 as ever} {9 %s} {10 one  (all of them)}]", strings.Repeat("z", 200))
	check.Equal(t, fmt.Sprint(got.Notes), want, "beside it stands %s")
}

// What the user makes of the sheet, in one place, and what comes of it.
func TestReadSheet(t *testing.T) {
	s := sheetOf(ticket())
	for _, c := range []struct{ from, to, want string }{
		{"( ) High", "(x) High", `{"labels":["bug"],"notify":true,"project":"parser","severity":"high"}`},
		{"( ) High", "(●) High", `{"labels":["bug"],"notify":true,"project":"parser","severity":"high"}`},
		{"( ) Low\n               ( ) High", "high", `{"labels":["bug"],"notify":true,"project":"parser","severity":"high"}`},
		{"What happens   ", "What happens   it breaks\n                 and so on\n\nat last\n\n", `{"labels":["bug"],"notify":true,"project":"parser","text":"it breaks\n  and so on\n\nat last"}`},
		{"[x] Bug\n               [ ] Docs (all)", "[ ] Bug\n               [x] Docs (all)", `{"labels":["docs (all)"],"notify":true,"project":"parser"}`},
		{"[x] Bug", "[ ] Bug", `{"labels":[],"notify":true,"project":"parser"}`},
		{"Notify         [x]", "Notify [ ]", `{"labels":["bug"],"notify":false,"project":"parser"}`},
		{"Notify         [x]", "Notify no", `{"labels":["bug"],"notify":false,"project":"parser"}`},
		{"Notify         [x]", "Notify False", `{"labels":["bug"],"notify":false,"project":"parser"}`},
		{"Notify         [x]", "Notify off", `{"labels":["bug"],"notify":false,"project":"parser"}`},
		{"Notify         [x]", "Notify yes", `{"labels":["bug"],"notify":true,"project":"parser"}`},
		{"Notify         [x]", "Notify true", `{"labels":["bug"],"notify":true,"project":"parser"}`},
		{"Notify         [x]", "Notify ON", `{"labels":["bug"],"notify":true,"project":"parser"}`},
		{"Notify         [x]", "", `{"labels":["bug"],"project":"parser"}`},
		{"Count          ", "Count 10", `{"count":10,"labels":["bug"],"notify":true,"project":"parser"}`},
		{"Share          ", "Share\t0.25", `{"labels":["bug"],"notify":true,"project":"parser","share":0.25}`},
		{"Project*       parser", "", `{"labels":["bug"],"notify":true}`},
		{"What happens   ", "What happens\n               it breaks\n               Counting sheep", `{"labels":["bug"],"notify":true,"project":"parser","text":"\nit breaks\nCounting sheep"}`},
		{"( ) High", "( ) Middling\n   \n   High  ", `{"labels":["bug"],"notify":true,"project":"parser","severity":"high"}`},
		{"[x] Bug", "[x] Bug\n[X] Bug", `{"labels":["bug"],"notify":true,"project":"parser"}`},
		{"Count          ", "Count", `{"labels":["bug"],"notify":true,"project":"parser"}`},

		{"( ) Low\n               ( ) High", "(x) Low\n               (x) High", "5: takes one of its choices only"},
		{"( ) Low", "(x) Middling", `5: has no choice "Middling"`},
		{"Count          ", "Count 7.5", "9: must be a whole number"},
		{"Share          ", "Share NaN", "10: must be a number"},
		{"( ) Low", "(Low", `5: has no choice "(Low"`},
		{"Share          ", "Share a half", "10: must be a number"},
		{"Share          ", "Share Inf", "10: must be a number"},
		{"Notify         [x]", "Notify perhaps", "12: must be yes or no"},
		{"Notify         [x]", "Notify [perhaps]", "12: must be yes or no"},
		{"Notify         [x]", "Notify (x", "12: must be yes or no"},
		{"Notify         [x]", "Notify x)", "12: must be yes or no"},
		{"\n\nProject*", "\nwhat is this\nProject*", "2: belongs to no field"},
	} {
		text := strings.Join(s.write([]string{"Asks"}).Lines, "\n")
		if !strings.Contains(text, c.from) {
			t.Fatalf("there is no %q", c.from)
		}
		content, _, faults := s.read(strings.Split(strings.Replace(text, c.from, c.to, 1), "\n"))
		got, _ := json.Marshal(content)
		if len(faults) > 0 {
			got = fmt.Appendf(nil, "%d: %s", faults[0].Row, faults[0].Text)
		}
		if string(got) != c.want {
			t.Errorf("%q: %s, wanted %s", c.to, got, c.want)
		}
	}
}

// A list of choices of which none is chosen is an answer if there is something to take back, or if there has to be one. A
// label may begin with another.
func TestEmptyLists(t *testing.T) {
	list := session.FormField{Name: "a", Title: "Mail", Type: session.FieldChoices, Choices: choices("X")}
	required, given, copied := list, list, list
	required.Name, required.Title, required.Required = "b", "Mail to", true
	given.Name, given.Title, given.Default = "c", "Mail to all", []string{"x"}
	copied.Name, copied.Title = "d", "Mail tools"
	content, _, faults := sheetOf(&session.Form{Fields: []session.FormField{list, required, given, copied}}).read([]string{
		"Mail [ ] X", "Mail to* [ ] X", "Mail to all [ ] X", "Mail tools [x] X",
	})
	got, _ := json.Marshal(content)
	check.Equal(t, string(got), `{"b":[],"c":[],"d":["x"]}`, "the answer is %s")
	check.Equal(t, len(faults), 0, "%d faults")
}

// What a field takes stands beside it.
func TestAsides(t *testing.T) {
	one, many := 1.0, 1e7
	for _, c := range []struct {
		field session.FormField
		want  string
	}{
		{session.FormField{Type: session.FieldText}, ""},
		{session.FormField{Type: session.FieldText, Min: &one, Max: &many}, "1 to 10000000 characters"},
		{session.FormField{Type: session.FieldText, Description: "as\nknown", Format: "date"}, "as known, a date, as 2026-01-31"},
		{session.FormField{Type: session.FieldText, Format: "colour"}, "of the format colour"},
		{session.FormField{Type: session.FieldText, Format: strings.Repeat("x", 99)}, "of the format " + strings.Repeat("x", 50)},
		{session.FormField{Type: session.FieldInteger, Min: &one, Max: &many}, "a whole number, 1 to 10000000"},
		{session.FormField{Type: session.FieldChoices, Max: &one}, "at most 1"},
	} {
		check.Equal(t, aside(&c.field), c.want, "%+v: it says %q", c.field)
	}
}

func TestFaults(t *testing.T) {
	check := func(content map[string]any) []fault { return faultsOf(ticket(), content) }
	good := map[string]any{"project": "parser", "severity": "low", "count": 1, "labels": []string{"bug"}, "share": 0.5, "notify": false}
	if faults := check(good); faults != nil {
		t.Errorf("a good answer has faults: %v", faults)
	}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"project", nil, "Project is required"},
		{"project", strings.Repeat("x", 41), "Project takes at most 40 characters"},
		{"project", "X1", "Project must match ^[a-z]+$"},
		{"severity", "middling", "Severity takes one of its choices only"},
		{"labels", []string{}, "Labels needs at least 1"},
		{"labels", []string{"other"}, "Labels takes one of its choices only"},
		{"labels", []any{"bug", 7}, "Labels takes one of its choices only"},
		{"severity", 7, "Severity must be one of its choices"},
		{"severity", json.RawMessage("null"), "Severity must be one of its choices"},
		{"count", 1.5, "Count must be a whole number"},
		{"text", 7, "What happens must be text"},
		{"text", true, "What happens must be text"},
		{"labels", "bug", "Labels must be a list of its choices"},
		{"count", 0, "Count must be at least 1"},
		{"count", "many", "Count must be a whole number"},
		{"share", 0.75, "Share must be at most 0.5"},
		{"mail", "nobody", "Mail must be an e-mail address"},
		{"notify", 1, "Notify must be yes or no"},
		{"other", 1, "other is not one of its fields"},
	} {
		content := map[string]any{"project": "parser", "severity": "low", c.name: c.value}
		if c.value == nil {
			delete(content, c.name)
		}
		var got []string
		for _, f := range check(content) {
			got = append(got, f.title+" "+f.text)
		}
		if fmt.Sprint(got) != fmt.Sprint([]string{c.want}) {
			t.Errorf("%s %v: %q, wanted %q", c.name, c.value, got, c.want)
		}
	}
	one := 1.0
	few := &session.Form{Fields: []session.FormField{{Name: "l", Type: session.FieldChoices, Max: &one, Choices: choices("X", "Y")}}}
	if faults := faultsOf(few, map[string]any{"l": []string{"x", "y"}}); len(faults) != 1 || faults[0].text != "takes at most 1" {
		t.Errorf("of too many choices it says %v", faults)
	}
	both := check(map[string]any{"share": 1})
	if len(both) != 3 || both[0].name != "project" || both[2].name != "share" {
		t.Errorf("of several it says %v", both)
	}
}

// Of texts their length counts in characters, and their format; a pattern or a format that is not known here is left to the
// agent.
func TestFaultsOfTexts(t *testing.T) {
	two := 2.0
	for _, c := range []struct {
		field session.FormField
		text  string
		want  string
	}{
		{session.FormField{Min: &two, Pattern: "(?<=x)y"}, "y", "needs at least 2 characters"},
		{session.FormField{Max: &two, Pattern: "(?<=x)y"}, "äö", ""},
		{session.FormField{Max: &two}, "äöü", "takes at most 2 characters"},
		{session.FormField{Pattern: "b+"}, "abc", ""},
		{session.FormField{Pattern: "^b+"}, "abc", "must match ^b+"},
		{session.FormField{Pattern: strings.Repeat("b", 101)}, "abc", "must match " + strings.Repeat("b", 100)},
		{session.FormField{Format: "email"}, "a.b@example.com", ""},
		{session.FormField{Format: "email"}, "A <a@example.com>", "must be an e-mail address"},
		{session.FormField{Format: "uri"}, "https://example.com/a?b", ""},
		{session.FormField{Format: "uri"}, "http://[::1", "must be a whole address, as https://example.com"},
		{session.FormField{Format: "uri"}, "example.com", "must be a whole address, as https://example.com"},
		{session.FormField{Format: "date"}, "2026-02-28", ""},
		{session.FormField{Format: "date"}, "2026-02-30", "must be a date, as 2026-01-31"},
		{session.FormField{Format: "date-time"}, "2026-01-31T18:00:00.5+01:00", ""},
		{session.FormField{Format: "date-time"}, "2026-01-31 18:00", "must be a time, as 2026-01-31T18:00:00Z"},
		{session.FormField{Format: "colour"}, "red", ""},
	} {
		c.field.Type = session.FieldText
		check.Equal(t, wrong(c.field, c.text), c.want, "%+v: %q %q", c.field, c.text)
	}
}

// A form that is not touched says what the agent's defaults are, whatever its titles look like.
func TestUntouchedSheets(t *testing.T) {
	words := []string{"a", "A b", "#", "# no", "a*", "a", "  ", "(x)", "[ ] c", "日本語の長い名前です、とても長い長い長い", "x\ny", "a  b", ""}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		form := &session.Form{}
		want := map[string]any{}
		for i := range 1 + r.IntN(6) {
			f := session.FormField{Name: fmt.Sprint("f", i), Title: words[r.IntN(len(words))], Required: r.IntN(2) == 0}
			f.Type = []session.FieldType{session.FieldText, session.FieldInteger, session.FieldBoolean, session.FieldChoice, session.FieldChoices}[r.IntN(5)]
			switch f.Type {
			case session.FieldText:
				if r.IntN(2) == 0 {
					f.Default = []string{"one\n two\nthree"}
					want[f.Name] = f.Default[0]
				}
			case session.FieldInteger:
				f.Default = []string{"-7"}
				want[f.Name] = int64(-7)
			case session.FieldBoolean:
				want[f.Name] = false
			case session.FieldChoice:
				f.Choices, f.Default = choices("X", "(y)", "z [w]"), []string{"(y)"}
				want[f.Name] = "(y)"
			case session.FieldChoices:
				f.Choices, f.Default = choices("X", "[ ]", "z"), []string{"x", "z"}
				want[f.Name] = []string{"x", "z"}
			}
			form.Fields = append(form.Fields, f)
		}
		s := sheetOf(form)
		sheet := s.write([]string{"a question", "f0 with a line that begins like a field"})
		content, _, faults := s.read(sheet.Lines)
		if len(faults) > 0 || !reflect.DeepEqual(content, want) {
			t.Fatalf("seed %d: %v %v, wanted %v\n%s", seed, content, faults, want, strings.Join(sheet.Lines, "\n"))
		}
	}
}

// Whatever the user makes of a form, it is read without a panic, and faults are in its rows.
func FuzzReadSheet(f *testing.F) {
	s := sheetOf(ticket())
	f.Add(strings.Join(s.write(nil).Lines, "\n"))
	f.Add("Labels (x\nLabels* [\nSeverity* ()()\n(")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		_, rows, faults := s.read(lines)
		for _, fault := range faults {
			if fault.Row < 0 || fault.Row >= len(lines) {
				t.Errorf("%v is in no row of %q", fault, text)
			}
		}
		for name, row := range rows {
			if row >= len(lines) {
				t.Errorf("%s is in row %d", name, row)
			}
		}
	})
}

func TestPages(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com/a?b=c":         "at example.com",
		"http://example.com/":               "⚠ It is not encrypted",
		"http://localhost:8080/":            "at localhost:8080",
		"http://127.0.0.1:8080/":            "at 127.0.0.1:8080",
		"http://[::1]:8080/":                "at [::1]:8080",
		"http://[::2]:8080/":                "⚠ It is not encrypted",
		"https://good.com@evil.example/":    "⚠ The part before the @",
		"https://xn--80ak6aa92e.com/":       "⚠ Its name has letters",
		"https://аррӏе.com/":                "⚠ Its name has letters",
		"javascript:alert(1)":               "",
		"file:///etc/passwd":                "",
		"ftp://example.com/":                "",
		"https://example.com/\u202eexe.txt": "at example.com",
		"not an address":                    "",
		"":                                  "",
	} {
		page, err := parsePage(address)
		if (err != nil) != (want == "") {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil {
			continue
		}
		var text string
		for _, l := range pageLines(page, address) {
			text += l.Text + "\n"
		}
		if shown := strings.ReplaceAll(address, "\u202e", "<U+202E>"); !strings.Contains(text, "\n"+shown+"\n") {
			t.Errorf("%q is not shown whole:\n%s", address, text)
		}
		if !strings.Contains(text, want) || strings.Contains(text, "⚠") != strings.HasPrefix(want, "⚠") || strings.Contains(text, "\u202e") {
			t.Errorf("%q is shown as\n%s", address, text)
		}
	}
}

// A page that is not opened is declined with a reason.
func TestPagesThatAreNotOpened(t *testing.T) {
	for address, want := range map[string]string{
		"file:///etc/passwd":            `it wants to open an address that begins with "file:"`,
		"//example.com\n/":              `"//example.com\n/" is not the address of a page`,
		"example.com":                   `"example.com" is not the address of a page`,
		"http://[::1/":                  `"http://[::1/" is not the address of a page`,
		"https://example.com/\u009b31m": "its address has characters that cannot be shown",
	} {
		_, err := parsePage(address)
		check.Equal(t, fmt.Sprint(err), want, "%q: %s", address)
	}
}
