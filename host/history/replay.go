package history

import (
	"regexp"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// Prompts returns what the user said in a session, in order, as a [Replay] compares it.
func Prompts(said []Said) []Prompt {
	prompts, _ := promptsIn(said)
	return prompts
}

// Before returns what was said before a prompt, numbered from 0 as in [Prompts].
func (p Past) Before(prompt int) []Said {
	if _, at := promptsIn(p.Said); prompt < len(at) {
		return p.Said[:at[prompt]]
	}
	return p.Said
}

// promptsIn is [Prompts], and where each of them begins.
func promptsIn(said []Said) (prompts []Prompt, at []int) {
	turn, id := false, ""
	for i, s := range said {
		switch u := s.Update.(type) {
		case session.TurnStart:
			turn = true
			prompts, at = append(prompts, Prompt{wordsOf(u.Prompt), wordsOf(u.Sent)}), append(at, i)
		case session.NotTaken:
			if turn { // else the line with the prompt is damaged
				turn = false
				prompts, at = prompts[:len(prompts)-1], at[:len(at)-1]
			}
		case session.Steered:
			prompts, at = append(prompts, Prompt{wordsOf(u.Words)}), append(at, i)
		case session.TurnEnd:
			turn = false
		case session.SessionStart:
			turn, id = false, ""
		case session.MessageChunk:
			switch {
			case u.Role != session.RoleUser || turn: // in a turn the agent repeats the prompt
			case u.MessageID == id && id != "":
				last := prompts[len(prompts)-1]
				last[0] = append(last[0], wordsOf([]session.Content{u.Content})...)
			default:
				id = u.MessageID
				prompts, at = append(prompts, Prompt{wordsOf([]session.Content{u.Content})}), append(at, i)
			}
		}
	}
	return prompts, at
}

// Prompt is the words of a prompt: as the user saw them and, if different, as they were sent.
type Prompt [][]string

func wordsOf(blocks []session.Content) []string { return strings.Fields(words(blocks)) }

func (p Prompt) is(words []string) bool {
	return slices.ContainsFunc(p, func(own []string) bool { return own != nil && slices.Equal(own, words) })
}

// resembles reports whether most words are the same, in order: agents phrase links and context differently.
func (p Prompt) resembles(words []string) bool {
	return slices.ContainsFunc(p, func(own []string) bool {
		short, long := own, words
		if len(short) > len(long) {
			short, long = long, short
		}
		if len(short) < 3 {
			return false
		}
		same, rest := 0, long
		for _, word := range short {
			if at := slices.Index(rest, word); at >= 0 {
				same, rest = same+1, rest[at+1:]
			}
		}
		return same*10 >= len(short)*7
	})
}

// Replay compares what an agent repeats of a session with what is known of it, turn by turn, and passes on what is not
// known: the session went on elsewhere.
type Replay struct {
	known   []Prompt
	at      int                // how many of them the agent has repeated, or skipped
	matched bool               // it has repeated at least one
	over    bool               // the agent has said that this was all, which not all agents wait for
	shows   bool               // the turn being repeated is shown
	shown   bool               // the one before was shown
	turn    []session.Update   // the turn so far, while it is undecided
	unknown [][]session.Update // unknown turns since the last known one

	asking bool // the prompt of the turn is not complete
	id     string
	words  []session.Content
}

// NewReplay returns a replay that compares with what is known, which must not be empty.
func NewReplay(known []Prompt) *Replay { return &Replay{known: known} }

// Take handles an update from the agent, and returns what to show.
func (r *Replay) Take(u session.Update) []session.Update {
	if chunk, ok := u.(session.MessageChunk); ok && chunk.Role == session.RoleUser {
		var before []session.Update
		if r.asking && chunk.MessageID != r.id {
			before = r.decide()
		}
		if !r.asking {
			r.hold()
			r.asking, r.shows, r.shown, r.id, r.words = true, false, r.shows, chunk.MessageID, nil
		}
		r.words = append(r.words, chunk.Content)
		r.turn = append(r.turn, u)
		return before
	}
	if patch, ok := u.(session.MessagePatch); ok && patch.Role == session.RoleUser && len(patch.Content) == 0 && !r.shows {
		return nil // a prompt begins without words, or has lost them
	}
	if r.asking {
		if show := r.decide(); r.shows {
			return append(show, u)
		}
	}
	switch {
	case r.shows:
		return []session.Update{u}
	case r.turn != nil:
		r.turn = append(r.turn, u)
	}
	return nil
}

// hold keeps the turn that has ended.
func (r *Replay) hold() {
	if r.turn != nil && !r.over {
		r.unknown = append(r.unknown, r.turn)
	}
	r.turn = nil
}

// decide is called when the prompt of a turn is complete. It returns what to show of the turn.
func (r *Replay) decide() []session.Update {
	r.asking = false
	words := wordsOf(r.words)
	rest := r.known[r.at:]
	at := slices.IndexFunc(rest, func(p Prompt) bool { return p.is(words) })
	if at < 0 {
		at = slices.IndexFunc(rest, func(p Prompt) bool { return p.resembles(words) })
	}
	switch {
	case at >= 0:
		r.at += at + 1
		r.matched, r.unknown, r.turn = true, nil, nil
	case injected(words):
		r.turn, r.shows = nil, r.shown
		if len(r.unknown) > 0 {
			r.turn, r.unknown = r.unknown[len(r.unknown)-1], r.unknown[:len(r.unknown)-1]
		}
	case r.over && r.at == len(r.known):
		return r.show()
	}
	return nil
}

// injected reports whether the words are an agent's own to its model, in tags: some repeat them as the user's.
func injected(words []string) bool { return len(words) > 0 && tag.MatchString(words[0]) }

var tag = regexp.MustCompile(`^<[a-z][a-z_-]*>`)

func (r *Replay) show() []session.Update {
	turn := r.turn
	r.shows, r.turn = true, nil
	return turn
}

// Over must be called when the agent has repeated everything. It returns what to show of what was not known.
func (r *Replay) Over() (show []session.Update) {
	if r.asking {
		r.decide()
	}
	r.hold()
	r.over = true
	unknown := r.unknown
	if !r.matched { // it rewords prompts: only the excess counts
		unknown = unknown[min(len(unknown), len(r.known)-r.at):]
	}
	r.unknown, r.shows = nil, len(unknown) > 0
	if len(unknown) > 0 {
		r.at = len(r.known)
	}
	return slices.Concat(unknown...)
}
