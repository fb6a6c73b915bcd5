package files

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

var (
	crashes = flag.Int("crashes", 1, "how often host, Neovim and agent each are killed on each Neovim")
	seed    = flag.Uint64("seed", 1, "seed of the moments when they are")
)

// written is a file that the agent writes again and again.
type written struct {
	name  string
	asked string // the name that the agent knows, where it is another
	mode  fs.FileMode
	lines int
}

var crashFiles = []written{
	{name: "shown.txt", mode: 0o640, lines: 6_000}, // in a buffer, which Neovim saves
	{name: "typed.txt", mode: 0o644, lines: 100},   // in a buffer with unsaved text of the user's
	{name: "plain.txt", mode: 0o750, lines: 1_000},
	{name: "to.txt", asked: "link.txt", mode: 0o600, lines: 1_000},
	{name: "linked.txt", mode: 0o644, lines: 6_000}, // by a second name too
}

// text is the n-th text of a file; the 0th is there before.
func (w written) text(n int) []byte {
	var b bytes.Buffer
	for i := range w.lines + n%5 {
		switch i {
		case 0, w.lines / 2, w.lines - 1:
			fmt.Fprintf(&b, "line %d of text %d of %s\n", i, n, w.name)
		default:
			fmt.Fprintf(&b, "line %d of %s, which stays as it is in all of its texts\n", i, w.name)
		}
	}
	return b.Bytes()
}

// number is which text data is; -1 is none.
func (w written) number(data []byte) int {
	var n int
	if _, err := fmt.Sscanf(string(data[:min(len(data), 80)]), "line 0 of text %d of ", &n); err != nil || !bytes.Equal(data, w.text(n)) {
		return -1
	}
	return n
}

// crashWrites is how often the agent writes each file.
const crashWrites = 8

// TestCrashes kills the host, Neovim or the agent at a random point of a stream of writes. Every file has
// one of its texts then, the last that was acknowledged or a later one, or is offered by the next Neovim;
// what the user typed is in the buffer or in the swap file; nothing is left, and the next Neovim works.
func TestCrashes(t *testing.T) {
	for _, victim := range []string{"host", "neovim", "agent"} {
		for i := range *crashes {
			t.Run(fmt.Sprint(victim, i), func(t *testing.T) {
				scene.Each(t, func(t *testing.T, s *scene.Scene) {
					c := &crash{Scene: s, victim: victim, random: rand.New(rand.NewPCG(*seed, uint64(i)<<8|uint64(victim[0])))}
					c.play()
				})
			})
		}
	}
}

// write is the n-th of a file.
type write struct {
	written
	n int
}

type crash struct {
	*scene.Scene
	victim string
	random *rand.Rand
	agent  *scene.Puppet
	writes map[int]write  // by the id of the request
	acked  map[string]int // by name, the last text of which the agent knows that it is written
}

func (c *crash) play() {
	c.prepare()
	c.RecordNotifications()
	c.Command("set updatecount=1 shortmess+=A") // with swap files, and without questions about them
	c.Command("edit shown.txt | split typed.txt")
	c.agent = c.Begin()
	c.Prompt(c.agent, "write")
	c.Command("drop typed.txt")
	c.Keys("Gomine, not saved<Esc>")
	c.AwaitLua(`vim.bo.modified and vim.fn.mode() == 'n'`)
	c.Command("preserve")

	c.strike()
	if c.victim != "neovim" {
		c.AwaitLua(`require('acp').sessions()[1].state == 'dead'`)
		if got := c.LuaInt(`vim.fn.search('^mine, not saved$', 'nw')`); got == 0 {
			c.T.Error("what the user typed is lost")
		}
		c.Quit()
	}
	c.AwaitNothingLeft()
	scene.AwaitAfterEnd(c.T, "the agent's end to be known", c.agent.Ended)
	c.acked = c.answers()
	c.recover(c.Next(c.KeepState()))
}

// prepare makes the files.
func (c *crash) prepare() {
	c.T.Helper()
	for _, w := range crashFiles {
		path := c.WriteFile(w.name, string(w.text(0)))
		must.Do(c.T, os.Chmod(path, w.mode))
	}
	for _, err := range []error{
		os.Symlink("to.txt", filepath.Join(c.Dir, "link.txt")),
		os.Link(filepath.Join(c.Dir, "linked.txt"), filepath.Join(c.Dir, "other.txt")),
		os.MkdirAll(c.journal(), 0o700),
	} {
		must.Do(c.T, err)
	}
}

func (c *crash) journal() string { return filepath.Join(c.Home, "state", "nvim", "acp", "writes") }

// strike has the agent write all it has to write, and kills the victim when a random number of things has
// been seen to happen to the files, or all is written.
func (c *crash) strike() {
	c.T.Helper()
	watch, err := fsnotify.NewBufferedWatcher(1 << 14)
	must.Do(c.T, err)
	defer watch.Close()
	for _, dir := range []string{c.Dir, c.journal()} {
		must.Do(c.T, watch.Add(dir))
	}
	var hosts, others []int
	c.Await("the host and the agent alone", func() bool { // and not what lists the project's files
		hosts, others = c.Hosts()
		return len(hosts) == 1 && len(others) == 1
	})
	pid := c.PID()
	switch c.victim {
	case "host":
		pid = hosts[0]
	case "agent":
		pid = others[0]
	}

	c.writes = map[int]write{}
	var lines strings.Builder
	for n := 1; n <= crashWrites; n++ {
		for _, w := range crashFiles {
			name := w.name
			if w.asked != "" {
				name = w.asked
			}
			id, line := c.agent.Request("fs/write_text_file", obj{
				"sessionId": scene.SessionID(1), "path": filepath.Join(c.Dir, name), "content": string(w.text(n)),
			})
			c.writes[id] = write{w, n}
			lines.WriteString(line)
		}
	}
	go c.agent.TryToWrite(lines.String())

	// Often it is the one file that counts.
	left, only := 1+c.random.IntN(250), ""
	switch {
	case c.random.IntN(2) == 0:
	case c.victim == "neovim":
		left, only = 1+c.random.IntN(150), "shown.txt"
	default:
		left, only = 1+c.random.IntN(16), "linked.txt"
	}
	hangs := time.NewTimer(time.Minute)
	defer hangs.Stop()
	for left > 0 {
		answers, more := c.agent.AnswersUntilNow()
		if len(answers) == len(c.writes) {
			break
		}
		select {
		case e := <-watch.Events:
			if only == "" || filepath.Base(e.Name) == only {
				left--
			}
		case err := <-watch.Errors:
			c.T.Fatal(err)
		case <-more:
		case <-hangs.C:
			c.T.Fatalf("%d of %d writes are done, and %d things seen", len(answers), len(c.writes), left)
		}
	}
	if c.victim == "neovim" {
		c.Kill()
	} else if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.T.Fatal(err)
	}
}

// answers are the last texts of which the agent knows that they are written.
func (c *crash) answers() map[string]int {
	c.T.Helper()
	answers, _ := c.agent.AnswersUntilNow()
	acked := map[string]int{}
	for _, m := range answers {
		var id int
		if err := json.Unmarshal(m.ID, &id); err != nil {
			c.T.Errorf("%v: %s", err, m)
		}
		w := c.writes[id]
		switch {
		case m.Error == nil:
			acked[w.name] = max(acked[w.name], w.n)
		case c.victim != "neovim":
			c.T.Errorf("write %d of %s: %v", w.n, w.name, m.Error)
		}
	}
	return acked
}

// standing reports whether a file has one of its texts, not an older one than was acknowledged, and is what
// it was beside.
func (c *crash) standing(w written) error {
	path := filepath.Join(c.Dir, w.name)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch n := w.number(data); {
	case err != nil:
		return err
	case n < 0:
		return fmt.Errorf("%s has %d bytes, none of its texts", w.name, len(data))
	case n < c.acked[w.name]:
		return fmt.Errorf("%s has its text %d, and %d was acknowledged", w.name, n, c.acked[w.name])
	case info.Mode() != w.mode:
		return fmt.Errorf("the mode of %s is %v", w.name, info.Mode())
	}
	return nil
}

// recover looks at what is left, with another Neovim.
func (c *crash) recover(s *scene.Scene) {
	c.T.Helper()
	var torn []written
	for _, w := range crashFiles {
		err := c.standing(w)
		if err != nil && (c.victim == "neovim" && w.name == "shown.txt" || c.victim == "host" && w.name == "linked.txt") {
			torn = append(torn, w)
		} else if err != nil {
			c.T.Error(err)
		}
	}
	s.RecordNotifications()
	s.Command("set updatecount=1 shortmess+=A")
	p := s.Begin()
	which := []string{"old", "new"}[c.random.IntN(2)]
	s.Lua(nil, `local which = ...
		vim.ui.select = function(items, _, done)
			for _, item in ipairs(items) do
				if item.which == which then
					done(item)
				end
			end
		end`, which)
	for _, w := range torn {
		s.AwaitNotification("writing " + w.name + " was interrupted. :Acp recover")
		s.Command("Acp recover")
		scene.AwaitAfterEnd(c.T, w.name+" to be recovered", func() bool { return c.standing(w) == nil })
	}
	scene.AwaitAfterEnd(c.T, "nothing to be left of writes", func() bool { return len(c.traces()) == 0 })
	s.Command("Acp recover")
	s.AwaitNotification("no write was interrupted")
	if to, err := os.Readlink(filepath.Join(c.Dir, "link.txt")); to != "to.txt" {
		c.T.Errorf("the link leads to %q, %v", to, err)
	}
	if a, b := c.ReadFile(filepath.Join(c.Dir, "linked.txt")), c.ReadFile(filepath.Join(c.Dir, "other.txt")); a != b {
		c.T.Error("the two names are those of two files")
	}
	if c.victim == "neovim" {
		s.Command("silent! recover typed.txt")
		if s.LuaInt(`vim.fn.search('^mine, not saved$', 'nw')`) == 0 {
			c.T.Error("what the user typed is not in the swap file")
		}
		s.Command("enew!")
	}
	s.Command("edit shown.txt")
	w := crashFiles[0]
	p.WriteFile(filepath.Join(c.Dir, w.name), string(w.text(crashWrites+1)))
	check.Equal(c.T, w.number([]byte(s.BufferText(s.LuaInt(`vim.fn.bufnr('shown.txt')`))+"\n")), crashWrites+1,
		"the buffer has text %d")
	if err := c.standing(w); err != nil {
		c.T.Error(err)
	}
	c.T.Logf("%v were written, torn are %v, recovered as %s", c.acked, torn, which)
}

// traces are the files that a write has while it is under way.
func (c *crash) traces() (left []string) {
	c.T.Helper()
	temps, err := filepath.Glob(filepath.Join(c.Dir, ".acp-*"))
	must.Do(c.T, err)
	entries, err := filepath.Glob(filepath.Join(c.journal(), "*"))
	must.Do(c.T, err)
	for _, path := range entries {
		// An empty one may be another process's that is about to begin.
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			left = append(left, path)
		}
	}
	return append(temps, left...)
}
