package follow

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/acp-nvim/acp-nvim/buffers"
)

// bigFile is the size in bytes from which a file is opened without its filetype, whose plugins may take long.
const bigFile = 1 << 20

// looked is what the disk has at a path.
type looked struct{ exists, big bool }

// look reports whether a file can be shown. One that does not exist may still be a buffer. It reads the disk.
func look(path string) (looked, bool) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return looked{}, true
	case err != nil || !info.Mode().IsRegular() || info.Size() > buffers.MaxSync:
		return looked{}, false
	}
	file, err := os.Open(path)
	if err != nil {
		return looked{}, false
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, 8<<10))
	if err != nil || binary(head) {
		return looked{}, false
	}
	return looked{exists: true, big: info.Size() > bigFile}, true
}

// binary reports whether a file with this beginning is not text. UTF-16 has zeros too.
func binary(head []byte) bool {
	utf16 := bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
	return !utf16 && bytes.IndexByte(head, 0) >= 0
}

// plain returns a path without "..", as the editor should name the file. After a link ".." may mean another file: then
// the path stays as it is. It reads the disk.
func plain(path string) string {
	clean := filepath.Clean(path)
	if clean == path {
		return path
	}
	given, err := os.Stat(path)
	found, cleanErr := os.Stat(clean)
	if err != nil || cleanErr != nil || !os.SameFile(given, found) {
		return path
	}
	return clean
}
