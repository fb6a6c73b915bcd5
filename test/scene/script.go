package scene

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// This file has what agents say: messages of the protocol that a test need not spell out.

// SessionID is the id that a puppet gives its n-th session.
func SessionID(n int) string { return fmt.Sprintf("s-%d", n) }

// Initialize answers the first request; extra adds to the answer.
func (p *Puppet) Initialize(extra obj) {
	p.T.Helper()
	answer := obj{
		"protocolVersion":   1,
		"agentInfo":         obj{"name": "puppet", "version": "1"},
		"agentCapabilities": obj{"sessionCapabilities": obj{"close": obj{}}},
		"authMethods":       []any{},
	}
	for k, v := range extra {
		answer[k] = v
	}
	p.Reply(p.Expect("initialize"), answer)
}

// InitializeV2 is Initialize for an agent that speaks version 2; extra adds to the answer.
func (p *Puppet) InitializeV2(extra obj) {
	p.T.Helper()
	p.Protocol = 2
	answer := obj{
		"protocolVersion": 2,
		"info":            obj{"name": "puppet", "version": "1"},
		"capabilities":    obj{"session": obj{"delete": obj{}}},
	}
	for k, v := range extra {
		answer[k] = v
	}
	p.Reply(p.Expect("initialize"), answer)
}

// NewSession answers session/new with the n-th session's id.
func (p *Puppet) NewSession(n int) {
	p.T.Helper()
	p.Reply(p.Expect("session/new"), obj{"sessionId": SessionID(n)})
}

// Begin answers initialize and session/new.
func (p *Puppet) Begin() {
	p.T.Helper()
	p.Initialize(nil)
	p.NewSession(1)
}

// LoginMethods are an agent's ways to log in.
func LoginMethods(methods ...obj) obj { return obj{"authMethods": methods} }

// BrowserLogin is a way to log in that the agent goes by itself.
var BrowserLogin = obj{"id": "browser", "name": "With a browser", "description": "It opens by itself"}

// RefuseLogin answers a request with the error that a login is needed.
func (p *Puppet) RefuseLogin(m Message) {
	p.T.Helper()
	p.Refuse(m, -32000, "Authentication required", nil)
}

// Authenticate answers the agent's own login.
func (p *Puppet) Authenticate(id string) {
	p.T.Helper()
	m := p.Expect("authenticate")
	if m.Text("methodId") != id {
		p.T.Errorf("logged in with %s", m)
	}
	p.Reply(m, obj{})
}

// Replay tells what was said in a session: a question, a tool call, an answer.
func (p *Puppet) Replay(id string) {
	p.T.Helper()
	text := func(s string) obj { return obj{"content": obj{"type": "text", "text": s}} }
	p.UpdateIn(id, "user_message_chunk", text("Asked long ago."))
	p.UpdateIn(id, "tool_call", obj{"toolCallId": "old", "title": "Looked it up", "kind": "read", "status": "completed"})
	p.UpdateIn(id, "agent_message_chunk", text("Answered long ago."))
}

// Prompted waits for a prompt and gives it with its text.
func (p *Puppet) Prompted() (Message, string) {
	p.T.Helper()
	m := p.Expect("session/prompt")
	blocks, _ := m.Get("prompt").([]any)
	var texts []string
	for _, b := range blocks {
		if block, _ := b.(obj); block["type"] == "text" {
			text, _ := block["text"].(string)
			texts = append(texts, text)
		}
	}
	return m, strings.Join(texts, "\n")
}

// PromptedWith is Prompted where the text must be this.
func (p *Puppet) PromptedWith(want string) Message {
	p.T.Helper()
	m, got := p.Prompted()
	check.Equal(p.T, got, want, "the agent was asked %q")
	return m
}

// Stop ends a turn, for a reason of the protocol's.
func (p *Puppet) Stop(prompt Message, reason string) {
	p.T.Helper()
	p.Reply(prompt, obj{"stopReason": reason})
}

// EndTurn ends a turn well and waits until the user is told.
func (p *Puppet) EndTurn(prompt Message) {
	p.T.Helper()
	p.Stop(prompt, "end_turn")
	p.Scene.AwaitEvent("AcpTurnEnd")
}

// PlayTurn plays a whole turn whose prompt must be this text.
func (p *Puppet) PlayTurn(want string) {
	p.T.Helper()
	p.EndTurn(p.PromptedWith(want))
}

// Update sends a session/update of the first session.
func (p *Puppet) Update(kind string, fields obj) {
	p.T.Helper()
	p.UpdateIn(SessionID(1), kind, fields)
}

// UpdateIn is Update for any session, by its id.
func (p *Puppet) UpdateIn(session, kind string, fields obj) {
	p.T.Helper()
	u := obj{"sessionUpdate": kind}
	for k, v := range fields {
		u[k] = v
	}
	p.Notify("session/update", obj{"sessionId": session, "update": u})
}

// Say streams a text as one chunk.
func (p *Puppet) Say(text string) {
	p.T.Helper()
	p.Update("agent_message_chunk", obj{"content": obj{"type": "text", "text": text}})
}

// Think streams a thought as one chunk.
func (p *Puppet) Think(text string) {
	p.T.Helper()
	p.Update("agent_thought_chunk", obj{"content": obj{"type": "text", "text": text}})
}

// ToolCall begins a tool call; fields add to it.
func (p *Puppet) ToolCall(id, kind string, fields obj) {
	p.T.Helper()
	call := obj{"toolCallId": id, "title": id, "kind": kind, "status": "pending"}
	for k, v := range fields {
		call[k] = v
	}
	p.Update("tool_call", call)
}

// Finish has a tool call be completed.
func (p *Puppet) Finish(id string, fields obj) {
	p.T.Helper()
	call := obj{"toolCallId": id, "status": "completed"}
	for k, v := range fields {
		call[k] = v
	}
	p.Update("tool_call_update", call)
}

// RunMake is a tool call that wants to run a command.
var RunMake = obj{
	"toolCallId": "c1", "title": "`make test`", "kind": "execute", "status": "pending",
	"rawInput": obj{"command": "make test", "description": "Runs the tests"},
}

// CommandCall is a tool call that wants to run a command.
func CommandCall(id, line string) obj {
	return obj{"toolCallId": id, "title": "`" + line + "`", "kind": "execute", "rawInput": obj{"command": line}}
}

// EditCall is a tool call that wants to change a file.
func EditCall(id, path string) obj {
	return obj{
		"toolCallId": id, "title": "Edit " + filepath.Base(path), "kind": "edit", "locations": []obj{{"path": path}},
		"rawInput": obj{"file_path": path, "old_string": "a", "new_string": "b"},
		"content":  []obj{{"type": "diff", "path": path, "oldText": "a\n", "newText": "b\n"}},
	}
}

// EditsCall is a call that gives files other texts: path, old, new, and so on. A file without an old text is new.
func EditsCall(id string, files ...string) obj {
	var content []obj
	for i := 0; i < len(files); i += 3 {
		d := obj{"type": "diff", "path": files[i], "newText": files[i+2]}
		if files[i+1] != "" {
			d["oldText"] = files[i+1]
		}
		content = append(content, d)
	}
	return obj{"toolCallId": id, "title": "Edit files", "kind": "edit", "status": "pending", "content": content}
}

// DiffOf is the content of a tool call that changes a file.
func DiffOf(path string, old any, text string) []any {
	return []any{obj{"type": "diff", "path": path, "oldText": old, "newText": text}}
}

// Permission asks for permission for a call.
func (p *Puppet) Permission(call obj, options ...obj) (id int) {
	p.T.Helper()
	if options == nil {
		options = []obj{}
	}
	return p.Call("session/request_permission", obj{"sessionId": SessionID(1), "toolCall": call, "options": options})
}

// AwaitOutcome waits for the answer to a request for permission, which must be this option, or "cancelled".
func (p *Puppet) AwaitOutcome(id int, want string) {
	p.T.Helper()
	check.Equal(p.T, Outcome(p.T, p.Answer(id)), want, "the answer is %s")
}

// YesNo are options as most agents have them.
var YesNo = []obj{
	{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
	{"optionId": "always", "name": "Yes, always", "kind": "allow_always"},
	{"optionId": "no", "name": "No", "kind": "reject_once"},
}

// ReadFile reads a file through the client; extra adds to the parameters.
func (p *Puppet) ReadFile(path string, extra obj) string {
	p.T.Helper()
	if p.voice != nil && extra == nil { // it reads the disk
		return p.Scene.ReadFile(path)
	}
	params := obj{"sessionId": SessionID(1), "path": path}
	for k, v := range extra {
		params[k] = v
	}
	m := p.Ask("fs/read_text_file", params)
	if m.Error != nil {
		p.T.Errorf("read %s: %v", path, *m.Error)
	}
	return m.Text("content")
}

// WriteFile writes a file through the client.
func (p *Puppet) WriteFile(path, text string) {
	p.T.Helper()
	if p.voice != nil { // it writes the disk
		must.Do(p.T, os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
		return
	}
	m := p.Answer(p.Store(path, text))
	if m.Error != nil {
		p.T.Errorf("write %s: %v", path, *m.Error)
	}
}

// Fetch asks for the text of a file and does not wait for it.
func (p *Puppet) Fetch(path string) (id int) {
	p.T.Helper()
	return p.Call("fs/read_text_file", obj{"sessionId": SessionID(1), "path": path})
}

// Store has a file written and does not wait for it.
func (p *Puppet) Store(path, text string) (id int) {
	p.T.Helper()
	return p.Call("fs/write_text_file", obj{"sessionId": SessionID(1), "path": path, "content": text})
}

// AnswersText waits for the answer to Fetch or Store, which must have this text.
func (p *Puppet) AnswersText(id int, want string) {
	p.T.Helper()
	if m := p.Answer(id); m.Error != nil || m.Text("content") != want {
		p.T.Errorf("the answer is %s, expected %q", m, want)
	}
}

// AnswersError waits for the answer to a call, which must be an error that says all this.
func (p *Puppet) AnswersError(id int, code int, says ...string) {
	p.T.Helper()
	m := p.Answer(id)
	if m.Error == nil || m.Error.Code != code {
		p.T.Errorf("the answer is %s, expected error %d", m, code)
		return
	}
	for _, text := range says {
		check.Contains(p.T, m.Error.Message, text, "the error says %q")
	}
}

// Terminal runs a shell script in a terminal of the client's and gives its id; extra adds to the parameters.
func (p *Puppet) Terminal(script string, extra obj) string {
	p.T.Helper()
	params := obj{"sessionId": SessionID(1), "command": "sh", "args": []string{"-c", script}}
	for k, v := range extra {
		params[k] = v
	}
	m := p.Ask("terminal/create", params)
	if m.Error != nil {
		p.T.Fatalf("create a terminal: %v", *m.Error)
	}
	return m.Text("terminalId")
}

// InTerminal has something done with a terminal: `output`, `kill`, `release`, `wait_for_exit`.
func (p *Puppet) InTerminal(method, id string) Message {
	p.T.Helper()
	m := p.Ask("terminal/"+method, obj{"sessionId": SessionID(1), "terminalId": id})
	if m.Error != nil {
		p.T.Errorf("%s: %v", method, *m.Error)
	}
	return m
}
