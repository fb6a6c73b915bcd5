package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

func say(text string) step {
	return func(ctx context.Context, t *turn) error { return t.message(ctx, text) }
}

func think(text string) step {
	return func(ctx context.Context, t *turn) error { return t.stream(ctx, text, thoughtChunk) }
}

// end sets why the turn ends.
func end(reason v1.StopReason) step {
	return func(_ context.Context, t *turn) error {
		t.stop = reason
		return nil
	}
}

// plan sends the plan with its first n steps done.
func plan(n int) step {
	return func(_ context.Context, t *turn) error {
		entries := []v1.PlanEntry{
			{Content: "Read a file", Priority: v1.PlanHigh},
			{Content: "Propose a change", Priority: v1.PlanMedium},
			{Content: "Run the tests", Priority: v1.PlanLow},
		}
		for i := range entries {
			switch {
			case i < n:
				entries[i].Status = v1.PlanCompleted
			case i == n:
				entries[i].Status = v1.PlanInProgress
			default:
				entries[i].Status = v1.PlanPending
			}
		}
		t.send(&v1.Plan{Entries: entries})
		return nil
	}
}

// readFile reads the file that the turn is about.
func readFile(ctx context.Context, t *turn) error {
	t.file = pick(t.session.cwd, t.files)
	if !t.file.exists {
		return nil
	}
	id := t.begin(v1.ToolCall{
		Title:     "Read " + t.file.name(),
		Kind:      acp.Set(wire.ToolRead),
		Status:    acp.Set(v1.ToolInProgress),
		Locations: acp.Set([]wire.ToolCallLocation{{Path: t.file.path}}),
		RawInput:  raw(map[string]string{"path": t.file.path}),
	})
	text, err := t.readText(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		t.file.unread = true
		t.finish(id, v1.ToolFailed, err.Error())
		return nil
	}
	t.file.text = text
	t.finish(id, v1.ToolCompleted, count(t.file.lines(), "line"))
	return nil
}

// readText asks the client for the text, which may be unsaved, or else reads the disk.
func (t *turn) readText(ctx context.Context) (string, error) {
	if !t.client.FS.ReadTextFile {
		text, err := os.ReadFile(t.file.path)
		return string(text), err
	}
	var response v1.ReadTextFileResponse
	request := v1.ReadTextFileRequest{SessionID: t.session.id, Path: t.file.path}
	if err := t.call(ctx, v1.MethodFSReadTextFile, request, &response); err != nil {
		return "", fmt.Errorf("read %s: %w", t.file.name(), err)
	}
	return response.Content, nil
}

func sayWhatWasRead(ctx context.Context, t *turn) error {
	if !t.file.exists {
		return t.message(ctx, "There is no text in this folder that I could read.\n\n")
	}
	if t.file.unread {
		return t.message(ctx, fmt.Sprintf("I could not read `%s`, so I leave it alone.\n\n", t.file.name()))
	}
	text := fmt.Sprintf("I have read `%s`: it has %s", t.file.name(), count(t.file.lines(), "line"))
	if first := t.file.firstLine(); first != "" {
		text += fmt.Sprintf(" and begins with “%s”", first)
	}
	text += ".\n\n"
	if !t.client.FS.ReadTextFile {
		text += "This client does not read files for me, so that is what is on the disk.\n\n"
	}
	return t.message(ctx, text)
}

// editFile proposes the change to the file, and makes it if the user agrees.
func editFile(ctx context.Context, t *turn) error {
	if t.file.unread {
		return nil
	}
	text, what := t.file.change()
	diff := &v1.Diff{Path: t.file.path, NewText: text}
	line := uint32(1)
	if t.file.exists {
		diff.OldText = acp.Set(t.file.text)
		line = 2
	}
	call := v1.ToolCall{
		Title:     fmt.Sprintf("%s %s", strings.ToUpper(what[:1])+what[1:], t.file.name()),
		Kind:      acp.Set(wire.ToolEdit),
		Status:    acp.Set(v1.ToolPending),
		Content:   acp.Set([]v1.ToolCallContent{diff}),
		Locations: acp.Set([]wire.ToolCallLocation{{Path: t.file.path, Line: acp.Set(line)}}),
		RawInput:  raw(map[string]string{"path": t.file.path}),
	}
	id := t.begin(call)
	yes, err := t.allowed(ctx, wire.ToolEdit, patch(id, call))
	if err != nil {
		return err
	}
	if !yes {
		t.edited = rejected
		t.finish(id, v1.ToolFailed, "")
		return t.message(ctx, fmt.Sprintf("All right, `%s` stays as it is.\n\n", t.file.name()))
	}
	t.send(&v1.ToolCallUpdate{ToolCallID: id, Status: acp.Set(v1.ToolInProgress)})
	if err := t.writeText(ctx, text); err != nil {
		if ctx.Err() != nil {
			return err
		}
		t.edited = failed
		t.finish(id, v1.ToolFailed, err.Error())
		return t.message(ctx, fmt.Sprintf("That did not work: %v.\n\n", err))
	}
	t.edited = done
	t.finish(id, v1.ToolCompleted, "")
	return nil
}

// writeText writes the file, through the client if it can.
func (t *turn) writeText(ctx context.Context, text string) error {
	if !t.client.FS.WriteTextFile {
		return os.WriteFile(t.file.path, []byte(text), 0o666)
	}
	request := v1.WriteTextFileRequest{SessionID: t.session.id, Path: t.file.path, Content: text}
	if err := t.call(ctx, v1.MethodFSWriteTextFile, request, new(v1.WriteTextFileResponse)); err != nil {
		return fmt.Errorf("write %s: %w", t.file.name(), err)
	}
	return nil
}

// runCommand runs a command in a terminal of the client's, if the user agrees.
func runCommand(ctx context.Context, t *turn) error {
	if !t.client.Terminal {
		return t.message(ctx, "This client has no terminals, so I run nothing.\n\n")
	}
	t.command = t.rest
	if t.command == "" {
		t.command = testCommand(t.session.cwd)
	}
	call := v1.ToolCall{
		Title:    t.command,
		Kind:     acp.Set(wire.ToolExecute),
		Status:   acp.Set(v1.ToolPending),
		RawInput: raw(map[string]string{"command": t.command, "cwd": t.session.cwd}),
	}
	id := t.begin(call)
	yes, err := t.allowed(ctx, wire.ToolExecute, patch(id, call))
	if err != nil {
		return err
	}
	if !yes {
		t.ran = rejected
		t.finish(id, v1.ToolFailed, "")
		return t.message(ctx, "All right, I run nothing.\n\n")
	}
	output, err := t.voice().run(ctx, t, id)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		t.ran = failed
		t.finish(id, v1.ToolFailed, err.Error())
		return t.message(ctx, fmt.Sprintf("That did not work: %v.\n\n", err))
	}
	t.ran = done
	status := v1.ToolCompleted
	if t.exit != "code 0" {
		status = v1.ToolFailed
	}
	t.send(&v1.ToolCallUpdate{
		ToolCallID: id, Status: acp.Set(status),
		RawOutput: raw(map[string]string{"output": output, "exit": t.exit}),
	})
	return nil
}

const outputLimit = 64 << 10 // bytes

// sayOutcome sums up how the edit and the command ended.
func sayOutcome(ctx context.Context, t *turn) error {
	outcomes := t.outcomes()
	if len(outcomes) == 0 {
		outcomes = []string{"nothing has changed"}
	}
	var b strings.Builder
	b.WriteString("### Summary\n\n")
	for _, o := range outcomes {
		fmt.Fprintf(&b, "- %s.\n", strings.ToUpper(o[:1])+o[1:])
	}
	return t.message(ctx, b.String())
}

// outcomes says how the edit and the command ended, if there were any.
func (t *turn) outcomes() []string {
	var all []string
	switch t.edited {
	case done:
		all = append(all, fmt.Sprintf("I changed `%s`, as you allowed", t.file.name()))
	case rejected:
		all = append(all, fmt.Sprintf("you rejected the edit, so `%s` is as it was", t.file.name()))
	case failed:
		all = append(all, fmt.Sprintf("I could not change `%s`", t.file.name()))
	}
	switch t.ran {
	case done:
		all = append(all, "the command ended with "+t.exit)
	case rejected:
		all = append(all, "you did not let me run a command")
	case failed:
		all = append(all, "the command could not be run")
	}
	return all
}

func sayFollowUp(ctx context.Context, t *turn) error {
	line, _, _ := strings.Cut(t.prompt, "\n")
	return t.message(ctx, fmt.Sprintf("You said “%s”. I am a script and do not understand it, but I remember the "+
		"turn before: %s.\n\nType `help` to see what I can do.\n", line, t.session.last))
}

// showTools makes a tool call of each kind, one of which fails.
func showTools(ctx context.Context, t *turn) error {
	for _, tool := range []struct {
		kind    wire.ToolKind
		title   string
		content v1.ToolCallContent
	}{
		{wire.ToolRead, "Read nothing", text("one line")},
		{wire.ToolSearch, "Search for `needle`", text("hay.txt:3: a needle\nhay.txt:9: another needle")},
		{wire.ToolEdit, "Edit made-up.lua", &v1.Diff{
			Path:    filepath.Join(t.session.cwd, "made-up.lua"),
			OldText: acp.Set("local n = 1\nreturn n\n"), NewText: "local n = 2\nreturn n\n",
		}},
		{wire.ToolDelete, "Delete made-up.txt", nil},
		{wire.ToolMove, "Move made-up.txt to elsewhere.txt", nil},
		{wire.ToolExecute, "make believe", text("make: *** No rule to make target 'believe'.  Stop.")},
		{wire.ToolThink, "Think about it", text("Hm.")},
		{wire.ToolFetch, "Fetch a page", &v1.Content{Content: &wire.ResourceLink{
			Name: "the protocol", URI: "https://agentclientprotocol.com",
		}}},
		{wire.ToolSwitchMode, "Stay in this mode", nil},
		{wire.ToolOther, "Do something else", text("**done**")},
	} {
		id := t.begin(v1.ToolCall{
			Title: tool.title, Kind: acp.Set(tool.kind), Status: acp.Set(v1.ToolInProgress),
			RawInput: raw(map[string]bool{"demo": true}),
		})
		if err := t.pace.pause(ctx); err != nil {
			return err
		}
		u := &v1.ToolCallUpdate{ToolCallID: id, Status: acp.Set(v1.ToolCompleted)}
		if tool.content != nil {
			u.Content = acp.Set([]v1.ToolCallContent{tool.content})
		}
		if tool.kind == wire.ToolExecute {
			u.Status = acp.Set(v1.ToolFailed)
		}
		t.send(u)
	}
	return t.message(ctx, "Those were all kinds of tool calls. None of them did anything.\n")
}

// askTwice asks for two permissions at the same time.
func askTwice(ctx context.Context, t *turn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	calls := []v1.ToolCall{
		{Title: "true", Kind: acp.Set(wire.ToolExecute), RawInput: raw(map[string]string{"command": "true"})},
		{Title: "Edit nothing", Kind: acp.Set(wire.ToolEdit)},
	}
	type answer struct {
		kind wire.PermissionOptionKind
		err  error
	}
	answers := make([]chan answer, len(calls))
	ids := make([]wire.ToolCallID, len(calls))
	for i, call := range calls {
		call.Status = acp.Set(v1.ToolPending)
		ids[i] = t.begin(call)
		answers[i] = make(chan answer, 1)
		go func() {
			kind, err := t.ask(ctx, call.Kind.Or(wire.ToolOther), patch(ids[i], call))
			if err != nil {
				cancel() // the other one too
			}
			answers[i] <- answer{kind, err}
		}()
	}
	var failure error
	allowed := 0
	for i := range calls {
		a := <-answers[i]
		switch a.kind {
		case wire.PermissionAllowOnce, wire.PermissionAllowAlways:
			allowed++
			t.finish(ids[i], v1.ToolCompleted, "")
		case wire.PermissionRejectOnce, wire.PermissionRejectAlways:
			t.finish(ids[i], v1.ToolFailed, "")
		}
		if failure == nil || errors.Is(a.err, errCancelled) {
			failure = a.err
		}
	}
	if failure != nil {
		return failure
	}
	return t.message(ctx, fmt.Sprintf("You allowed %d of %d. Neither would have done anything.\n", allowed, len(calls)))
}

// countOn writes numbers until it is cancelled, or for a very long time.
func countOn(ctx context.Context, t *turn) error {
	if t.pace.most == 0 {
		t.pace = pace{time.Millisecond, time.Millisecond} // it must be possible to stop it
	}
	for n := 1; n <= 5000; n++ {
		if err := t.message(ctx, fmt.Sprintf("%d. This goes on until you stop it.\n", n)); err != nil {
			return err
		}
	}
	return nil
}

func sendNotices(ctx context.Context, t *turn) error {
	if t.client.Session == nil || t.client.Session.Notices == nil {
		return t.message(ctx, "This client does not take notices.\n")
	}
	t.send(&v1.Notice{Severity: v1.NoticeInfo, Title: "For your information", Description: "This is a demo."})
	t.send(&v1.Notice{Severity: v1.NoticeWarning, Title: "Beware", Description: "Nothing is as it seems."})
	t.send(&v1.Notice{Severity: v1.NoticeError, Title: "Nothing has gone wrong"})
	return t.message(ctx, "Those were three notices.\n")
}

func sendUnknown(ctx context.Context, t *turn) error {
	t.send(&v1.Unknown{Raw: json.RawMessage(`{"sessionUpdate":"_demo/weather","forecast":"sunny"}`)})
	return t.message(ctx, "That was an update of a kind that is in no schema.\n")
}

func fail(context.Context, *turn) error {
	return &acp.Error{
		Code: acp.CodeInternalError, Message: "the demo agent fails, as it was asked to",
		Data: json.RawMessage(`{"demo":true}`),
	}
}

func needLogin(_ context.Context, t *turn) error {
	if t.isLoggedIn() {
		return nil
	}
	return &acp.Error{Code: acp.CodeAuthRequired, Message: "Authentication required"}
}

func crash(context.Context, *turn) error {
	fmt.Fprintln(os.Stderr, "demo agent: crashing, as it was asked to")
	os.Exit(3)
	return nil
}

// patch returns a tool call as permission requests contain it.
func patch(id wire.ToolCallID, call v1.ToolCall) v1.ToolCallUpdate {
	return v1.ToolCallUpdate{
		ToolCallID: id, Title: acp.Set(call.Title), Kind: call.Kind, Status: call.Status, Content: call.Content,
		Locations: call.Locations, RawInput: call.RawInput,
	}
}

func text(s string) v1.ToolCallContent { return &v1.Content{Content: wire.Text(s)} }

// raw encodes a map, which cannot fail.
func raw(v any) acp.Opt[json.RawMessage] {
	data, _ := json.Marshal(v)
	return acp.Set(json.RawMessage(data))
}
