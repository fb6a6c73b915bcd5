package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A change on the disk may be an agent's if it was made while a turn ran, or just after, whenever it is seen.
func TestWhenAnAgentWorked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w span
		at := func(d time.Duration) time.Time { return time.Now().Add(d) }
		check.Equal(t, w.covers(at(0)), false, "before all turns it is %v")
		w.begin()
		for ago, want := range map[time.Duration]bool{0: true, ledger.Coarse: true, time.Second: false} {
			check.Equal(t, w.covers(at(-ago)), want, "in a turn, %v ago it is %v", ago)
		}
		time.Sleep(time.Minute)
		w.end()
		time.Sleep(time.Second)
		w.begin() // what the turn before has changed may be seen in this one
		check.Equal(t, w.covers(at(-time.Minute)), true, "in the turn before it is %v")
		w.end()
		w.over()
		check.Equal(t, w.covers(at(0)), false, "when all of a turn is known it is %v")
		time.Sleep(time.Hour)
		w.begin()
		check.Equal(t, w.covers(at(-time.Minute)), false, "between two turns it is %v")
	})
}

// A change on the disk is taken for that of the agent that works, rather than of one that just worked; of two that of the
// one in whose folder it is, or else the newest.
func TestWhoseAChangeOnTheDiskIs(t *testing.T) {
	for name, c := range map[string]struct {
		worked, works []int // sessions
		want          int   // 0 for none
	}{
		"nobody has worked":          {nil, nil, 0},
		"one has just worked":        {[]int{1}, nil, 1},
		"one works":                  {nil, []int{1}, 1},
		"one works, one just worked": {[]int{3}, []int{1}, 1},
		"two have worked":            {[]int{1, 2}, nil, 2},
		"two work":                   {nil, []int{1, 2}, 2},
		"two work, one in its place": {nil, []int{2, 3}, 3},
		"of the place, just worked":  {[]int{3}, []int{2}, 2},
		"both of the place":          {nil, []int{3, 4}, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			for id, cwd := range map[int]string{1: "/other", 2: "/other", 3: "/p", 4: "/p"} {
				s := newSession(w.Host, id, puppet, cwd, nil)
				w.sessions[id] = s
				go s.base.Box.Run()
				go s.ledger.Run()
				t.Cleanup(func() { s.on(s.close); synctest.Wait() })
			}
			for _, id := range c.worked {
				w.sessions[id].working.begin()
				w.sessions[id].working.end()
			}
			for _, id := range c.works {
				w.sessions[id].working.begin()
			}
			got := 0
			if s := w.worker("/p/a"); s != nil {
				got = s.id
			}
			check.Equal(t, got, c.want, "%s: it is of session %d", name)
			time.Sleep(time.Hour)
			if s := w.worker("/p/a"); (s == nil) != (len(c.works) == 0) {
				t.Errorf("%s: an hour later it is of %v", name, s)
			}
		})
	}
}

// names has a call in a turn of the session name a file.
func (s *Session) names(path string) {
	s.on(func() {
		s.prompts.Opened()
		s.apply(session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindEdit), Locations: acp.Set([]session.Location{{Path: path}})})
	})
	synctest.Wait()
}

// A file is claimed by the agent of another session that works, or just has, and has named it; then a change of it is that
// one's, rather than of one that works in its folder.
func TestFilesThatAreClaimed(t *testing.T) {
	for name, c := range map[string]struct {
		does    func(s *Session)
		claimed bool
	}{
		"it works, and names it": {func(s *Session) { s.working.begin(); s.names("/p/a") }, true},
		"it has just worked":     {func(s *Session) { s.working.begin(); s.names("/p/a"); s.working.end() }, true},
		"it has worked": {func(s *Session) {
			s.working.begin()
			s.names("/p/a")
			s.working.end()
			time.Sleep(time.Hour)
		}, false},
		"it works, and names another": {func(s *Session) { s.working.begin(); s.names("/p/b") }, false},
		"it works":                    {func(s *Session) { s.working.begin() }, false},
		"it does nothing":             {func(*Session) {}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			s, other := w.add(1, puppet), w.add(2, puppet)
			check.Equal(t, w.agentsWork(time.Now()), false, name+": that an agent works is at first %t")
			c.does(s)
			check.Equal(t, w.claimed("/p/a", other), c.claimed, name+": for another it is claimed: %t")
			check.Equal(t, w.claimed("/p/a", s), false, name+": for itself it is claimed: %t")
			check.Equal(t, w.agentsWork(time.Now()), s.working.running() || s.working.recent(), name+": that an agent works is %t")
			other.working.begin()
			if got := w.worker("/p/a"); (got == s) != c.claimed {
				t.Errorf("%s: the change is of session %d", name, got.id)
			}
		})
	}
}

// A change on the disk is the agent's that works, and what is to be said of it is in its chat, or a notice where there is
// none; if none works it is the user's.
func TestAChangeOnTheDisk(t *testing.T) {
	text, was := "1\n", "0\n"
	const note, brief = "The file has changed.", "a changed"
	created := buffers.Written{Path: "/p/a", After: &text, Created: true, Changed: true}
	noted := buffers.Written{Path: "/p/a", Before: &text, After: &text, Note: note, Brief: brief}
	changed := buffers.Written{Path: "/p/a", Before: &was, After: &text, Changed: true}
	long := noted
	long.Brief = ""
	for name, c := range map[string]struct {
		change        buffers.Written
		works, closes bool
		visible       bool
		told          []string
		chat          string
		files         int
	}{
		"the agent has made it":   {change: created, works: true, files: 1},
		"the user has":            {change: created},
		"it is made":              {change: buffers.Written{Path: "/p/a", After: &text, Created: true}, works: true, files: 1},
		"it changes":              {change: changed, works: true, files: 1},
		"it is deleted":           {change: buffers.Written{Path: "/p/a", Before: &was, Deleted: true}, works: true, files: 1},
		"there is only a word":    {change: noted, works: true, told: []string{"warning: " + brief}, chat: note + "\n"},
		"and the chat is visible": {change: noted, works: true, visible: true, chat: note + "\n"},
		"a word of the user's":    {change: noted, told: []string{"warning: " + brief}},
		"of it nothing short":     {change: long, told: []string{"warning: " + note}},
		"its session closes":      {change: noted, works: true, closes: true, told: []string{"warning: " + brief}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				s := w.add(1, puppet)
				if c.works {
					s.working.begin()
				}
				s.view.Show(c.visible)
				if c.closes {
					s.on(s.close)
					synctest.Wait()
					w.sessions[1] = s
				}
				w.diskChanged(c.change)
				w.told(c.told...)
				if c.closes {
					return
				}
				check.Equal(t, s.told(), c.chat, "the chat says %q")
				changed := 0
				s.ledger.Files(func(files []review.File) { changed = len(files) })
				synctest.Wait()
				check.Equal(t, changed, c.files, "of the agent's are %d files")
			})
		})
	}
}

// What is to be said of files is said in all chats, and as a notice if no window shows one.
func TestWhatIsSaidInAllChats(t *testing.T) {
	for name, c := range map[string]struct {
		sessions, visible int
		told              []string
	}{
		"no chat":         {0, 0, []string{"warning: in short"}},
		"one, not seen":   {1, 0, []string{"warning: in short"}},
		"one":             {1, 1, nil},
		"one of them":     {3, 1, nil},
		"none of several": {3, 0, []string{"warning: in short"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			for i := range c.sessions {
				w.add(i+1, puppet).view.Show(i < c.visible)
			}
			w.alert("warning", "The whole of it.", "in short")
			w.settle()
			check.Slice(t, w.nvim.take(), c.told, name+": Neovim is told %q")
			for i := range c.sessions {
				check.Equal(t, w.session(i+1).told(), "The whole of it.\n", name+": the chat says %q")
			}
		})
	}
}
