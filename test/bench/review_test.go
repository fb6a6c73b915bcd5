package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// reviewPrompt has the agent tell that it has changed so many files, whose names begin so, each in so many
// lines of its middle.
const reviewPrompt = "review %d files of %d lines %s"

// margin is how many lines a changed file has before those that were changed, and behind.
const margin = 20

// rewrite is a file before the agent has changed it, or after.
func rewrite(lines int, changed bool) string {
	does := "compute"
	if changed {
		does = "derive"
	}
	var b strings.Builder
	b.WriteString(strings.Repeat("\t// what the agent has not touched\n", margin))
	for i := range lines {
		fmt.Fprintf(&b, "\tvalue[%d] = %s(%d, seed) // the part of row %d\n", i, does, i*7, i)
	}
	b.WriteString(strings.Repeat("\t// what the agent has not touched\n", margin))
	return b.String()
}

// rewritten is the edit of one of the files, which was made already.
func rewritten(i, lines int, path string) [][]byte {
	path = fmt.Sprintf("%s%04d.go", path, i)
	old, _ := json.Marshal(rewrite(lines, false)) // a string always encodes
	text, _ := json.Marshal(rewrite(lines, true))
	return [][]byte{update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"e%d","title":"Edit","kind":"edit","status":"completed",`+
		`"locations":[{"path":%q}],"content":[{"type":"diff","path":%q,"oldText":%s,"newText":%s}]`, i, path, path, old, text))}
}

// reviews measures opening the review of what a turn has changed, and moving through it.
func reviews(b *bench) {
	for _, c := range []struct {
		what         string
		files, lines int
	}{
		{"1000 files of 10 changed lines", 1000, 10},
		{"a file of 100000 changed lines", 1, 100_000},
	} {
		dir := b.TempDir()
		path := filepath.Join(dir, "f")
		text := []byte(rewrite(c.lines, true))
		for i := range c.files {
			must.Do(b, os.WriteFile(fmt.Sprintf("%s%04d.go", path, i), text, 0o600))
		}
		rows := func(open int) int { return 1 + c.files + open*(2*c.lines+2*3+1) }
		v := start(b, b.bin, chat)
		v.prompt(reviewPrompt, c.files, c.lines, path)
		v.lua(nil, "bench.await_changes(...)", c.files)
		v.finish()
		add := func(figure string, r result, most float64) {
			g := none
			if most > 0 {
				g = atMost(most)
			}
			b.add(fmt.Sprintf("review of %s: %s, ms", c.what, figure), r.Ms, 0, g)
			b.add(fmt.Sprintf("review of %s: %s: longest gap, ms", c.what, figure), r.Gap, 0, atMost(25))
			b.add(fmt.Sprintf("review of %s: %s: Neovim's CPU in a gap, ms", c.what, figure), r.Work, 0, atMost(25))
		}
		screenful := min(45, rows(0))
		v.lua(nil, "bench.open_review(...)", screenful)
		add("opened", v.finish(), 200)
		if c.files > 1 {
			v.lua(nil, "bench.open_review(...)", rows(c.files))
			add("all of it there", v.finish(), 0)
		} else {
			v.lua(nil, "bench.unfold_review(...)", rows(1))
			add("the file opened", v.finish(), 0)
		}
		v.lua(nil, "bench.walk_review()")
		add("moved through", v.finish(), 0)
		v.end()
	}
}

// reviewMemory measures what the host keeps for a review that is there, beside the record.
func reviewMemory(b *bench) {
	const lines = 10
	var each []float64
	counts := []int{500, 2000, 5000}
	for _, files := range counts {
		dir := b.TempDir()
		path := filepath.Join(dir, "f")
		text := []byte(rewrite(lines, true))
		for i := range files {
			must.Do(b, os.WriteFile(fmt.Sprintf("%s%04d.go", path, i), text, 0o600))
		}
		v := start(b, b.bin, chat)
		empty := resident(v.pid)
		v.prompt(reviewPrompt, files, lines, path)
		v.lua(nil, "bench.await_changes(...)", files)
		v.finish()
		record := resident(v.pid)
		v.lua(nil, "bench.open_review(...)", 1+files+files*(2*lines+2*3+1))
		v.finish()
		open := resident(v.pid)
		what := fmt.Sprintf("review of %d files", files)
		b.add(what+": host's memory before, above empty, MB", record-empty, 0, none)
		b.add(what+": host's memory with it, above that, MB", open-record, 0, atMost(100))
		each = append(each, (open-empty)/float64(files)*1e3)
		v.end()
	}
	b.add(fmt.Sprintf("review of %d files: host's memory for each file, against %d: KB", counts[2], counts[0]), each[2], each[0], ratio(1.5))
}
