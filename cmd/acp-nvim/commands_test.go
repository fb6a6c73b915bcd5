package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// programEnv makes the test binary the program.
const programEnv = "ACP_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program runs the program without any input.
func program(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), programEnv+"=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// A command that there is not ends with code 2 and says which there are, one that fails with code 1 and says why. Standard
// output, which belongs to the protocols, stays empty.
func TestCommandsThatFail(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args   string
		code   int
		stderr string // its beginning
	}{
		{"", 2, usage},
		{"help", 2, usage},
		{"replay", 2, usage},
		{"replay one two", 2, usage},
		{"replay -x", 2, "flag provided but not defined: -x\nUsage of replay:\n"},
		{"replay " + none, 1, "acp-nvim: open the traffic file: open " + none + ": no such file"},
		{"host -x", 2, "flag provided but not defined: -x\nUsage of host:\n"},
		{"host -h", 2, "Usage of host:\n"},
		{"sweep", 1, "acp-nvim: sweep takes the process number of a host\n"},
		{"sweep 1 2", 1, "acp-nvim: sweep takes the process number of a host\n"},
		{"sweep x", 1, `acp-nvim: strconv.Atoi: parsing "x"`},
		{"demo-agent --protocol 3", 1, "acp-nvim: the demo agent speaks versions 1 and 2 of the protocol, not 3\n"},
		{"demo-agent --protocol x", 2, `invalid value "x" for flag -protocol`},
	} {
		stdout, stderr, code := program(t, strings.Fields(c.args)...)
		check.Equal(t, code, c.code, "%q ends with %d", c.args)
		check.Equal(t, stdout, "", "%q writes %q", c.args)
		if !strings.HasPrefix(stderr, c.stderr) {
			t.Errorf("%q says\n%s\nwant\n%s", c.args, stderr, c.stderr)
		}
		if first, rest, _ := strings.Cut(stderr, "\n"); rest != "" && strings.Contains(rest, first) {
			t.Errorf("%q says it twice:\n%s", c.args, stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	stdout, stderr, code := program(t, "version")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "acp-nvim dev, api ") {
		t.Errorf("it ends with %d and says %q, %q", code, stdout, stderr)
	}
}

// Without a peer each command that talks to one ends by itself. A host, which may have greeted its Neovim by then, goes on
// without a log that cannot be written.
func TestCommandsWithoutAPeer(t *testing.T) {
	dir := t.TempDir()
	traffic, log := must.Write(t, dir, "traffic.jsonl", ""), filepath.Join(dir, "new", "log")
	for args, want := range map[string]string{
		"demo-agent": "", "demo-agent --protocol 2": "", "replay " + traffic: "", "host": "", "host --log " + log: "",
		"host --log " + traffic + "/log": "acp-nvim: open the log: mkdir " + traffic + ": not a directory\n",
	} {
		stdout, stderr, code := program(t, strings.Fields(args)...)
		greets := strings.HasPrefix(args, "host") && strings.Contains(stdout, "hello")
		if code != 0 || stdout != "" && !greets || stderr != want {
			t.Errorf("%s ends with %d and says %q, %q", args, code, stdout, stderr)
		}
	}
	_, err := os.Stat(log)
	must.Do(t, err)
}
