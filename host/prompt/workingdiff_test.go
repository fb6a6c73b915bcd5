package prompt

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// previews is a Neovim that is sent previews.
type previews chan rpc.DiffPreview

func (p previews) Batch(ops []any) ([]any, time.Duration, error) {
	for _, op := range ops {
		p <- op.([]any)[1].(rpc.Callback).Result.(rpc.DiffPreview)
	}
	return make([]any, len(ops)), 0, nil
}

// What has changed is sent as far as it may be: without private files, without huge new ones, and cut; the user hears of
// each. Lua gets the first lines of it.
func TestWorkingDiff(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	c := inFolder(t.TempDir())
	shown := make(previews, 9)
	c.Editor, c.Background = editor.New(shown), func(f func()) { f() }
	go c.Editor.Run()
	defer c.Editor.Close()
	preview := func() rpc.DiffPreview {
		New(c).PreviewDiff(rpc.PreviewDiff{})
		return must.Receive(t, "the preview", shown)
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", c.Cwd+"/..")
	_, told := read(t, workingDiff{}, c)
	check.Equal(t, told, "@diff was not sent: the folder is not in a git repository.", "without a repository: %s")
	check.Equal(t, preview().Empty, "the folder is not in a git repository", "the preview says %s")

	must.Do(t, exec.Command("git", "init", "-q", c.Cwd).Run())
	_, told = read(t, workingDiff{}, c)
	check.Equal(t, told, "@diff was not sent: nothing has changed since the last commit.", "in an empty folder: %s")

	must.Write(t, c.Cwd, ".env", "KEY=secret\n")
	must.Write(t, c.Cwd, "huge", strings.Repeat("x", maxNewSize+1))
	_, told = read(t, workingDiff{}, c)
	for _, part := range []string{"nothing else has changed", "without private files: .env.", "too large, or too many: huge."} {
		check.Contains(t, told, part, "it says %s")
	}

	must.Write(t, c.Cwd, "short", "1\n2\n")
	short := preview().Text
	if strings.Contains(short, "…") || !strings.HasSuffix(short, "+1\n+2\n") {
		t.Errorf("a short preview is\n%s", short)
	}
	must.Write(t, c.Cwd, "long", strings.Repeat("a line\n", maxEmbedded/7))
	content, told := read(t, workingDiff{}, c)
	r := content.(either).Content.(session.Resource)
	if len(r.Text) > maxEmbedded || !strings.HasPrefix(r.Text, "diff --git ") || strings.Contains(r.Text, "secret") {
		t.Errorf("%d bytes are sent: %.100s", len(r.Text), r.Text)
	}
	otherwise := content.(either).otherwise.(session.Text).Text
	check.Contains(t, otherwise, "What has changed since the last commit:\n```diff\ndiff --git ", "as text it is %.100s")
	check.Contains(t, told, "were sent.", "of one that is cut it says %s")
	long := preview().Text
	check.Equal(t, strings.Count(long, "\n"), previewLines, "the preview has %d lines")
	check.Equal(t, strings.HasSuffix(long, "\n…"), true, "it says that there is more: %v")

	// So many new files are not read.
	for i := range maxNew {
		must.Write(t, c.Cwd, fmt.Sprintf("new/%03d", i), "x\n")
	}
	_, told = read(t, workingDiff{}, c)
	check.Contains(t, told, "huge, new/099, short.", "of many new files it says %s")
}

func TestWorkingDiffWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, told := read(t, workingDiff{}, inFolder(t.TempDir()))
	check.Equal(t, told, "@diff was not sent: git is not installed.", "it says %s")
}

// Where git cannot tell what has changed, nothing is sent, and the user learns what git said.
func TestWorkingDiffOfABrokenRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	c := inFolder(t.TempDir())
	must.Do(t, exec.Command("git", "init", "-q", c.Cwd).Run())
	must.Write(t, c.Cwd, ".git/index", "this is no index")
	content, told := read(t, workingDiff{}, c)
	check.Equal(t, content, nil, "sent is %v")
	check.Contains(t, told, "@diff was not sent: git said: ", "it says %s")
}
