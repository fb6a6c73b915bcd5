package bench

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// manyUnsaved measures the line above the prompt when many files have unsaved text, from the edit to their names, and
// an edit of one of them.
func manyUnsaved(b *bench) {
	var each []float64
	counts := []int{10, 100, 1000}
	for _, n := range counts {
		v := start(b, b.bin, chat)
		paths := make([]string, n)
		for i := range paths {
			paths[i] = fileName(v.dir, i)
			must.Do(b, os.WriteFile(paths[i], []byte(code(1000)), 0o600))
		}
		v.lua(nil, "bench.open_files(...)", paths)
		v.lua(nil, "bench.edit(...)", paths, unsavedLine)
		v.lua(nil, "bench.await_unsaved(...)", n)
		all := v.finish()
		v.lua(nil, "vim.cmd.bunload({ args = { ... }, bang = true })", paths[0])
		v.lua(nil, "bench.await_unsaved(...)", n-1)
		one := v.finish()
		what := fmt.Sprintf("%d files with unsaved text: ", n)
		b.add(what+"in the line above the prompt, ms", all.Ms, 0, none)
		b.add(what+"Neovim's CPU until then, ms", all.CPU, 0, atMost(300))
		b.add(what+"Neovim's CPU in a gap, ms", all.Work, 0, atMost(25))
		b.add(what+"Neovim's CPU where one changes, ms", one.CPU, 0, none)
		each = append(each, one.CPU/float64(n))
		v.end()
	}
	b.add("1000 files with unsaved text, one changes, for each against 100: ms", each[2], each[1], ratio(2))
}

// largeFiles measures what it costs that a file, or its only line, changes on the disk under a buffer, until the user is
// told that it is too large to be followed. No window shows it: Neovim itself takes half a second to draw such a line.
func largeFiles(b *bench) {
	for _, c := range []struct {
		what string
		line int // bytes
	}{{"a file of %d MB", 80}, {"a line of %d MB", 0}} {
		for _, mb := range []int{17, 20, 60} {
			v := start(b, b.bin, chat)
			path := fileName(v.dir, 1)
			text := bytes.Repeat([]byte("x"), mb*megabyte)
			for i := c.line; c.line > 0 && i < len(text); i += c.line {
				text[i] = '\n'
			}
			must.Do(b, os.WriteFile(path, append(text, '\n'), 0o600))
			v.lua(nil, "bench.open_files(...)", []string{v.file(1000), path})
			v.lua(nil, "bench.await_notice(...)", "too large to be followed")
			text[0] = 'y'
			must.Do(b, os.WriteFile(path, append(text, '\n'), 0o600))
			r := v.finish()
			what := fmt.Sprintf(c.what+" that changes on the disk: ", mb)
			b.add(what+"told, ms", r.Ms, 0, none)
			b.add(what+"longest gap, ms", r.Gap, 0, atMost(50))
			b.add(what+"Neovim's CPU in a gap, ms", r.Work, 0, atMost(50))
			v.end()
		}
	}
}

// waiting measures keys while something waits for the user to rest, as a diff does; the floor is keys alone.
func waiting(b *bench) {
	const keys, times = 200, 5
	v := start(b, b.bin, chat)
	path := v.file(45_000)
	v.lua(nil, "vim.cmd.stopinsert() vim.cmd.tabedit(...)", path)
	cpu := map[bool][]float64{}
	for range times {
		for _, waits := range []bool{false, true} {
			v.lua(nil, "bench.keys(...)", waits)
			for range keys {
				_, err := v.Input("jk")
				must.Do(b, err)
				time.Sleep(4 * time.Millisecond) // as nobody types faster
			}
			v.lua(nil, "bench.finish({})")
			cpu[waits] = append(cpu[waits], v.finish().CPU)
		}
	}
	v.end()
	b.add(fmt.Sprintf("%d keys while a diff waits for the user to rest: Neovim's CPU, ms", 2*keys), median(cpu[true]), median(cpu[false]), ratio(1.1))
}
