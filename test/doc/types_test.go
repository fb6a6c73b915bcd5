package doc

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// TestTypes tells of a field that the host sends and that the types for language servers do not have, or the other way
// round.
func TestTypes(t *testing.T) {
	types := read(t, "lua/acp/types.lua") + read(t, "lua/acp/rpc/state.lua") + "\n"
	for _, c := range []struct {
		sent    any
		classes []string
		more    []string // what Lua adds
	}{
		{rpc.Session{}, []string{"acp.Session"}, []string{"chat_buf", "prompt_buf"}},
		{rpc.ToolCall{}, []string{"acp.ToolCall"}, nil},
		{rpc.CallContent{}, []string{"acp.ToolCallContent"}, nil},
		{rpc.Option{}, []string{"acp.SessionOption"}, nil},
		{rpc.Permission{}, []string{"acp.Permission", "acp.OpenPermission"}, []string{"since"}},
		{rpc.Elicitation{}, []string{"acp.Elicitation", "acp.OpenElicitation"}, nil},
		{rpc.StoredSession{}, []string{"acp.Stored"}, nil},
	} {
		var sent, typed []string
		of := reflect.TypeOf(c.sent)
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("msgpack"), ",")
			if name != "" {
				sent = append(sent, name)
			}
		}
		for _, class := range c.classes {
			at := strings.Index(types, "---@class "+class+"\n") + strings.Index(types, "---@class "+class+":") + 1
			if at < 0 {
				t.Fatalf("there is no %s", class)
			}
			block, _, _ := strings.Cut(types[at:], "\n\n")
			typed = append(typed, firsts(`(?m)^---@field (\w+)`, block)...)
		}
		compare(t, fmt.Sprintf("%T", c.sent), append(sent, c.more...), strings.Join(c.classes, " with "), typed)
	}
}
