package bench

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// soakPrompt has a turn with some of everything in a folder.
const soakPrompt = "soak in %s"

// soak is how long each Neovim works; what it has then is compared with what it had at first.
var soak = flag.Duration("soak", 0, "how long turns run on each Neovim, of which nothing may be left; 0 is a few")

// soak has text, a call, a command in a terminal, a permission, and a write through the client.
func (a *agent) soak(dir string) {
	a.soaks++
	a.stream(30, 0)
	id := fmt.Sprint("s", a.soaks)
	a.send([][]byte{
		update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":%q,"title":"Search","kind":"search","status":"pending"`, id)),
		update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed",%s`, id, textContent("reader.go:1: a pair"))),
	})
	a.run(fmt.Sprint("k", a.soaks), fmt.Sprintf("echo %d >%s/other.txt; seq 50", a.soaks, dir))
	a.ask(1)
	a.write(filepath.Join(dir, "every.txt"), everyLine(200, 3+a.soaks%5))
}

// TestSoak has sessions opened, with turns of everything, and closed, at full rate. What they leave in the last third
// of the time, and what a turn costs then, is no more than in the first.
func TestSoak(t *testing.T) {
	for version, bin := range neovims(t) {
		t.Run(version, func(t *testing.T) { soakOn(t, bin) })
	}
}

func soakOn(t *testing.T, bin string) {
	const sessions, turns, fewest = 2, 5, 6
	dir := makeProject(t, 50)
	must.Do(t, os.WriteFile(filepath.Join(dir, "every.txt"), []byte(everyLine(200, 0)), 0o600))
	v := startIn(t, bin, chat, dir)
	v.lua(nil, "vim.go.undolevels = 20") // what may be undone is kept, and each turn rewrites a file
	v.lua(nil, "bench.open_files(...)", []string{filepath.Join(dir, "every.txt")})
	t.Cleanup(func() { os.Remove(insideName(v.pid)) })
	const warm = 10 // sessions after which what is kept of closed ones is as much as ever
	v.lua(nil, "bench.sessions(...)", warm, 1, fmt.Sprintf(soakPrompt, dir))
	v.finish()
	settled(v)
	idle, _ := v.inside()
	round := func() map[string]float64 {
		before := processCPU(v.pid)
		v.lua(nil, "bench.sessions(...)", sessions, turns, fmt.Sprintf(soakPrompt, dir))
		r := v.finish()
		var now map[string]float64
		v.lua(&now, "return bench.left()")
		now["Neovim's CPU of a turn"] = r.CPU / (sessions * turns)
		now["the host's CPU of a turn"] = (processCPU(v.pid) - before) / (sessions * turns)
		now["the host's memory"] = resident(v.pid)
		// The last session's agent may be about to end.
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			now["the host's goroutines"], now["the host's heap"] = v.inside()
			if now["the host's goroutines"] <= idle || time.Now().After(deadline) {
				break
			}
		}
		now["the host's descriptors"] = descriptors(v.pid)
		now["Neovim's descriptors"] = descriptors(v.cmd.Process.Pid)
		return now
	}
	var all []map[string]float64
	for began := time.Now(); len(all) < fewest || time.Since(began) < *soak; {
		all = append(all, round())
	}
	v.end()
	text, err := os.ReadFile(filepath.Join(dir, "every.txt"))
	if err != nil || string(text) == everyLine(200, 0) {
		t.Errorf("the agent has written nothing: %v", err)
	}
	third := len(all) / 3
	of := func(samples []map[string]float64, what string) float64 {
		var values []float64
		for _, s := range samples {
			values = append(values, s[what])
		}
		return median(values)
	}
	between := float64((len(all) - third) * sessions * turns) // turns from the middle of the first third to that of the last
	for _, what := range slices.Sorted(maps.Keys(all[0])) {
		first, last := of(all[:third], what), of(all[len(all)-third:], what)
		limit := soakLimit(what, first, between)
		t.Logf("%s: %.1f in the first third, %.1f in the last of %d rounds of %d turns", what, first, last, len(all), sessions*turns)
		if last > limit {
			t.Errorf("%s: %.1f in the first third, %.1f in the last, where %.1f would do", what, first, last, limit)
		}
	}
}

// soakLimit is what a figure may be after so many turns more, which was another at first.
func soakLimit(what string, first, turns float64) float64 {
	const perTurn = 5 // KB
	switch what {
	case "lua": // KB
		return first + perTurn*turns + 200
	case "the host's memory": // MB; of a few turns, how much of it the system has back differs more than they use
		if *soak == 0 {
			return first + perTurn*turns/1000 + 16
		}
		return first + perTurn*turns/1000 + 8
	case "memory", "the host's heap": // MB, of which what a garbage collector leaves differs
		return first + perTurn*turns/1000 + 8
	case "Neovim's CPU of a turn", "the host's CPU of a turn": // ms
		if *soak == 0 { // of a few turns, beside other tests
			return 2*first + 5
		}
		return first*1.3 + 1
	}
	return first + 2
}

// inside is how many goroutines the host has, and how many MB that are in use.
func (n *neovim) inside() (goroutines, heap float64) {
	n.tb.Helper()
	name := insideName(n.pid)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.tb.Fatal(err)
	}
	must.Do(n.tb, syscall.Kill(n.pid, syscall.SIGUSR1))
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if text, err := os.ReadFile(name); err == nil {
			if _, err := fmt.Sscan(string(text), &goroutines, &heap); err != nil {
				n.tb.Fatal(err)
			}
			return goroutines, heap
		}
	}
	n.tb.Fatal("the host does not say what it has")
	return 0, 0
}

// descriptors is how many a process has open; 0 where that cannot be known.
func descriptors(pid int) float64 {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return float64(len(entries))
}
