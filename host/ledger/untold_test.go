package ledger

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// What commands do is found also when they are faster than the first look at the folders, and what calls have
// told of the same files counts.
func TestUntold(t *testing.T) {
	write := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
	}
	move := func(from, to string) func(string) error {
		return func(dir string) error { return os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)) }
	}
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	mode := func(name string, bits fs.FileMode) func(string) error {
		return func(dir string) error { return os.Chmod(filepath.Join(dir, name), bits) }
	}
	text := review.Text
	type steps []func(dir string) error
	cases := map[string]struct {
		early, late steps // in a turn, before and after the first look
		told        func(c *Ledger, t *turn, at func(string) string)
		want        string
	}{
		"nothing":                       {},
		"edited":                        {late: steps{write("a", "A2\n")}, want: "a 644 to 644"},
		"edited at once":                {early: steps{write("a", "A2\n")}, want: "a 644 to 644"},
		"permissions":                   {late: steps{mode("a", 0o755)}, want: "a 644 to 755"},
		"permissions at once":           {early: steps{mode("a", 0o755)}, want: "a 644 to 755"},
		"permissions at once and later": {early: steps{mode("a", 0o755)}, late: steps{mode("a", 0o700)}, want: "a 644 to 700"},
		"moved":                         {late: steps{move("a", "b")}, want: "b from a 644 to 644"},
		"moved at once":                 {early: steps{move("a", "b")}, want: "b from a 644 to 644"},
		"moved at once and on":          {early: steps{move("a", "b")}, late: steps{move("b", "c")}, want: "c from a 644 to 644"},
		"moved at once and edited":      {early: steps{move("a", "b")}, late: steps{write("b", "A2\n")}, want: "b from a 644 to 644"},
		"moved at once and removed":     {early: steps{move("a", "b")}, late: steps{remove("b")}, want: "a 644 to 0"},
		"made at once and moved":        {early: steps{write("b", "B\n")}, late: steps{move("b", "c")}, want: "c 0 to 644"},
		"moved to where a file was that an earlier turn has removed": {
			early: steps{move("a", "b")},
			told:  func(c *Ledger, _ *turn, at func(string) string) { c.last[at("b")] = review.Content{} },
			want:  "b from a 644 to 644",
		},
		"moved at once, after the user had refused a change": {
			early: steps{write("a", "A0\n"), move("a", "b")}, // the refusal, and what the agent does then
			told: func(l *Ledger, _ *turn, at func(string) string) {
				l.record.Changed(at("a"), text("A0\n"), text("A\n"))
				plan, err := l.record.Plan(at("a"), review.Reject, review.Selection{})
				if err == nil {
					l.record.Commit(plan)
				}
				l.last[at("a")] = text("A0\n").Mark()
			},
			want: "b from a 644 to 644",
		},
		"changed at once, after the user had refused a change": {
			early: steps{write("a", "A2\n")},
			told:  func(c *Ledger, _ *turn, at func(string) string) { c.last[at("a")] = text("other\n").Mark() },
		},
		"edited, as a call tells, and moved": {
			late: steps{write("a", "A2\n"), move("a", "b"), mode("b", 0o600)},
			told: func(c *Ledger, t *turn, at func(string) string) {
				c.agentChanged(t, at("a"), text("A\n"), text("A2\n"))
				c.last[at("a")] = text("A2\n").Mark()
			},
			want: "b from a 644 to 600",
		},
		"looked at when it was empty but as old as before": {
			early: steps{func(dir string) error {
				path := filepath.Join(dir, "a")
				info, err := os.Stat(path)
				if err == nil {
					err = os.Truncate(path, 0)
				}
				if err == nil {
					err = os.Chtimes(path, info.ModTime(), info.ModTime())
				}
				return err
			}},
			late: steps{write("a", "A2\n")},
			// As the times tell nothing, what a decision has left is not to be believed either.
			told: func(c *Ledger, _ *turn, at func(string) string) { c.last[at("a")] = text("").Mark() },
			want: "a 644 to 644",
		},
		"edited at once, as a call tells, and moved": {
			early: steps{write("a", "A2\n"), move("a", "b")},
			told: func(c *Ledger, t *turn, at func(string) string) {
				c.agentChanged(t, at("a"), text("A\n"), text("A2\n"))
				c.last[at("a")] = text("A2\n").Mark()
			},
			want: "b from a 644 to 644",
		},
		"edited, and moved before the call that edits was looked at": {
			late: steps{write("a", "A2\n"), move("a", "b")},
			told: func(l *Ledger, t *turn, at func(string) string) {
				l.agentChanged(t, at("a"), text("A\n"), text("A2\n"))
				l.agentChanged(t, at("a"), text("A2\n"), review.Content{})
				l.last[at("a")] = review.Content{}
			},
			want: "b from a 644 to 644",
		},
		"moved, as a call tells, edited, and moved on": {
			late: steps{write("c", "A2\n"), remove("a")},
			told: func(c *Ledger, t *turn, at func(string) string) {
				c.agentMoved(t, at("a"), at("b"), text("A\n"), text("A\n"))
				c.agentChanged(t, at("b"), text("A\n"), text("A2\n"))
				c.last[at("a")], c.last[at("b")] = review.Content{}, text("A2\n").Mark()
			},
			want: "a 644 to 0; c from b 0 to 644",
		},
		"moved, as a call tells, and another one to where it was": {
			late: steps{move("a", "b"), move("x", "a")},
			told: func(c *Ledger, t *turn, at func(string) string) {
				c.agentMoved(t, at("a"), at("b"), text("A\n"), text("A\n"))
				c.last[at("a")], c.last[at("b")] = review.Content{}, text("A\n").Mark()
			},
			want: "a from x 644 to 644; b 0 to 644",
		},
	}
	dirs := map[string]string{}
	for name := range cases {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []func(string) error{write("a", "A\n"), write("x", "X\n")} {
			if err := step(dir); err != nil {
				t.Fatal(err)
			}
		}
		dirs[name] = dir
	}
	// The turns begin later than that by the clock of the file system.
	clock, made := filepath.Join(t.TempDir(), "clock"), time.Now()
	for {
		if err := os.WriteFile(clock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(clock); err != nil || info.ModTime().Sub(made) > 2*coarse {
			break
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := dirs[name]
			do := func(steps steps) {
				for _, step := range steps {
					if err := step(dir); err != nil {
						t.Fatal(err)
					}
				}
			}
			store := checkpoint.Open(t.TempDir())
			ledger := New(Config{Store: store, Claimed: func(string) bool { return false }})
			look := func(last *checkpoint.Snapshot) *checkpoint.Snapshot {
				snap, err := store.Snapshot(context.Background(), []string{dir}, last)
				if err != nil {
					t.Fatal(err)
				}
				return snap
			}
			turn := &turn{before: look(nil), Turn: turns.Begin("", time.Now())}
			do(c.early)
			turn.first = look(turn.before)
			do(c.late)
			if c.told != nil {
				c.told(ledger, turn, func(name string) string { return filepath.Join(dir, name) })
			}
			var got []string
			for _, ch := range ledger.untold(turn, look(turn.first)) {
				is := strings.TrimPrefix(ch.Path, dir+"/")
				if ch.OldPath != "" {
					is += " from " + strings.TrimPrefix(ch.OldPath, dir+"/")
				}
				is = fmt.Sprintf("%s %o to %o", is, ch.Before.Mode, ch.After.Mode)
				if ch.Before.Kind == checkpoint.File && ch.Before.Size == 0 {
					is += ", empty before"
				}
				got = append(got, is)
			}
			if got := strings.Join(got, "; "); got != c.want {
				t.Errorf("found is %q, wanted %q", got, c.want)
			}
		})
	}
}
