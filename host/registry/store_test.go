package registry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What agents said of themselves is kept for each; a file that cannot be read is begun anew.
func TestHear(t *testing.T) {
	w := newWorld(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	w.config.Now = func() time.Time { return at }
	heard := func() (all map[string]Heard) {
		must.Do(t, readJSON(w.heardFile(), &all))
		return all
	}
	must.Do(t, w.Hear("a", Heard{Said: "A 1"}), w.Hear("b", Heard{Said: "B 1"}), w.Hear("a", Heard{Said: "A 2"}))
	then := at.UTC().Truncate(time.Second)
	check.Deep(t, heard(), map[string]Heard{"a": {At: then, Said: "A 2"}, "b": {At: then, Said: "B 1"}}, "kept is %v")
	must.Do(t, os.WriteFile(w.heardFile(), []byte(`{"b": {"said": "B 1"}, "a": 7}`), 0o600))
	must.Do(t, w.Hear("a", Heard{Said: "A 3"}))
	check.Deep(t, heard(), map[string]Heard{"a": {At: then, Said: "A 3"}}, "kept is %v")
}

// installedTiny is a world in which the agent tiny is installed.
func installedTiny(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	data := tarball(t, program)
	w.publish("1.0.0", "tiny.tar.gz", data, sum(data))
	_, err := w.install()
	must.Do(t, err)
	return w
}

// Files that say what is installed may be anything: nothing outside of an agent's folder is started because of them, and an
// install repairs them.
func TestBrokenInstalls(t *testing.T) {
	for name, text := range map[string]string{
		currentFile:                  `{"version": "../../evil"}`,
		currentFile + " ":            `nonsense`,
		currentFile + "  ":           `{"version": "9.9.9"}`,
		"1.0.0/" + launchFile:        `{"command": ["/bin/sh"]}`,
		"1.0.0/" + launchFile + " ":  `{"command": []}`,
		"1.0.0/" + launchFile + "  ": `{"command": ["../../../bin/sh"]}`,
	} {
		w := installedTiny(t)
		must.Write(t, w.folder("tiny"), strings.TrimSpace(name), text)
		if agent, there, err := w.Installed("tiny"); there || err == nil || !strings.HasPrefix(err.Error(), "read what is installed of tiny: ") {
			t.Errorf("with %s in %s it is %+v", text, name, agent)
		}
		if _, err := w.Rollback("tiny"); err == nil {
			t.Errorf("with %s in %s one can go back", text, name)
		}
		works := w.handshake
		w.handshake = func(context.Context, Installed) (string, error) { return "", errors.New("it is too new") }
		if _, err := w.install(); err == nil {
			t.Errorf("with %s in %s it is used though it does not start", text, name)
		}
		w.handshake = works
		if _, err := os.Stat(filepath.Join(w.folder("tiny"), "1.0.0", "bin", "tiny")); err != nil {
			t.Errorf("with %s in %s what may be in use is removed: %v", text, name, err)
		}
		agent, err := w.install()
		if err != nil || agent.Version != "1.0.0" || agent.Previous != "" || w.used() != "1.0.0" {
			t.Errorf("with %s in %s it is not repaired: %+v, %v", text, name, agent, err)
		}
		must.Write(t, w.folder("tiny"), strings.TrimSpace(name), text)
		if err := w.Uninstall("tiny"); err != nil {
			t.Errorf("with %s in %s it is not removed: %v", text, name, err)
		}
		if _, err := os.Stat(w.folder("tiny")); err == nil {
			t.Errorf("with %s in %s it is left", text, name)
		}
	}
}

// What is not installed cannot be changed, and the user hears why.
func TestChangesOfWhatIsNotInstalled(t *testing.T) {
	w := installedTiny(t)
	check.Slice(t, w.IDs(), []string{"tiny"}, "installed are %q")
	for what, c := range map[string]struct {
		do   func() (Installed, error)
		want string
	}{
		"pin another":        {func() (Installed, error) { return w.Pin("other", true) }, "other is not installed by :Acp agents. Install it there first."},
		"pin a path":         {func() (Installed, error) { return w.Pin("../tiny", true) }, `There is no agent "../tiny" in the registry. See :Acp agents.`},
		"go back in another": {func() (Installed, error) { return w.Rollback("other") }, "other is not installed by :Acp agents. Install it there first."},
		"go back":            {func() (Installed, error) { return w.Rollback("tiny") }, "There is no earlier version of tiny. Only the one before an update is kept."},
		"remove another":     {func() (Installed, error) { return Installed{}, w.Uninstall("other") }, "other cannot be removed: it was not installed by :Acp agents. Remove it as you installed it."},
		"remove a path":      {func() (Installed, error) { return Installed{}, w.Uninstall("../tiny") }, "../tiny cannot be removed: it was not installed by :Acp agents. Remove it as you installed it."},
		"another version":    {func() (Installed, error) { return w.install(func(w *Wanted) { w.Version = "../1" }) }, `"../1" is not a version. Give one such as 1.2.3.`},
	} {
		if _, err := c.do(); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v; want %s", what, err, c.want)
		}
	}
	if w.Cancel("tiny") {
		t.Error("something is cancelled though nothing is being installed")
	}
	check.Equal(t, w.used(), "1.0.0", "%s is used")
}

// An agent that is installed anew in its own version has no earlier one.
func TestInstallAgain(t *testing.T) {
	w := installedTiny(t)
	agent, err := w.install()
	must.Do(t, err)
	check.Equal(t, agent.Previous, "", "the earlier version is %q")
	_, err = w.Pin("tiny", true)
	must.Do(t, err)
	agent, err = w.install() // of what it is pinned to
	must.Do(t, err)
	check.Equal(t, agent.Pinned, true, "whether it is still pinned is %v")
}

// What killed installs left goes at the next, and with the agent. The user's own files in the folder stay.
func TestLeftovers(t *testing.T) {
	w := installedTiny(t)
	left := func(path string) string { return must.Write(t, w.config.Folder, path, "") }
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	gone := []string{left("tiny/.new-1/half"), left("tiny/0.9.0/bin/tiny"), left("removed/1.0.0/bin/removed"), left("removed/.new-1/half")}
	mine := []string{left("Notes/mine"), left("mine.txt"), left("tiny/~mine")}
	_, err := w.install()
	must.Do(t, err)
	for _, path := range gone {
		check.Equal(t, exists(path), false, "whether %s is left is %v", path)
	}
	check.Equal(t, exists(w.folder("removed")), false, "whether its folder is left is %v")
	unlock, err := w.lock("removed") // as it could be installed again
	must.Do(t, err)
	unlock()
	half := left("tiny/.new-2/half")
	must.Do(t, w.Uninstall("tiny"))
	check.Equal(t, exists(half), false, "whether %s is left is %v", half)
	for _, path := range mine {
		check.Equal(t, exists(path), true, "whether %s is there is %v", path)
	}
}

// An agent that was removed while it ran goes with its end; one that is installed stays.
func TestRemovedWhileItRuns(t *testing.T) {
	w := installedTiny(t)
	agent, _, err := w.Installed("tiny")
	must.Do(t, err)
	for _, other := range []string{"/usr/bin/tiny", w.folder("tiny"), filepath.Join(w.config.Folder, "Tiny", "1.0.0", "x"), filepath.Join(w.config.Folder, "tiny", ".new-1", "x")} {
		w.Use(other)() // which is none of ours
	}
	marks, _ := filepath.Glob(filepath.Join(w.config.Folder, "*"+marked))
	check.Slice(t, marks, nil, "in use are %q")
	w.Use(agent.Command[0])()
	check.Equal(t, w.used(), "1.0.0", "after its end %q is installed")
	release := w.Use(agent.Command[0])
	must.Do(t, w.Uninstall("tiny"))
	_, err = os.Stat(agent.Command[0])
	must.Do(t, err)
	release()
	if _, err := os.Stat(w.folder("tiny")); err == nil {
		t.Error("it is left")
	}
}

// A file that cannot be replaced leaves nothing beside it.
func TestWriteJSONFails(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, dir, "taken/by", "a folder")
	if err := writeJSON(filepath.Join(dir, "taken"), 1); err == nil {
		t.Error("a folder is replaced")
	}
	list, err := os.ReadDir(dir)
	must.Do(t, err)
	check.Equal(t, len(list), 1, "there are %d files")
}
