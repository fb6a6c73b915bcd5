// Package atomicfile writes files, readable by this user alone, that others see whole or not at all.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Temporary begins the names of files that are not whole yet, in the folder of the one they become. A host that was
// killed may leave some.
const Temporary = "new-"

// Write gives a file its content, in parts, by a rename. It makes the file's folder where there is none.
func Write(path string, parts ...[]byte) (err error) {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, Temporary+"*") // of mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		temp, err = os.CreateTemp(dir, Temporary+"*")
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp.Name())
		}
	}()
	for _, part := range parts {
		if err == nil {
			_, err = temp.Write(part)
		}
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
