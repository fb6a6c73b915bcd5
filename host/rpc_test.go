package host

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/host/rpc"
)

func TestEveryMessageHasItsHandler(t *testing.T) {
	known := map[string]bool{}
	for _, m := range rpc.Messages {
		name := rpc.Name(m)
		known[name] = true
		if handlers[name] == nil {
			t.Errorf("%s is a message of the contract, but nothing handles it", name)
		}
	}
	for name := range handlers {
		if !known[name] {
			t.Errorf("%s is handled, but is no message of the contract: Lua cannot send it", name)
		}
	}
}
