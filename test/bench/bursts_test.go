package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// bursts measures what an agent may have the client do often at once: requests that a rule answers,
// and places that a window follows.
func bursts(b *bench) {
	const asked, places, times = 500, 1_000, 5
	dir := b.TempDir()
	for i := range visited {
		text := strings.Repeat("local value = compute(seed) -- one of many\n", places)
		must.Do(b, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".lua")), []byte(text), 0o600))
	}
	for _, c := range []struct {
		what, prepare, prompt string
		args                  []any
	}{
		{"500 requests that a rule answers", "", askPrompt, []any{asked}},
		{"1000 places that are followed", "require('acp').follow(true)", visitPrompt, []any{places, dir}},
	} {
		var ours, floor []sample
		for range times {
			v := start(b, b.bin, chat)
			v.lua(nil, c.prepare)
			ours = append(ours, sample{result: v.prompt(c.prompt, c.args...)})
			var final []string
			v.lua(&final, "return bench.all()")
			v.end()

			v = start(b, b.bin, plain)
			v.lua(nil, "bench.set_final(...)", final)
			floor = append(floor, sample{result: v.prompt(c.prompt, c.args...)})
			v.end()
		}
		b.shown(c.what, ours, floor, none)
	}
}

// memory measures what the host keeps of much output and of many large edits. Of these it keeps the
// texts that the agent told, which are 400 MB, and for a while as much garbage.
func memory(b *bench) {
	const terminals, lines, files = 20, 50_000, 200
	dir := b.TempDir()
	for _, c := range []struct {
		what, prompt string
		args         []any
		limit        float64 // MB
	}{
		{"a million lines through 20 terminals", manyCommandsPrompt, []any{terminals, lines}, 200},
		{"200 edits of a megabyte", manyFilesPrompt, []any{files, dir + "/f"}, 1200},
	} {
		v := start(b, b.bin, chat)
		before := resident(v.pid)
		r := v.prompt(c.prompt, c.args...)
		b.add(c.what+": host's memory above empty, MB", resident(v.pid)-before, 0, atMost(c.limit))
		b.add(c.what+": longest gap, ms", r.Gap, 0, atMost(25))
		b.add(c.what+": Neovim's CPU in a gap, ms", r.Work, 0, atMost(25))
		b.add(c.what+": Neovim's memory, MB", v.number("bench.memory()"), 0, none)
		v.end()
	}
}
