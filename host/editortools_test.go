package host

import (
	"bufio"
	"fmt"
	"net"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// An agent gets the editor's tools once, while it lives, and none where the user's paths mean nothing to it.
func TestTheToolsOfAnAgent(t *testing.T) {
	w := newOutside(t, Options{})
	early := &agent{host: w.Host, spec: puppet, phase: agentDead}
	if grant, err := early.grantTools(); grant != nil || err != nil {
		t.Errorf("before there are tools it gets %v, %v", grant, err)
	}
	w.tools.Offer(rpc.EditorTools{Tools: []string{"read"}, Folder: t.TempDir()})
	says := func(a *agent) string {
		t.Helper()
		grant, err := a.grantTools()
		must.Do(t, err)
		again, err := a.grantTools()
		must.Do(t, err)
		check.Equal(t, again, grant, "the second time it gets %p")
		entry, err := grant.Entry("/", session.Info{StdioServers: true})
		must.Do(t, err)
		conn, err := net.Dial("unix", entry.Env[0].Value)
		must.Do(t, err)
		defer conn.Close()
		_, err = fmt.Fprintln(conn, entry.Env[1].Value+" /")
		must.Do(t, err)
		line, err := bufio.NewReader(conn).ReadString('\n')
		must.Do(t, err)
		return line
	}
	lives := &agent{host: w.Host, spec: puppet, phase: agentReady}
	if line := says(lives); line == "" || line[0] == 'r' {
		t.Errorf("while it lives it is told %q", line)
	}
	ended := &agent{host: w.Host, spec: puppet, phase: agentDead}
	must.Become(t, "the end of its tools", func() bool {
		return says(ended) == "refused: its token belongs to no running agent\n"
	})
	elsewhere := &agent{host: w.Host, spec: AgentSpec{Name: "puppet", Paths: map[string]string{"/a": "/b"}}}
	grant, err := elsewhere.grantTools()
	must.Do(t, err)
	if grant != nil {
		t.Error("an agent elsewhere gets the tools")
	}
}
