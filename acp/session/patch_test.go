package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/acp-nvim/acp-nvim/test/check"
)

func text(l ...string) string { return strings.Join(l, "\n") + "\n" }

// A patch dealt to changes: what each of them gets.
func TestDeal(t *testing.T) {
	modify := func(path string) Diff { return Diff{Operation: OperationModify, Path: path} }
	a := text("diff --git /p/a /p/a", "index 1..2 100644", "--- /p/a", "+++ /p/a", "@@ -1,2 +1,2 @@", " x", "-diff --git /p/b /p/b", "+y")
	b := text("diff --git /p/b /p/b", "--- /p/b", "+++ /p/b", "@@ -1 +1 @@", "-x", "+y", "\\ No newline at end of file")
	added := text("diff --git /p/n /p/n", "new file mode 100644", "--- /dev/null", "+++ /p/n", "@@ -0,0 +1 @@", "+x")
	deleted := text("diff --git /p/d /p/d", "deleted file mode 100644", "--- /p/d", "+++ /dev/null", "@@ -1 +0,0 @@", "-x")
	emptied := text("diff --git /p/d /p/d", "deleted file mode 100644")
	bare := text("diff --git /p/d /p/d", "--- /p/d", "+++ /dev/null", "@@ -1 +0,0 @@", "-x")
	renamed := text("diff --git /p/o /p/a", "similarity index 100%", "rename from /p/o", "rename to /p/a")
	copied := text("diff --git /p/a /p/c", "similarity index 90%", "copy from /p/a", "copy to /p/c", "--- /p/a", "+++ /p/c", "@@ -1 +1 @@", "-x", "+y")
	movedOver := text(`diff --git "/p/\303\251" /p/a`, "similarity index 90%", `rename from "/p/\303\251"`, "rename to /p/a", `--- "/p/\303\251"`, "+++ /p/a", "@@ -1 +1 @@", "-rename from /p", "+y")
	asGit := strings.NewReplacer("\nrename from /", "\nrename from ", "\nrename from \"/", "\nrename from \"", "\nrename to /", "\nrename to ", "\ncopy from /", "\ncopy from ", "\ncopy to /", "\ncopy to ").Replace
	quoted := text(`diff --git "/p/\303\251 \"x\"" "/p/\303\251 \"x\""`, `--- "/p/\303\251 \"x\""`, `+++ "/p/\303\251 \"x\""`, "@@ -1 +1 @@", "-x", "+y")
	spaced := text("diff --git /p/a b /p/a b", "old mode 100644", "new mode 100755")
	binary := text("diff --git /p/i /p/i", "index 1..2 100644", "GIT binary patch", "literal 2", "JcmZRm1ONbg0D1rb", "", "literal 2", "JcmZRm0001b0C@la", "")
	differ := text("diff --git /p/i /p/i", "Binary files /p/i and /p/i differ")
	broken := text("diff --git /p/a /p/a", "--- /p/a", "+++ /p/a", "@@ -1,9 +1,9 @@", "-x")
	for name, test := range map[string]struct {
		patch   string
		changes []Diff
		want    []string
	}{
		"none":                    {"", []Diff{modify("/p/a")}, []string{""}},
		"one":                     {a, []Diff{modify("/p/a")}, []string{a}},
		"two, the other way":      {a + b, []Diff{modify("/p/b"), modify("/p/a")}, []string{b, a}},
		"one without a patch":     {b, []Diff{modify("/p/a"), modify("/p/b")}, []string{"", b}},
		"one without a change":    {a + b, []Diff{modify("/p/b")}, []string{b}},
		"no changes":              {a, nil, nil},
		"no line end":             {a + strings.TrimSuffix(b, "\n"), []Diff{modify("/p/a"), modify("/p/b")}, []string{a, strings.TrimSuffix(b, "\n")}},
		"words before":            {"Subject: x\n---\n" + a, []Diff{modify("/p/a")}, []string{a}},
		"added and deleted":       {added + deleted, []Diff{{Operation: OperationDelete, Path: "/p/d"}, {Operation: OperationAdd, Path: "/p/n"}}, []string{deleted, added}},
		"an empty one deleted":    {emptied, []Diff{{Operation: OperationDelete, Path: "/p/d"}}, []string{emptied}},
		"deleted without a mode":  {bare, []Diff{{Operation: OperationDelete, Path: "/p/d"}}, []string{bare}},
		"moved, and a new one":    {renamed + strings.ReplaceAll(added, "/p/n", "/p/o"), []Diff{{Operation: OperationAdd, Path: "/p/o"}, {Operation: OperationMove, Path: "/p/a", OldPath: "/p/o"}}, []string{strings.ReplaceAll(added, "/p/n", "/p/o"), asGit(renamed)}},
		"moved and changed":       {movedOver, []Diff{{Operation: OperationMove, Path: "/p/a", OldPath: "/p/é"}}, []string{asGit(movedOver)}},
		"copied":                  {copied + a, []Diff{modify("/p/a"), {Operation: OperationCopy, Path: "/p/c", OldPath: "/p/a"}}, []string{a, asGit(copied)}},
		"quoted":                  {quoted, []Diff{modify(`/p/é "x"`)}, []string{quoted}},
		"with spaces, mode alone": {spaced, []Diff{modify("/p/a b")}, []string{spaced}},
		"binary":                  {binary + a, []Diff{modify("/p/a"), modify("/p/i")}, []string{a, binary}},
		"binary, broken":          {strings.Replace(binary, "Jcm", "Zcm", 1), []Diff{modify("/p/i")}, []string{strings.Replace(binary, "Jcm", "Zcm", 1)}},
		"binary without data":     {differ, []Diff{modify("/p/i")}, []string{differ}},
		"hunks that do not fit":   {broken + b, []Diff{modify("/p/a"), modify("/p/b")}, []string{broken, b}},
		"no file in the header":   {"diff --git \n" + a, []Diff{modify("/p/a")}, []string{a}},
		"replaced by another":     {deleted + strings.ReplaceAll(added, "/p/n", "/p/d"), []Diff{{Operation: OperationDelete, Path: "/p/d"}, {Operation: OperationAdd, Path: "/p/d"}}, []string{deleted, strings.ReplaceAll(added, "/p/n", "/p/d")}},
		"of another type":         {deleted + strings.ReplaceAll(added, "/p/n", "/p/d"), []Diff{modify("/p/d")}, []string{deleted + strings.ReplaceAll(added, "/p/n", "/p/d")}},
		"with git's prefixes":     {strings.NewReplacer("--git /p/b /p/b", "--git a/p/b b/p/b", "--- /", "--- a/", "+++ /", "+++ b/").Replace(b), []Diff{modify("/p/b")}, []string{strings.NewReplacer("--git /p/b /p/b", "--git a/p/b b/p/b", "--- /", "--- a/", "+++ /", "+++ b/").Replace(b)}},
		"prefixes before it all":  {text("diff --git a//p/d b//p/d", "deleted file mode 100644", "--- a//p/d", "+++ /dev/null", "@@ -1 +0,0 @@", "- a//b"), []Diff{{Operation: OperationDelete, Path: "/p/d"}}, []string{text("diff --git a/p/d b/p/d", "deleted file mode 100644", "--- a/p/d", "+++ /dev/null", "@@ -1 +0,0 @@", "- a//b")}},
		"relative to the project": {text("diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1 +1 @@", "-x", "+y"), []Diff{modify("/q/ba"), modify("/p/a")}, []string{"", text("diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1 +1 @@", "-x", "+y")}},
		"without git's header":    {text("--- /p/a", "+++ /p/a", "@@ -1 +1 @@", "-x", "+y"), []Diff{modify("/p/a")}, []string{text("--- /p/a", "+++ /p/a", "@@ -1 +1 @@", "-x", "+y")}},
		"without it, of whom":     {text("--- /p/a", "+++ /p/a", "@@ -1 +1 @@", "-x", "+y"), []Diff{modify("/p/a"), modify("/p/b")}, []string{"", ""}},
		"no patch at all":         {"see above", []Diff{modify("/p/a")}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			deal(test.patch, test.changes)
			for i, want := range test.want {
				check.Equal(t, test.changes[i].Patch, want, "%s gets\n%s", test.changes[i].Path)
				if slices.Contains([]string{"hunks that do not fit", "binary, broken", "no line end"}, name) {
					continue
				}
				if _, _, err := gitdiff.Parse(strings.NewReader(want)); err != nil {
					t.Errorf("%s gets what cannot be read: %v", test.changes[i].Path, err)
				}
			}
		})
	}
}

// A patch is split in one go, however many files and lines it has.
func BenchmarkDeal(b *testing.B) {
	var patch strings.Builder
	changes := make([]Diff, 1000)
	for i := range changes {
		path := "/p/" + strings.Repeat("d/", i%7) + string(rune('a'+i%26))
		changes[i] = Diff{Operation: OperationModify, Path: path}
		patch.WriteString("diff --git " + path + " " + path + "\n--- " + path + "\n+++ " + path + "\n@@ -1,100 +1,100 @@\n" + strings.Repeat("-old\n+new\n", 100))
	}
	b.ReportAllocs()
	for b.Loop() {
		deal(patch.String(), changes)
		for i := range changes {
			changes[i].Patch = ""
		}
	}
}
