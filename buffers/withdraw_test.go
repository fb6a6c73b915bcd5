package buffers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

func TestWithdraw(t *testing.T) {
	for name, c := range map[string]struct {
		before, after, now, want string
		conflicts                []int
	}{
		"nothing since":                {"a\nb\n", "a\nX\n", "a\nX\n", "a\nb\n", nil},
		"lines beside":                 {"a\nb\n", "a\nX\n", "u\na\nX\nv\n", "u\na\nb\nv\n", nil},
		"a line in what was put in":    {"a\nb\n", "a\nX\nY\nb\n", "a\nX\nu\nY\nb\n", "a\nu\nb\n", nil},
		"a line in what was replaced":  {"a\nb\nc\n", "X\nY\nc\n", "X\nu\nY\nc\n", "a\nb\nu\nc\n", nil},
		"one of them was removed":      {"a\nb\nc\n", "X\nY\nc\n", "X\nc\n", "a\nb\nc\n", nil},
		"all of them were removed":     {"a\n", "a\nX\n", "a\n", "a\n", nil},
		"a line where some were":       {"a\nb\nc\n", "a\nc\n", "a\nu\nc\n", "a\nb\nu\nc\n", nil},
		"another one for one of them":  {"a\nb\nc\n", "a\nX\nY\nc\n", "a\nu\nY\nc\n", "a\nu\nb\nc\n", nil},
		"and for one of the file's":    {"a\nb\n", "a\nX\nY\nb\n", "u\nY\nb\n", "u\nb\n", nil},
		"another one in its place":     {"a\nb\nc\n", "a\nX\nc\n", "a\nu\nc\n", "a\nu\nc\n", []int{2}},
		"the user's lines of a file":   {"", "X\nY\n", "X\nu\nY\n", "u\n", nil},
		"nothing of the user's":        {"", "X\nY\n", "X\n", "", nil},
		"without a newline before":     {"a\nb", "a\nb\nX\n", "u\na\nb\nX\n", "u\na\nb", nil},
		"the newline is the user's":    {"a\nb", "a\nX", "a\nX\n", "a\nb\n", nil},
		"typed again by the user":      {"a\nb\nc\n", "a\nc\n", "a\nb\nc\n", "a\nb\nc\n", nil},
		"some of it, and more":         {"a\nb\nc\nd\n", "a\nd\n", "a\nu\nc\nv\nd\n", "a\nb\nu\nc\nv\nd\n", nil},
		"all of a file typed again":    {"a\nb\n", "", "a\nb\nu\n", "a\nb\nu\n", nil},
		"typed again below another":    {"a\nb\n", "X\nY\n", "X\nu\nY\nb\nv\n", "a\nu\nb\nv\n", nil},
		"typed again below the others": {"a\nb\nc\nd\n", "a\nX\nY\n", "a\nX\nY\nb\nu\n", "a\nb\nc\nd\nu\n", nil},
		"below one in another's place": {"a\nb\nc\n", "a\nc\n", "u\nb\nc\n", "u\nb\nc\n", nil},
		"below two, and more":          {"a\nb\nc\nd\n", "a\nd\n", "u\nv\nc\nw\nd\n", "u\nv\nb\nc\nw\nd\n", nil},
		"not typed again, but above":   {"a\nb\nc\n", "a\nc\n", "u\nv\nc\n", "u\nv\nb\nc\n", nil},
		"the user's own, twice":        {"a\nb\nc\n", "X\nY\nZ\n", "u\nX\nu\nY\nu\nZ\n", "u\na\nb\nc\nu\nu\n", nil},
		"without one, and a line more": {"a\nb\n", "a\nX", "a\nX\nu", "a\nb\nu\n", nil},
	} {
		got, conflicts := Withdraw(c.after, c.now, c.before)
		if got != c.want || !slices.Equal(conflicts, c.conflicts) {
			t.Errorf("%s: %q with conflicts %v, wanted %q with %v", name, got, conflicts, c.want, c.conflicts)
		}
	}
}

// Whatever both have changed, the user's lines stay, the agent's go, and each line that was there before is there once,
// except where the user has replaced all of the agent's.
func TestWithdrawOfRandomChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		n := 0
		change := func(lines []string, whose string) []string {
			lines = slices.Clone(lines)
			for range 1 + r.IntN(3) {
				at, come := r.IntN(len(lines)+1), []string(nil)
				for range r.IntN(3) {
					n++
					come = append(come, fmt.Sprint(whose, n, "\n"))
				}
				lines = slices.Replace(lines, at, min(at+r.IntN(3), len(lines)), come...)
			}
			return lines
		}
		before := strings.SplitAfter("1\n2\n3\n4\n5", "\n")
		before[4] += "\n"
		after := change(before, "a")
		now := change(after, "u")
		text, conflicts := Withdraw(strings.Join(after, ""), strings.Join(now, ""), strings.Join(before, ""))
		got := linediff.Lines(text)
		var wrong []string
		var users []string
		for _, line := range got {
			switch {
			case line[0] == 'u':
				users = append(users, line)
			case line[0] == 'a' && len(conflicts) == 0:
				wrong = append(wrong, line)
			}
		}
		if !slices.Equal(users, slices.DeleteFunc(slices.Clone(now), func(line string) bool { return line[0] != 'u' })) {
			wrong = append(wrong, users...)
		}
		for _, line := range before {
			want := 1
			if slices.Contains(after, line) && !slices.Contains(now, line) {
				want = 0 // the user has removed it
			}
			if is := count(got, line); is != want && (len(conflicts) == 0 || is > 1) {
				wrong = append(wrong, line)
			}
		}
		if len(wrong) > 0 {
			t.Fatalf("%q became %q, then %q: without the first it is %q, conflicts %v: wrong is %q", before, after, now, got, conflicts, wrong)
		}
	}
}

func count(lines []string, line string) (n int) {
	for _, other := range lines {
		if other == line {
			n++
		}
	}
	return n
}
