// Package atomicfile writes files that only this user can read, and that others see whole or not at all.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Temporary is the prefix of files that are not complete yet, in the folder of the file they become. A killed host may
// leave some.
const Temporary = "new-"

// Write writes a file's content, given in parts, by a rename. It makes the file's folder if there is none.
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
