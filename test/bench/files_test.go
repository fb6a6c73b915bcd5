package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neovim/go-client/nvim"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// The prompts for files, as formats; see also [streamPrompt]. What the agent has measured it writes
// beside the file, see [tookName].
const (
	readPrompt    = "read %d times %d lines of %s"  // so many reads of a file, not faster than it is typed; 0 is all
	writePrompt   = "write %d times in round %d %s" // so many writes of a file, each of which changes another line
	diskPrompt    = "touch %d in %d of %s"          // a line in so many files of a folder, on the disk; first the round
	arrivedPrompt = "tell of %d the time in %s"     // when the prompt arrived, with the unsaved text of so many files
	unsavedLine   = "local unsaved = true"          // the first line of a file that is open with unsaved text
	changedLine   = "local changed = '%d %d'"       // a line of the agent's: the round, and which one in it
)

func tookName(path string) string { return path + ".took" }

// fileName names a file that has no syntax, as Neovim would parse a large one for long.
func fileName(dir string, i int) string { return filepath.Join(dir, fmt.Sprint(i, ".txt")) }

// code is lines of a file, so many bytes in all at least.
func code(size int) string {
	var text strings.Builder
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, "local value_%d = compute(seed, %d)\n", i, i*7)
	}
	return text.String()
}

// askFile has the client do something with a file, and returns its answer and how long that took.
func (a *agent) askFile(method, params string) (request, time.Duration) {
	message := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"sessionId":"bench",%s}}`+"\n", method, params)
	began := time.Now()
	a.out.Write(message)
	a.out.Flush()
	answer := <-a.requests
	if !bytes.Contains(answer.line, []byte(`"result"`)) {
		fmt.Fprintf(os.Stderr, "%s: %s\n", method, answer.line)
		os.Exit(1)
	}
	return answer, answer.at.Sub(began)
}

// reads reads a file n times, or so many of its first lines, which has unsaved text. Between two reads the user has
// time to type.
func (a *agent) reads(n, limit int, path string) {
	var took []time.Duration
	params := fmt.Sprintf(`"path":%q`, path)
	if limit > 0 {
		params += fmt.Sprintf(`,"line":1,"limit":%d`, limit)
	}
	for range n {
		answer, d := a.askFile("fs/read_text_file", params)
		if !bytes.Contains(answer.line[:min(len(answer.line), 200)], []byte(unsavedLine)) {
			fmt.Fprintf(os.Stderr, "what was read of %s is not the unsaved text\n", path)
			os.Exit(1)
		}
		took = append(took, d)
		time.Sleep(2 * typingPace)
	}
	leave(path, took)
}

// typingPace is how long it takes until a file that is typed in has another text.
const typingPace = 2 * time.Millisecond

// writes gives a file n times another text, of which one line is new.
func (a *agent) writes(n, round int, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "read the file:", err)
		os.Exit(1)
	}
	lines := strings.Split(string(text), "\n")
	var took []time.Duration
	for i := range n {
		lines[changedRow(i, len(lines))] = fmt.Sprintf(changedLine, round, i)
		quoted, _ := json.Marshal(strings.Join(lines, "\n")) // a string always encodes
		_, d := a.askFile("fs/write_text_file", fmt.Sprintf(`"path":%q,"content":%s`, path, quoted))
		took = append(took, d)
	}
	leave(path, took)
}

// changedRow is the row of a file of so many lines that the i-th write changes.
func changedRow(i, lines int) int { return (i*7919 + 13) % (lines - 1) }

// changeFiles changes a line in each of n files, as a command of an agent's may do.
func changeFiles(round, n int, dir string) {
	for i := range n {
		path := fileName(dir, i)
		text, err := os.ReadFile(path)
		if err == nil {
			lines := strings.Split(string(text), "\n")
			lines[changedFileRow] = fmt.Sprintf(changedLine, round, 0)
			err = os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "change a file:", err)
			os.Exit(1)
		}
	}
}

const changedFileRow = 50 // 0-based

// leave writes down what was measured, in milliseconds.
func leave(path string, took []time.Duration) {
	figures := make([]float64, len(took))
	for i, d := range took {
		figures[i] = ms(d)
	}
	data, err := json.Marshal(figures)
	if err == nil {
		err = os.WriteFile(tookName(path), data, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "leave what was measured:", err)
		os.Exit(1)
	}
}

// times is what the agent has left.
func times(tb testing.TB, path string) (figures []float64) {
	tb.Helper()
	data, err := os.ReadFile(tookName(path))
	if err == nil {
		err = json.Unmarshal(data, &figures)
	}
	must.Do(tb, err)
	return figures
}

// floorSlice is how many lines the floor reads at once.
const floorSlice = 4000

// readFile answers a read with the lines of the buffer, by one call for every [floorSlice] of them, or of the disk.
func (f *floor) readFile(id int, path string, limit int) (err error) {
	buf := nvim.Buffer(f.buffer(path))
	var text []byte
	slice := floorSlice
	if limit > 0 {
		slice = limit
	}
	if buf == 0 {
		if text, err = os.ReadFile(path); err != nil {
			return err
		}
	}
	for at := 0; buf != 0; at += slice {
		lines, err := f.nvim.BufferLines(buf, at, at+slice, false)
		if err != nil {
			return err
		}
		for _, line := range lines {
			text = append(append(text, line...), '\n')
		}
		if len(lines) < slice || limit > 0 {
			break
		}
	}
	quoted, _ := json.Marshal(string(text)) // a string always encodes
	_, err = fmt.Fprintf(f.agent, `{"jsonrpc":"2.0","id":%d,"result":{"content":%s}}`+"\n", id, quoted)
	return err
}

// writeFile gives the buffer those lines of text that differ from what it was last given, and saves it, in one call.
func (f *floor) writeFile(id int, path, text string) error {
	was, ok := f.texts[path]
	if !ok {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		was = string(data)
	}
	f.texts[path] = text
	first, last, lines := replaced(was, text)
	if err := f.nvim.ExecLua("bench.write(...)", nil, f.buffer(path), first, last, lines); err != nil {
		return err
	}
	_, err := fmt.Fprintf(f.agent, `{"jsonrpc":"2.0","id":%d,"result":null}`+"\n", id)
	return err
}

// replaced gives the rows [first, last) of one text that become other lines.
func replaced(was, text string) (first, last int, lines []string) {
	start, end := 0, 0
	short := min(len(was), len(text))
	for start < short && was[start] == text[start] {
		start++
	}
	for end < short-start && was[len(was)-1-end] == text[len(text)-1-end] {
		end++
	}
	start = strings.LastIndexByte(was[:start], '\n') + 1
	end -= strings.IndexByte(was[len(was)-end:], '\n') + 1
	first = strings.Count(was[:start], "\n")
	last = first + strings.Count(was[start:len(was)-end], "\n")
	return first, last, strings.Split(strings.TrimSuffix(text[start:len(text)-end], "\n"), "\n")
}

// reload gives all buffers what the disk has.
func (f *floor) reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, buf := range f.buffers {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		if err := f.nvim.SetBufferLines(nvim.Buffer(buf), 0, -1, false, lines); err != nil {
			return err
		}
	}
	return nil
}

func (f *floor) buffer(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.buffers[path]
}

// TestFileWork makes sure that what is measured of files works, on each Neovim.
func TestFileWork(t *testing.T) {
	for version, bin := range neovims(t) {
		for _, k := range []kind{plain, chat} {
			t.Run(version+"/"+string(k), func(t *testing.T) {
				v := start(t, bin, k)
				path := v.file(45_000)
				v.lua(nil, "bench.mark_lines()")
				v.prompt(writePrompt, 3, 1, path)
				if k == chat {
					checkWritten(v, path, 3, 1)
				}
				v.lua(nil, "bench.until_line(...)", changedFileRow, fmt.Sprintf(changedLine, 2, 0))
				v.prompt(diskPrompt, 2, 1, v.dir)
				v.lua(nil, "bench.edit(...)", []string{path}, unsavedLine)
				if k == chat {
					v.prompt(arrivedPrompt, 1, path)
				}
				v.prompt(readPrompt, 3, 10, path)
				v.prompt(readPrompt, 3, 0, path)
				check.Equal(t, len(times(t, path)), 3, "%d reads were measured, not 3")
				v.end()
			})
		}
	}
}

// fileReads measures reads of files that are open with unsaved text, beside a floor that does no more than
// the calls to Neovim which cannot be spared.
func fileReads(b *bench) {
	b.reads("45 KB with unsaved text", 45_000, 0, 100, 10, func(what string, took, floor []float64) {
		b.add(what+": median, ms", median(took), median(floor), ratio(1.2))
		b.add(what+": 99th percentile, ms", percentile(took, 99), percentile(floor, 99),
			goal{"≤ 2× its median", func(ours, _ float64) bool { return ours <= 2*median(took) }})
	})
	b.reads("10 lines of 45 KB with unsaved text", 45_000, 10, 100, 10, func(what string, took, floor []float64) {
		b.add(what+": median, ms", median(took), median(floor), ratio(1.5))
	})
	for _, n := range []int{10, 100, 1000} {
		b.readsBeside(n)
	}
	b.reads("50 MB with unsaved text", 50_000_000, 0, 1, 5, func(what string, took, floor []float64) {
		b.add(what+": the first, ms", took[0], floor[0], ratio(1.1))
		b.add(what+": median, ms", median(took), median(floor), ratio(1.1))
	})
}

// lineReads measures reads of a file of one line, with unsaved text.
func lineReads(b *bench) {
	var each []float64
	sizes := []int{5, 20, 60}
	for _, mb := range sizes {
		v := start(b, b.bin, chat)
		path := fileName(v.dir, 0)
		must.Do(b, os.WriteFile(path, append(bytes.Repeat([]byte("x"), mb*megabyte), '\n'), 0o600))
		v.lua(nil, "bench.open_files(...)", []string{path})
		v.lua(nil, "bench.edit(...)", []string{path}, unsavedLine)
		r := v.prompt(readPrompt, 1, 0, path)
		what := fmt.Sprintf("read of a line of %d MB", mb)
		b.add(what+", ms", r.Ms, 0, none)
		b.add(what+": longest gap, ms", r.Gap, 0, atMost(50))
		each = append(each, r.Ms/float64(mb))
		v.end()
	}
	b.add(fmt.Sprintf("read of a line of %d MB, for each MB against %d: ms", sizes[2], sizes[1]), each[2], each[1], ratio(2))
}

// fileWrites measures writes of files that are open, beside a floor that sets the lines which differ and
// has Neovim write the file.
func fileWrites(b *bench) {
	b.writes("into an open file of 45 KB", 45_000, 50, 10, ratio(1.5))
	b.writes("of one changed line in 100000", 100_000*len("local value_12345 = compute(seed, 123456)\n"), 25, 4, none)
}

// file makes a file of size bytes in the folder of a Neovim, and opens it there.
func (v *neovim) file(size int) (path string) {
	v.tb.Helper()
	path = fileName(v.dir, 0)
	must.Do(v.tb, os.WriteFile(path, []byte(code(size)), 0o600))
	v.lua(nil, "bench.open_files(...)", []string{path})
	return path
}

// gaps are the longest gaps of some turns.
func (b *bench) gaps(what string, ours, floor []result) {
	of := func(list []result, figure func(result) float64) float64 {
		values := make([]float64, len(list))
		for i, r := range list {
			values[i] = figure(r)
		}
		return median(values)
	}
	gap, work := func(r result) float64 { return r.Gap }, func(r result) float64 { return r.Work }
	b.add(what+": longest gap, ms", of(ours, gap), of(floor, gap), atMost(25))
	b.add(what+": Neovim's CPU in a gap, ms", of(ours, work), of(floor, work), atMost(25))
}

// beside opens a file of size bytes with the plugin and with the floor, and has turns with each of them by
// turns, so that the machine is as busy for both.
func (b *bench) beside(size, turns int, turn func(v *neovim, path string, i int) result, end func(v *neovim, path string)) (took map[kind][]float64, results map[kind][]result) {
	took, results = map[kind][]float64{}, map[kind][]result{}
	kinds := []kind{plain, chat}
	neovims, paths := map[kind]*neovim{}, map[kind]string{}
	for _, k := range kinds {
		neovims[k] = start(b, b.bin, k)
		paths[k] = neovims[k].file(size)
	}
	for i := range turns {
		for _, k := range kinds {
			results[k] = append(results[k], turn(neovims[k], paths[k], i))
			took[k] = append(took[k], times(b, paths[k])...)
		}
	}
	for _, k := range kinds {
		if k == chat {
			end(neovims[k], paths[k])
		}
		neovims[k].end()
	}
	return took, results
}

// reads has the agent read a file n times in each of some turns, with unsaved text that is new in each turn,
// and where one has several reads, in each of them.
func (b *bench) reads(what string, size, limit, n, turns int, report func(what string, took, floor []float64)) {
	took, results := b.beside(size, turns, func(v *neovim, path string, i int) result {
		v.lua(nil, "bench.edit(...)", []string{path}, fmt.Sprint(unsavedLine, " -- ", i))
		if n > 1 {
			v.lua(nil, "bench.type(...)", unsavedLine, typingPace.Milliseconds())
		}
		return v.prompt(readPrompt, n, limit, path)
	}, func(*neovim, string) {})
	what = "read of " + what
	report(what, took[chat], took[plain])
	b.gaps(what, results[chat], results[plain])
}

// readsBeside has the agent read a file that no buffer shows, where so many show others.
func (b *bench) readsBeside(open int) {
	took := map[kind][]float64{}
	neovims := map[kind]*neovim{}
	for _, k := range []kind{plain, chat} {
		v := start(b, b.bin, k)
		paths := make([]string, open)
		for i := range paths {
			paths[i] = fileName(v.dir, i)
			must.Do(b, os.WriteFile(paths[i], []byte(code(1000)), 0o600))
		}
		must.Do(b, os.WriteFile(fileName(v.dir, open), []byte(unsavedLine+"\n"+code(45_000)), 0o600))
		v.lua(nil, "bench.open_files(...)", paths)
		neovims[k] = v
	}
	for range 4 {
		for k, v := range neovims {
			path := fileName(v.dir, open)
			v.prompt(readPrompt, 50, 0, path)
			took[k] = append(took[k], times(b, path)...)
		}
	}
	for _, v := range neovims {
		v.end()
	}
	b.add(fmt.Sprintf("read of 45 KB that none of %d buffers shows: median, ms", open), median(took[chat]), median(took[plain]), none)
}

func (b *bench) writes(what string, size, n, turns int, g goal) {
	took, results := b.beside(size, turns, func(v *neovim, path string, i int) result {
		if i == 0 {
			v.lua(nil, "bench.mark_lines()")
		}
		return v.prompt(writePrompt, n, i, path)
	}, func(v *neovim, path string) { checkWritten(v, path, n, turns-1) })
	b.add("write "+what+": median, ms", median(took[chat]), median(took[plain]), g)
	b.add("write "+what+": 99th percentile, ms", percentile(took[chat], 99), percentile(took[plain], 99), none)
	b.gaps("write "+what, results[chat], results[plain])
}

// checkWritten makes sure that the last write is in the buffer and on the disk, is one undo step, and
// has moved no mark.
func checkWritten(v *neovim, path string, n, round int) {
	b := v.tb
	b.Helper()
	data, err := os.ReadFile(path)
	must.Do(b, err)
	row := changedRow(n-1, bytes.Count(data, []byte("\n"))+1)
	var got struct {
		Text     string `msgpack:"text"`
		Modified bool   `msgpack:"modified"`
		Marks    bool   `msgpack:"marks"`
		Before   string `msgpack:"before"` // the last write, in its row
		Row      string `msgpack:"row"`    // of the write before, then
	}
	v.lua(&got, "return bench.written(...)", row, changedRow(n-2, bytes.Count(data, []byte("\n"))+1))
	switch {
	case got.Text != string(data) || !strings.Contains(got.Text, fmt.Sprintf(changedLine, round, n-1)):
		b.Fatalf("after %d writes buffer and disk are not what they should be", n)
	case got.Modified:
		b.Fatal("the buffer is modified after a write")
	case !got.Marks:
		b.Fatal("a write has moved marks")
	case strings.Contains(got.Before, fmt.Sprintf(changedLine, round, n-1)) || !strings.Contains(got.Row, fmt.Sprintf(changedLine, round, n-2)):
		b.Fatalf("a write is not one undo step: after an undo there is %q", got.Before)
	}
}

// fileChanges measures a change on the disk under many open files at once, beside a floor that gives each
// buffer the text of its file.
func fileChanges(b *bench) {
	const n, rounds = 500, 5
	kinds := []kind{plain, chat}
	neovims, results := map[kind]*neovim{}, map[kind][]result{}
	for _, k := range kinds {
		v := start(b, b.bin, k)
		paths := make([]string, n)
		for i := range paths {
			paths[i] = fileName(v.dir, i)
			must.Do(b, os.WriteFile(paths[i], []byte(code(8_000)), 0o600))
		}
		v.lua(nil, "bench.open_files(...)", paths)
		neovims[k] = v
	}
	for round := range rounds {
		for _, k := range kinds { // by turns, so that the machine is as busy for both
			v := neovims[k]
			v.lua(nil, "bench.until_line(...)", changedFileRow, fmt.Sprintf(changedLine, round, 0))
			results[k] = append(results[k], v.prompt(diskPrompt, round, n, v.dir))
		}
	}
	for _, k := range kinds {
		neovims[k].end()
	}
	what := fmt.Sprintf("a change on the disk under %d open files", n)
	of := func(k kind) float64 {
		var all []float64
		for _, r := range results[k] {
			all = append(all, r.Ms)
		}
		return median(all)
	}
	b.add(what+": all buffers have it, ms", of(chat), of(plain), none)
	b.gaps(what, results[chat], results[plain])
}

// unsavedAlong measures how long a prompt takes to the agent when many buffers have new unsaved text that
// goes along with it, beside one with which nothing goes.
func unsavedAlong(b *bench) {
	const n, rounds = 20, 15
	v := start(b, b.bin, chat)
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fileName(v.dir, i)
		must.Do(b, os.WriteFile(paths[i], []byte(code(20_000)), 0o600))
	}
	v.lua(nil, "bench.open_files(...)", paths)
	var without, with []float64
	var results, plainly []result
	measure := func(files int) (float64, result) {
		r := v.prompt(arrivedPrompt, files, paths[0])
		return times(b, paths[0])[0] - r.At, r
	}
	for i := range rounds {
		took, r := measure(0)
		without, plainly = append(without, took), append(plainly, r)
		v.lua(nil, "bench.edit(...)", paths, fmt.Sprint(unsavedLine, " -- ", i))
		took, r = measure(n)
		with, results = append(with, took), append(results, r)
	}
	v.end()
	what := fmt.Sprintf("a prompt with %d modified buffers of 20 KB, beside one without", n)
	b.add(what+": to the agent, ms", median(with), median(without), more(20))
	b.gaps(what, results, plainly)
}

// arrived leaves when a prompt arrived, in milliseconds since 1970, and makes sure that the unsaved text of n
// files came along.
func (a *agent) arrived(n int, path string, r request) {
	if got := bytes.Count(r.line, []byte("+"+unsavedLine)); got != n {
		fmt.Fprintf(os.Stderr, "the unsaved text of %d files came along with a prompt, not of %d\n", got, n)
		os.Exit(1)
	}
	leave(path, []time.Duration{time.Duration(r.at.UnixNano())})
}

// changesFiles reports whether text is the prompt that changes files on the disk.
func changesFiles(text string) bool {
	var round, n int
	var dir string
	return scan(text, diskPrompt, &round, &n, &dir)
}
