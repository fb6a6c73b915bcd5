package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// rewritePrompt has a command, in a call that names no files, rewrite so many files of a folder; first the round.
// What that took stands beside the folder, see [tookName].
const rewritePrompt = "rewrite %d in round %d of %s"

// projectFile is a file of a large project.
func projectFile(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("group%d/module%d/file%d.go", i%20, i%400, i))
}

// projectText is what it has in a round.
func projectText(i, round int) []byte {
	return []byte(strings.Repeat(fmt.Sprintf("// what file %d has in common with itself\n", i), 20) +
		fmt.Sprintf("const round = %d\n", round) + strings.Repeat("// the rest\n", 20))
}

// makeProject makes a git repository of n files.
func makeProject(tb testing.TB, n int) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "project")
	must.Do(tb, err)
	tb.Cleanup(func() {
		os.RemoveAll(dir)
		os.Remove(tookName(dir))
	})
	for i := range min(n, 400) {
		must.Do(tb, os.MkdirAll(filepath.Dir(projectFile(dir, i)), 0o755))
	}
	for i := range n {
		must.Do(tb, os.WriteFile(projectFile(dir, i), projectText(i, 0), 0o600))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		cmd := exec.Command("git", args...)
		if cmd.Dir = dir; cmd.Run() != nil {
			tb.Skip("there is no git")
		}
	}
	return dir
}

// rewrites is a command that rewrites n files.
func (a *agent) rewrites(n, round int, dir string) {
	a.out.Write(update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"r%d","title":"make","kind":"execute","status":"in_progress"`, round)))
	a.out.Flush()
	began := time.Now()
	for i := range n {
		if err := os.WriteFile(projectFile(dir, i), projectText(i, round), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "rewrite a file:", err)
			os.Exit(1)
		}
	}
	leave(dir, []time.Duration{time.Since(began)})
	a.out.Write(update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":"r%d","status":"completed"`, round)))
}

// manyFiles measures a command that rewrites many files, until all of them are listed, and taking that back. The
// floor is what the command itself took.
func manyFiles(b *bench) {
	var lists, undos []float64 // ms for each file
	for _, n := range []int{1_000, 5_000, 10_000} {
		dir := makeProject(b, n)
		v := startIn(b, b.bin, chat, dir)
		v.prompt(streamPrompt, 1)
		settled(v)
		before, memory := allCPU(v.pid), resident(v.pid)
		v.begin(rewritePrompt, n, 1, dir)
		ended := v.finish()
		v.lua(nil, "bench.await_changes(...)", n)
		listed := v.finish()
		floor := times(b, dir)[0]
		name := fmt.Sprintf("a command over %d files: ", n)
		b.add(name+"all listed after it, ms", ended.Ms+listed.Ms-floor, floor, atMost(2000))
		b.add(name+"host's CPU, ms", allCPU(v.pid)-before, floor, none)
		b.add(name+"host's memory, MB more", resident(v.pid)-memory, 0, atMost(150))
		b.add(name+"longest gap, ms", max(ended.Gap, listed.Gap), 0, none) // a busy machine has its own
		b.add(name+"Neovim's CPU in a gap, ms", max(ended.Work, listed.Work), 0, atMost(25))
		before = allCPU(v.pid)
		v.lua(nil, "bench.take_back(false)")
		undone := v.finish()
		b.add(name+"undone, ms", undone.Ms, floor, ratio(8))
		b.add(name+"undone: Neovim's CPU in a gap, ms", undone.Work, 0, atMost(25))
		lists, undos = append(lists, (ended.Ms+listed.Ms-floor)/float64(n)), append(undos, undone.Ms/float64(n))
		b.add(name+"undone: host's CPU, ms", allCPU(v.pid)-before, floor, none)
		for i := range n {
			if text, err := os.ReadFile(projectFile(dir, i)); err != nil || string(text) != string(projectText(i, 0)) {
				b.Fatalf("file %d is not as before: %v", i, err)
			}
		}
		v.end()
	}
	b.add("10000 files listed, for each, against 1000: ms", lists[2], lists[0], ratio(2))
	b.add("10000 files undone, for each, against 1000: ms", undos[2], undos[0], ratio(2))
}

// longDay measures what a turn costs that changes a file, the last ones of many beside the first.
func longDay(b *bench) {
	const some = 50
	dir := makeProject(b, 200)
	v := startIn(b, b.bin, chat, dir)
	var first float64
	done := 0
	turn := func() {
		done++
		v.prompt(rewritePrompt, 1+done%3, done, dir)
	}
	for _, n := range []int{100, 300, 1000} {
		for done < n-some {
			turn()
		}
		before := allCPU(v.pid)
		for done < n {
			turn()
		}
		settled(v)
		each := (allCPU(v.pid) - before) / some
		if first == 0 {
			first = each
		}
		b.add(fmt.Sprintf("a turn that changes files, after %d: host's CPU, ms", n), each, first, ratio(1.2))
	}
	v.end()
}

// settled waits until the host has nothing to do any more. While it waits for git, whose time counts when that has
// ended, it does nothing.
func settled(v *neovim) {
	for last, quiet := allCPU(v.pid), 0; quiet < 25; {
		time.Sleep(100 * time.Millisecond)
		now := allCPU(v.pid)
		if quiet++; now > last {
			quiet = 0
		}
		last = now
	}
}

// projects measures turns in large projects, with git and without: of text alone, and with a command that rewrites a
// file. The floor is git's look at the same files.
func projects(b *bench) {
	for _, n := range []int{10_000, 100_000, 400_000} {
		dir := makeProject(b, n)
		status := exec.Command("git", "--no-optional-locks", "status", "--porcelain")
		status.Dir = dir
		_ = status.Run() // its answer is not asked for
		floor := ms(status.ProcessState.UserTime() + status.ProcessState.SystemTime())
		b.project(fmt.Sprintf("%d files", n), dir, floor)
		if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
			b.Fatal(err)
		}
		b.project(fmt.Sprintf("%d files without git", n), dir, floor)
	}
}

// project is projects in one of them, from its second turn on.
func (b *bench) project(what, dir string, floor float64) {
	const rounds = 3
	v := startIn(b, b.bin, chat, dir)
	settled(v)
	for _, c := range []struct {
		what string
		goal goal
		run  func(round int) result
	}{
		{"a turn of text", atMost(300), func(int) result { return v.prompt(streamPrompt, 20) }},
		{"a turn with a command", none, func(round int) result { return v.prompt(rewritePrompt, 1, round, dir) }},
		{"a prompt", none, func(int) result {
			r := v.prompt(arrivedPrompt, 0, dir)
			r.Ms = times(b, dir)[0] - r.At
			return r
		}},
	} {
		c.run(1)
		settled(v)
		var took, cpu []float64
		for round := range rounds {
			before := allCPU(v.pid)
			took = append(took, c.run(2+round).Ms)
			settled(v)
			cpu = append(cpu, allCPU(v.pid)-before)
		}
		name := fmt.Sprintf("%s among %s: ", c.what, what)
		if c.what == "a prompt" {
			b.add(name+"to the agent, ms", median(took), 0, none)
			continue
		}
		b.add(name+"host's CPU, ms", median(cpu), floor, c.goal)
		b.add(name+"its end told, ms", median(took), 0, none)
	}
	v.end()
}
