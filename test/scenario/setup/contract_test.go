package setup

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// Lua has a function for each operation of the contract, and for no other.
func TestEveryOperationIsRegistered(t *testing.T) {
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) {
		var without, unknown []string
		n.Lua(&without, `
			require('acp.features')
			_, _G.registered = debug.getupvalue(require('acp.rpc.ops').register, 1)
			local without = {}
			for op in pairs(require('acp.rpc.contract').operations) do
				if not _G.registered[op] then table.insert(without, op) end
			end
			return without`)
		n.Lua(&unknown, `
			local unknown = {}
			for op in pairs(_G.registered) do
				if not require('acp.rpc.contract').operations[op] then table.insert(unknown, op) end
			end
			return unknown`)
		if len(without) > 0 || len(unknown) > 0 {
			t.Errorf("nothing is registered for %q; %q are no operations of the contract", without, unknown)
		}
	})
}
