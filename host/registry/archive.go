package registry

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/acp-nvim/acp-nvim/host/failure"
)

// The limits of an archive: its length, that of its contents, and how many files it has.
var (
	maxArchive  int64 = 1 << 30
	maxUnpacked int64 = 3 << 30
	maxEntries        = 100_000
)

// stall is how long a server may send nothing.
var stall = 30 * time.Second

// archive fetches a program that comes as an archive.
func (r *Registry) archive(ctx context.Context, e Entry, b Binary, w Wanted, into string) (version, program string, err error) {
	from, err := url.Parse(b.Archive)
	if err != nil {
		return "", "", fmt.Errorf("get %s: %w", e.Name, err)
	}
	if b.SHA256 == "" && !w.Unverified {
		return "", "", &UnverifiedError{Name: e.Name, Host: from.Host}
	}
	f, err := os.CreateTemp(r.folder(w.ID), ".new-*.archive")
	if err != nil {
		return "", "", fmt.Errorf("get %s: %w", e.Name, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	sum, err := download(ctx, b.Archive, f, w.Progress)
	if err != nil {
		if errors.Is(err, syscall.ENOSPC) || ctx.Err() != nil {
			return "", "", err // which has words of its own
		}
		return "", "", &failure.Failure{Sentence: fmt.Sprintf("%s could not be downloaded from %s: %v.", e.Name, from.Host, err), Advice: "Check your network, then try again."}
	}
	if b.SHA256 != "" && !strings.EqualFold(sum, b.SHA256) {
		return "", "", &failure.Failure{
			Sentence: fmt.Sprintf("The archive that %s sent for %s does not have the checksum that the registry names, so it is not used.", from.Host, e.Name),
			Advice:   "Refresh the index (r in :Acp agents) and try again; else tell " + e.Page() + ".",
		}
	}
	w.Progress("unpacking it")
	cmd := path.Clean(strings.TrimPrefix(filepath.ToSlash(b.Cmd), "./"))
	if !filepath.IsLocal(filepath.FromSlash(cmd)) {
		return "", "", fmt.Errorf("get %s: %q is not a program in its archive", e.Name, b.Cmd)
	}
	if err := unpack(f, path.Base(from.Path), cmd, into); errors.Is(err, syscall.ENOSPC) {
		return "", "", err
	} else if err != nil {
		return "", "", &failure.Failure{Sentence: fmt.Sprintf("The archive of %s is not used: %v.", e.Name, err), Advice: "See " + e.Page() + "."}
	}
	program = filepath.Join(into, filepath.FromSlash(cmd))
	if err := os.Chmod(program, 0o755); err != nil {
		return "", "", &failure.Failure{Sentence: fmt.Sprintf("The archive of %s has no %s in it.", e.Name, cmd), Advice: "See " + e.Page() + "."}
	}
	return e.Version, program, nil
}

// download fetches a URL, and returns the SHA-256.
func download(ctx context.Context, from string, to io.Writer, progress func(string)) (sum string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(stall, func() { cancel(fmt.Errorf("nothing arrived for %v", stall)) })
	defer patience.Stop()
	defer func() {
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
	}()
	answer, err := get(ctx, from)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	hash := sha256.New()
	body := io.LimitReader(answer.Body, maxArchive+1)
	buffer := make([]byte, 256<<10)
	var have int64
	shown := time.Time{}
	for {
		n, err := body.Read(buffer)
		patience.Reset(stall)
		if n > 0 {
			if have += int64(n); have > maxArchive {
				return "", fmt.Errorf("it is longer than %d MB", maxArchive>>20)
			}
			hash.Write(buffer[:n])
			if _, err := to.Write(buffer[:n]); err != nil {
				return "", err
			}
		}
		if time.Since(shown) > 200*time.Millisecond {
			shown = time.Now()
			progress(downloaded(have, answer.ContentLength))
		}
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(hash.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

func downloaded(have, of int64) string {
	if of > 0 {
		return fmt.Sprintf("downloading · %d of %d MB", have>>20, (of+1<<20-1)>>20)
	}
	return fmt.Sprintf("downloading · %d MB", have>>20)
}

// unpack unpacks an archive into a folder. The name determines the kind; anything but an archive is the program itself.
func unpack(f *os.File, name, program, into string) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close()
	u := unpacking{root: root}
	switch {
	case hasSuffix(name, ".tar.gz", ".tgz"):
		z, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		return u.tar(z)
	case hasSuffix(name, ".tar.bz2", ".tbz2", ".tbz"):
		return u.tar(bzip2.NewReader(f))
	case hasSuffix(name, ".zip"):
		return u.zip(f)
	case hasSuffix(name, ".tar.xz", ".txz", ".tar.zst", ".7z", ".dmg", ".pkg"):
		return fmt.Errorf("archives such as %s are not supported here", name)
	}
	return u.file(program, 0o755, f)
}

func hasSuffix(name string, endings ...string) bool {
	for _, e := range endings {
		if strings.HasSuffix(strings.ToLower(name), e) {
			return true
		}
	}
	return false
}

// unpacking puts files into a folder, and nowhere else.
type unpacking struct {
	root    *os.Root
	entries int
	bytes   int64
}

func (u *unpacking) tar(from io.Reader) error {
	archive := tar.NewReader(from)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = u.dir(h.Name)
		case tar.TypeReg:
			err = u.file(h.Name, fs.FileMode(h.Mode), archive)
		case tar.TypeXGlobalHeader:
		default:
			err = fmt.Errorf("it contains %s, which is neither a file nor a folder", h.Name)
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacking) zip(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(f, info.Size())
	if err != nil {
		return err
	}
	for _, entry := range archive.File {
		if err := u.zipped(entry); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacking) zipped(entry *zip.File) error {
	mode := entry.Mode()
	switch {
	case mode.IsDir():
		return u.dir(entry.Name)
	case !mode.IsRegular():
		return fmt.Errorf("it contains %s, which is neither a file nor a folder", entry.Name)
	}
	from, err := entry.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	return u.file(entry.Name, mode, from)
}

// local returns a path in the folder, or an error for one that leads out of it.
func (u *unpacking) local(name string) (string, error) {
	if u.entries++; u.entries > maxEntries {
		return "", fmt.Errorf("it has more than %d files", maxEntries)
	}
	at := filepath.FromSlash(path.Clean(name))
	if strings.Contains(name, `\`) || !filepath.IsLocal(at) || slices.Contains(strings.Split(name, "/"), "..") {
		return "", fmt.Errorf("it has %q, which leads out of its folder", name)
	}
	return at, nil
}

func (u *unpacking) dir(name string) error {
	at, err := u.local(name)
	if err != nil {
		return err
	}
	return u.root.MkdirAll(at, 0o755)
}

func (u *unpacking) file(name string, mode fs.FileMode, from io.Reader) error {
	at, err := u.local(name)
	if err != nil {
		return err
	}
	if err := u.root.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	perm := fs.FileMode(0o644)
	if mode&0o111 != 0 {
		perm = 0o755
	}
	f, err := u.root.OpenFile(at, os.O_CREATE|os.O_WRONLY|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(from, maxUnpacked-u.bytes+1))
	if u.bytes += n; u.bytes > maxUnpacked {
		err = fmt.Errorf("it has more than %d MB in it", maxUnpacked>>20)
	}
	return errors.Join(err, f.Close())
}
