package doc

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/draft"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// entry is a row of the page: which versions have it, and what it has.
type entry struct {
	versions string
	parts    []string
}

// TestConformance tells of a type, a field, a variant or a method of a schema that the page of them does not have, and
// of one that it has and no schema does.
func TestConformance(t *testing.T) {
	page := read(t, "doc/conformance.md")
	documented := map[string]entry{}
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || !strings.HasPrefix(cells[0], " `") {
			continue
		}
		e := entry{versions: strings.TrimSpace(cells[1])}
		if name := strings.Trim(strings.TrimSpace(cells[0]), "`"); strings.TrimSpace(cells[3]) == "" {
			t.Errorf("the page does not say how one meets %s", name)
		} else if strings.Contains(cells[2], "`") {
			for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
				e.parts = append(e.parts, m[1])
			}
			slices.Sort(e.parts)
			documented[name] = e
		} else { // a method
			e.versions = strings.TrimSpace(cells[2])
			documented[name] = e
		}
	}

	want := map[string]entry{}
	add := func(name, version string, parts []string) {
		e, known := want[name]
		if e.versions = version; known {
			e.versions = "1, 2"
		}
		e.parts = slices.Compact(slices.Sorted(slices.Values(append(e.parts, parts...))))
		want[name] = e
	}
	for version, v := range map[string]*schema.V{"1": schema.Validator(t), "2": schema.ValidatorV2(t)} {
		methods := map[string]bool{}
		for name, d := range v.Defs() {
			if d.Method != "" {
				methods[d.Method] = true
			}
			if parts := d.Parts(); len(parts) > 0 && !isEnvelope(name) {
				add(name, version, parts)
			}
		}
		for method := range methods {
			add(method, version, nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, ok := documented[name]
		switch {
		case !ok:
			t.Errorf("the page has no %s, with %q", name, want[name].parts)
		case !slices.Equal(got.parts, want[name].parts) || got.versions != want[name].versions:
			t.Errorf("of %s the page has %q in %s, the schemas have %q in %s", name, got.parts, got.versions, want[name].parts, want[name].versions)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("no schema has %s", name)
	}
}

// unstable is a row of the table of what is not in the stable schemas.
var unstable = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\|$")

// TestUnstableConformance tells of a name of that table which the unstable schema of a version does not have, or the
// stable one has by now, and of a method that we speak and the table has not.
func TestUnstableConformance(t *testing.T) {
	var rows []string
	_, table, _ := strings.Cut(read(t, "doc/conformance.md"), "\n## Unstable\n")
	for _, row := range unstable.FindAllStringSubmatch(table, -1) {
		rows = append(rows, row[1])
	}
	names := func(v *schema.V) map[string]bool {
		all := map[string]bool{}
		for name, d := range v.Defs() {
			all[name], all[d.Method] = true, true
		}
		return all
	}
	for _, name := range rows {
		if name != "Usage" && !names(schema.DraftsV2(t))[name] || !names(schema.Drafts(t))[name] {
			t.Errorf("the unstable schemas have no %s", name)
		}
		if names(schema.Validator(t))[name] {
			t.Errorf("%s is stable", name)
		}
	}
	for _, method := range []string{
		draft.MethodSessionFork, draft.MethodSessionSetTitle, draft.MethodSessionArchive, draft.MethodSessionUnarchive, draft.MethodSessionStatus,
		draft.MethodAuthStatus, draft.MethodAuthStatusUpdate, draft.MethodProvidersList, draft.MethodProvidersSet, draft.MethodProvidersDisable,
	} {
		if !slices.Contains(rows, method) {
			t.Errorf("the table has no %s", method)
		}
	}
}

// isEnvelope is true for what only says who sends which messages.
func isEnvelope(name string) bool {
	side := strings.HasPrefix(name, "Agent") || strings.HasPrefix(name, "Client")
	return side && slices.Contains([]string{"Request", "Response", "Notification"}, strings.TrimPrefix(strings.TrimPrefix(name, "Agent"), "Client"))
}
