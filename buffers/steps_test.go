package buffers

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// onDisk is a file with a text, as it is read.
func onDisk(t *testing.T, text string) (string, file) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.txt")
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	disk, err := readFile(path)
	must.Do(t, err)
	return path, disk
}

// Whether a buffer takes what its file has on disk, and what is told where it does not.
func TestBuffersThatStayAsTheyAre(t *testing.T) {
	for name, c := range map[string]struct {
		had      string // of the disk with which the buffer was in step; "" is not known
		bytes    string // what the disk has
		left     bool   // by Neovim
		read     bool   // after another program has written it, which was not told
		modified bool
		how      how
		stays    bool
		conflict bool
		changed  bool
		synced   string
	}{
		"another program has written":               {had: "a\n", bytes: "b\n", synced: "a\n"},
		"only the time has changed":                 {had: "a\n", bytes: "a\n", modified: true, synced: "a\n"},
		"Neovim has written the same":               {had: "a\n", bytes: "a\n", left: true, stays: true, synced: "a\n"},
		"Neovim has written, and has unsaved text":  {had: "a\n", bytes: "b\n", left: true, modified: true, stays: true, synced: "b\n"},
		"read, and unsaved text since":              {had: "a\n", bytes: "b\n", left: true, read: true, modified: true, stays: true, changed: true, synced: "b\n"},
		"saved, but another program was faster":     {had: "a\n", bytes: "b\n", how: how{saved: true}, stays: true, synced: "a\n"},
		"unsaved text, and no text on disk":         {had: "a\n", bytes: "\xff\n", modified: true, stays: true, conflict: true, synced: "a\n"},
		"no text on disk, which Neovim reads again": {had: "a\n", bytes: "\xff\n", synced: "a\n"},
		"nothing is known about it":                 {bytes: "b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path, disk := onDisk(t, c.bytes)
			f := New(deaf{})
			was, at := stamp{Exists: true, Sec: 1}, disk.stamp()
			if c.had != "" {
				f.synced.put(path, inStep{text: c.had, form: Form([]byte(c.had)), at: was})
			}
			l := live{Buf: 1, Encoding: "utf-8", Modified: c.modified, Disk: &was}
			if c.left {
				l.Disk = &at
				if !c.read {
					l.Written = at
				}
			}
			o := syncing{Files: f, how: c.how, path: path, buf: l, disk: disk}
			o.look()
			if got := o.stays(); got != c.stays || o.Conflict != c.conflict || o.Changed != c.changed {
				t.Errorf("stays %v, conflict %v, changed %v", got, o.Conflict, o.Changed)
			}
			if had, _ := f.synced.get(path); had.text != c.synced {
				t.Errorf("in step with %q, want %q", had.text, c.synced)
			}
		})
	}
}

// A buffer that lacks what the disk has gets that first, so that undo leads there; but not where it has unsaved text
// or conflicts.
func TestStepsOfAWrite(t *testing.T) {
	for name, c := range map[string]struct {
		mine, had, after string
		change           func(*attempt)
		steps, hunks     int // of the last one
	}{
		"in step":       {"a\n", "a\n", "b\n", nil, 1, 1},
		"behind":        {"a\n", "b\n", "c\n", nil, 2, 1},
		"nothing to do": {"a\n", "a\n", "a\n", nil, 1, 0},
		"unsaved text":  {"a\n", "b\n", "c\n", func(a *attempt) { a.buf.Modified = true }, 1, 1},
		"conflicts":     {"a\n", "b\n", "c\n", func(a *attempt) { a.goal.conflicts = []conflict{{}} }, 1, 1},
		"truncated":     {"a\n", "", "c\n", func(a *attempt) { a.found.emptied = true }, 1, 1},
		"not decoded":   {"a\n", "b\n", "c\n", func(a *attempt) { a.found.decoded = false }, 1, 1},
	} {
		a := attempt{buf: live{Newline: true}, mine: c.mine, found: found{had: c.had, decoded: true}, after: c.after}
		if c.change != nil {
			c.change(&a)
		}
		if got := a.steps(); len(got) != c.steps || len(got[len(got)-1].Hunks) != c.hunks {
			t.Errorf("%s: the steps are %v", name, got)
		}
	}
}

// What the user saw before a write is their buffer's text, unless there was neither file nor text, or the buffer is
// behind the disk.
func TestWhatTheUserSawBefore(t *testing.T) {
	path, mine, same, other := "/a", "mine\n", "same\n", "other\n"
	f := New(deaf{})
	f.synced.put(path, inStep{text: "synced\n"})
	for name, c := range map[string]struct {
		a    attempt
		want *string
	}{
		"a buffer":               {attempt{found: found{mine: &mine, had: other, decoded: true, at: stamp{Exists: true}}, goal: goal{disk: &same}}, &mine},
		"an empty one, no file":  {attempt{buf: live{Modified: true}, found: found{mine: &mine}}, nil},
		"the agent's text there": {attempt{found: found{mine: &mine, had: same, decoded: true, at: stamp{Exists: true}}, goal: goal{disk: &same}}, new("synced\n")},
		"that, and unsaved text": {attempt{buf: live{Modified: true}, mine: mine, found: found{mine: &mine, had: same, decoded: true}, goal: goal{disk: &same}}, &mine},
		"that, in no encoding":   {attempt{found: found{mine: &mine, had: same}, goal: goal{disk: &same}}, &mine},
	} {
		c.a.liveWrite = &liveWrite{Files: f, path: path}
		if got := c.a.shownBefore(); !sameText(got, c.want) {
			t.Errorf("%s: it was %s", name, quotedText(got))
		}
	}
}

func quotedText(text *string) string {
	if text == nil {
		return "no file"
	}
	return *text
}
