package imports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/source"
)

// layers are the folders of lua/acp and the modules beside them, from the ground up: a module may know those of its own
// folder and of the layers below.
var layers = [][]string{
	{"agents", "installed", "mcp", "notify", "release", "types"},
	{"config"},
	{"rpc", "ui"},
	{"attention", "editortools", "extension", "files", "follow", "policy", "traffic"},
	{"chat"},
	{"diff", "elicitation", "prompt", "terminal"},
	{"permission", "session"},
	{"history", "registry", "review"},
	{"api", "build", "command", "deactivate", "features", "health", "tutor", "acp"},
}

// luaModule is how Lua names a module of the plugin, in whatever loads it: require, package.loaded, v:lua.require, or a
// table of names.
var luaModule = regexp.MustCompile(`["'](acp(?:\.[a-z_]+)*)["']`)

// oneDoor is what only the module that is named may call.
var oneDoor = map[string]string{
	"vim.notify(":  "acp.notify",
	"fs_realpath(": "acp.rpc.path",
}

func TestLuaPointsOneWay(t *testing.T) {
	sources := luaSources(t)
	if len(sources) < 60 {
		t.Fatalf("found only %d Lua modules", len(sources))
	}
	for _, broken := range luaViolations(sources) {
		t.Error(broken)
	}
}

// TestLuaRulesBite shows the rules modules that break them.
func TestLuaRulesBite(t *testing.T) {
	for _, wrong := range []map[string]string{
		{"acp.rpc.new": `require('acp.ui.wrap')`, "acp.ui.wrap": ""},
		{"acp.chat.new": `if package.loaded['acp.prompt.draft'] then`, "acp.prompt.draft": ""},
		{"acp.ui.new": `"v:lua.require'acp.chat.layout'.bar()"`, "acp.chat.layout": ""},
		{"acp.prompt.new": `require('acp')`, "acp": ""},
		{"acp.chat.one": `require('acp.chat.two')`, "acp.chat.two": `require('acp.chat.three')`, "acp.chat.three": `require("acp.chat.one")`},
		{"acp.api": `require('acp.command')`, "acp.command": `require('acp.api')`},
		{"acp.elsewhere.new": ""},
		{"acp.chat.new": `require('acp.chat.gone')`},
		{"acp.chat.new": `vim.notify('words')`},
		{"acp.chat.new": `vim.uv.fs_realpath(name)`},
	} {
		if len(luaViolations(wrong)) == 0 {
			t.Errorf("the rules allow %v", wrong)
		}
	}
	fine := map[string]string{"acp.chat.new": `require('acp.rpc.state') -- not 'acp.chat.new'`, "acp.rpc.state": ""}
	if broken := luaViolations(fine); len(broken) > 0 {
		t.Errorf("the rules forbid %v: %v", fine, broken)
	}
}

// luaSources are the texts of the modules in lua/ by their names.
func luaSources(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for path, text := range source.Files(t, "lua", ".lua") {
		module := strings.ReplaceAll(strings.TrimSuffix(path, ".lua"), "/", ".")
		sources[strings.TrimSuffix(module, ".init")] = text
	}
	return sources
}

func luaViolations(sources map[string]string) []string {
	var broken []string
	names := map[string][]string{}
	for module, text := range sources {
		if layerOf(module) < 0 {
			broken = append(broken, module+" is in no layer")
		}
		for call, door := range oneDoor {
			if module != door && strings.Contains(text, call) {
				broken = append(broken, fmt.Sprintf("%s must not call %s: %s does", module, call, door))
			}
		}
		for _, match := range luaModule.FindAllStringSubmatch(withoutWords(text), -1) {
			other := match[1]
			if other == module || other == "acp" && !strings.Contains(text, "require('acp')") {
				continue // a name such as that of a client or a filetype
			}
			if _, known := sources[other]; !known {
				broken = append(broken, fmt.Sprintf("%s names %s, which there is not", module, other))
				continue
			}
			names[module] = append(names[module], other)
			if folder(module) != folder(other) && layerOf(module) <= layerOf(other) && layerOf(module) < len(layers)-1 {
				broken = append(broken, fmt.Sprintf("%s must not know %s, which is not below it", module, other))
			}
		}
	}
	return append(broken, circles(names)...)
}

// circles finds modules that know themselves through others.
func circles(names map[string][]string) []string {
	var broken, path []string
	done := map[string]bool{}
	var visit func(module string)
	visit = func(module string) {
		if i := slices.Index(path, module); i >= 0 {
			broken = append(broken, "in a circle: "+strings.Join(append(slices.Clone(path[i:]), module), " → "))
			return
		}
		if done[module] {
			return
		}
		path = append(path, module)
		for _, other := range names[module] {
			visit(other)
		}
		path = path[:len(path)-1]
		done[module] = true
	}
	for module := range names {
		visit(module)
	}
	return broken
}

// withoutWords is a text of Lua without its comments.
func withoutWords(text string) string {
	return regexp.MustCompile(`--[^\n]*`).ReplaceAllString(text, "")
}

// folder is what a module is called in layers.
func folder(module string) string {
	return strings.Split(strings.TrimPrefix(module, "acp."), ".")[0]
}

func layerOf(module string) int {
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, folder(module)) })
}
