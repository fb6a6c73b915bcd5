package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
)

// TestRandomPairs has two agents at work in one folder, each in a session of its own, and a user who types and saves in
// between. All lines are different, and each is put in by one and taken out by one: after what the one or the other
// session has changed is refused, undone or kept, what is there must be what the rest has made.
func TestRandomPairs(t *testing.T) {
	for i := range *rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			p := &pair{Rand: rand.New(rand.NewPCG(*seed, uint64(i)))}
			t.Cleanup(func() { // when the world is over
				if t.Failed() {
					t.Logf("-seed %d, round %d:\n%s", *seed, i, strings.Join(p.log, "\n"))
				}
			})
			p.world = newWorld(t)
			p.run()
		})
	}
}

type pair struct {
	*world
	*rand.Rand
	agents  [2]*Ledger
	running [2]bool
	files   []*shared
	count   int
	log     []string
}

// Whoever changes a file: one of the agents, or the user.
const user = 2

// shared is a file, with who has put in and taken out each line.
type shared struct {
	name   string
	in     map[string]int
	out    map[string]int
	order  []string // the lines that it began with
	maker  int
	remove int // who has removed it, or -1
	loaded bool
	taken  [2]bool // back: all that each agent has changed in it
}

func (p *pair) did(format string, args ...any) { p.log = append(p.log, fmt.Sprintf(format, args...)) }

// as acts as an agent, and all that the one session tells the other is heard.
func (p *pair) as(who int, do func()) {
	p.ledger = p.agents[who]
	do()
	for _, f := range p.files {
		p.sees(f.name)
	}
	for range 2 {
		for _, l := range p.agents {
			p.ledger = l
			p.sync()
		}
	}
	p.ledger = p.agents[who]
}

func (p *pair) run() {
	p.agents[0] = p.ledger
	p.agents[1] = p.world.open()
	for n := range 1 + p.IntN(2) {
		f := &shared{name: fmt.Sprintf("f%d", n), in: map[string]int{}, out: map[string]int{}, maker: user, remove: -1}
		for range 2 + p.IntN(5) {
			f.order = append(f.order, p.line(f, user))
		}
		p.files = append(p.files, f)
		p.write(f.name, strings.Join(f.order, ""))
		if p.IntN(2) == 0 {
			p.opens(f)
		}
	}
	first := p.IntN(2)
	p.begins(first)
	p.acts(1 + p.IntN(4))
	if p.IntN(3) == 0 {
		p.ends(first)
	}
	p.begins(1 - first)
	p.acts(1 + p.IntN(5))
	for _, who := range p.Perm(2) {
		if p.running[who] {
			p.ends(who)
			p.acts(p.IntN(2))
		}
	}
	for _, who := range p.Perm(2) {
		p.decides(who)
	}
}

func (p *pair) begins(who int) {
	p.did("%d begins", who)
	p.as(who, p.begin)
	p.running[who] = true
}

func (p *pair) ends(who int) {
	p.did("%d ends", who)
	p.as(who, p.end)
	p.running[who] = false
}

func (p *pair) line(f *shared, who int) string {
	p.count++
	line := fmt.Sprintf("%s%d\n", []string{"a", "b", "u"}[who], p.count)
	f.in[line] = who
	return line
}

func (p *pair) opens(f *shared) {
	p.did("user opens %s", f.name)
	p.edit(f.name)
	f.loaded = true
}

func (p *pair) acts(n int) {
	for range n {
		who := p.IntN(3)
		if who < user && !p.running[who] {
			who = user
		}
		f := p.files[p.IntN(len(p.files))]
		if f.remove >= 0 {
			continue
		}
		if who == user {
			p.as(0, func() { p.userActs(f) })
		} else {
			p.as(who, func() { p.agentActs(who, f) })
		}
	}
}

// changed returns a text in which somebody has put in lines and taken out some.
func (p *pair) changed(f *shared, who int, text string) string {
	lines := slices.Collect(strings.Lines(text))
	for range 1 + p.IntN(2) {
		if at := p.IntN(len(lines) + 1); p.IntN(2) == 0 && at < len(lines) && (f.in[lines[at]] == user || f.in[lines[at]] == who) && len(lines) > 1 {
			if _, gone := f.out[lines[at]]; !gone { // by the user, who has not saved that
				f.out[lines[at]] = who
			}
			lines = slices.Delete(lines, at, at+1)
		} else {
			lines = slices.Insert(lines, at, p.line(f, who))
		}
	}
	return strings.Join(lines, "")
}

func (p *pair) userActs(f *shared) {
	if !f.loaded {
		p.opens(f)
		return
	}
	p.types(f.name, func(text string) string { return p.changed(f, user, text) })
	p.did("user types in %s: %q", f.name, p.sees(f.name))
	if p.IntN(3) > 0 {
		p.did("user saves %s", f.name)
		p.saves(f.name)
	}
}

func (p *pair) agentActs(who int, f *shared) {
	if p.IntN(6) == 0 {
		f = &shared{name: fmt.Sprintf("new%d", len(p.files)), in: map[string]int{}, out: map[string]int{}, maker: who, remove: -1}
		p.files = append(p.files, f)
		p.call("edit", func() { p.write(f.name, p.line(f, who)+p.line(f, who)) }, f.name)
		p.did("%d makes %s", who, f.name)
		return
	}
	switch p.IntN(7) {
	case 0, 1, 2:
		was := p.sees(f.name)
		is := p.changed(f, who, was)
		p.did("%d writes %s through the client: %q", who, f.name, is)
		p.clientWrites(f.name, was, is)
	case 3, 4, 5:
		how := p.IntN(2)
		p.call("edit", func() {
			is := p.changed(f, who, p.onDisk(f.name))
			p.did("%d writes %s on the disk, way %d: %q", who, f.name, how, is)
			[]func(string, string){p.write, p.replace}[how](f.name, is)
		}, f.name)
	default:
		p.did("%d removes %s", who, f.name)
		f.remove = who
		p.call("delete", func() { p.remove(f.name) }, f.name)
	}
}

func (p *pair) decides(who int) {
	p.as(who, func() {
		had := p.changes()
		switch p.IntN(4) {
		case 0:
			p.did("%d's are kept:\n%s", who, had)
			if had != "" {
				p.decide(review.Keep, "")
			}
			return
		case 1, 2:
			p.did("%d's are refused:\n%s", who, had)
			if had != "" {
				p.decide(review.Reject, "")
			}
		default:
			p.did("%d's are undone:\n%s", who, had)
			if err := p.undo(false); err != nil && had != "" {
				p.t.Error(err)
			}
		}
		for _, f := range p.files {
			f.taken[who] = f.taken[who] || f.remove < 0 || f.by(who) && f.remove == who || !f.by(f.remove)
		}
	})
	p.check()
}

// by reports whether something that somebody did was not taken back.
func (f *shared) by(who int) bool { return who == user || !f.taken[who] }

func (p *pair) check() {
	if p.conflict {
		return // who wins is for the user to decide
	}
	for _, f := range p.files {
		var want []string
		for line, who := range f.in {
			out, gone := f.out[line]
			if f.by(who) && !(gone && f.by(out)) {
				want = append(want, line)
			}
		}
		if f.maker == f.remove {
			continue // with all that was in it
		}
		got := p.sees(f.name)
		if f.remove >= 0 && f.by(f.remove) {
			if got != "no file" && !f.loaded {
				p.t.Errorf("%s is there: %q", f.name, got)
			}
			continue
		}
		if got == "no file" || len(want) == 0 && modeOf(p.path(f.name)) == 0 {
			got = "" // its buffer may have what is no longer there
		}
		is := slices.Collect(strings.Lines(got))
		ordered := slices.DeleteFunc(slices.Clone(is), func(line string) bool {
			_, back := f.out[line] // perhaps beside one that another has taken out
			return back || !slices.Contains(f.order, line)
		})
		slices.Sort(want)
		if !slices.Equal(slices.Sorted(slices.Values(is)), want) {
			p.t.Errorf("%s is\n%q\nwanted\n%q", f.name, got, want)
		}
		if !slices.IsSortedFunc(ordered, func(a, b string) int { return slices.Index(f.order, a) - slices.Index(f.order, b) }) {
			p.t.Errorf("%s has another order: %q", f.name, got)
		}
	}
}
