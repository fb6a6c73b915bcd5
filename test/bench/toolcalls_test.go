package bench

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The prompts for tool calls, as formats; see also [streamPrompt].
const (
	callsPrompt   = "call %d"           // so many tool calls, with three updates each
	growPrompt    = "grow %d"           // one command whose whole output is told anew so many times, longer each time
	diffPrompt    = "change %d"         // one edit of so many lines
	commandPrompt = "run %d MB %d wide" // a command in a terminal of the client that writes so much
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

// outputLine is the i-th line that a command writes.
func outputLine(i int) string { return fmt.Sprintf("ok  %6d  package/of/the/test\t0.01s\n", i) }

// growing is one command whose output is told n times, five lines longer each time.
func growing(n int) [][]byte {
	all := [][]byte{update(`"sessionUpdate":"tool_call","toolCallId":"g","title":"make test","kind":"execute","status":"in_progress"`)}
	var output strings.Builder
	for i := range n {
		for j := range 5 {
			output.WriteString(outputLine(5*i + j))
		}
		all = append(all, update(`"sessionUpdate":"tool_call_update","toolCallId":"g",`+textContent(output.String())))
	}
	return append(all, update(`"sessionUpdate":"tool_call_update","toolCallId":"g","status":"completed"`))
}

// changing is one edit of a file of n lines, every second of which is another.
func changing(n int) [][]byte {
	var before, after strings.Builder
	for i := range n {
		line := fmt.Sprintf("\tvalue[%d] = compute(%d, seed) // the part of row %d\n", i, i*7, i)
		before.WriteString(line)
		if i%2 == 0 {
			line = strings.Replace(line, "compute", "derive", 1)
		}
		after.WriteString(line)
	}
	old, _ := json.Marshal(before.String())
	text, _ := json.Marshal(after.String())
	return [][]byte{update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"d","title":"Edit rows.go","kind":"edit","status":"completed",`+
		`"content":[{"type":"diff","path":"/src/rows.go","oldText":%s,"newText":%s}]`, old, text))}
}

// writes is a command that writes mb megabytes in lines of width bytes.
func writes(mb, width int) string {
	return fmt.Sprintf("yes %s | head -c %d", strings.Repeat("x", width-1), mb<<20)
}

// toolCalls measures what tool calls cost, beside a floor that decodes the same messages and sets the
// lines that the chat has in the end.
func toolCalls(b *bench) {
	for _, c := range []struct {
		what, prompt string
		n, times     int
	}{
		{"500 tool calls of three updates", callsPrompt, 500, 5},
		{"an output that grows in 500 updates", growPrompt, 500, 5},
		{"a diff of 5000 lines", diffPrompt, 5000, 5},
	} {
		var ours, floor []sample
		var final []string
		var opened, openedGap []float64
		for range c.times {
			v := start(b, b.bin, chat)
			ours = append(ours, sample{result: v.prompt(c.prompt, c.n)})
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
			floor = append(floor, sample{result: v.prompt(c.prompt, c.n)})
			v.end()
		}
		took := func(s sample) float64 { return s.Ms }
		gap := func(s sample) float64 { return s.Gap }
		b.add(c.what+": all shown, ms", median(field(ours, took)), median(field(floor, took)), ratio(1.5))
		b.add(c.what+": longest gap, ms", median(field(ours, gap)), median(field(floor, gap)), atMost(25))
		if len(opened) > 0 {
			b.add(c.what+", opened: 2000 lines shown, ms", median(opened), 0, none)
			b.add(c.what+", opened: longest gap, ms", median(openedGap), 0, atMost(25))
		}
	}
}

// commands measures a command that floods a terminal, beside a floor that reads the same command from
// a pseudo-terminal and shows its last lines.
func commands(b *bench) {
	const mb = 100
	for _, width := range []int{8, 80} {
		var ours, floor sample
		for _, k := range []kind{plain, chat} {
			v := start(b, b.bin, k)
			before := processCPU(v.pid)
			s := sample{result: v.prompt(commandPrompt, mb, width)}
			s.hostCPU = processCPU(v.pid) - before
			if k == chat {
				ours = s
			} else {
				floor = s
			}
			v.end()
		}
		what := fmt.Sprintf("%d MB in lines of %d through a terminal: ", mb, width)
		b.add(what+"to the turn's end, ms", ours.Ms, floor.Ms, none)
		b.add(what+"longest gap, ms", ours.Gap, floor.Gap, atMost(25))
		b.add(what+"Neovim's CPU, ms", ours.CPU, floor.CPU, none)
	}
}
