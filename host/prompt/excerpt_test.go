package prompt

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// inFolder is what prompts need of a session in a folder, where files named .env are private.
func inFolder(dir string) Config {
	return Config{
		Base:    feature.Base{Title: "Puppet", Folder: folder.Folder{Cwd: dir}},
		Private: func(name, _ string) bool { return filepath.Base(name) == ".env" },
	}
}

// read gives what an attachment is, and what the user is told.
func read(t *testing.T, a attachment, c Config) (content session.Content, told string) {
	t.Helper()
	called := 0
	a.read(c, func(got session.Content, words string) { content, told, called = got, words, called+1 })
	must.Equal(t, called, 1, "it was answered %d times")
	return content, told
}

func TestExcerptsAreBounded(t *testing.T) {
	line := strings.Repeat("x", 99)
	parts := []rpc.Part{{Text: strings.TrimSuffix(strings.Repeat(line+"\n", 2000), "\n")}, {Path: ".env", Text: "KEY=secret"}}
	content, told := read(t, excerpt{what: "terminal", of: "make", heading: "The output", parts: parts}, inFolder(t.TempDir()))
	r := content.(either).Content.(session.Resource)
	if len(r.Text) > maxEmbedded || !strings.HasSuffix(r.Text, line+"\n") || r.URI != "nvim://terminal/make" {
		t.Errorf("%d bytes of %s", len(r.Text), r.URI)
	}
	if want := "@terminal was sent without private files: .env. @terminal is 195.3 KB: its first 100.0 KB were sent."; told != want {
		t.Errorf("told is %q, want %q", told, want)
	}
	content, _ = read(t, excerpt{what: "terminal", parts: []rpc.Part{{Text: strings.Repeat("x", maxEmbedded+1)}}}, inFolder(t.TempDir()))
	if r := content.(either).Content.(session.Resource); len(r.Text) != maxEmbedded {
		t.Errorf("of one long line %d bytes were sent", len(r.Text))
	}
	content, told = read(t, excerpt{what: "quickfix", parts: parts[1:]}, inFolder(t.TempDir()))
	if content != nil || told != "@quickfix was sent without private files: .env." {
		t.Errorf("of a private file %v, %q", content, told)
	}
}

// What an agent cannot take goes otherwise, and the chat shows what the user meant.
func TestFallingBack(t *testing.T) {
	p := New(Config{Base: inFolder("/project").Base, Agent: func() session.Info { return session.Info{} }})
	text := either{Content: session.Resource{URI: "nvim://diff", Text: "x"}, otherwise: session.Text{Text: "words"}}
	link := session.ResourceLink{URI: "file:///a.png", Name: "a.png"}
	picture := either{Content: session.Image{Data: "aGk="}, otherwise: link, told: "no images"}
	got, err := p.fit([]session.Content{text, picture})
	if err != nil || got.sent[0] != text.otherwise || got.shown[0] != text.Content || got.sent[1] != link || got.shown[1] != link {
		t.Errorf("%+v, %v", got, err)
	}
	if len(got.told) != 1 || got.told[0] != "no images" {
		t.Errorf("told is %q", got.told)
	}
}

func TestDiffOfAFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %s", args, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	check := func(cwd, want string, has, lacks string) {
		t.Helper()
		content, told := read(t, workingDiff{}, inFolder(cwd))
		text := ""
		if e, ok := content.(either); ok {
			text = e.Content.(session.Resource).Text
		}
		if told != want || !strings.Contains(text, has) || lacks != "" && strings.Contains(text, lacks) {
			t.Errorf("told is %q, want %q, of\n%s", told, want, text)
		}
	}
	check(dir, "@diff was not sent: the folder is not in a git repository.", "", "")
	run("init", "-q")
	write("a.txt", "one\n")
	write("sub/.env", "KEY=1\n")
	write("sub/b.txt", "one\n")
	run("add", "-fA")
	check(dir, "@diff was sent without private files: sub/.env.", "+++ b/a.txt", "KEY") // before the first commit
	run("commit", "-qm", "a")
	check(dir, "@diff was not sent: nothing has changed since the last commit.", "", "")
	write("a.txt", "two\n")
	write("sub/.env", "KEY=2\n")
	write("sub/b.txt", "two\n")
	check(dir, "@diff was sent without private files: sub/.env.", "+++ b/a.txt", "KEY")
	check(filepath.Join(dir, "sub"), "@diff was sent without private files: .env.", "+++ b/b.txt", "a.txt")
	write("new/c.txt", "one\n") // as many new ones as changed
	write("new/d.txt", "one\n")
	check(dir, "@diff was sent without private files: sub/.env.", "+++ b/new/d.txt", "KEY")
}
