package host

import (
	"os"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/fakeagent"
)

func TestMain(m *testing.M) {
	fakeagent.Main() // in the processes that are agents
	os.Exit(m.Run())
}
