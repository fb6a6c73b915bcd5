package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel queues an event before the call that caused it returns. So whoever takes all events knows everything that
// was done before, except by other means, see [mapped] and [scan.since].
const (
	interest = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVE |
		unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK
	eventSize = unix.SizeofInotifyEvent
	// share is the part of the user's watches that one host may take.
	share = 3
)

// local are the file systems that cannot change past this kernel.
var local = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true,
	unix.F2FS_SUPER_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true,
}

// notifier reports changes in folders.
type notifier struct {
	fd      int
	file    *os.File // the same, to wait on
	devices map[uint64]bool
	most    int // folders
	buf     []byte
}

func newNotifier() (*notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch folders: %w", err)
	}
	n := &notifier{fd: fd, file: os.NewFile(uintptr(fd), "inotify"), devices: map[uint64]bool{}, buf: make([]byte, 64<<10)}
	if text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches"); err == nil {
		n.most, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		n.most /= share
	}
	return n, nil
}

func (n *notifier) close() { n.file.Close() }

// add watches a folder, and returns what identifies its events.
func (n *notifier) add(dir string, count int) (int32, error) {
	if count >= n.most {
		return 0, errors.New("the project has more folders than may be watched")
	}
	wd, err := unix.InotifyAddWatch(n.fd, dir, interest)
	if err != nil {
		return 0, err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return 0, err
	}
	if !n.devices[st.Dev] {
		var fs unix.Statfs_t
		if err := unix.Statfs(dir, &fs); err != nil {
			return 0, err
		}
		if !local[int64(fs.Type)] {
			return 0, fmt.Errorf("%s is on a file system that others may change", dir)
		}
		n.devices[st.Dev] = true
	}
	return int32(wd), nil
}

// wait returns when something has happened, or false at the end.
func (n *notifier) wait() bool {
	conn, err := n.file.SyscallConn()
	if err != nil {
		return false
	}
	asked := false
	return conn.Read(func(uintptr) bool {
		was := asked
		asked = true
		return was
	}) == nil
}

// take takes all that has happened.
func (n *notifier) take(each func(event)) error {
	for {
		size, err := unix.Read(n.fd, n.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		case err != nil:
			return err
		case size <= 0:
			return errors.New("the watch has ended")
		}
		for rest := n.buf[:size]; len(rest) >= eventSize; {
			raw := (*unix.InotifyEvent)(unsafe.Pointer(&rest[0]))
			end := eventSize + int(raw.Len)
			name, _, _ := bytes.Cut(rest[eventSize:end], []byte{0})
			each(event{wd: raw.Wd, name: string(name), what: whatOf(raw.Mask, len(name) > 0)})
			rest = rest[end:]
		}
	}
}

func whatOf(mask uint32, named bool) what {
	folder := mask&unix.IN_ISDIR != 0 || !named
	switch {
	case mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0:
		return lost
	case mask&unix.IN_IGNORED != 0:
		return watchOver
	case !folder:
		return fileChanged
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		return folderMade
	case mask&(unix.IN_MOVED_FROM|unix.IN_MOVE_SELF) != 0:
		return folderMoved
	case mask&(unix.IN_DELETE|unix.IN_DELETE_SELF) != 0:
		return folderRemoved
	}
	return folderChanged
}

// mapped returns the files below folders that a program of this user has mapped into its memory for writing: the kernel
// reports such writes only after the mapping ends.
func mapped(roots []string) (paths []string) {
	processes, _ := filepath.Glob("/proc/[0-9]*/maps") // its only error is a malformed pattern
	for _, name := range processes {
		text, _ := os.ReadFile(name) // some may be gone or unreadable
		for line := range bytes.Lines(text) {
			fields := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte(" "), 6)
			if len(fields) < 6 || !bytes.HasPrefix(fields[1], []byte("rw")) || fields[1][3] != 's' {
				continue
			}
			if path := strings.TrimLeft(string(fields[5]), " "); below(path, roots) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
