//go:build unix

package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/acp-nvim/acp-nvim/host/failure"
)

// lock reserves the folder of an agent for this process until unlock is called.
func (r *Registry) lock(id string) (unlock func(), err error) {
	if !rightID.MatchString(id) {
		return nil, &failure.Failure{Sentence: fmt.Sprintf("There is no agent %q in the registry.", id), Advice: "See :Acp agents."}
	}
	if err := os.MkdirAll(r.folder(id), 0o700); err != nil {
		return nil, fmt.Errorf("open the folder of %s: %w", id, err)
	}
	f, err := os.OpenFile(filepath.Join(r.config.Folder, id+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the folder of %s: %w", id, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &failure.Failure{Sentence: "Another Neovim is changing " + id + ".", Advice: "Wait until it is done."}
		}
		return nil, fmt.Errorf("lock the folder of %s: %w", id, err)
	}
	return func() { f.Close() }, nil
}
