package policy

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/host/rules"
)

// maxLook is how long private files are searched for, before any file with several names counts as one.
var maxLook = 5 * time.Second // shorter in tests

// linkSlack is how much older than a search a file must be for the search to have seen all of its names, as clocks are
// coarse. A search that was cut off is valid for at least as long.
const linkSlack = time.Second

// hardLinks finds the private file that a file is under another name: names that share a device and an inode are one
// file. It searches the disk only for a file with several names. The zero value is ready; any goroutine may use it.
type hardLinks struct {
	mu    sync.Mutex
	looks map[string]*privateLook // by the folders that were searched
}

// privateLook is the private files with several names found in some folders.
type privateLook struct {
	began time.Time
	cut   bool // it took too long: there may be more
	names map[inode]string
}

type inode struct{ dev, ino uint64 }

// private returns the other, private, name of a file whose name has no links; "" if there is none. It searches the
// folders, and those that the globs name. It reads the disk.
func (h *hardLinks) private(file string, l rules.List, r rules.Request, folders []string) string {
	var stat unix.Stat_t
	if len(l.Private) == 0 || unix.Stat(file, &stat) != nil {
		return ""
	}
	return h.privateAt(file, stat, l, r, folders)
}

// privateAt is private for a file that has been statted.
func (h *hardLinks) privateAt(file string, stat unix.Stat_t, l rules.List, r rules.Request, folders []string) string {
	if len(l.Private) == 0 || stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Nlink < 2 {
		return ""
	}
	folders = append(slices.Clip(folders), l.PrivateFolders(r)...)
	h.mu.Lock()
	defer h.mu.Unlock()
	key := strings.Join(folders, "\x00")
	look := h.looks[key]
	if look == nil || !look.knows(stat) {
		look = lookForPrivate(l, r, folders)
		if h.looks == nil {
			h.looks = map[string]*privateLook{}
		}
		h.looks[key] = look
	}
	name := look.names[inodeOf(stat)]
	if name == "" && look.cut {
		return file // it may be any of them
	}
	if name == file {
		return ""
	}
	return name
}

// knows reports whether the search has seen all names of a file: a new one changes its inode's time.
func (k *privateLook) knows(stat unix.Stat_t) bool {
	if k.cut {
		return time.Since(k.began) < maxLook+linkSlack
	}
	return time.Unix(stat.Ctim.Unix()).Before(k.began.Add(-linkSlack))
}

func lookForPrivate(l rules.List, r rules.Request, folders []string) *privateLook {
	look := &privateLook{began: time.Now(), names: map[inode]string{}}
	fits := l.FitsPrivate(r)
	for _, dir := range folders {
		// Errors are about folders that cannot be read, not even by the agent.
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case time.Since(look.began) > maxLook:
				look.cut = true
				return fs.SkipAll
			case err != nil || !d.Type().IsRegular():
				return nil
			}
			var stat unix.Stat_t
			if fits(path) && unix.Lstat(path, &stat) == nil && stat.Nlink > 1 {
				look.names[inodeOf(stat)] = path
			}
			return nil
		})
	}
	return look
}

func inodeOf(stat unix.Stat_t) inode { return inode{uint64(stat.Dev), stat.Ino} }
