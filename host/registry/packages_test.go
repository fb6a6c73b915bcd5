package registry

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A program named npm stands in for npm here; the scenario has the real one.
func TestNpm(t *testing.T) {
	w := newWorld(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	w.config.Env = []string{"PATH=" + bin}
	w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Npx: &Package{Package: "@some/tiny@1.2.3"}}})
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "no npm on the PATH") || !strings.Contains(err.Error(), "nodejs.org") {
		t.Errorf("without npm: %v", err)
	}
	must.Do(t, os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/no/such/node\n"), 0o755))
	const broken = "npm could not install Tiny: start npm: the interpreter that its first line names is missing: "
	if _, err := w.install(); err == nil || !strings.HasPrefix(err.Error(), broken) {
		t.Errorf("npm does not start: %v", err)
	}
	script := "#!/bin/sh\necho 'npm error code ETARGET' >&2\necho 'npm error notarget No matching version found.' >&2\nexit 1\n"
	must.Do(t, os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755))
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "No matching version found") || !strings.Contains(err.Error(), "min-release-age") {
		t.Errorf("npm does not have it: %v", err)
	}
	check.Equal(t, w.used(), "", "it is used: %v")
}

// A program named uv stands in for uv here: it does with its folders and arguments what uv's documentation says.
func TestUv(t *testing.T) {
	w := newWorld(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	w.config.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
	w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Uvx: &Package{Package: "tiny-cli[acp]==1.2.3", Args: []string{"acp"}}}})
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "no uv on the PATH") || !strings.Contains(err.Error(), "docs.astral.sh/uv") {
		t.Errorf("without uv: %v", err)
	}
	uv := func(script string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(bin, "uv"), []byte("#!/bin/sh\n"+script), 0o755))
	}
	uv(`mkdir -p "$UV_TOOL_DIR/tiny-cli/bin" "$UV_TOOL_BIN_DIR"
echo "$@" >"$UV_TOOL_DIR-said"
echo '#!/bin/sh' >"$UV_TOOL_DIR/tiny-cli/bin/tiny-cli"
chmod 755 "$UV_TOOL_DIR/tiny-cli/bin/tiny-cli"
ln -s "$UV_TOOL_DIR/tiny-cli/bin/tiny-cli" "$UV_TOOL_BIN_DIR/tiny-cli"
echo 'Installed 1 executable: tiny-cli' >&2
`)
	var told []string
	agent, err := w.install(func(w *Wanted) { w.Progress = func(text string) { told = append(told, text) } })
	check.Contains(t, strings.Join(told, "\n"), "uv installs tiny-cli[acp] 1.2.3", "the user is told %s")
	if err != nil || w.used() != "1.2.3" || agent.Via != "uv" || filepath.Base(agent.Command[0]) != "tiny-cli" || agent.Command[1] != "acp" {
		t.Fatalf("installed: %+v, %v", agent, err)
	}
	said, err := os.ReadFile(filepath.Join(w.folder("tiny"), "1.2.3", "tools-said"))
	if err != nil || string(said) != "tool install tiny-cli[acp]==1.2.3\n" {
		t.Errorf("uv is told %q, %v", said, err)
	}
	uv("mkdir -p \"$UV_TOOL_DIR\"\necho 'error: No solution found' >&2\nexit 1\n")
	_, err = w.install(func(w *Wanted) { w.Version = "2.0.0" })
	var failed *failure.Failure
	if !errors.As(err, &failed) || failed.Sentence != "uv could not install Tiny: error: No solution found." || failed.Detail != "error: No solution found\n" {
		t.Errorf("uv fails: %+v", err)
	}
	if _, err := os.Stat(filepath.Join(w.folder("tiny"), "2.0.0")); err == nil || w.used() != "1.2.3" {
		t.Errorf("after that %s is used, and the other: %v", w.used(), err)
	}
	defer w.Use(filepath.Join(w.folder("tiny"), "2.0.0", "bin", "tiny-cli"))()
	if _, err := w.install(func(w *Wanted) { w.Version = "2.0.0" }); err == nil || !strings.HasPrefix(err.Error(), "Tiny 2.0.0 is running") {
		t.Errorf("where it runs: %v", err)
	}
}

// programs has scripts stand in for the programs that install, and those of the system beside them.
func (w *world) programs(scripts map[string]string) {
	w.t.Helper()
	bin := w.t.TempDir()
	for name, script := range scripts {
		must.Do(w.t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755))
	}
	path := bin + ":/usr/bin:/bin"
	w.t.Setenv("PATH", path)
	w.config.Env = []string{"PATH=" + path}
}

// npm is a script that knows one package: it needs some Node.js, and is installed with a package.json.
func npm(needs, pack string) string {
	return fmt.Sprintf(`cat # it gets no input
case "$1" in
view) %s ;;
install)
	mkdir -p "$3/node_modules/@some/tiny" "$3/node_modules/.bin"
	echo '%s' >"$3/node_modules/@some/tiny/package.json"
	echo "$@" >"$3/said"
	for name in tiny alpha omega; do echo '#!/bin/sh' >"$3/node_modules/.bin/$name"; done ;;
esac
`, needs, pack)
}

// The program of a package is the one that has its name, else its first, as its package.json tells.
func TestProgramOfAPackage(t *testing.T) {
	for _, c := range []struct{ pack, program string }{
		{`{"name": "@some/tiny", "version": "1.2.3", "bin": "cli.js"}`, "tiny"},
		{`{"name": "@some/tiny", "version": "1.2.3", "bin": {"omega": "o.js", "tiny": "t.js", "alpha": "a.js"}}`, "tiny"},
		{`{"name": "@some/tiny", "version": "1.2.3", "bin": {"omega": "o.js", "alpha": "a.js"}}`, "alpha"},
		{`{"name": "@some/tiny", "version": "../1", "bin": "cli.js"}`, "has no program to start"},
		{`nonsense`, "read what npm has installed"},
	} {
		w := newWorld(t)
		var groups []bool // that began and ended
		w.config.Group = func(_ int, alive bool) { groups = append(groups, alive) }
		w.programs(map[string]string{"npm": npm("exit 1", c.pack), "node": "echo v20.0.0\n"})
		w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Npx: &Package{Package: "@some/tiny"}}})
		var said []string
		agent, err := w.install(func(w *Wanted) { w.Progress = func(text string) { said = append(said, text) } })
		if err != nil {
			check.Contains(t, err.Error(), c.program, "with %s it fails: %s", c.pack)
			continue
		}
		check.Equal(t, filepath.Base(agent.Command[0]), c.program, "with %s the program is %s", c.pack)
		check.Equal(t, agent.Version, "1.2.3", "with %s the version is %s", c.pack)
		asked, err := os.ReadFile(filepath.Join(w.folder("tiny"), "1.2.3", "said"))
		must.Do(t, err)
		check.Contains(t, string(asked), " --global=false --save-exact --package-lock --no-audit --no-fund --loglevel=error @some/tiny@1.2.3\n", "npm gets %q")
		check.Slice(t, groups, []bool{true, false, true, false}, "its processes: %v")
		if !slices.Contains(said, "npm installs @some/tiny@1.2.3") || !slices.Contains(said, "trying to start it") {
			t.Errorf("the user is told %q", said)
		}
		if !slices.Contains(said, "npm asks what @some/tiny@1.2.3 needs") {
			t.Errorf("before that the user is told %q", said)
		}
	}
}

// A package that needs a newer Node.js is not installed; where that is not known, the install shows it.
func TestNodeIsNewEnough(t *testing.T) {
	for _, c := range []struct{ view, node, want string }{
		{`echo '">=20.1"'`, "echo v20.1.0", ""},
		{`echo '">=20.1"'`, "echo v22.0.0", ""},
		{`echo '">=20.1"'`, "echo v20.0.9", "Tiny needs Node.js 20.1.0 or newer, but this is 20.0.9: it is not installed. Install a newer one"},
		{`[ "$4" = @some/tiny@1.2.3 ] && echo '">=20.1"'`, "echo v18.0.0", "Tiny needs Node.js 20.1.0 or newer, but this is 18.0.0"},
		{`echo '">=20.1"'`, "exit 1", ""},
		{`echo '">=20.1"'`, "echo v18.0.0; exit 1", ""},
		{`echo '">=20.1"'`, "echo nonsense", ""},
		{`echo '">=20.1"'; exit 1`, "echo v18.0.0", ""},
		{`echo 20.1`, "echo v18.0.0", ""}, // not JSON's text
	} {
		w := newWorld(t)
		w.programs(map[string]string{"npm": npm(c.view, `{"name": "@some/tiny", "version": "1.2.3", "bin": "cli.js"}`), "node": c.node + "\n"})
		w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Npx: &Package{Package: "@some/tiny@1.2.3"}}})
		switch _, err := w.install(); {
		case c.want == "" && err != nil:
			t.Errorf("%s, %s: %v", c.view, c.node, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s, %s: %v; want %s", c.view, c.node, err, c.want)
		}
	}
}

// An install that is cancelled ends its program.
func TestCancelAProgram(t *testing.T) {
	w := newWorld(t)
	w.programs(map[string]string{"npm": "[ $1 = view ] && exit 1\necho >started\nexec sleep 1000\n"})
	w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Npx: &Package{Package: "tiny"}}})
	failed := make(chan error, 1)
	go func() {
		_, err := w.install()
		failed <- err
	}()
	must.Become(t, "npm", func() bool {
		started, _ := filepath.Glob(filepath.Join(w.folder("tiny"), ".new-*", "started"))
		return len(started) > 0
	})
	w.Cancel("tiny")
	if err := must.Receive(t, "the end", failed); err == nil || err.Error() != "Installing Tiny was cancelled. Nothing has changed." {
		t.Errorf("it ends with %v", err)
	}
	check.Equal(t, w.used(), "", "it is used: %v")
}

// Who waits for a program sees what it does, and for how long already.
func TestHowLongAProgramTakes(t *testing.T) {
	w := newWorld(t)
	over := filepath.Join(t.TempDir(), "over")
	w.programs(map[string]string{"npm": "[ $1 = view ] && exit 1\nuntil [ -e " + over + " ]; do sleep 0.01; done\nexit 3\n"})
	w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Npx: &Package{Package: "tiny"}}})
	const installs = "npm installs tiny@1.2.3"
	said := map[string]bool{}
	_, err := w.install(func(wanted *Wanted) {
		wanted.Progress = func(text string) {
			if is, long, waits := strings.Cut(text, " · "); waits && is == installs {
				said[is+" · some"+strings.TrimLeft(long, "123456789")] = true
				must.Write(t, filepath.Dir(over), "over", "")
				return
			}
			said[text] = true
		}
	})
	for _, text := range []string{"npm asks what tiny@1.2.3 needs", installs, installs + " · some s"} {
		check.Equal(t, said[text], true, "that the user sees %q is %t", text)
	}
	want := "npm could not install Tiny: npm exited with code 3. npm's output is above; :Acp agents tries again."
	check.Equal(t, fmt.Sprint(err), want, "it says %s")
}

// What a program that installs has left running ends with it.
func TestNothingIsLeftRunning(t *testing.T) {
	w := newWorld(t)
	held := filepath.Join(t.TempDir(), "held") // a pipe that is closed once nobody runs
	must.Do(t, syscall.Mkfifo(held, 0o600))
	pipe, err := os.OpenFile(held, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	must.Do(t, err)
	defer pipe.Close()
	w.programs(map[string]string{"npm": "[ $1 = view ] && exit 1\nexec 3>" + held + "\nsleep 1000 >/dev/null 2>&1 &\nexit 1\n"})
	w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Npx: &Package{Package: "tiny"}}})
	if _, err := w.install(); err == nil {
		t.Error("it is installed")
	}
	must.Do(t, pipe.SetReadDeadline(time.Now().Add(must.Patience)))
	_, err = io.ReadAll(pipe)
	must.Do(t, err)
}

// Of an install that fails the user sees the line that says most, and the end of what was said below it.
func TestWhatAProgramSaid(t *testing.T) {
	for _, c := range []struct{ output, want string }{
		{"npm error code E1\nnpm error errno -13\nnpm error Nothing is allowed.\nnpm error more", "Nothing is allowed"},
		{"one\nthe last line.\n", "the last line"},
		{"\n", "it failed"},
	} {
		check.Equal(t, lastLine(c.output, errors.New("it failed")), c.want, "of %q the user sees %q", c.output)
	}
	w := newWorld(t)
	w.programs(map[string]string{"npm": fmt.Sprintf("[ $1 = view ] && exit 1\nhead -c %d /dev/zero | tr '\\0' x\necho the end\nkill -9 $$\n", 2*maxOutput)})
	w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Npx: &Package{Package: "tiny"}}})
	_, err := w.install()
	var told *failure.Failure
	if !errors.As(err, &told) || told.Detail != strings.Repeat("x", maxOutput-len("the end\n"))+"the end\n" {
		t.Errorf("npm is killed, and the user hears %v", err)
	}
}

// What to do about an install that fails depends on npm's own reason for it.
func TestAdviceAboutNpm(t *testing.T) {
	for output, want := range map[string]string{
		"npm error code ENOSPC":                     "The disk is full: make room, then try again.",
		"npm error code EBADENGINE":                 "It needs a newer Node.js.",
		"npm error code ETARGET":                    "npm does not have this version, or your min-release-age keeps it back: choose an earlier one, :Acp agents.",
		"npm error code E404":                       "npm does not have it: see https://example.com.",
		"npm error code ENOTFOUND":                  "npm cannot reach its registry: check your network.",
		"npm error code EAI_AGAIN":                  "npm cannot reach its registry: check your network.",
		"npm error code ECONNREFUSED":               "npm cannot reach its registry: check your network.",
		"npm error code ENOSPC\nnpm error see E404": "The disk is full: make room, then try again.",
		"npm error code EWHAT":                      "npm's output is above; :Acp agents tries again.",
	} {
		var told *failure.Failure
		if err := npmFailed(Entry{Name: "Tiny", Website: "https://example.com"}, output, errors.New("exit 1")); !errors.As(err, &told) {
			t.Fatal(err)
		}
		check.Equal(t, told.Advice, want, "after %s: %s", output)
		check.Equal(t, told.Detail, output, "the output is %s")
	}
}

// uv gets the version that the user wants, else that of the index; its program may have another name than the package.
func TestVersionsOfUv(t *testing.T) {
	for _, c := range []struct{ pack, wanted, installs, version, program string }{
		{"tiny-cli==1.2.3", "", "tiny-cli==1.2.3", "1.2.3", "other"},
		{"tiny-cli@1.2.3", "", "tiny-cli==1.2.3", "1.2.3", "other"},
		{"tiny-cli", "", "tiny-cli==1.2.3", "1.2.3", "other"},
		{"tiny-cli@1.2.3", "2.0.0", "tiny-cli==2.0.0", "2.0.0", "other"},
		{"second[acp]==1.2.3", "", "second[acp]==1.2.3", "1.2.3", "second"},
	} {
		w := newWorld(t)
		w.programs(map[string]string{"uv": `mkdir -p "$UV_TOOL_BIN_DIR"
echo "$3" >"$UV_TOOL_DIR-said"
for name in other second; do echo '#!/bin/sh' >"$UV_TOOL_BIN_DIR/$name"; done
`})
		w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Uvx: &Package{Package: c.pack}}})
		agent, err := w.install(func(w *Wanted) { w.Version = c.wanted })
		must.Do(t, err)
		check.Equal(t, filepath.Base(agent.Command[0]), c.program, "the program of %s is %s", c.pack)
		check.Equal(t, agent.Version, c.version, "of %s the version %s is used", c.pack)
		said, err := os.ReadFile(filepath.Join(w.folder("tiny"), c.version, "tools-said"))
		must.Do(t, err)
		check.Equal(t, string(said), c.installs+"\n", "of %s uv installs %q", c.pack)
		if _, err := w.install(func(w *Wanted) { w.Version = c.wanted }); err == nil || !strings.Contains(err.Error(), "is already installed. Remove it first to reinstall it.") {
			t.Errorf("%s again: %v", c.pack, err)
		}
	}
	for _, script := range []string{"", `mkdir -p "$UV_TOOL_BIN_DIR"`} {
		w := newWorld(t)
		w.programs(map[string]string{"uv": script + "\n"})
		w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.2.3", Distribution: Distribution{Uvx: &Package{Package: "tiny"}}})
		if _, err := w.install(); err == nil || !strings.HasPrefix(err.Error(), "Tiny 1.2.3 does not start, so it is not used: ") {
			t.Errorf("without a program: %v", err)
		}
	}
}

// Which way an agent is got depends on the machine and the wanted version; where there is none, the user hears why.
func TestWays(t *testing.T) {
	npx, uvx := &Package{Package: "tiny"}, &Package{Package: "tiny"}
	here, elsewhere := map[string]Binary{platform(): {}}, map[string]Binary{"plan9-mips": {}}
	for _, c := range []struct {
		from             Distribution
		wanted, way, err string
		fits             bool
	}{
		{from: Distribution{Npx: npx, Uvx: uvx, Binary: here}, way: "npm", fits: true},
		{from: Distribution{Uvx: uvx, Binary: here}, way: "archive", fits: true},
		{from: Distribution{Uvx: uvx, Binary: here}, wanted: "1.2.3", way: "archive", fits: true},
		{from: Distribution{Uvx: uvx, Binary: here}, wanted: "1.0.0", way: "uv", fits: true},
		{from: Distribution{Uvx: uvx}, way: "uv", fits: true},
		{from: Distribution{Npx: npx}, way: "npm", fits: true},
		{from: Distribution{Binary: here}, wanted: "1.0.0", fits: true, err: "Tiny comes as an archive, and only the newest version, 1.2.3, is available. Install that one."},
		{from: Distribution{Binary: elsewhere}, err: "Tiny is not available for " + platform() + ". See https://example.com."},
	} {
		e := Entry{Name: "Tiny", Version: "1.2.3", Website: "https://example.com", Distribution: c.from}
		check.Equal(t, e.Fits(), c.fits, "whether %+v fits is %v", c.from)
		by, err := newWorld(t).wayFor(e, Wanted{Version: c.wanted})
		check.Equal(t, by.via, c.way, "%+v is got by %q", c.from)
		if said := fmt.Sprint(err); (err != nil || c.err != "") && said != c.err {
			t.Errorf("%+v: %s; want %s", c.from, said, c.err)
		}
		if e.ID = "tiny"; c.err != "" {
			w := newWorld(t)
			w.index(e)
			_, err := w.install(func(w *Wanted) { w.Version = c.wanted })
			check.Equal(t, fmt.Sprint(err), c.err, "whoever installs %+v is told %s", c.from)
		}
	}
}
