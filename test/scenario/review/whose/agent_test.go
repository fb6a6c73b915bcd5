package whose

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// agentMoves has the agent do something in one of the ways that there are, as part of a call or not.
func (r *whoseRound) agentMoves() {
	r.T.Helper()
	name := r.pick(func(string) bool { return true })
	switch n := r.IntN(20); {
	case n < 8:
		r.agentWrites(name)
		return
	case n < 10 && r.may("asks"):
		r.agentAsks(name)
		return
	}
	r.whole = nil
	script := r.disk(name)
	if script == "" {
		return
	}
	n := r.IntN(5)
	if !r.may("unnamed") {
		n %= 2
	}
	switch {
	case n < 1:
		r.did("  by a call that names nothing")
		r.count++
		id := fmt.Sprint("run", r.count)
		r.agent.ToolCall(id, "execute", nil)
		r.Shell(script)
		r.agent.Finish(id, nil)
	case n < 2:
		r.did("  by a call that names it")
		r.count++
		id := fmt.Sprint("edit", r.count)
		r.agent.ToolCall(id, "edit", obj{"locations": []obj{{"path": r.path(name)}}})
		if r.IntN(2) == 0 {
			r.did("  of which the host has heard")
			m := r.agent.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": r.path(name)})
			if m.Error == nil { // the agent has read it
				r.known[name] = linesOf(m.Text("content"))
				delete(r.unread, name)
			}
			if m.Error == nil && r.whole != nil { // what it leaves out of that it has removed, for all that anybody knows
				r.removes(name, linesOf(m.Text("content")), r.whole)
			}
		}
		r.Shell(script)
		r.agent.Finish(id, nil)
	case n < 3:
		r.did("  in a terminal")
		id := r.agent.Terminal("cd "+r.Dir+"; "+script, nil)
		r.agent.InTerminal("wait_for_exit", id)
		r.agent.InTerminal("release", id)
	default:
		r.Shell(script)
	}
}

// agentEdit changes a text in one or two places.
func (r *whoseRound) agentEdit(lines []string) []string {
	lines = slices.Clone(lines)
	for range 1 + r.IntN(2) {
		at := r.IntN(len(lines) + 1)
		end := min(at+r.IntN(3), len(lines))
		lines = slices.Replace(lines, at, end, r.linesOf("a", r.IntN(3))...)
	}
	return lines
}

// removes tells the user's file which lines an agent has left out.
func (r *whoseRound) removes(name string, before, after []string) {
	r.all(name, func(u *userFile) { u.overrule(less(before, after)) })
}

// agentWrites has the agent write a file through its client.
func (r *whoseRound) agentWrites(name string) {
	r.T.Helper()
	path := r.path(name)
	known, read := r.known[name]
	how := "as read before"
	if !read || r.IntN(3) > 0 || !r.may("stale") {
		if m := r.agent.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": path}); m.Error == nil {
			known, how = linesOf(m.Text("content")), "as read now"
			r.known[name] = known
			delete(r.unread, name)
		} else {
			known, how = nil, "unread"
			if data := r.data(name); data != nil {
				_, known = decode(data)
				how = "as the disk has it"
			}
			delete(r.known, name)
		}
		if r.IntN(4) == 0 {
			r.did("agent reads %s", name)
			return
		}
	}
	text := r.agentEdit(known)
	r.did("agent writes %s, %s: %v", name, how, text)
	r.removes(name, slices.Concat(known, r.gave[name], r.unread[name]), text) // what it has not read it writes over: that is listed
	if r.forgotten && how == "as read before" {
		sees, disk := r.texts(name)
		r.removes(name, slices.Concat(sees, disk), text)
		known = slices.Concat(known, sees, disk) // for all that the host knows
	}
	content := strings.Join(text, "\n")
	if len(text) > 0 && (r.IntN(8) > 0 || !r.may("form") || strings.HasSuffix(content, "ü")) { // Neovim takes half a letter at the very end for UTF-8
		content += "\n"
	}
	r.stores(name, content, known)
}

// stores has the agent write a text through its client.
func (r *whoseRound) stores(name, content string, known []string) {
	r.T.Helper()
	if r.loaded(name) && len(r.shown(name)) > 0 {
		r.all(name, (*userFile).writtenAnew)
	}
	var m scene.Message
	was, text := r.data(name), linesOf(content)
	if r.before {
		m = r.waits(name, content, known)
	} else {
		m = r.agent.Ask("fs/write_text_file", obj{"sessionId": scene.SessionID(1), "path": r.path(name), "content": content})
	}
	if m.Error == nil || !bytes.Equal(r.data(name), was) { // or a part of it was refused
		r.all(name, func(u *userFile) { u.leaked(known, text) })
	}
	if m.Error != nil {
		r.did("  an error: %s", m.Error.Message)
		delete(r.known, name)
		return
	}
	if _, read := r.known[name]; read { // else it may know what the user saves from now on
		r.known[name] = text
	}
}

// agentAsks has the agent ask before it changes a file. What was allowed it does, through its client or past it.
func (r *whoseRound) agentAsks(name string) {
	r.T.Helper()
	if r.typing != "" {
		return
	}
	m := r.agent.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": r.path(name)})
	if m.Error != nil {
		return
	}
	old := m.Text("content")
	known := linesOf(old)
	r.known[name] = known
	text := r.agentEdit(known)
	content := strings.Join(append(text, ""), "\n")
	if slices.Equal(text, known) {
		return
	}
	r.count++
	call := fmt.Sprint("ask", r.count)
	r.did("agent asks to write %s: %v", name, text)
	id := r.agent.Permission(obj{
		"toolCallId": call, "title": call, "kind": "edit", "status": "pending",
		"content": scene.DiffOf(r.path(name), old, content),
	}, scene.YesNo...)
	r.AwaitPermissions(1)
	r.pause()
	switch n := r.IntN(4); {
	case n < 1:
		r.did("  user says no")
		r.Respond(1, "no")
	case n < 2 && !isBinary(known):
		r.did("  user refuses the first hunk")
		r.refusesFirst()
	default:
		r.did("  user says yes")
		r.Respond(1, "yes")
		r.allowed, r.lastAllowed = name+content, name+content
	}
	answer := r.agent.Answer(id).Text("outcome", "optionId")
	r.AwaitLua(`#require('acp').permissions() == 0`)
	r.AwaitNoDiff()
	r.Command("stopinsert | wincmd t")
	if answer != "yes" {
		r.agent.Update("tool_call_update", obj{"toolCallId": call, "status": "failed"})
		return
	}
	r.removes(name, known, text)
	if r.IntN(2) == 0 {
		r.did("  agent writes that")
		r.stores(name, content, known)
	} else {
		f, lines := decode(r.data(name))
		r.removes(name, lines, text)
		r.all(name, func(u *userFile) { u.leaked(known, text) })
		r.did("  agent writes that on the disk")
		r.Shell(fmt.Sprintf("cat %s > %s", r.stage(f.encode(text)), filepath.Join(r.dir, name)))
	}
	r.allowed = ""
	r.agent.Finish(call, nil)
}

func isBinary(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "\x00") })
}

// refusesFirst refuses the first hunk of the request that is asked, and lets the rest be.
func (r *whoseRound) refusesFirst() {
	r.T.Helper()
	r.AwaitLua(`#require('acp.diff.view').windows() > 0`)
	r.Command("Acp diff")
	r.AwaitLua(`vim.startswith(vim.api.nvim_buf_get_name(0), 'acp://diff')`)
	whole := func() int { return strings.Count(r.Notifications(), "written or refused as a whole") }
	told := whole()
	r.Keys("g<lt>")
	nothing := false // to refuse: all of it conflicts with what the user has not saved, or there are no hunks
	r.Await("the hunk to be refused", func() bool {
		nothing = strings.Contains(r.Screen(), "nothing changes") || whole() > told
		return nothing || r.LuaBool(`#(vim.tbl_get(require('acp.rpc.state').permissions(), 1, 'selection', 1, 'refused') or {}) > 0`)
	})
	if nothing {
		r.did("  of which nothing is left")
		r.Keys("gr")
	} else {
		r.Keys("ga")
	}
}

// waits has the user answer a write that waits for them, and gives the answer to the agent.
func (r *whoseRound) waits(name, content string, known []string) scene.Message {
	r.T.Helper()
	before, disk := r.texts(name)
	saw := before // in the diff
	exists, unsaved := r.data(name) != nil, r.loaded(name) && r.LuaBool(`vim.bo[...].modified`, r.buffers[name])
	id := r.agent.Store(r.path(name), content)
	// Where the file has changed since a question was asked it is asked again, or waits for another answer.
	again := func() int { return strings.Count(r.Notifications(), "look at the hunks again") }
	asked, refused := 0, again()
	rejected := false
	for {
		question := 0
		r.Await("the write to be answered or asked about", func() bool {
			question = r.LuaInt(`(require('acp').permissions()[1] or { id = 0 }).id`)
			return r.agent.Answered(id) || question != 0 && (question != asked || again() > refused)
		})
		if r.agent.Answered(id) {
			break
		}
		first := asked == 0 // later there may be no hunk any more
		asked, refused = question, again()
		saw, _ = r.texts(name)
		r.pause()
		rejected = false
		switch n := r.IntN(4); {
		case n < 1:
			r.did("  user refuses that")
			r.Respond(1, "reject")
			rejected = true
		case n < 2 && first && r.typing == "" && !isBinary(before) && !strings.Contains(content, "\x00"):
			r.did("  user refuses the first hunk of that")
			r.refusesFirst()
		default:
			r.did("  user accepts that")
			r.Respond(1, "allow")
		}
	}
	m := r.agent.Answer(id)
	r.AwaitLua(`#require('acp').permissions() == 0`)
	r.AwaitNoDiff()
	if r.typing == "" {
		r.Command("stopinsert | wincmd t")
	}
	after, onDisk := r.texts(name)
	r.did("  %v", after)
	if asked == 0 && r.allowed != name+content && exists && !slices.Equal(before, after) && !slices.Equal(disk, onDisk) {
		r.fault("%s was written without a question: %v, was %v", name, after, before)
	}
	if rejected {
		return m
	}
	text := linesOf(content)
	u := r.files[name].refused
	// It was accepted before: whether that counts a second time, the rule does not say.
	secondTime := func(lines []string) {
		if r.lastAllowed == name+content {
			for _, line := range lines {
				u.lines[line] = cmp.Or(u.lines[line], &userLine{})
				u.unsureOf(line)
			}
		}
	}
	if asked == 0 && r.allowed != name+content && exists && slices.Equal(disk, onDisk) { // nothing was, to be accepted
		secondTime(less(before, text)) // what the buffer still had
		return m
	}
	if asked == 0 && r.allowed != name+content && !exists { // the buffer shows all of it, which nobody has accepted
		u.exists = either
		secondTime(text)
		return m
	}
	var gone []string // as the user saw; what they have not saved the agent may not have known
	knew := setOf(known)
	for _, line := range less(less(saw, text), after) {
		if (exists || unsaved) && (line[0] == 'f' || knew[line]) { // else it was shown as a new file
			gone = append(gone, line)
		}
	}
	came := less(text, slices.Concat(before, disk))
	for _, line := range less(less(text, slices.Concat(saw, disk)), came) { // the buffer had followed the disk when they were asked
		if slices.Contains(after, line) {
			came = append(came, line)
		}
	}
	for _, line := range less(text, before) { // also what only the disk still had
		if u.lines[line] != nil && slices.Contains(after, line) {
			came = append(came, line)
		}
	}
	if !exists {
		came = text
	}
	u.accepted(came, gone, after, onDisk)
	if !exists {
		for _, line := range less(before, after) { // what they have let go of a buffer of no file is not the turn's to bring back
			for _, u := range r.files[name].undone {
				u.unsureOf(line)
			}
		}
		for _, line := range before { // what a buffer had of the agent's from before was shown, but not as new
			if line[0] == 'a' {
				u.unsureOf(line)
			}
		}
	}
	if !r.loaded(name) || len(disk) == 0 {
		u.sawGo(less(saw, after))
	}
	if len(disk) == 0 { // what the agent had emptied by then, unasked
		for _, line := range gone {
			u.unsureOf(line)
		}
	}
	if f, _ := decode(r.data(name)); len(text) > 0 {
		if f.unfinished != u.form.unfinished {
			u.acceptedEnd(text[len(text)-1])
		}
		for _, was := range r.kin(name) { // to which it may go back
			was.refused.formed = was.refused.formed && f.unfinished == u.form.unfinished && f.unfinished == was.refused.form.unfinished
		}
	}
	if !exists && r.data(name) != nil {
		u.exists, u.mode, u.formed, u.remade = present, 0, false, true
		for _, l := range u.hidden(nil, 0, 0, setOf(after)) {
			l.buffer, l.disk = either, either // what was removed before, unasked
		}
	}
	return m
}

// joins tells that the agent has moved a file: what the user does to one of the two may be done to the other.
func (r *whoseRound) joins(name, to string) {
	old, kin := r.files[to].kin, r.files[name].kin
	for _, f := range r.files {
		if f.kin == old {
			f.kin = kin
		}
	}
}

// stage puts bytes where a script can take them from.
func (r *whoseRound) stage(data []byte) string {
	r.T.Helper()
	r.count++
	path := filepath.Join(r.Home, fmt.Sprint("staged", r.count))
	must.Do(r.T, os.WriteFile(path, data, 0o644))
	return path
}

// disk is a script that changes a file in the working folder, "" for none.
func (r *whoseRound) disk(name string) string {
	r.T.Helper()
	data, path := r.data(name), filepath.Join(r.dir, name)
	if data == nil {
		text := r.linesOf("a", r.IntN(4))
		r.did("agent makes %s: %v", name, text)
		r.all(name, (*userFile).overruleAll) // what the buffer has of a file that was gone
		return fmt.Sprintf("cat %s > %s", r.stage(form{encoding: "utf-8"}.encode(text)), path)
	}
	f, lines := decode(data)
	writes := func(f form, text []string) string {
		r.removes(name, lines, text)
		if isBinary(lines) { // in which lines are not always to be told
			r.all(name, (*userFile).overruleAll)
		}
		r.whole, r.gave[name] = text, text
		staged := r.stage(f.encode(text))
		switch r.IntN(4) {
		case 0:
			r.did("  by a rename")
			return fmt.Sprintf("cp -p %[2]s %[2]s.tmp; cat %[1]s > %[2]s.tmp; mv %[2]s.tmp %[2]s", staged, path)
		case 1:
			r.did("  by a rename, without its mode")
			return fmt.Sprintf("cat %[1]s > %[2]s.tmp; mv %[2]s.tmp %[2]s", staged, path)
		case 2:
			r.did("  by rm")
			return fmt.Sprintf("rm %[2]s; cat %[1]s > %[2]s", staged, path)
		default:
			return fmt.Sprintf("cat %s > %s", staged, path)
		}
	}
	switch n := r.IntN(12); {
	case n < 4:
		known, how := lines, ""
		if was := r.known[name]; was != nil && r.IntN(4) == 0 && r.may("stale") {
			known, how = was, ", as read before"
		}
		text := r.agentEdit(known)
		r.did("agent edits %s on the disk%s: %v", name, how, text)
		r.all(name, func(u *userFile) {
			u.leaked(known, text)
			u.overrule(less(known, text)) // which it may have read before they were saved
		})
		return writes(f, text)
	case n < 5:
		text := r.linesOf("a", 1+r.IntN(2))
		r.did("agent appends %v to %s", text, name)
		if f.unfinished && len(lines) > 0 {
			text = slices.Insert(text, 0, "")
		}
		f.unfinished, f.bom = false, false
		data := bytes.TrimPrefix(f.encode(text), []byte{0xff, 0xfe})
		return fmt.Sprintf("cat %s >> %s", r.stage(data), path)
	case n < 6 && r.may("empties"):
		r.did("agent empties %s", name)
		r.all(name, func(u *userFile) {
			u.overruleAll()
			u.formed = u.formed && len(u.lines) > 0 // else what the buffer keeps of the agent's form goes for the user's next line
		})
		return ": > " + path
	case n < 8 && r.may("removes"):
		r.did("agent removes %s", name)
		r.all(name, (*userFile).overruleAll)
		if r.files[name].left { // which the user may have done with its buffer's new name
			r.all(name, func(u *userFile) { u.removed(either) })
		}
		return "rm " + path
	case n < 9 && r.may("moves"):
		to := r.pick(func(string) bool { return true })
		if to == name || r.IntN(2) == 0 {
			r.count++
			to = fmt.Sprint("new", r.count)
		}
		if r.files[to] == nil {
			r.newFile(to, noUserFile())
		}
		r.joins(name, to)
		r.did("agent moves %s to %s", name, to)
		r.all(name, (*userFile).overruleAll)
		r.all(to, (*userFile).overruleAll)
		return fmt.Sprintf("mv %s %s", path, filepath.Join(r.dir, to))
	case n < 10 && r.may("modes"):
		mode := []fs.FileMode{0o644, 0o755, 0o600}[r.IntN(3)]
		r.did("agent gives %s the mode %o", name, mode)
		return fmt.Sprintf("chmod %o %s", mode, path)
	case n < 11 && len(lines) > 0 && r.may("form"):
		to := f
		switch r.IntN(4) {
		case 0:
			to.crlf = !to.crlf
		case 1:
			to.bom = !to.bom || to.encoding == "utf-16"
		case 2:
			to.unfinished = !to.unfinished
		default:
			to = form{encoding: "utf-8"}
		}
		r.did("agent writes %s as %+v", name, to)
		return writes(to, lines)
	case r.may("binary"):
		r.did("agent makes %s binary", name)
		r.all(name, (*userFile).overruleAll)
		unsaved := r.loaded(name) && r.isUnsaved(name)                                                    // nothing is merged with it
		r.all(name, func(u *userFile) { u.formed, u.bytes, u.opaque = false, true, u.opaque || unsaved }) // should the user write over it
		return writes(form{encoding: "utf-8"}, []string{"\x00" + r.line("a")})
	}
	return ""
}

// strikes kills the host, the agent or Neovim while a turn runs, and takes the session up again.
func (r *whoseRound) strikes() {
	r.T.Helper()
	r.forgotten = true
	switch r.IntN(3) {
	case 0:
		r.did("the host is killed")
		r.KillHost()
	case 1:
		r.did("the agent is killed")
		_, agents := r.Hosts()
		for _, pid := range agents {
			must.Do(r.T, syscall.Kill(pid, syscall.SIGKILL))
		}
	default:
		r.did("Neovim is killed")
		r.strikesNeovim()
		return
	}
	r.AwaitState("dead")
	r.agent.AwaitEnd()
	r.AwaitEvent("AcpTurnEnd")
	r.Command("Acp restart")
	r.agent = r.Scene.Agent()
	r.agent.Initialize(scene.KeepsSessions(true, "resume"))
	r.agent.Reply(r.agent.Expect("session/resume"), nil)
	r.AwaitEvent("AcpSessionReady")
	r.Sync()
	if r.LuaString(`require('acp').sessions()[1].state`) == "running" { // for what was kept of requests
		for range 1 + r.LuaInt(`require('acp').sessions()[1].queued`) {
			rest, _ := r.agent.Prompted()
			r.agent.EndTurn(rest)
		}
	}
}

// strikesNeovim kills Neovim, and has the next one take the session up.
func (r *whoseRound) strikesNeovim() {
	r.T.Helper()
	state := r.LuaString(`vim.env.XDG_STATE_HOME`)
	r.Kill()
	r.AwaitNothingLeft()
	scene.AwaitAfterEnd(r.T, "the agent's end to be known", r.agent.Ended)
	r.Scene = r.Next(nvimtest.Env("XDG_STATE_HOME=" + state))
	setUp(r.Scene, r.before)
	r.sets()
	for name := range r.files {
		r.all(name, (*userFile).struck)
	}
	clear(r.buffers)
	r.typing = ""
	r.OK(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, scene.SessionID(1))
	r.agent = r.Scene.Agent()
	r.agent.Initialize(scene.KeepsSessions(true, "resume"))
	r.agent.Reply(r.agent.Expect("session/load"), nil)
	r.AwaitEvent("AcpSessionReady")
	r.Command("wincmd t")
}
