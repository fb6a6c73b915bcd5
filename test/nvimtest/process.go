package nvimtest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Process is one that Neovim, or what it started, has started.
type Process struct {
	PID     int
	Command string // its arguments, joined by blanks
}

func (p Process) String() string { return fmt.Sprintf("%d %s", p.PID, p.Command) }

// Leftovers are the processes that run now because of this Neovim, without itself: those with its
// mark in their environment, its descendants, and the members of their sessions. They are the host
// and the agents while Neovim lives; nothing may be left once it has ended. It reads /proc.
func (n *Nvim) Leftovers() []Process {
	n.t.Helper()
	found, err := n.leftovers()
	if err != nil {
		n.t.Fatalf("look for processes: %v", err)
	}
	return found
}

func (n *Nvim) leftovers() ([]Process, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, p := range n.ours(all) {
		if p.pid == n.PID() {
			continue
		}
		found = append(found, Process{p.pid, p.command()})
	}
	return found, nil
}

// noteSessions remembers the sessions of now: their members are found again once their parents are
// gone, even if they dropped the mark from their environment.
func (n *Nvim) noteSessions() {
	all, err := processes()
	if err != nil {
		return // the look for left-overs will say so
	}
	for _, p := range n.ours(all) {
		n.sessions[p.session] = true
	}
}

// ours picks Neovim's own processes.
func (n *Nvim) ours(all []process) []process {
	us := map[int]bool{}
	sessions := maps.Clone(n.sessions)
	take := func(p process) bool {
		if us[p.pid] {
			return false
		}
		us[p.pid] = true
		sessions[p.session] = true
		return true
	}
	own, _ := unix.Getsid(0)
	for _, p := range all {
		if p.pid == n.PID() || p.marked(n.marker) {
			take(p)
		}
	}
	for more := true; more; {
		more = false
		for _, p := range all {
			if us[p.parent] || sessions[p.session] && p.session != own {
				more = take(p) || more
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(p process) bool { return !us[p.pid] })
}

// process is one line of the system's table of processes.
type process struct {
	pid, parent, session int
}

// processes reads that table, without those that are dead but not yet waited for.
func processes() ([]process, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	if len(stats) == 0 {
		return nil, fmt.Errorf("no processes in /proc")
	}
	var all []process
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		// "pid (name) state parent group session …"; the name may hold anything.
		end := bytes.LastIndexByte(text, ')')
		if end < 0 {
			continue
		}
		f := strings.Fields(string(text[end+1:]))
		if len(f) < 4 || f[0] == "Z" || f[0] == "X" {
			continue
		}
		var p process
		p.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
		p.parent, _ = strconv.Atoi(f[1])
		p.session, _ = strconv.Atoi(f[3])
		all = append(all, p)
	}
	return all, nil
}

// marked reports whether the process was started with that environment entry.
func (p process) marked(entry string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
	return err == nil && slices.Contains(strings.Split(string(env), "\x00"), entry)
}

func (p process) command() string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	if err != nil {
		return ""
	}
	return strings.TrimRight(strings.ReplaceAll(string(line), "\x00", " "), " ")
}
