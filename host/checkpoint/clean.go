package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// recordAge is how long a record is kept after it was last saved.
	recordAge = 30 * 24 * time.Hour
	// spare is how long contents are kept that no record needs: a host may be about to save one. If there is not room
	// for all, it is less, but more than need.
	spare      = 24 * time.Hour
	spareShort = time.Hour
)

// Clean removes what is old, and the oldest if there is too much: records, except those whose key is alive, and
// contents that no record needs. Other hosts may use the store meanwhile. alive may be nil.
func (s *Store) Clean(ctx context.Context, now time.Time, alive func(key string) bool) error {
	if alive == nil {
		alive = func(string) bool { return false }
	}
	c := &clean{store: s, now: now}
	if err := c.run(ctx, alive); err != nil {
		return fmt.Errorf("clean %s: %w", s.dir, err)
	}
	return nil
}

// clean is one run of Clean.
type clean struct {
	store *Store
	now   time.Time
	size  int64 // of all that is left
	errs  []error
}

// content is a file of contents, or a pack of them.
type content struct {
	path   string
	at     time.Time
	size   int64
	needed int // by how many records, once for each of its contents
}

func (c *clean) run(ctx context.Context, alive func(key string) bool) error {
	records, err := c.store.recordFiles()
	if err != nil {
		return err
	}
	all, with, err := c.contents(ctx)
	if err != nil {
		return err
	}
	// Records, the latest first.
	var count int
	var size int64
	records = slices.DeleteFunc(records, func(r recordFile) bool {
		count++
		size += r.Size
		old := c.now.Sub(r.Saved) > recordAge || count > c.store.records || size > c.store.recordSize
		if old && !(r.err == nil && alive(r.Key)) {
			c.remove(r.path, r.Saved)
			count--
			size -= r.Size
			return true
		}
		for _, sum := range r.needs {
			for _, file := range with[sum] {
				file.needed++
			}
		}
		return false
	})
	c.size += size
	// Contents that nothing needs, the oldest first.
	slices.SortFunc(all, func(a, b *content) int { return a.at.Compare(b.at) })
	for _, file := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		age := c.now.Sub(file.at)
		if file.needed == 0 && (age > spare || c.size > c.store.storeSize && age > spareShort) {
			c.removeContent(file)
		}
	}
	// Still too much: records, the oldest first, with what only they need.
	for _, r := range slices.Backward(records) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.size <= c.store.storeSize {
			break
		}
		if r.err == nil && alive(r.Key) {
			continue
		}
		c.remove(r.path, r.Saved)
		c.size -= r.Size
		for _, sum := range r.needs {
			for _, file := range with[sum] {
				if file.needed--; file.needed == 0 && c.now.Sub(file.at) > spareShort {
					c.removeContent(file)
				}
			}
		}
	}
	return errors.Join(c.errs...)
}

// contents lists the files of contents, also by the contents in them, and removes what interrupted writes left.
func (c *clean) contents(ctx context.Context) (all []*content, with map[Sum][]*content, err error) {
	with = map[Sum][]*content{}
	add := func(path string, info fs.FileInfo, sums ...Sum) {
		file := &content{path: path, at: info.ModTime(), size: info.Size()}
		all = append(all, file)
		for _, sum := range sums {
			with[sum] = append(with[sum], file)
		}
		c.size += info.Size()
	}
	err = filepath.WalkDir(c.store.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return errors.Join(err, ctx.Err())
		}
		info, err := e.Info()
		if err != nil {
			return nil // gone
		}
		if strings.HasPrefix(e.Name(), temporary) {
			if c.now.Sub(info.ModTime()) > spareShort {
				c.failed(os.Remove(path))
			}
			return nil
		}
		var sum Sum
		rest, err := filepath.Rel(filepath.Join(c.store.dir, "contents"), path)
		if err == nil && sum.UnmarshalText([]byte(strings.Replace(rest, string(filepath.Separator), "", 1))) == nil {
			add(path, info, sum)
		}
		if filepath.Dir(path) == c.store.packs.dir {
			list, _ := readPack(path) // an incomplete one is not needed
			var sums []Sum
			for _, p := range list {
				sums = append(sums, p.sum)
			}
			add(path, info, sums...)
		}
		return nil
	})
	return all, with, err
}

func (c *clean) removeContent(file *content) {
	if c.remove(file.path, file.at) {
		c.size -= file.size
	}
}

// remove removes a file unless it was touched or rewritten since it was seen. Whoever does that right now either finds
// it gone, or gets it back.
func (c *clean) remove(path string, seen time.Time) bool {
	aside := aside(path)
	if err := os.Rename(path, aside); err != nil {
		c.failed(err)
		return false
	}
	info, err := os.Lstat(aside)
	wanted := err == nil && !info.ModTime().Equal(seen)
	if wanted {
		// It must not replace what another host has meanwhile written there.
		if err := os.Link(aside, path); err != nil && !errors.Is(err, fs.ErrExist) {
			c.failed(os.Rename(aside, path))
		}
	}
	c.failed(os.Remove(aside))
	return !wanted
}

func (c *clean) failed(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.errs = append(c.errs, err)
	}
}
