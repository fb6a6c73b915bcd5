package chat

import (
	"flag"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
	"github.com/acp-nvim/acp-nvim/test/spec"
)

var (
	stories = flag.Int("stories", 4, "random stories told in version 2, on each Neovim")
	seed    = flag.Uint64("seed", 1, "of the first of them")
)

// drawn is a chat as it stands in its buffer: the lines, and every mark and sign with its highlight.
func drawn(s *scene.Scene) string {
	s.T.Helper()
	return s.LuaString(`
		local buf = ` + scene.ChatBuf + `
		local out = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
		for name, ns in pairs(vim.api.nvim_get_namespaces()) do
			local marks = {}
			if name:find('^acp') then
				for _, m in ipairs(vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })) do
					local d = m[4]
					local beside = ''
					for _, chunk in ipairs(d.virt_text or {}) do
						beside = beside .. chunk[1]
					end
					if not beside:find('^ *[%d.]+ s *$') then -- how long something took
						table.insert(marks, table.concat({ name, m[2], m[3], tostring(d.end_row), tostring(d.end_col),
							tostring(d.hl_group or d.sign_hl_group or d.line_hl_group), tostring(d.sign_text), beside }, ' '))
					end
				end
			end
			table.sort(marks)
			vim.list_extend(out, marks)
		end
		local lines = #vim.api.nvim_buf_get_lines(buf, 0, -1, false)
		local rest = vim.list_slice(out, lines + 1)
		table.sort(rest)
		return table.concat(vim.list_slice(out, 1, lines), '\n') .. '\n' .. table.concat(rest, '\n')`)
}

var durations = regexp.MustCompile(`(Thought for|after) [\d.]+ s|\d+(\.\d)? s`)

// However a state has come about, and whatever of it was replaced or cleared on the way: what is on the screen is what a
// chat shows that is drawn from nothing, and what a session shows that was told the state at once.
func TestRandomUpdatesLeaveTheirStateOnTheScreen(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.agents.puppet.protocol = 2`)
		s.Command("Acp")
		p := s.Agent()
		p.InitializeV2(nil)
		session := 0
		// tell plays a turn in a new session, and gives the chat at its end.
		played := func(updates []spec.Object, background any) string {
			t.Helper()
			if session++; session > 1 {
				s.Command("Acp new puppet")
			}
			p.NewSession(session)
			s.AwaitEvent("AcpSessionReady")
			id := scene.SessionID(session)
			s.OK(`require('acp').prompt('go')`)
			p.Reply(p.PromptedWith("go"), obj{"messageId": "prompt"})
			p.UpdateIn(id, "state_update", obj{"state": "running"})
			p.UpdateIn(id, "agent_message", obj{"messageId": "first", "content": []obj{{"type": "text", "text": "Here it comes."}}})
			for _, u := range updates {
				p.UpdateIn(id, u["sessionUpdate"].(string), u)
			}
			p.UpdateIn(id, "state_update", obj{"state": "idle", "stopReason": "end_turn", "background": background})
			s.AwaitTurnEnd("end_turn")
			return durations.ReplaceAllString(drawn(s), "")
		}
		for n := range uint64(*stories) {
			r := rand.New(rand.NewPCG(*seed+n, 4))
			var story []spec.Object
			state := spec.New()
			for len(story) < 60 {
				if u := spec.Random(r); u["state"] != "idle" { // it is one turn
					story = append(story, u)
					state.Hear(u)
				}
			}
			streamed := played(story, state.Background)
			s.Lua(nil, `vim.cmd('bwipeout! ' .. `+scene.ChatBuf+`)`)
			s.Command("Acp")
			s.AwaitChat("Here it comes.")
			var anew string
			s.Await("the chat to be drawn", func() bool {
				next := durations.ReplaceAllString(drawn(s), "")
				same := next == anew
				anew = next
				return same
			})
			if streamed != anew {
				t.Errorf("seed %d: streamed it is\n%s\ndrawn from nothing\n%s", *seed+n, streamed, anew)
			}
			if told := played(state.Snapshot(), state.Background); streamed != told {
				t.Errorf("seed %d: streamed it is\n%s\ntold at once\n%s", *seed+n, streamed, told)
			}
			if strings.Contains(streamed, `"sessionUpdate"`) {
				t.Errorf("seed %d: JSON is shown:\n%s", *seed+n, streamed)
			}
			if t.Failed() {
				return
			}
		}
	})
}
