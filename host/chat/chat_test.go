package chat

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/draw"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/terminals"
	"github.com/acp-nvim/acp-nvim/host/transcript"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
)

// scene is a chat that is drawn.
type scene struct {
	*Chat
	*featuretest.Session
}

// play plays a test with the chat of a conversation, all of it in its buffer.
func play(t *testing.T, test func(s *scene), updates ...session.Update) {
	featuretest.Play(t, func(on *featuretest.Session) {
		for _, u := range updates {
			on.Conversation().Apply(u)
		}
		s := &scene{Session: on}
		s.Chat = New(on.Base, draw.New(on.Base, on.Note("marked")), on.Conversation(), transcript.Config{
			Cwd: "/project", Now: time.Now, Files: func(*session.ToolCall) []*diff.FileDiff { return nil },
			Output: terminals.Output, Resolve: terminals.OutputLines, Save: func(_, _ string) string { return "" },
		})
		s.drawn()
		test(s)
	})
}

// drawn draws what is new, and returns the names of the operations for it, with what is not sent.
func (s *scene) drawn() string {
	s.Sync()
	var names []string
	for s.Dirty() || len(names) == 0 {
		ops := s.Ops(1 << 20)
		if len(ops) == 0 {
			break
		}
		for _, op := range ops {
			name := op.Name
			if unsent, ok := op.Args.(rpc.Unsent); ok {
				name = fmt.Sprintf("%s %d in %d", name, unsent.Rows, unsent.Session)
			}
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// answers has Neovim be answered, as callback 7, and compares what it hears.
func (s *scene) answers(ask func(rpc.Asks), want ...string) {
	s.On(func() { ask(rpc.Asks{Callback: 7}) })
	s.Expect(want...)
}

func says(role session.Role, id string, content session.Content) session.Update {
	return session.MessageChunk{MessageID: id, Role: role, Content: content}
}

func prompt(content ...session.Content) session.Update { return session.TurnStart{Prompt: content} }

// conversation has two prompts and a call.
func conversation() []session.Update {
	return []session.Update{
		prompt(session.Text{Text: "one"}), says(session.RoleAgent, "1", session.Text{Text: "I look"}),
		session.ToolCallPatch{
			ID: "c", Kind: acp.Set(session.KindExecute), Title: acp.Set("make"), Status: acp.Set(session.StatusCompleted),
			Locations: acp.Set([]session.Location{{Path: "a.go", Line: 3}}),
			Content:   acp.Set([]session.ToolCallContent{session.ContentItem{Content: session.Text{Text: "built"}}}),
		},
		session.TurnEnd{StopReason: session.StopEndTurn}, prompt(session.Text{Text: "two"}),
	}
}

// Rows are found by what stands there, as far as there are any; each is known as the user saw it.
func TestRows(t *testing.T) {
	play(t, func(s *scene) {
		next := func(row, count int, forward bool) func(rpc.Asks) {
			return func(a rpc.Asks) {
				s.Find(rpc.Next{Asks: a, At: rpc.At{Row: row}, Kind: string(transcript.Messages), Count: count, Forward: forward})
			}
		}
		s.answers(next(0, 1, true), "answer 7 {2 true} ")
		s.answers(next(0, 2, true), "answer 7 {7 true} ")
		s.answers(next(0, 9, true), "answer 7 {7 true} ")
		s.answers(next(7, 1, true), "answer 7 {7 false} ")
		s.answers(next(7, 2, false), "answer 7 {0 true} ")
		s.answers(func(a rpc.Asks) { s.Extent(rpc.Block{Asks: a, At: rpc.At{Row: 2}}) }, "answer 7 {1 3} ")
		s.answers(func(a rpc.Asks) { s.Extent(rpc.Block{Asks: a, At: rpc.At{Row: 99}}) }, "answer 7 {0 0} ")
		check.Equal(t, s.Location(0), rpc.Place{}, "the prompt leads to %+v")
		check.Equal(t, s.Location(4), rpc.Place{Path: s.Cwd + "/a.go", Line: 3}, "the call leads to %+v")
		s.Apply(session.ToolCallPatch{ID: "c", Locations: acp.Set([]session.Location{{Path: "file://far/a.go", Line: 3}})})
		s.drawn()
		check.Equal(t, s.Location(4), rpc.Place{}, "a call about another computer's file leads to %+v")
	}, conversation()...)
}

// What is at a row is told whole: a call, a block in a buffer of its own, and the output of a command; of nothing, nothing.
func TestWholeBlocks(t *testing.T) {
	play(t, func(s *scene) {
		tell := func(row int) func(rpc.Asks) {
			return func(a rpc.Asks) { s.TellCall(rpc.Inspect{Asks: a, At: rpc.At{Row: row}}) }
		}
		lines, marks := styled.Flatten(s.Inspect(4))
		check.Contains(t, strings.Join(lines, "\n"), "kind     execute", "of the call it tells %s")
		s.answers(tell(4), fmt.Sprintf("answer 7 %v ", rpc.Lines{Lines: lines, Marks: marks}))
		s.answers(tell(99), "answer 7 {[] []} ")
		s.answers(func(a rpc.Asks) { s.ShowWhole(rpc.Whole{Asks: a, At: rpc.At{Row: 2}, Buf: 5}) },
			"answer 7 {message markdown} ", "fill {Lines:{Lines:[I look] Marks:[]} Buf:5 Done:true}")
		s.answers(func(a rpc.Asks) { s.ShowWhole(rpc.Whole{Asks: a, At: rpc.At{Row: 99}, Buf: 5}) }, "answer 7 <nil> ")
		s.answers(func(a rpc.Asks) { s.ShowOutput(rpc.Output{Asks: a, At: rpc.At{Row: 0}, Buf: 6}) },
			"answer 7 {make } ", "fill {Lines:{Lines:[built] Marks:[]} Buf:6 Done:true}")
	}, conversation()...)
}

// A prompt is told with what can be attached again: not what the editor attaches itself when it is sent, and in words what
// is lost.
func TestPrompts(t *testing.T) {
	number := func(*session.Message) int { return 4 }
	tell := func(s *scene, row int) func(rpc.Asks) {
		return func(a rpc.Asks) { s.TellPrompt(rpc.EditPrompt{Asks: a, At: rpc.At{Row: row}}, number) }
	}
	link := func(uri, description string) session.Content {
		return session.ResourceLink{URI: uri, Name: "x", Description: description}
	}
	for _, c := range []struct {
		prompt []session.Content
		want   string
	}{
		{[]session.Content{session.Text{Text: "one"}}, "{one false [] [] 4}"},
		{
			[]session.Content{session.Text{Text: "one"}, link("file:///a#L3-5", ""), link("https://b", "")},
			"{one false [{/a 3 5 } { 0 0 https://b}] [] 4}",
		},
		{[]session.Content{session.Text{Text: "one"}, link("file:///a", transcript.UnsavedText)}, "{one false [] [] 4}"},
		{[]session.Content{session.Text{Text: "see @diff"}, link(transcript.ExcerptURI("diff", ""), "")}, "{see @diff false [] [] 4}"},
		{[]session.Content{session.Text{Text: "a diff"}, link(transcript.ExcerptURI("diff", ""), "")}, "{a diff false [] [diff] 4}"},
		{[]session.Content{session.Text{Text: "see @b"}, link("file:///b", "")}, "{see @b false [{/b 0 0 }] [] 4}"},
		{[]session.Content{session.Text{Text: "@"}, link(transcript.ExcerptURI("diff", ""), "")}, "{@ false [] [diff] 4}"},
		{
			[]session.Content{session.Text{Text: "one"}, session.Audio{MimeType: "audio/wav", Data: "AAAA"}},
			"{one false [] [[audio audio/wav 3 bytes]] 4}",
		},
	} {
		play(t, func(s *scene) { s.answers(tell(s, 0), "answer 7 "+c.want+" ") }, prompt(c.prompt...))
	}
	play(t, func(s *scene) {
		s.Await([]transcript.Waiting{{Blocks: []session.Content{session.Text{Text: "later"}}, Why: "waiting"}})
		check.Equal(t, s.drawn(), "edit unsent 2 in 1", "drawn is %s")
		s.answers(tell(s, 2), "answer 7 <nil> ")
		s.answers(tell(s, 99), "answer 7 <nil> ")
		s.answers(tell(s, 9), "answer 7 {later true [] [] 0} ")
	}, conversation()...)
}

// Neovim hears how many lines at the end are not sent when that changes, and again when the chat is drawn anew.
func TestWhatIsNotSent(t *testing.T) {
	play(t, func(s *scene) {
		s.Apply(session.Remark{Severity: "info", Text: "hello"})
		check.Equal(t, s.drawn(), "edit", "drawn is %s")
		s.On(func() { s.Redraw(errors.New("lost")) })
		s.Expect("remark info: hello", "marked")
		check.Contains(t, s.drawn(), "edit unsent 0 in 1", "drawn anew is %s")
		row, end := s.Block(0)
		check.Equal(t, [2]int{row, end}, [2]int{0, 1}, "the first block has the rows %v")
	}, conversation()...)
}
