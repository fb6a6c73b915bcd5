package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// told is what a turn says, thinks and tells about the session.
type told struct{ title, thoughts, text, usage string }

// add takes over what an update says.
func (w *told) add(update any) {
	of := func(content wire.ContentBlock) string { return content.(*wire.TextContent).Text }
	usage := func(used, size uint64, cost wire.Cost) string {
		return fmt.Sprintf("%d of %d, %.4f %s", used, size, cost.Amount, cost.Currency)
	}
	switch u := update.(type) {
	case *v1.SessionInfoUpdate:
		w.title += u.Title.Or("")
	case *v2.SessionInfoUpdate:
		w.title += u.Title.Or("")
	case *v1.AgentThoughtChunk:
		w.thoughts += of(u.Content)
	case *v2.AgentThoughtChunk:
		w.thoughts += of(u.Content)
	case *v1.AgentMessageChunk:
		w.text += of(u.Content)
	case *v2.AgentMessageChunk:
		w.text += of(u.Content)
	case *v1.UsageUpdate:
		w.usage = usage(u.Used, u.Size, *u.Cost)
	case *v2.UsageUpdate:
		w.usage = usage(u.Used, u.Size, u.Cost.Or(wire.Cost{}))
	}
}

// The agent says the same in both versions, and tells the title of the session and what it has used.
func TestWordsOfBothVersions(t *testing.T) {
	dir, readme := project(t)
	long := strings.Repeat("é", 60)
	for prompt, want := range map[string]told{
		"think":           {title: "think", thoughts: thoughts, text: afterThoughts},
		"plan":            {title: "plan", text: "First things first.\n\nNow the second step.\n\nAnd the last one.\n\nAll done; none of it was real.\n"},
		"text\n ":         {title: "text", text: markdown},
		"/text " + long:   {title: "/text " + long[:2*43] + "…", text: markdown},
		"/notice me\nnow": {title: "/notice me", text: "Those were three notices.\n"},
		"unknown":         {title: "unknown", text: "That was an update of a kind that is in no schema.\n"},
		"max":             {title: "max", text: cutOff},
		"refuse":          {title: "refuse", text: "I will not do that.\n"},
		"tools":           {title: "tools", text: "Those were all kinds of tool calls. None of them did anything.\n"},
		"parallel":        {title: "parallel", text: "You allowed 2 of 2. Neither would have done anything.\n"},
		"read":            {title: "read", text: "I have read `README.md`: it has 1 line and begins with “Saved”.\n\n"},
		"edit":            {title: "edit", text: "### Summary\n\n- I changed `README.md`, as you allowed.\n"},
		"/run true":       {title: "/run true", text: "### Summary\n\n- The command ended with code 0.\n"},
		"/rename Saved Kept": {title: "/rename Saved Kept", text: "I have written “Kept” for “Saved” in 1 file. " +
			"`:Acp review` shows it, `:Acp undo` takes it back.\n"},
	} {
		count := func(w *told) {
			tokens := (len(w.thoughts) + len(w.text)) / 4
			w.usage = fmt.Sprintf("%d of 8192, %.4f XTS", tokens, float64(tokens)/10_000)
		}
		count(&want)
		must.Do(t, os.WriteFile(readme, []byte("# Saved\n"), 0o666))
		first, second := connect(t, dir, all), connectV2(t, dir)
		first.files[readme] = "# Saved\n"
		first.prompt(prompt)
		var inV1, inV2 told
		for _, n := range first.updates {
			check.Equal(t, n.SessionID, first.session, "in version 1 it tells about the session %s")
			inV1.add(n.Update)
		}
		must.Do(t, must.Receive(t, "the answer", second.prompt(prompt)))
		for idle := false; !idle; {
			u := must.Receive(t, "the end of the turn", second.updates)
			inV2.add(u)
			state, ok := u.(*v2.StateUpdate)
			idle = ok && state.State == v2.StateIdle
		}
		check.Equal(t, inV1, want, "%q: in version 1 it tells %q", prompt)
		if prompt == "read" { // from the disk
			want.text += "This client does not read files for me, so that is what is on the disk.\n\n"
			count(&want)
		}
		check.Equal(t, inV2, want, "%q: in version 2 it tells %q", prompt)
	}
}

// The client can offer the same commands and options in both versions.
func TestChoicesOfBothVersions(t *testing.T) {
	dir := t.TempDir()
	first, second := connect(t, dir, all), connectV2(t, dir)
	first.prompt("refuse")
	auto := v1.SelectValue(first.session, "mode", "auto")
	options := answer[v1.SetSessionConfigOptionResponse](first, v1.MethodSessionSetConfigOption, auto)
	set := second.must("session/set_config_option",
		fmt.Sprintf(`{"sessionId":%q,"configId":"mode","type":"id","value":"auto"}`, second.session))
	var changed v2.SetSessionConfigOptionResponse
	var resumed v2.SessionChoices
	must.Do(t, acp.Decode(set, &changed),
		acp.Decode(second.must("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q}`, second.session, dir)), &resumed))

	var inV1, inV2 []string
	for _, o := range options.ConfigOptions {
		kind := *o.Kind.(*v1.SessionConfigSelect)
		inV1 = append(inV1, fmt.Sprintf("%s %s %s %s %+v", o.ID, o.Name, o.Category, o.Description, kind))
	}
	inVersion2 := func(options []v2.SessionConfigOption) (list []string) {
		for _, o := range options {
			kind := *o.Kind.(*v2.SessionConfigSelect)
			list = append(list, fmt.Sprintf("%s %s %s %s %+v", o.ConfigID, o.Name, o.Category, o.Description, kind))
		}
		return list
	}
	check.Contains(t, inV1[0], "mode Mode mode  {CurrentValue:auto ", "the first option is %s")
	check.Slice(t, inVersion2(changed.ConfigOptions), inV1, "in version 2 the options are %q")
	check.Slice(t, inVersion2(resumed.ConfigOptions), inV1, "in a session that is resumed they are %q")

	inV1 = nil
	for _, c := range of[*v1.AvailableCommandsUpdate](first)[0].AvailableCommands {
		hint := ""
		if c.Input != nil {
			hint = "text " + c.Input.Hint
		}
		inV1 = append(inV1, fmt.Sprint(c.Name, ": ", c.Description, "; ", hint))
	}
	for _, c := range resumed.AvailableCommands {
		hint := ""
		if c.Input != nil {
			hint = c.Input.Type + " " + c.Input.Hint
		}
		check.Equal(t, c.Type, "command", "what is offered is a %s")
		inV2 = append(inV2, fmt.Sprint(c.Name, ": ", c.Description, "; ", hint))
	}
	check.Slice(t, inV2, inV1, "in version 2 the commands are %q")
}

// What cannot be done is refused in the words for it.
func TestWordsOfRefusals(t *testing.T) {
	c := connect(t, t.TempDir(), all)
	for _, r := range []struct{ method, params, want string }{
		{v1.MethodSessionPrompt, `{"sessionId":"x","prompt":[]}`, `there is no session "x"`},
		{v1.MethodSessionClose, `{"sessionId":"x"}`, `there is no session "x"`},
		{v1.MethodSessionSetMode, `{"sessionId":"demo-1","modeId":"x"}`, `there is no mode "x"`},
		{v1.MethodSessionSetMode, `{"sessionId":"x","modeId":"auto"}`, `there is no session "x"`},
		{v1.MethodSessionSetConfigOption, `{"sessionId":"x","configId":"mode","value":"auto"}`, `there is no session "x"`},
		{v1.MethodSessionSetConfigOption, `{"sessionId":"demo-1","configId":"y","value":"z"}`, `there is no choice in the option "y"`},
		{v1.MethodSessionSetConfigOption, `{"sessionId":"demo-1","configId":"mode","value":{}}`, `option "mode": `},
	} {
		_, err := call[json.RawMessage](c, r.method, json.RawMessage(r.params))
		var e *acp.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Message, r.want) {
			t.Errorf("%s %s: %v; want %s", r.method, r.params, err, r.want)
		}
	}
}

// In version 2 the agent says who it is, names each prompt that it takes, and to which session all belongs.
func TestNamesInV2(t *testing.T) {
	dir, readme := project(t)
	c := connectV2(t, dir)
	var info v2.InitializeResponse
	must.Do(t, acp.Decode(c.must("initialize", `{"protocolVersion":2,"info":{"name":"x","version":"0"}}`), &info))
	check.Equal(t, info.Info.Name+" "+info.Info.Title+" "+info.Info.Version, "acp-nvim-demo Demo 1.2.3", "it is %s")
	check.Equal(t, info.Capabilities.Auth != nil, true, "that one can log in is %v")
	check.Deep(t, info.AuthMethods[0], v2.AuthMethod{
		Type: v2.AuthMethodAgent, MethodID: loginMethod, Name: loginName, Description: loginDescription,
	}, "one logs in by %+v")
	var list v2.ListSessionsResponse
	must.Do(t, acp.Decode(c.must("session/list", `{}`), &list))
	check.Equal(t, fmt.Sprint(list.Sessions[0].SessionID, " ", list.Sessions[0].CWD), fmt.Sprint(c.session, " ", dir), "there is %s")

	for i, prompt := range []string{"edit", "run"} {
		var answer v2.PromptResponse
		raw := c.must("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, c.session, prompt))
		must.Do(t, acp.Decode(raw, &answer))
		user := must.Receive(t, "the prompt", c.updates).(*v2.UserMessage)
		check.Equal(t, user.MessageID, wire.MessageID(fmt.Sprint("prompt-", i+1)), "the prompt is told as %s")
		check.Equal(t, answer.MessageID, user.MessageID, "and answered as %s")
		c.story()
	}
	edit, run := must.Receive(t, "the edit", c.asked), must.Receive(t, "the command", c.asked)
	check.Equal(t, edit.Title+" "+run.Title, "Put a note into README.md? sh test.sh?", "the user is asked %s")
	content, _ := edit.Subject.(*v2.ToolCallPermissionSubject).ToolCall.Content.Get()
	changes := content[0].(*v2.Diff).Changes
	modify, _ := changes[0].Operation.(*v2.DiffModify)
	if len(changes) != 1 || modify == nil || modify.Path != readme || changes[0].FileType != v2.FileText {
		t.Errorf("it asked to change %+v", changes)
	}
}
