package imports

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/rpc"
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
	host := goOfHost(t)
	for _, op := range rpc.Operations {
		name := reflect.TypeOf(op).Name()
		if !regexp.MustCompile(`\brpc\.` + name + `\b`).MatchString(host) {
			t.Errorf("the host never posts rpc.%s", name)
		}
	}
}

// goOfHost is the Go code of host and its packages, without tests.
func goOfHost(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join("..", "..", "host"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
