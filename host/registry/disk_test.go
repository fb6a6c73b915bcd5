package registry

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// Where something else lies at a place in the data folder that is needed, the user hears so, and an install changes nothing.
func TestWhatLiesInTheWay(t *testing.T) {
	install := func(w *world) error { _, err := w.install(); return err }
	remove := func(w *world) error { return w.Uninstall("tiny") }
	for _, c := range []struct {
		folders string // that lie in the way, with a file in each
		do      func(*world) error
		want    string
	}{
		{"index.json", install, "read the index of agents: "},
		{"tiny.lock", install, "lock the folder of tiny: "},
		{"tiny@0.9.0.use tiny/0.9.0", install, "clean the folder of tiny: "},
		{"tiny@0.9.0.use tiny/0.9.0", remove, "remove tiny: "},
		{"tiny/current.json", install, "install Tiny: "},
		{"tiny/current.json", remove, "remove tiny: "},
		{"tiny@2.0.0.use", func(w *world) error { // which uv installs in its place
			w.programs(map[string]string{"uv": "exit 1\n"})
			w.index(Entry{ID: "tiny", Name: "Tiny", Version: "2.0.0", Distribution: Distribution{Uvx: &Package{Package: "tiny"}}})
			return install(w)
		}, "install Tiny: "},
		{"", func(w *world) error {
			must.Write(t, w.config.Folder, "other", "a file")
			_, err := w.Pin("other", true)
			return err
		}, "open the folder of other: "},
	} {
		w := installedTiny(t)
		for folder := range strings.FieldsSeq(c.folders) {
			must.Do(t, os.RemoveAll(filepath.Join(w.config.Folder, folder)))
			must.Write(t, w.config.Folder, folder+"/file", "")
		}
		if err := c.do(w); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("with a folder at %q: %v; want %s", c.folders, err, c.want)
		}
		_, err := os.Stat(filepath.Join(w.folder("tiny"), "1.0.0", "bin", "tiny"))
		if err != nil && !strings.HasPrefix(c.want, "remove") {
			t.Errorf("with a folder at %q what was installed is gone: %v", c.folders, err)
		}
	}
}

// A program whose mark cannot be locked is started all the same, and its end is no fault.
func TestUseWithoutALock(t *testing.T) {
	w := installedTiny(t)
	agent, _, err := w.Installed("tiny")
	must.Do(t, err)
	mark := w.mark("tiny", "1.0.0")
	f, err := os.Create(mark) // another Neovim removes it
	must.Do(t, err)
	must.Do(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	w.Use(agent.Command[0])()
	must.Do(t, f.Close(), os.Remove(mark))
	must.Write(t, mark, "file", "") // a folder
	w.Use(agent.Command[0])()
	check.Equal(t, w.used(), "1.0.0", "%s is used")
}

// While another Neovim changes an agent, this one does not.
func TestChangedByAnother(t *testing.T) {
	w := installedTiny(t)
	unlock, err := New(w.config).lock("tiny")
	must.Do(t, err)
	for what, do := range map[string]func() error{
		"remove":  func() error { return w.Uninstall("tiny") },
		"pin":     func() error { _, err := w.Pin("tiny", true); return err },
		"install": func() error { _, err := w.install(); return err },
	} {
		if err := do(); err == nil || err.Error() != "Another Neovim is changing tiny. Wait until it is done." {
			t.Errorf("%s: %v", what, err)
		}
	}
	unlock()
	agent, there, err := w.Installed("tiny")
	check.Equal(t, there && !agent.Pinned, true, "it is as it was: %v, %v", err)
	must.Do(t, w.Uninstall("tiny"))
}

// There is no way back to a version that is broken.
func TestRollbackToWhatIsBroken(t *testing.T) {
	w := installedTiny(t)
	data := tarball(t, program)
	w.publish("2.0.0", "tiny.tar.gz", data, sum(data))
	_, err := w.install()
	must.Do(t, err)
	must.Do(t, os.Remove(filepath.Join(w.folder("tiny"), "1.0.0", launchFile)))
	if _, err := w.Rollback("tiny"); err == nil || !strings.HasPrefix(err.Error(), "read what is installed of tiny: ") {
		t.Errorf("it goes back: %v", err)
	}
	check.Equal(t, w.used(), "2.0.0", "%s is used")
}
