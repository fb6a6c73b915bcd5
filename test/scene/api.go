package scene

import (
	"encoding/json"
	"fmt"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// This file calls the Lua API and hears its events, as the user's configuration does.

// OK runs a function of the API that must not fail.
func (s *Scene) OK(lua string, args ...any) {
	s.T.Helper()
	if err := s.LuaString(`local v, err = (function(...) return `+lua+` end)(...)
		return v == nil and (err or 'nil without an error') or ''`, args...); err != "" {
		s.T.Fatalf("%s: %s", lua, err)
	}
}

// Refused runs a function of the API that must return nil and a sentence, which it gives.
func (s *Scene) Refused(lua string, args ...any) string {
	s.T.Helper()
	var got []any
	s.Lua(&got, `local v, err = (function(...) return `+lua+` end)(...)
		return { v == nil, tostring(err), type(err) }`, args...)
	if got[0] != true || got[2] != "string" {
		s.T.Errorf("%s returned %v", lua, got)
	}
	return fmt.Sprint(got[1])
}

// Value is a Lua value with string keys or none in its tables, and ints for its whole numbers.
func (s *Scene) Value(lua string, args ...any) any {
	s.T.Helper()
	var v any
	text := s.LuaString(`vim.json.encode((function(...) return `+lua+` end)(...))`, args...)
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		s.T.Fatalf("%s: %v: %s", lua, err, text)
	}
	return whole(v)
}

func whole(v any) any {
	switch v := v.(type) {
	case obj:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int(v)) {
			return int(v)
		}
	}
	return v
}

// Session is the only session as acp.sessions() tells of it.
func (s *Scene) Session() obj {
	s.T.Helper()
	all, _ := s.Value(`require('acp').sessions()`).([]any)
	must.Equal(s.T, len(all), 1, "there are %d sessions")
	return all[0].(obj)
}

// AwaitState waits until the only session is in a state.
func (s *Scene) AwaitState(state string) {
	s.T.Helper()
	s.AwaitLua(`require('acp').sessions()[1].state == ...`, state)
}

// CountEvents counts the events of a name.
func (s *Scene) CountEvents(name string) (n int) {
	for _, e := range s.Events() {
		if e.Name == name {
			n++
		}
	}
	return n
}

// Sync waits until the host has done all that was asked of the record of the session used last.
func (s *Scene) Sync() {
	s.T.Helper()
	s.Lua(nil, `_G.synced = nil
		require('acp.rpc.host').request('list_changes', { session = require('acp.rpc.state').resolve() }, function() _G.synced = true end)`)
	s.AwaitLua(`_G.synced`)
}

// AwaitPermissions waits until so many questions are open, and gives their titles.
func (s *Scene) AwaitPermissions(n int) (titles string) {
	s.T.Helper()
	s.AwaitLua(fmt.Sprintf(`#require('acp').permissions() == %d`, n))
	return s.LuaString(`table.concat(vim.tbl_map(function(p) return p.title end, require('acp').permissions()), ', ')`)
}

// Respond answers the n-th of the open questions.
func (s *Scene) Respond(n int, option string) {
	s.T.Helper()
	s.OK(`require('acp').respond(require('acp').permissions()[select(1, ...)].id, select(2, ...))`, n, option)
}

// CheckResolved checks the next AcpPermissionResolved.
func (s *Scene) CheckResolved(option any, by string) {
	s.T.Helper()
	if e := s.AwaitEvent("AcpPermissionResolved"); e["option_id"] != option || e["by"] != by {
		s.T.Errorf("the request was resolved with %v, expected %v by %s", e, option, by)
	}
}

// Choose has vim.ui.select take the choice with a text, and remembers what was offered.
func (s *Scene) Choose(text string) {
	s.T.Helper()
	s.Lua(nil, `local wanted = ...
		_G.offered = {}
		vim.ui.select = function(items, opts, choose)
			local list = vim.tbl_map(opts.format_item or tostring, items)
			table.insert(_G.offered, list)
			for i, label in ipairs(list) do
				if label:find(wanted, 1, true) then
					return choose(items[i], i)
				end
			end
			choose(nil)
		end`, text)
}

// Offered is what the n-th vim.ui.select has offered.
func (s *Scene) Offered(n int) []any {
	s.T.Helper()
	s.AwaitLua(`#_G.offered >= ...`, n)
	list, _ := s.Value(`_G.offered[...]`, n).([]any)
	return list
}

// SetRules sets opts.permissions, before anything is started.
func (s *Scene) SetRules(lua string) {
	s.T.Helper()
	s.Configure(`c.permissions = ` + lua)
}

// CheckDecision asks for what a rule is to decide, without the user seeing it.
func (s *Scene) CheckDecision(p *Puppet, call obj, want string) {
	s.T.Helper()
	check.Equal(s.T, Outcome(s.T, p.Answer(p.Permission(call, YesNo...))), want, "%v was answered %s", call["title"])
	s.CheckResolved(want, "rule")
	if s.LuaBool(`require('acp.permission.float').win() ~= nil or #require('acp').permissions() > 0`) {
		s.T.Errorf("%v: the user is asked", call["title"])
	}
}
