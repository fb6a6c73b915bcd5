package imports

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/source"
)

// The contract has no message that Lua never sends, and no operation that the host never posts. That what is sent is in
// the contract, the scenarios check (test/nvimtest/prelude.lua).
func TestTheContractIsUsed(t *testing.T) {
	var lua strings.Builder
	for module, text := range luaSources(t) {
		if module != "acp.rpc.contract" {
			lua.WriteString(withoutWords(text))
		}
	}
	for _, m := range rpc.Messages {
		if name := rpc.Name(m); !strings.Contains(lua.String(), "'"+name+"'") {
			t.Errorf("Lua never sends %s", name)
		}
	}
	host := source.Text(t, "host", ".go")
	for _, op := range rpc.Operations {
		name := reflect.TypeOf(op).Name()
		if !regexp.MustCompile(`\brpc\.` + name + `\b`).MatchString(host) {
			t.Errorf("the host never posts rpc.%s", name)
		}
	}
}
