package bench

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// located measures edits of a file that exists, in which the host looks for them: in the chat, opened
// there, and in two windows.
func located(b *bench) {
	const times = 5
	for _, c := range []struct {
		what, prompt string
		from, n, all int
	}{
		{"5000 lines, told with their file", wholeFilePrompt, 0, 5_000, 5_000},
		{"5000 lines of a file", partPrompt, around, 5_000, 5_000 + 2*around},
		{"10000 lines, told with their file", wholeFilePrompt, 0, 10_000, 10_000},
		{"10000 lines of a file", partPrompt, around, 10_000, 10_000 + 2*around},
	} {
		path := filepath.Join(b.TempDir(), "rows.go")
		text := sheet(0, c.from, false) + sheet(c.from, c.from+c.n, true) + sheet(c.from+c.n, c.all, false)
		must.Do(b, os.WriteFile(path, []byte(text), 0o600))
		what := "an edit of " + c.what
		var ours, floor, opened, beside []sample
		for range times {
			v := start(b, b.bin, chat)
			ours = append(ours, sample{result: v.prompt(c.prompt, c.n, path)})
			var final []string
			v.lua(&final, "return bench.all()")
			v.lua(nil, "bench.open(...)", 2000)
			opened = append(opened, sample{result: v.finish()})
			v.lua(nil, "bench.open_diff(...)", c.n)
			beside = append(beside, sample{result: v.finish()})
			v.end()

			v = start(b, b.bin, plain)
			v.lua(nil, "bench.set_final(...)", final)
			floor = append(floor, sample{result: v.prompt(c.prompt, c.n, path)})
			v.end()
		}
		b.shown(what, ours, floor, ratio(1.5))
		for _, later := range []struct {
			what    string
			samples []sample
		}{{"opened", opened}, {"in two windows", beside}} {
			add := func(figure string, of func(sample) float64, g goal) {
				b.add(fmt.Sprintf("%s, %s: %s, ms", what, later.what, figure), median(field(later.samples, of)), 0, g)
			}
			add("shown", func(s sample) float64 { return s.Ms }, none)
			add("longest gap", func(s sample) float64 { return s.Gap }, atMost(25))
			add("Neovim's CPU in a gap", func(s sample) float64 { return s.Work }, atMost(25))
		}
	}
}
