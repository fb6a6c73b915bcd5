package host

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// blobs are the pictures, sounds and other files that agents send, kept in a
// folder by what is in them. Any goroutine.
type blobs struct {
	dir string // "" for none: nothing is saved

	mu    sync.Mutex        // guards the fields below
	paths map[string]string // by data
	size  int               // bytes that were given a path
}

// How long files are kept after they were last sent, and how much of them; one
// host saves no more than that either.
const (
	blobAge  = 30 * 24 * time.Hour
	blobSize = 200 << 20
)

// blobSuffixes are by type: what is unknown, or may be run, gets none that a
// program knows.
var blobSuffixes = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"image/bmp": ".bmp", "image/tiff": ".tiff", "image/avif": ".avif",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/mp3": ".mp3", "audio/ogg": ".ogg",
	"audio/flac": ".flac", "audio/aac": ".aac", "audio/mp4": ".m4a", "audio/webm": ".webm",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/json": ".json", "text/plain": ".txt",
}

// path is the file of data in base64, and whether it is yet to be written; it is
// "" where there is no room.
func (b *blobs) path(mimeType, data string) (path string, fresh bool) {
	if b.dir == "" {
		return "", false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if path, known := b.paths[data]; known {
		return path, false
	}
	if b.paths == nil {
		b.paths = map[string]string{}
	}
	if b.size += len(data) * 3 / 4; b.size <= blobSize {
		mimeType, _, _ = strings.Cut(strings.ToLower(mimeType), ";")
		suffix := blobSuffixes[strings.TrimSpace(mimeType)]
		if suffix == "" {
			suffix = ".bin"
		}
		sum := sha256.Sum256([]byte(data))
		path = filepath.Join(b.dir, hex.EncodeToString(sum[:16])+suffix)
	}
	b.paths[data] = path
	return path, path != ""
}

// write decodes data into a file for this user alone.
func (b *blobs) write(path, data string) (err error) {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		now := time.Now()
		return os.Chtimes(path, now, now) // it is kept as long as a new one
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(b.dir, "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	encoding := base64.StdEncoding
	if !strings.HasSuffix(data, "=") && len(data)%4 != 0 {
		encoding = base64.RawStdEncoding
	}
	_, err = io.Copy(f, base64.NewDecoder(encoding, strings.NewReader(data)))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// clean removes files that are old, and the oldest where there are too many.
func (b *blobs) clean(now time.Time) error {
	entries, err := os.ReadDir(b.dir)
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
	for _, f := range files { // newest first
		size += f.Size()
		if size > blobSize || now.Sub(f.ModTime()) > blobAge {
			err = errors.Join(err, os.Remove(filepath.Join(b.dir, f.Name())))
		}
	}
	return err
}

func (h *Host) cleanBlobs() {
	if h.blobs.dir == "" {
		return
	}
	if err := h.blobs.clean(time.Now()); err != nil {
		h.log.Warn("clean the folder of what agents sent", "err", err)
	}
}

// save gives the file in which what an agent sent, in base64, is to be found
// soon: Lua is told when. It is "" where it cannot be saved.
func (s *Session) save(mimeType, data string) string {
	path, fresh := s.host.blobs.path(mimeType, data)
	if fresh {
		s.base.Background(func() {
			if err := s.host.blobs.write(path, data); err != nil {
				s.base.Box.Put(func() { s.remark("warning", fmt.Sprintf("A file of %s could not be saved: %v.", s.base.Title, err)) })
				return
			}
			s.base.Editor.Post(editor.Do(rpc.ImageSaved{Path: path}))
		})
	}
	return path
}
