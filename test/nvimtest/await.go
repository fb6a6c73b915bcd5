package nvimtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// pollEvery is how often a condition is looked at when nothing is heard of Neovim, for what makes
// neither redraw nor event.
const pollEvery = 50 * time.Millisecond

// grace is how long a condition that is under way at the deadline may still take.
const grace = time.Second

// Await waits until cond is true. It is evaluated at each change of the screen, at each event and
// every 50 ms, on a goroutine of its own, so that a call hanging in it cannot hang the test.
func (n *Nvim) Await(what string, cond func() bool) {
	n.t.Helper()
	if err := n.await(cond); err != nil {
		n.fail("waiting for %s: %v", what, err)
	}
}

// AwaitScreen waits until a row of the screen contains text, or several rows do when it has line ends.
func (n *Nvim) AwaitScreen(text string) {
	n.t.Helper()
	n.Await(fmt.Sprintf("%q on the screen", text), func() bool { return strings.Contains(n.Screen(), text) })
}

// AwaitScreenMatch waits until the screen matches a regular expression (flags as in "(?m)^ok$").
func (n *Nvim) AwaitScreenMatch(pattern string) {
	n.t.Helper()
	re := regexp.MustCompile(pattern)
	n.Await(fmt.Sprintf("%q to match the screen", pattern), func() bool { return re.MatchString(n.Screen()) })
}

// AwaitLua waits until a Lua expression or chunk gives something other than nil and false.
func (n *Nvim) AwaitLua(code string, args ...any) {
	n.t.Helper()
	n.Await(fmt.Sprintf("lua %q", code), func() bool {
		n.t.Helper()
		return n.LuaBool(code, args...)
	})
}

// Redraw makes Neovim redraw and waits until Screen shows it.
func (n *Nvim) Redraw() {
	n.t.Helper()
	n.mu.Lock()
	n.marks++
	mark := n.marks
	n.mu.Unlock()
	n.Lua(nil, `vim.cmd.redraw() vim.rpcnotify(...)`, n.ChannelID(), "nvimtest_mark", mark)
	n.Await("the redraw", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.mark >= mark
	})
}

// await returns nil when cond is true, and an error when it was not in time or cannot be any more.
// Where cond failed the test, await ends it too.
func (n *Nvim) await(cond func() bool) error {
	deadline := time.NewTimer(n.opts.patience)
	defer deadline.Stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	exited := n.exited
	late := false
	for {
		n.mu.Lock()
		changed := n.changed
		n.mu.Unlock()
		verdicts := n.evaluate(cond)
		var v verdict
		select {
		case v = <-verdicts:
		case <-deadline.C:
			// It may be returning at this moment, or about to say better what it hangs in.
			late = true
			select {
			case v = <-verdicts:
			case <-time.After(grace):
				return fmt.Errorf("the condition itself did not return within %v", n.opts.patience)
			}
		}
		switch {
		case v == met:
			return nil
		case v == failed:
			n.t.FailNow()
		case late:
			return fmt.Errorf("not within %v", n.opts.patience)
		}
		select {
		case <-changed:
		case <-poll.C:
		case <-exited:
			if !n.killed.Load() && n.exitErr != nil {
				return errors.New("the process has ended")
			}
			exited = nil // as the test wanted; the condition may still come true
		case <-deadline.C:
			late = true // one last look
		}
	}
}

type verdict int

const (
	failed verdict = iota // the condition failed the test
	unmet
	met
)

func (n *Nvim) evaluate(cond func() bool) <-chan verdict {
	verdicts := make(chan verdict, 1)
	n.conditions.Go(func() {
		v := failed
		defer func() { verdicts <- v }()
		if cond() {
			v = met
		} else {
			v = unmet
		}
	})
	return verdicts
}

// report tells all that is known of Neovim now. It never hangs.
func (n *Nvim) report() string {
	var b strings.Builder
	section := func(title, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(&b, "--- %s\n%s\n", title, text)
		}
	}
	status, answers := n.status()
	section("Neovim "+n.Version, status)
	section("screen", n.Screen())
	var events []string
	for _, e := range n.Events() {
		events = append(events, e.String())
	}
	section("events", lastLines(strings.Join(events, "\n")))
	if answers {
		history, err := answerWithin(reportLimit, "read :messages", func() (s string, err error) {
			return s, n.ExecLua("return "+messages, &s)
		})
		if err != nil {
			history = err.Error()
		}
		section(":messages", lastLines(history))
	}
	// Neovim's standard error and every log file it or the plugin wrote.
	_ = filepath.WalkDir(n.Home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".log" || !e.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			text = []byte(err.Error())
		}
		section(filepath.Base(path), lastLines(string(text)))
		return nil
	})
	return b.String()
}

// reportLimit is how long a report waits for an answer of a Neovim that may be busy.
const reportLimit = 2 * time.Second

// status says how Neovim is and whether it answers API calls.
func (n *Nvim) status() (status string, answers bool) {
	if n.hasExited() {
		if n.exitErr != nil {
			return "ended: " + n.exitErr.Error(), false
		}
		return "ended: exit status 0", false
	}
	mode, err := answerWithin(reportLimit, "nvim_get_mode", n.Mode)
	switch {
	case err != nil:
		return err.Error(), false
	case mode.Blocking:
		return fmt.Sprintf("mode %q, waiting for a key: API calls hang until it comes", mode.Mode), false
	default:
		return fmt.Sprintf("mode %q", mode.Mode), true
	}
}

// lastLines cuts a text to its last 40 lines.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
