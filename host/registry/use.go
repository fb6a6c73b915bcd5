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

// This file knows which versions are running, in this Neovim or another: whoever starts one holds a shared lock on its
// mark, which the system releases however they end.

const marked = ".use"

// mark returns the file that is locked while a version is in use.
func (r *Registry) mark(id, version string) string {
	return filepath.Join(r.config.Folder, id+"@"+version+marked)
}

// Use keeps the version that a program belongs to from being removed until release is called. It ignores programs that
// were not installed here.
func (r *Registry) Use(program string) (release func()) {
	none := func() {}
	rest, within := strings.CutPrefix(program, r.config.Folder+string(filepath.Separator))
	parts := strings.SplitN(rest, string(filepath.Separator), 3)
	if !within || len(parts) < 3 || !rightID.MatchString(parts[0]) || !rightVersion.MatchString(parts[1]) {
		return none
	}
	f, err := os.OpenFile(r.mark(parts[0], parts[1]), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return none // if nothing can be written, nothing is removed either
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		f.Close()
		return none
	}
	return func() {
		f.Close()
		if _, err := os.Stat(filepath.Join(r.folder(parts[0]), currentFile)); err != nil {
			r.sweep() // it was removed while running
		}
	}
}

// remove removes a version, unless it is running; the agent's folder is locked.
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

// runs reports whether a version is running anywhere.
func (r *Registry) runs(id, version string) bool {
	f, err := os.Open(r.mark(id, version))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// stale is the age at which a partial file counts as abandoned.
const stale = time.Hour

// sweep removes what killed processes left, or what was still running when it was removed: leftovers of uninstalled
// agents and of partial writes. The folder of an agent that is locked, here or elsewhere, is left to prune.
func (r *Registry) sweep() {
	list, _ := os.ReadDir(r.config.Folder) // without one nothing is left
	for _, e := range list {
		path := filepath.Join(r.config.Folder, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
		case strings.HasPrefix(e.Name(), ".gone-"), strings.HasPrefix(e.Name(), ".new-"):
			if time.Since(info.ModTime()) > stale {
				_ = os.RemoveAll(path)
			}
		case e.IsDir():
			if _, err := os.Stat(filepath.Join(path, currentFile)); !errors.Is(err, os.ErrNotExist) {
				continue
			}
			if unlock, err := r.lock(e.Name()); err == nil { // otherwise it is being installed, or no agent's
				_ = r.prune(e.Name())
				_ = os.Remove(path) // if nothing is left
				unlock()
			}
		}
	}
}
