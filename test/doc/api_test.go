package doc

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/source"
)

// firsts are the first groups of all matches, sorted and once each.
func firsts(pattern, text string) (list []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// compare tells of what is in one of two lists only.
func compare(t *testing.T, here string, is []string, there string, listed []string) {
	t.Helper()
	if len(is) == 0 || len(listed) == 0 {
		t.Fatalf("nothing was found: %d %s, %d %s", len(is), here, len(listed), there)
	}
	for _, name := range is {
		if !slices.Contains(listed, name) {
			t.Errorf("%s has %s, %s not", here, name, there)
		}
	}
	for _, name := range listed {
		if !slices.Contains(is, name) {
			t.Errorf("%s has %s, %s not", there, name, here)
		}
	}
}

// TestLuaAPI tells of a function that the help does not list, and of one that is written of but not there.
func TestLuaAPI(t *testing.T) {
	help := read(t, "doc/acp.txt")
	listed := firsts(`(?m)^acp\.(\w+)\(`, between(t, help, "11. LUA API", "======"))
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) {
		var functions []string
		n.Lua(&functions, `vim.list_extend(vim.tbl_keys(require('acp.api')), vim.tbl_keys(require('acp')))`)
		compare(t, "the Lua API", functions, "the help", listed)
		for _, file := range []string{"doc/acp.txt", "README.md", "CHANGELOG.md"} {
			for _, name := range firsts(`\bacp(?:'\))?\.(\w+)\(`, read(t, file)) {
				if !slices.Contains(functions, name) {
					t.Errorf("%s writes of acp.%s(), which there is not", file, name)
				}
			}
		}
	})
}

// TestEvents tells of an event that the help does not list, and of one that is listed but never fired.
func TestEvents(t *testing.T) {
	fired := firsts(`(?:Event|Add|AddCall|event)\("(Acp\w+)"`, source.Text(t, "host", ".go"))
	listed := firsts(`(?m)^(Acp\w+)  `, between(t, read(t, "doc/acp.txt"), "12. EVENTS", "======"))
	compare(t, "the host", fired, "the help's list of events", listed)
}

// TestAgentFields tells of a field of an agent's entry that the help or the types for language servers do not have.
func TestAgentFields(t *testing.T) {
	help := between(t, read(t, "doc/acp.txt"), "The fields of an agent:", "                 ")
	types := between(t, read(t, "lua/acp/types.lua"), "---@class acp.AgentConfig", "\n")
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) {
		var fields []string
		n.Lua(&fields, `vim.tbl_keys(require('acp.config').agent_fields)`)
		compare(t, "the configuration", fields, "the help", firsts(`(?m)^    (\w+)  ?`, help))
		compare(t, "the configuration", fields, "acp.AgentConfig", firsts(`(?m)^---@field (\w+)`, types))
	})
}

// TestParts tells of a part of an option that the types for language servers do not have.
func TestParts(t *testing.T) {
	types := read(t, "lua/acp/types.lua")
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) {
		for option, class := range map[string]string{"host": "acp.HostConfig", "editor": "acp.EditorConfig"} {
			var parts []string
			n.Lua(&parts, `
				for _, option in ipairs(require('acp.config').schema) do
					if option.key == ... then return option.parts or vim.tbl_keys(option.default) end
				end`, option)
			compare(t, option, parts, class, firsts(`(?m)^---@field (\w+)`, between(t, types, "---@class "+class+"\n", "\n")))
		}
	})
}

// TestNames tells of an event, a highlight group or a mapping that is written of but not there.
func TestNames(t *testing.T) {
	code := source.Text(t, "host", ".go") + source.Text(t, "lua", ".lua") + source.Text(t, "plugin", ".lua")
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) {
		var mapped []string
		n.Lua(&mapped, `
			local mapped = {}
			for action in pairs(require('acp.config').get().keys) do
				table.insert(mapped, require('acp.ui.buffer').plug(action))
			end
			return mapped`)
		for _, file := range []string{"doc/acp.txt", "doc/acp-tutor.txt", "README.md", "CHANGELOG.md"} {
			for _, name := range firsts(`\b(Acp[A-Z]\w+)`, read(t, file)) {
				plug := "<Plug>(" + name + ")"
				known := slices.Contains(mapped, plug) || n.LuaBool(`vim.fn.maparg(..., 'n') ~= ''`, plug)
				part := "'" + strings.TrimPrefix(name, "Acp") + "'" // which the code puts together
				if !known && !strings.Contains(code, part) && !regexp.MustCompile(`\b`+name+`\b`).MatchString(code) {
					t.Errorf("%s writes of %s, which there is not", file, name)
				}
			}
		}
	})
}
