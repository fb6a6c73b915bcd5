package bench

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// The prompts for tool calls, as formats; see also [streamPrompt].
const (
	callsPrompt   = "call %d"           // so many tool calls, with three updates each
	growPrompt    = "grow %d"           // one command whose whole output is told anew so many times, longer each time
	colourPrompt  = "grow %d in colour" // the same with escape sequences
	diffPrompt    = "change %d"         // one edit of so many lines
	commandPrompt = "run %d MB %d wide" // a command in a terminal of the client that writes so much

	wholeFilePrompt    = "rewrite %d of %s"          // one edit of so many lines of a file, told with the whole of it
	partPrompt         = "edit %d of %s"             // the same, told without what is around them
	manyFilesPrompt    = "rewrite %d files of %s"    // so many files of a megabyte, whose names begin so
	askPrompt          = "ask %d"                    // so many requests for permission at once
	visitPrompt        = "visit %d in %s"            // so many places in the files of a folder
	pacedCommandPrompt = "run %d lines, %d a second" // a command in a terminal of the client that takes its time
	manyCommandsPrompt = "run %d of %d lines"        // so many commands that write so much, one after the other
)

// update is a session/update as a line of the wire.
func update(fields string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"bench","update":{%s}}}`+"\n", fields)
}

func textContent(text string) string {
	quoted, _ := json.Marshal(text) // a string always encodes
	return fmt.Sprintf(`"content":[{"type":"content","content":{"type":"text","text":%s}}]`, quoted)
}

// calls is n reads, each of them announced, begun and completed.
func calls(n int) [][]byte {
	var all [][]byte
	for i := range n {
		all = append(all,
			update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"c%d","title":"Search for pair %d","kind":"search","status":"pending"`, i, i)),
			update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":"c%d","status":"in_progress","rawInput":{"pattern":"pair %d"},"locations":[{"path":"/src/reader.go","line":%d}]`, i, i, i+1)),
			update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":"c%d","status":"completed",%s`, i, textContent("reader.go:1: a pair\nreader.go:2: another"))),
		)
	}
	return all
}

// growing is one command whose output is told n times, five lines longer each time; line is the format of one.
func growing(n int, line string) [][]byte {
	all := [][]byte{update(`"sessionUpdate":"tool_call","toolCallId":"g","title":"make test","kind":"execute","status":"in_progress"`)}
	var output strings.Builder
	for i := range n {
		for j := range 5 {
			fmt.Fprintf(&output, line, 5*i+j)
		}
		all = append(all, update(`"sessionUpdate":"tool_call_update","toolCallId":"g",`+textContent(output.String())))
	}
	return append(all, update(`"sessionUpdate":"tool_call_update","toolCallId":"g","status":"completed"`))
}

// around is how many lines of a file stand on each side of a part that is edited.
const around = 500

const megabyte = 1 << 20

// sheet is the rows [from, to) of a file; every second of them is another when it is changed.
func sheet(from, to int, changed bool) string {
	var text strings.Builder
	for i := from; i < to; i++ {
		does := "compute"
		if changed && i%2 == 0 {
			does = "derive"
		}
		fmt.Fprintf(&text, "\tvalue[%d] = %s(%d, seed) // the part of row %d\n", i, does, i*7, i)
	}
	return text.String()
}

// change is one edit of the rows [from, to) of a file.
func change(id, path string, from, to int) [][]byte {
	old, _ := json.Marshal(sheet(from, to, false)) // a string always encodes
	text, _ := json.Marshal(sheet(from, to, true))
	return [][]byte{update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":%q,"title":"Edit rows.go","kind":"edit","status":"completed",`+
		`"content":[{"type":"diff","path":%q,"oldText":%s,"newText":%s}]`, id, path, old, text))}
}

// changing is one edit of n lines of a file that is not there.
func changing(n int) [][]byte { return change("d", "/src/rows.go", 0, n) }

// visited is how many files are visited.
const visited = 10

// visits is n reads, of a place each.
func visits(n int, dir string) [][]byte {
	all := make([][]byte, n)
	for i := range n {
		all[i] = update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"v%d","title":"Read","kind":"read","status":"completed",`+
			`"locations":[{"path":"%s/%d.lua","line":%d}]`, i, dir, i%visited, i+1))
	}
	return all
}

// writes is a command that writes mb megabytes in lines of width bytes.
func writes(mb, width int) string {
	return fmt.Sprintf("yes %s | head -c %d", strings.Repeat("x", width-1), mb<<20)
}

// madeName is where the agent leaves how long it took to make the messages of a turn.
func madeName(home string) string { return filepath.Join(home, "made") }

// toolCalls measures what tool calls cost, beside a floor that decodes the same messages and sets the
// lines that the chat has in the end.
func toolCalls(b *bench) {
	for _, c := range []struct {
		what, prompt string
		n, times     int
	}{
		{"500 tool calls of three updates", callsPrompt, 500, 5},
		{"an output that grows in 500 updates", growPrompt, 500, 5},
		{"the same with colours", colourPrompt, 500, 5},
		{"a diff of 5000 lines", diffPrompt, 5000, 5},
	} {
		var ours, floor []sample
		var final []string
		var opened, openedGap []float64
		turn := func(v *neovim) sample {
			r := v.prompt(c.prompt, c.n)
			r.Ms -= times(b, madeName(v.dir))[0]
			return sample{result: r}
		}
		for range c.times {
			v := start(b, b.bin, chat)
			ours = append(ours, turn(v))
			v.lua(&final, "return bench.all()")
			if len(final) < 4 {
				b.Fatalf("%s: the chat has only %d lines", c.what, len(final))
			}
			if c.prompt == diffPrompt {
				v.lua(nil, "bench.open(...)", 2000)
				r := v.finish()
				opened, openedGap = append(opened, r.Ms), append(openedGap, r.Gap)
			}
			v.end()

			v = start(b, b.bin, plain)
			v.lua(nil, "bench.set_final(...)", final)
			floor = append(floor, turn(v))
			v.end()
		}
		b.shown(c.what, ours, floor, atMost(50))
		if len(opened) > 0 {
			b.add(c.what+", opened: 2000 lines shown, ms", median(opened), 0, none)
			b.add(c.what+", opened: longest gap, ms", median(openedGap), 0, atMost(25))
		}
	}
}

// shown adds the rows of turns that show tool calls; g is the goal of how long all of it takes.
func (b *bench) shown(what string, ours, floor []sample, g goal) {
	add := func(figure string, of func(sample) float64, g goal) {
		b.add(what+": "+figure+", ms", median(field(ours, of)), median(field(floor, of)), g)
	}
	add("all shown", func(s sample) float64 { return s.Ms }, g)
	add("longest gap", func(s sample) float64 { return s.Gap }, atMost(25))
	add("Neovim's CPU in a gap", func(s sample) float64 { return s.Work }, atMost(25))
}

// commands measures a command that floods a terminal, beside a floor that reads the same command from
// a pseudo-terminal and shows its last lines.
func commands(b *bench) {
	const mb, times = 100, 3
	for _, width := range []int{8, 80} {
		measure := func(k kind, open bool) (all []sample) {
			for range times {
				v := start(b, b.bin, k)
				if open {
					v.lua(nil, "bench.open_terminal()")
				}
				all = append(all, sample{result: v.prompt(commandPrompt, mb, width)})
				if open && v.number("bench.terminals()") != 1 {
					b.Fatal("no window shows the terminal")
				}
				v.end()
			}
			return all
		}
		what := fmt.Sprintf("%d MB in lines of %d through a terminal: ", mb, width)
		ours, floor, open := measure(chat, false), measure(plain, false), measure(chat, true)
		add := func(figure string, of func(sample) float64, g goal) {
			b.add(what+figure+", ms", median(field(ours, of)), median(field(floor, of)), g)
			b.add(what+figure+" while a window shows it, ms", median(field(open, of)), median(field(floor, of)), g)
		}
		add("to the turn's end", func(s sample) float64 { return s.Ms }, none)
		add("longest gap", func(s sample) float64 { return s.Gap }, atMost(25))
		add("Neovim's CPU in a gap", func(s sample) float64 { return s.Work }, atMost(25))
		add("Neovim's CPU", func(s sample) float64 { return s.CPU }, none)
	}
}

// paced is a command that writes so many lines, ten times a second so many of them.
func paced(n, rate int) string {
	return fmt.Sprintf("i=0; while [ $i -lt %d ]; do yes '%s' | head -n %d; sleep 0.1; i=$((i+1)); done", 10*n/rate, strings.Repeat("x", 79), rate/10)
}

// shownTerminal measures a terminal that a window shows for up to a minute, in which its command writes all the time:
// what Neovim keeps of that is bounded.
func shownTerminal(b *bench) {
	const rate = 4000
	var memory []float64
	for _, n := range []int{10 * rate, 30 * rate, 60 * rate} {
		v := start(b, b.bin, chat)
		before, host := v.number("bench.memory()"), resident(v.pid)
		v.lua(nil, "bench.open_terminal()")
		r := v.prompt(pacedCommandPrompt, n, rate)
		if v.number("bench.terminals()") != 1 {
			b.Fatal("no window shows the terminal")
		}
		memory = append(memory, v.number("bench.memory()")-before)
		what := fmt.Sprintf("a terminal shown while %d lines come: ", n)
		b.add(what+"Neovim's memory, MB more", memory[len(memory)-1], 0, atMost(100))
		b.add(what+"the host's memory, MB more", resident(v.pid)-host, 0, none)
		b.add(what+"Neovim's CPU for a second of it, ms", r.CPU*rate/float64(n), 0, none)
		b.add(what+"Neovim's CPU in a gap, ms", r.Work, 0, atMost(25))
		v.end()
	}
	b.add("a terminal shown for a minute, against half of it: Neovim's memory, MB", memory[2], memory[1], ratio(1.2))
}

// afterCalls measures short turns behind one with many tool calls.
func afterCalls(b *bench) {
	const times = 50
	var cpu []float64
	for _, n := range []int{1000, 10_000, 100_000} {
		v := start(b, b.bin, chat)
		v.prompt(callsPrompt, n)
		settled(v) // what is left to do of the calls is theirs
		before := processCPU(v.pid)
		var took []float64
		for range times {
			took = append(took, v.prompt(streamPrompt, 1).Ms)
		}
		cpu = append(cpu, (processCPU(v.pid)-before)/times)
		b.add(fmt.Sprintf("a turn after %d calls: all shown, ms", n), median(took), 0, none)
		b.add(fmt.Sprintf("a turn after %d calls: the host's CPU, ms", n), cpu[len(cpu)-1], 0, none)
		v.end()
	}
	b.add("a turn after 100000 calls, against 1000: the host's CPU, ms", cpu[2], cpu[0], ratio(2))
}
