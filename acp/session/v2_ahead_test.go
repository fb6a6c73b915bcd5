package session

import (
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
)

// A prompt that is cancelled before it has its place in the conversation was not taken.
func TestPromptOfV2IsNotTaken(t *testing.T) {
	for name, c := range map[string]struct {
		before []fakeagent.Step
		want   string
	}{
		"not inserted": {nil, "end  the prompt was not taken: Request cancelled (-32800)"},
		"not running":  {[]fakeagent.Step{says(running), says(idle)}, "end  the prompt was not taken: Request cancelled (-32800)"},
		"inserted":     {[]fakeagent.Step{says(echoed)}, "user+u:hi\nend cancelled <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			script := append([]fakeagent.Step{fakeagent.Expect("session/prompt")}, c.before...)
			p := talkV2(t, append(script, fakeagent.Fail(-32800, "Request cancelled"))...)
			p.prompt("hi")
			check.Equal(t, p.story(), c.want, "got\n%s")
		})
	}
}

// Words for the running turn are a prompt that the agent takes when it likes.
func TestSteeringOfV2(t *testing.T) {
	const (
		more   = `"user_message","messageId":"v","content":[{"type":"text","text":"and more"}]`
		told   = `"agent_message_chunk","messageId":"a","content":{"type":"text","text":"ho"}`
		first  = "user+u:hi\n"
		over   = "end end_turn <nil>"
		worked = "own work ended=true end_turn"
	)
	answer := fakeagent.Reply(`{"messageId":"v"}`)
	for name, c := range map[string]struct {
		script []fakeagent.Step
		want   string
	}{
		"taken into the turn": {
			[]fakeagent.Step{says(more), answer, says(told), says(idle)},
			first + "steered 1 <nil>\nuser+v:and more\nagent+a:ho\n" + over,
		},
		"answered first": {
			[]fakeagent.Step{answer, says(more), says(told), says(idle)},
			first + "steered 1 <nil>\nuser+v:and more\nagent+a:ho\n" + over,
		},
		"held until the turn is over": {
			[]fakeagent.Step{says(told), says(idle), says(more), answer, says(running), says(idle)},
			first + "agent+a:ho\n" + over + "\nsteered 2 <nil>\nuser+v:and more\n" + worked,
		},
		"held, and running before": {
			[]fakeagent.Step{says(idle), says(running), says(more), answer, says(told), says(idle)},
			first + over + "\nsteered 2 <nil>\nuser+v:and more\nagent+a:ho\n" + worked,
		},
		"held while it does something else": {
			[]fakeagent.Step{says(idle), says(running), says(told), says(idle), says(more), answer, says(running), says(idle)},
			first + over + "\nown work ended=false \nagent+a:ho\n" + worked + "\nsteered 2 <nil>\nuser+v:and more\n" + worked,
		},
		"cancelled": {
			[]fakeagent.Step{says(`"state_update","state":"idle","stopReason":"cancelled"`), fakeagent.Fail(-32800, "Request cancelled"), says(idle)},
			first + "end cancelled <nil>\nsteered 3 <nil>",
		},
		"refused": {
			[]fakeagent.Step{fakeagent.Fail(-32603, "no"), says(idle)},
			first + "steered 0 no (-32603)\n" + over,
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := []fakeagent.Step{
				fakeagent.Expect("session/prompt"), says(echoed), fakeagent.Reply(taken), says(running), fakeagent.Expect("session/prompt"),
			}
			p := talkV2(t, append(start, c.script...)...)
			p.prompt("hi")
			p.Steer("s1", []Content{Text{"and more"}}, func(became Steering, err error) {
				p.events <- fmt.Sprintf("steered %d %v", became, err)
			})
			check.Equal(t, p.story(), c.want, "got\n%s")
		})
	}
}

// An agent with the extension for it takes words for the running turn by that.
func TestSteeringOfV2ByExtension(t *testing.T) {
	p := negotiate(t, 2, fakeagent.Expect("initialize"), fakeagent.Reply(`{"protocolVersion":2,"info":{"name":"x","version":"1"},"capabilities":{},"_meta":{"steering":{"supported":true}}}`),
		fakeagent.Expect("_session/steering"), fakeagent.Reply(`{"outcome":"injected"}`))
	if p.err != nil {
		t.Fatal(p.err)
	}
	p.Steer("s1", []Content{Text{"and more"}}, func(became Steering, err error) { p.events <- outcome[Steering]{became, err} })
	check.Equal[any](t, receive(t, p.events), (outcome[Steering]{SteeringTaken, nil}), "got %+v")
	want := `{"sessionId":"s1","prompt":[{"type":"text","text":"and more"}],"_meta":{"steering":{"idleBehavior":"promptRequired"}}}`
	check.Equal(t, string(p.finish()[1].Params), want, "sent is %s")
}
