package doc

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/schema"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// entry is a row of the page: which versions have it, and what it has.
type entry struct {
	versions string
	parts    []string
}

// versions are the stable and the unstable schema of each version of the protocol.
func versions(t *testing.T) map[string][2]*schema.V {
	return map[string][2]*schema.V{
		"1": {schema.Validator(t), schema.Drafts(t)}, "2": {schema.ValidatorV2(t), schema.DraftsV2(t)},
	}
}

// TestConformance tells of a type, a field, a variant or a method of a schema that the page of them does not have, and
// of one that it has and no schema does.
func TestConformance(t *testing.T) {
	page, unstable, _ := strings.Cut(read(t, "doc/conformance.md"), "\n## Unstable\n")
	stable := wanted{}
	drafts := wanted{}
	for version, v := range versions(t) {
		for name, d := range v[0].Defs() {
			stable.add(name, version, d, nil, "")
		}
		for name, d := range v[1].Defs() {
			was := v[0].Defs()[name]
			drafts.add(name, version, d, was.Parts(), was.Method)
		}
	}
	stable.compare(t, page)
	drafts.compare(t, unstable)
}

// wanted are the rows that a page is to have, by the names of types and methods.
type wanted map[string]entry

// add has a row for what a definition has and had not before, and one for its method.
func (w wanted) add(name, version string, d schema.Def, had []string, method string) {
	row := func(name string, parts []string) {
		e, known := w[name]
		if e.versions == "" || e.versions == version {
			e.versions = version
		} else if known {
			e.versions = "1, 2"
		}
		e.parts = slices.Compact(slices.Sorted(slices.Values(append(e.parts, parts...))))
		w[name] = e
	}
	if d.Method != method {
		row(d.Method, nil)
	}
	parts := slices.DeleteFunc(d.Parts(), func(part string) bool { return slices.Contains(had, part) })
	if len(parts) > 0 && !isEnvelope(name) {
		row(name, parts)
	}
}

func (w wanted) compare(t *testing.T, page string) {
	t.Helper()
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
	for _, name := range slices.Sorted(maps.Keys(w)) {
		got, ok := documented[name]
		switch {
		case !ok:
			t.Errorf("the page has no %s, with %q", name, w[name].parts)
		case !slices.Equal(got.parts, w[name].parts) || got.versions != w[name].versions:
			t.Errorf("of %s the page has %q in %s, the schemas have %q in %s", name, got.parts, got.versions, w[name].parts, w[name].versions)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("no schema has %s", name)
	}
}

// isEnvelope is true for what only says who sends which messages.
func isEnvelope(name string) bool {
	side := strings.HasPrefix(name, "Agent") || strings.HasPrefix(name, "Client")
	return side && slices.Contains([]string{"Request", "Response", "Notification"}, strings.TrimPrefix(strings.TrimPrefix(name, "Agent"), "Client"))
}
