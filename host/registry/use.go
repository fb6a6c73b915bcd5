//go:build unix

package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// This file knows which versions run, in this Neovim or another: whoever starts one holds a shared lock on its mark, which
// the system takes back whatever becomes of them.

const marked = ".use"

// mark is the file that stands for the use of a version.
func (r *Registry) mark(id, version string) string {
	return filepath.Join(r.config.Folder, id+"@"+version+marked)
}

// Use keeps the version to which a program belongs from being removed until release is called. Of programs that were not
// installed here it says nothing.
func (r *Registry) Use(program string) (release func()) {
	none := func() {}
	rest, within := strings.CutPrefix(program, r.config.Folder+string(filepath.Separator))
	parts := strings.SplitN(rest, string(filepath.Separator), 3)
	if !within || len(parts) < 3 || !rightID.MatchString(parts[0]) || !rightVersion.MatchString(parts[1]) {
		return none
	}
	f, err := os.OpenFile(r.mark(parts[0], parts[1]), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return none // where nothing can be written, nothing is removed either
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		f.Close()
		return none
	}
	return func() {
		f.Close()
		if _, err := os.Stat(filepath.Join(r.folder(parts[0]), currentFile)); err != nil {
			r.sweep("") // it was removed while it ran
		}
	}
}

// remove removes a version, unless it runs; the agent's folder is locked.
func (r *Registry) remove(id, version string) (removed bool, err error) {
	f, err := os.OpenFile(r.mark(id, version), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, err
	}
	err = os.RemoveAll(filepath.Join(r.folder(id), version))
	return err == nil, errors.Join(err, os.Remove(f.Name()))
}

// runs reports whether a version runs anywhere.
func (r *Registry) runs(id, version string) bool {
	f, err := os.Open(r.mark(id, version))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// stale is how old a file in the middle of being written is when nobody writes it any more.
const stale = time.Hour

// sweep removes what others have left who were killed, or that ran when it was removed: of agents that are not installed
// any more, and of what was being written. The folder of the agent that is locked already is left to prune.
func (r *Registry) sweep(locked string) {
	list, _ := os.ReadDir(r.config.Folder) // of none nothing is left
	for _, e := range list {
		path := filepath.Join(r.config.Folder, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
		case strings.HasPrefix(e.Name(), ".gone-"), strings.HasPrefix(e.Name(), ".new-"):
			if time.Since(info.ModTime()) > stale {
				_ = os.RemoveAll(path)
			}
		case e.IsDir() && e.Name() != locked && rightID.MatchString(e.Name()):
			if _, err := os.Stat(filepath.Join(path, currentFile)); !errors.Is(err, os.ErrNotExist) {
				continue
			}
			if unlock, err := r.lock(e.Name()); err == nil { // else it is being installed
				_ = r.prune(e.Name())
				_ = os.Remove(path) // where nothing is left
				unlock()
			}
		}
	}
}
