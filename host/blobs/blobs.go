// Package blobs keeps the pictures, sounds and other files that agents send, so that they can be shown and opened.
package blobs

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Folder keeps them by their content. Any goroutine may call its methods.
type Folder struct {
	dir        string // "" for none: nothing is saved
	background func(func())
	saved      func(path string)

	mu    sync.Mutex        // guards the fields below
	paths map[string]string // by data
	size  int               // bytes that were given a path
}

// How long files are kept after they were last sent, and how many bytes of them; one host saves no more than that.
const (
	maxAge  = 30 * 24 * time.Hour
	maxSize = 200 << 20
)

// suffixes are by type: unknown and executable types get none that a program recognizes.
var suffixes = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"image/bmp": ".bmp", "image/tiff": ".tiff", "image/avif": ".avif",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/mp3": ".mp3", "audio/ogg": ".ogg",
	"audio/flac": ".flac", "audio/aac": ".aac", "audio/mp4": ".m4a", "audio/webm": ".webm",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/json": ".json", "text/plain": ".txt",
}

// New returns a folder in which files are saved in the background; saved is called for each file once it exists.
// Without a path nothing is saved.
func New(dir string, background func(func()), saved func(path string)) *Folder {
	return &Folder{dir: dir, background: background, saved: saved, paths: map[string]string{}}
}

// Save returns the file that will soon contain data, which is in base64, or "" if it cannot be saved. failed is called
// if saving fails later.
func (f *Folder) Save(mimeType, data string, failed func(error)) string {
	path, fresh := f.path(mimeType, data)
	if fresh {
		f.background(func() {
			if err := f.write(path, data); err != nil {
				failed(err)
			} else {
				f.saved(path)
			}
		})
	}
	return path
}

// path returns the file of data in base64, "" if there is no room, and whether it is still to be written.
func (f *Folder) path(mimeType, data string) (path string, fresh bool) {
	if f.dir == "" {
		return "", false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if path, known := f.paths[data]; known {
		return path, false
	}
	if f.size += len(data) * 3 / 4; f.size <= maxSize {
		mimeType, _, _ = strings.Cut(strings.ToLower(mimeType), ";")
		suffix := suffixes[strings.TrimSpace(mimeType)]
		if suffix == "" {
			suffix = ".bin"
		}
		sum := sha256.Sum256([]byte(data))
		path = filepath.Join(f.dir, hex.EncodeToString(sum[:16])+suffix)
	}
	f.paths[data] = path
	return path, path != ""
}

// write decodes data into a file that only this user can read.
func (f *Folder) write(path, data string) (err error) {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		now := time.Now()
		return os.Chtimes(path, now, now) // it is kept for as long as a new one
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(f.dir, "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	encoding := base64.StdEncoding
	if !strings.HasSuffix(data, "=") && len(data)%4 != 0 {
		encoding = base64.RawStdEncoding
	}
	_, err = io.Copy(file, base64.NewDecoder(encoding, strings.NewReader(data)))
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Clean removes old files, and the oldest if there are too many.
func (f *Folder) Clean(now time.Time) error {
	if f.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	size := int64(0)
	for _, file := range files { // newest first
		size += file.Size()
		if size > maxSize || now.Sub(file.ModTime()) > maxAge {
			err = errors.Join(err, os.Remove(filepath.Join(f.dir, file.Name())))
		}
	}
	return err
}
