package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// everyPrompt has the agent write every so many lines of so many of a file, by the client.
const everyPrompt = "write every %d of %d lines of %s"

// everyLine is a text of n lines, of which every one in so many is the agent's; 0 is none. Its file has no
// language: that would cost more with each key than all that is measured.
func everyLine(n, every int) string {
	var b strings.Builder
	for i := range n {
		does := "compute"
		if every > 0 && i%every == 0 {
			does = "derive"
		}
		fmt.Fprintf(&b, "local value_%d = %s(seed, %d) -- one of many\n", i, does, i)
	}
	return b.String()
}

// write has the client write a file.
func (a *agent) write(path, text string) {
	quoted, _ := json.Marshal(text) // a string always encodes
	fmt.Fprintf(a.out, `{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"bench","path":%q,"content":%s}}`+"\n", path, quoted)
	a.out.Flush()
	<-a.requests
}

// changedBuffers measures what the marks of an agent's changes cost in the user's own buffers: how they come
// into a file that is opened, and the keys that are typed there.
func changedBuffers(b *bench) {
	const times = 3
	for _, c := range []struct {
		what         string
		lines, every int
	}{
		{"a file of 100000 changed lines", 100_000, 1},
		{"a file with 2000 changes", 20_000, 10},
		{"a file with 10000 changes", 100_000, 10},
	} {
		path := filepath.Join(b.TempDir(), "every.txt")
		var shown []sample
		typed := map[kind][]float64{}
		for range times {
			must.Do(b, os.WriteFile(path, []byte(everyLine(c.lines, 0)), 0o600))
			v := start(b, b.bin, chat)
			v.prompt(everyPrompt, c.every, c.lines, path)
			v.lua(nil, "bench.mark(...)", path, c.lines/c.every)
			shown = append(shown, sample{result: v.finish()})
			for _, k := range []kind{chat, plain} {
				if k == plain {
					v.lua(nil, "require('acp.review.marks').clear(vim.api.nvim_get_current_buf())")
				}
				if _, err := v.Input("<Esc>25GOx"); err != nil {
					b.Fatal(err)
				}
				typed[k] = append(typed[k], typingWithRests(v)...)
			}
			if _, err := v.Input("<Esc>"); err != nil {
				b.Fatal(err)
			}
			v.end()
		}
		add := func(figure string, of func(sample) float64, g goal) {
			b.add(fmt.Sprintf("%s: %s, ms", c.what, figure), median(field(shown, of)), 0, g)
		}
		add("marked", func(s sample) float64 { return s.Ms }, none)
		add("longest gap", func(s sample) float64 { return s.Gap }, atMost(25))
		add("Neovim's CPU in a gap", func(s sample) float64 { return s.Work }, atMost(25))
		b.add(c.what+": key to screen there, median, ms", median(typed[chat]), median(typed[plain]), ratio(1.2))
		b.add(c.what+": key to screen there, 99th percentile, ms", percentile(typed[chat], 99), percentile(typed[plain], 99), none)
	}
}

// typingWithRests types so that what was typed is looked at now and then.
func typingWithRests(v *neovim) (took []float64) {
	for i := range 200 {
		seen := v.drawn(markAt(i))
		typed := time.Now()
		if _, err := v.Input("<BS>" + markAt(i)); err != nil {
			v.tb.Fatal(err)
		}
		shown := await(v, "a key's effect", seen)
		took = append(took, ms(shown.at.Sub(typed)))
		pace := 4 * time.Millisecond // as nobody types faster
		if i%20 == 19 {
			pace = 220 * time.Millisecond
		}
		time.Sleep(pace)
	}
	return took
}

// refusals measures refusing all that an agent has changed in a file at once, from the key to the new text.
func refusals(b *bench) {
	const times, apart = 3, 20
	var each []float64
	for _, hunks := range []int{250, 1000, 4000} {
		var took []sample
		for range times {
			path := filepath.Join(b.TempDir(), "every.txt")
			must.Do(b, os.WriteFile(path, []byte(everyLine(apart*hunks, 0)), 0o600))
			v := start(b, b.bin, chat)
			v.prompt(everyPrompt, apart, apart*hunks, path)
			v.lua(nil, "bench.mark(...)", path, hunks)
			v.finish()
			before := processCPU(v.pid)
			v.lua(nil, "bench.refuse(...)", hunks, everyLine(apart*hunks, 0))
			took = append(took, sample{v.finish(), processCPU(v.pid) - before})
			v.end()
		}
		add := func(figure string, of func(sample) float64, g goal) {
			b.add(fmt.Sprintf("refusing %d hunks: %s", hunks, figure), median(field(took, of)), 0, g)
		}
		goals := map[int]goal{1000: atMost(300)}
		add("from the key to the text, ms", func(s sample) float64 { return s.Ms }, goals[hunks])
		add("the host's CPU, ms", func(s sample) float64 { return s.hostCPU }, none)
		add("Neovim's CPU, ms", func(s sample) float64 { return s.CPU }, none)
		add("longest gap, ms", func(s sample) float64 { return s.Gap }, none)
		each = append(each, median(field(took, func(s sample) float64 { return s.Ms }))/float64(hunks))
	}
	b.add("refusing 4000 hunks, for each, against 250: ms", each[2], each[0], ratio(2))
}
