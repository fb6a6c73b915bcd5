package bench

import (
	"fmt"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/need"
)

// Benchmark measures everything, on each Neovim.
func Benchmark(b *testing.B) {
	for version, bin := range neovims(b) {
		for _, m := range []struct {
			name string
			run  func(*bench)
		}{
			{"streaming", streaming},
			{"realistic", realistic},
			{"keys", keys},
			{"stirred", stirred},
			{"shapes", large},
			{"lines", longLines},
			{"toolcalls", toolCalls},
			{"aftercalls", afterCalls},
			{"located", located},
			{"review", reviews},
			{"reviewed", reviewMemory},
			{"commands", commands},
			{"shown", shownTerminal},
			{"bursts", bursts},
			{"changed", changedBuffers},
			{"refusals", refusals},
			{"reads", fileReads},
			{"readline", lineReads},
			{"writes", fileWrites},
			{"changes", fileChanges},
			{"unsaved", unsavedAlong},
			{"manyunsaved", manyUnsaved},
			{"largefiles", largeFiles},
			{"waiting", waiting},
			{"memory", memory},
			{"marks", marks},
			{"cancel", cancel},
			{"turns", turns},
			{"closed", closedSessions},
			{"startup", startup},
			{"manyfiles", manyFiles},
			{"editortools", editorTools},
			{"longday", longDay},
			{"projects", projects},
		} {
			done := false
			b.Run(version+"/"+m.name, func(b *testing.B) {
				b.ReportMetric(0, "ns/op") // the table says it
				if !done {                 // a measurement repeats by itself as often as it needs
					done = true
					m.run(&bench{b, bin, version})
				}
			})
		}
	}
}

// TestStream makes sure that what is measured works, on each Neovim.
func TestStream(t *testing.T) {
	for version, bin := range neovims(t) {
		for _, k := range []kind{plain, chat} {
			t.Run(version+"/"+string(k), func(t *testing.T) {
				v := start(t, bin, k)
				v.prompt(streamPrompt, 500)
				v.prompt(pacePrompt, 50, 1000)
				verify(v, k, 500, 50)
				v.begin(streamPrompt, math.MaxInt32)
				v.lua(nil, "bench.cancel_now()")
				v.finish()
				v.end()
			})
		}
	}
}

// neovims gives the version and the path of each Neovim to run.
func neovims(tb testing.TB) iter.Seq2[string, string] {
	return func(yield func(version, bin string) bool) {
		ran := false
		for _, env := range []string{"ACP_NVIM_OLDEST", "ACP_NVIM_NEWEST"} {
			bin := os.Getenv(env)
			if bin == "" {
				tb.Logf("%s is not set: not run on that Neovim", env)
				continue
			}
			ran = true
			if !yield(versionOf(tb, bin), bin) {
				return
			}
		}
		if !ran {
			need.Missing(tb, "no Neovim to run: use `make bench` or `make test`")
		}
	}
}

// bench is a measurement on one Neovim.
type bench struct {
	*testing.B
	bin, version string
}

func (b *bench) add(what string, ours, floor float64, g goal) {
	report.add(row{b.version, what, ours, floor, g})
}

func versionOf(tb testing.TB, bin string) string {
	out, err := exec.Command(bin, "--version").Output()
	if err != nil {
		tb.Fatalf("ask %s for its version: %v", bin, err)
	}
	version, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimPrefix(version, "NVIM v")
}

// sample is one turn with the host's CPU time, in milliseconds.
type sample struct {
	result
	hostCPU float64
}

// stream shows n chunks in a new Neovim.
func (b *bench) stream(k kind, n int) sample {
	v := start(b, b.bin, k)
	before := processCPU(v.pid)
	r := v.prompt(streamPrompt, n)
	s := sample{r, processCPU(v.pid) - before}
	verify(v, k, n)
	v.end()
	return s
}

// verify makes sure that what was measured shows all of the turns, of so many chunks each.
func verify(v *neovim, k kind, turns ...int) {
	v.tb.Helper()
	var text string
	v.lua(&text, "return bench.text()")
	rest, all := text, 0
	for _, n := range turns {
		var shown bool
		if _, rest, shown = strings.Cut(rest, streamed(n)); !shown {
			v.tb.Fatalf("the %s does not show all of the %d chunks: it has %d bytes", k, n, len(text))
		}
		all += n
	}
	if k == chat {
		if marks := int(v.number("bench.highlights()")); marks < all/4 {
			v.tb.Fatalf("the chat of %d chunks has only %d highlights", all, marks)
		}
	}
}

func field(samples []sample, of func(sample) float64) []float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	return values
}

// streaming measures a burst, as fast as the pipe takes it.
func streaming(b *bench) {
	for _, c := range []struct {
		chunks, times int
		goal          goal
	}{
		{1_000, 9, more(20)},
		{5_000, 7, ratio(1.6)},
		{20_000, 5, ratio(1.6)},
		{50_000, 5, ratio(1.6)},
	} {
		var ours, floor []sample
		for range c.times {
			floor = append(floor, b.stream(plain, c.chunks))
			ours = append(ours, b.stream(chat, c.chunks))
		}
		add := func(what string, of func(sample) float64, g goal) {
			b.add(fmt.Sprintf("%d chunks: %s", c.chunks, what), median(field(ours, of)), median(field(floor, of)), g)
		}
		add("all text shown, ms", func(s sample) float64 { return s.Ms }, c.goal)
		switch c.chunks {
		case 20_000:
			add("Neovim's CPU, ms", func(s sample) float64 { return s.CPU }, none)
			add("host's CPU, ms", func(s sample) float64 { return s.hostCPU }, none)
		case 50_000:
			add("longest gap, ms", func(s sample) float64 { return s.Gap }, atMost(25))
		}
	}
}

// realistic measures the cost of an answer at an agent's usual pace, late in a chat.
func realistic(b *bench) {
	const before, rate, seconds = 5_000, 200, 5
	shares := map[kind][2]float64{}
	for _, k := range []kind{plain, chat} {
		v := start(b, b.bin, k)
		v.prompt(streamPrompt, before)
		host := processCPU(v.pid)
		r := v.prompt(pacePrompt, rate*seconds, rate)
		shares[k] = [2]float64{100 * r.CPU / r.Ms, 100 * (processCPU(v.pid) - host) / r.Ms}
		verify(v, k, before, rate*seconds)
		v.end()
	}
	what := fmt.Sprintf("%d chunks/s after %d chunks: ", rate, before)
	b.add(what+"Neovim's CPU, %", shares[chat][0], shares[plain][0], atMost(8))
	b.add(what+"host's CPU, %", shares[chat][1], shares[plain][1], none)
}

// keys measures how long a typed character takes to the screen while an answer streams in.
func keys(b *bench) {
	took := map[kind][]float64{}
	for range 4 {
		for _, k := range []kind{plain, chat} {
			v := start(b, b.bin, k)
			if _, err := v.Input("i"); err != nil {
				b.Fatal(err)
			}
			v.begin(streamPrompt, 50_000)
			typed, _ := typing(v)
			took[k] = append(took[k], typed...)
			v.end()
		}
	}
	b.add("50000 chunks: key to screen, median, ms", median(took[chat]), median(took[plain]), none)
	b.add("50000 chunks: key to screen, 99th percentile, ms", percentile(took[chat], 99), percentile(took[plain], 99), atMost(10))
}

// stirred measures the same while the user scrolls, goes from window to window and resizes them.
func stirred(b *bench) {
	took, gaps := map[kind][]float64{}, map[kind][]float64{}
	for range 4 {
		for _, k := range []kind{plain, chat} {
			v := start(b, b.bin, k)
			v.lua(nil, "bench.stir()")
			v.begin(streamPrompt, 50_000)
			typed, r := typing(v)
			took[k], gaps[k] = append(took[k], typed...), append(gaps[k], r.Gap)
			v.end()
		}
	}
	b.add("the same, scrolling and resizing: 99th percentile, ms", percentile(took[chat], 99), percentile(took[plain], 99), none)
	b.add("the same, scrolling and resizing: longest gap, ms", median(gaps[chat]), median(gaps[plain]), atMost(25))
}

// shownOfLine is how many bytes the chat shows of a line at least.
const shownOfLine = 4 << 10

// longLines measures messages of one line, which comes at once or grows.
func longLines(b *bench) {
	for _, c := range []struct {
		what, prompt string
		mb           []int
	}{
		{"a line of %d MB, at once", wholePrompt, []int{1, 10, 100}},
		{"a line of %d MB, in chunks", shapePrompt, []int{1, 4, 16}},
	} {
		var each []float64
		for _, mb := range c.mb {
			v := start(b, b.bin, chat)
			r := v.prompt(c.prompt, mb*megabyte, "bytes")
			if got := v.number("#bench.text()"); int(got) < shownOfLine {
				b.Fatalf("of a line the chat shows %v bytes", got)
			}
			what := fmt.Sprintf(c.what, mb)
			b.add(what+": to the turn's end, ms", r.Ms, 0, none)
			b.add(what+": longest gap, ms", r.Gap, 0, none)
			b.add(what+": Neovim's CPU in a gap, ms", r.Work, 0, atMost(25))
			b.add(what+": slowest step of the cursor, ms", v.number("bench.moves()"), 0, atMost(48))
			each = append(each, r.Ms/float64(mb))
			v.end()
		}
		b.add(fmt.Sprintf(c.what, c.mb[2])+", for each MB against the one before: ms", each[2], each[1], ratio(3))
	}
}

// large measures texts that are large in one thing, and that twice as much takes no more than twice as long.
func large(b *bench) {
	for _, c := range []struct {
		what, prompt, shape string
		n                   int
	}{
		{"a line of 500 KB", shapePrompt, "bytes", 500_000},
		{"a line of 500 KB, at once", wholePrompt, "bytes", 500_000},
		{"a table of 2000 rows", shapePrompt, "rows", 2_000},
		{"10000 fences", shapePrompt, "fences", 10_000},
	} {
		measure := func(k kind, n int) (r result, moves float64) {
			v := start(b, b.bin, k)
			r = v.prompt(c.prompt, n, c.shape)
			least := n
			if c.shape == "bytes" && k == chat {
				least = shownOfLine
			}
			if got := v.number("#bench.text()"); int(got) < least {
				b.Fatalf("%s: the %s shows %v bytes", c.what, k, got)
			}
			moves = v.number("bench.moves()")
			v.end()
			return r, moves
		}
		floor, floorMoves := measure(plain, c.n)
		ours, moves := measure(chat, c.n)
		twice, _ := measure(chat, 2*c.n)
		b.add(c.what+": all text shown, ms", ours.Ms, floor.Ms, none)
		b.add(c.what+": longest gap, ms", ours.Gap, floor.Gap, atMost(25))
		b.add(c.what+": twice as much beside it, ms", twice.Ms, ours.Ms, goal{"≤ 2.5×", ratio(2.5).met})
		b.add(c.what+": slowest step of the cursor, ms", moves, floorMoves, none)
	}
}

// typing types until the turn has ended.
func typing(v *neovim) (took []float64, r result) {
	for i := 0; ; i++ {
		seen := v.drawn(markAt(i))
		typed := time.Now()
		if _, err := v.Input("<BS>" + markAt(i)); err != nil {
			v.tb.Fatal(err)
		}
		shown := await(v, "a key's effect", seen)
		select {
		case r = <-v.results:
			return took, r
		case <-time.After(4 * time.Millisecond): // as nobody types faster
		}
		took = append(took, ms(shown.at.Sub(typed)))
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

var marked = regexp.MustCompile(`(\pL)(\d{15,})`)

// marks measures how long a single chunk takes from the agent to the screen.
func marks(b *bench) {
	const n = 60
	took := map[kind][]float64{}
	for _, k := range []kind{plain, chat} {
		v := start(b, b.bin, k)
		var all []string
		for i := range n {
			all = append(all, markAt(i))
		}
		shown := v.drawn(all...)
		v.begin(markPrompt, n)
		at := map[string]time.Time{}
		for range n {
			s := await(v, "a mark", shown)
			at[s.mark] = s.at
		}
		v.finish()
		var text string
		v.lua(&text, "return bench.text()")
		written := marked.FindAllStringSubmatch(text, -1)
		if len(written) != n {
			b.Fatalf("%d marks were shown, not %d", len(written), n)
		}
		for _, m := range written {
			ns, err := strconv.ParseInt(m[2], 10, 64)
			must.Do(b, err)
			took[k] = append(took[k], ms(at[m[1]].Sub(time.Unix(0, ns))))
		}
		v.end()
	}
	b.add("chunk to screen, median, ms", median(took[chat]), median(took[plain]), atMost(20))
	b.add("chunk to screen, 95th percentile, ms", percentile(took[chat], 95), percentile(took[plain], 95), none)
}

// cancel measures how fast a flood ends.
func cancel(b *bench) {
	took := map[kind][]float64{}
	for range 5 {
		for _, k := range []kind{plain, chat} {
			v := start(b, b.bin, k)
			v.begin(streamPrompt, math.MaxInt32)
			for v.number("bench.lines()") < 20_000 {
				time.Sleep(5 * time.Millisecond)
			}
			v.lua(nil, "bench.cancel_now()")
			took[k] = append(took[k], v.finish().SinceCancel)
			v.end()
		}
	}
	b.add("cancel in a flood, to the turn's end, ms", median(took[chat]), median(took[plain]), atMost(50))
}

// turns measures a long chat.
func turns(b *bench) {
	const n, chunksEach, some = 200, 20, 20
	v := start(b, b.bin, chat)
	empty := v.number("bench.memory()")
	var took, cpu []float64
	for range n {
		r := v.prompt(streamPrompt, chunksEach)
		took, cpu = append(took, r.Ms), append(cpu, r.CPU)
	}
	b.add(fmt.Sprintf("%d turns: the last %d beside the first, ms", n, some), median(took[n-some:]), median(took[:some]),
		goal{"≤ 1.2× the first", ratio(1.2).met})
	b.add(fmt.Sprintf("%d turns: the last %d beside the first, Neovim's CPU, ms", n, some), median(cpu[n-some:]), median(cpu[:some]), none)
	b.add(fmt.Sprintf("%d turns: Neovim's memory above empty, MB", n), v.number("bench.memory()")-empty, 0, atMost(30))
	v.end()
}

// closedSessions measures what sessions that are closed cost those that come after them.
func closedSessions(b *bench) {
	const chunksEach, some = 20, 25
	type counts struct {
		Autocommands float64 `msgpack:"autocommands"`
		Lua          float64 `msgpack:"lua"`
	}
	v := start(b, b.bin, chat)
	// of some sessions: CPU of Neovim and of the host, each
	run := func() (vim, host float64) {
		before := processCPU(v.pid)
		v.lua(nil, "bench.sessions(...)", some, 1, fmt.Sprintf(streamPrompt, chunksEach))
		r := v.finish()
		return r.CPU / some, (processCPU(v.pid) - before) / some
	}
	run() // which warms up
	vim, host := run()
	var first, now counts
	v.lua(&first, "return bench.counts()")
	vimMemory, hostMemory, closed := v.number("bench.memory()"), resident(v.pid), 0
	_, heap := v.inside()
	b.Cleanup(func() { os.Remove(insideName(v.pid)) })
	flat := goal{"≤ 1.2× the first", ratio(1.2).met}
	for _, n := range []int{100, 200, 400} {
		var lastVim, lastHost float64
		for ; closed < n; closed += some {
			lastVim, lastHost = run()
		}
		what := fmt.Sprintf("a session with a turn after %d closed ones", n)
		b.add(what+": Neovim's CPU beside the first's, ms", lastVim, vim, flat)
		b.add(what+": the host's CPU beside the first's, ms", lastHost, host, flat)
		v.lua(&now, "return bench.counts()")
		b.add(what+": autocommands left", now.Autocommands-first.Autocommands, 0, atMost(0))
		b.add(what+": Lua left of each, KB", (now.Lua-first.Lua)/float64(n), 0, atMost(1))
		b.add(what+": Neovim's memory above the first's, MB", v.number("bench.memory()")-vimMemory, 0, atMost(float64(n)*5/1000))
		b.add(what+": the host's memory above the first's, MB", resident(v.pid)-hostMemory, 0, none) // of which much is free
		_, inUse := v.inside()
		b.add(what+": the host's heap above the first's, MB", inUse-heap, 0, atMost(float64(n)*5/1000+1))
	}
	v.end()
}

// startup measures what the plugin adds to every start of Neovim.
func startup(b *bench) {
	root, err := filepath.Abs("../..")
	must.Do(b, err)
	file := filepath.Join(b.TempDir(), "startup")
	sourcing := regexp.MustCompile(`([\d.]+)\s+[\d.]+: sourcing ` + regexp.QuoteMeta(root) + `/plugin/acp\.lua`)
	var source, setup []float64
	for range 25 {
		cmd := exec.Command(b.bin, "--headless", "--clean", "--startuptime", file, "--cmd", "set rtp^="+root,
			"-c", `lua local t = vim.uv.hrtime() require('acp').setup({}) io.stdout:write((vim.uv.hrtime() - t) / 1e6)`, "-c", "qa!")
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("start Neovim: %v", err)
		}
		took, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			b.Fatalf("read the time of setup(): %v", err)
		}
		log, err := os.ReadFile(file)
		must.Do(b, err)
		line := sourcing.FindSubmatch(log)
		if line == nil {
			b.Fatalf("plugin/acp.lua was not sourced:\n%s", log)
		}
		sourced, err := strconv.ParseFloat(string(line[1]), 64)
		must.Do(b, err)
		must.Do(b, os.Remove(file))
		source, setup = append(source, sourced), append(setup, sourced+took)
	}
	b.add("start-up added, on the runtimepath, ms", median(source), 0, atMost(0.4))
	b.add("start-up added, with setup(), ms", median(setup), 0, atMost(0.8))
}
