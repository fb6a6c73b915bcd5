package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/host/atomicfile"
)

// This file writes packs. Creating a file takes a hundred times longer than writing its content, so many small contents
// that arrive together share one file: their sums and sizes, then all of their bytes.

const (
	packable = 64 << 10 // the largest contents in a pack
	packSize = 4 << 20  // bytes, or so, after which a pack is closed
	packWith = 8        // contents at least: fewer get files of their own
	packHead = "acp-nvim pack 1\n"
)

// pack is a file with many contents.
type pack struct {
	path    string
	touched time.Time // guarded by packs.mu: when it was last touched here
}

// touchedFor is how long a touched pack is not touched again: thousands of its contents are put at once.
const touchedFor = time.Second

// place is where contents are in a pack.
type place struct {
	in   *pack
	at   int64
	size int
}

// packs is the index of a store's packs. Its methods may be called from any goroutine.
type packs struct {
	dir string

	mu     sync.Mutex // guards the fields below
	known  map[string]*pack
	places map[Sum]place
	listed time.Time // the time of the folder when it was listed last
}

// find returns where contents are. What other hosts have packed meanwhile is seen when the folder's time changes; with
// anew the folder is listed in any case.
func (p *packs) find(sum Sum, anew bool) (place, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.places[sum]; ok {
		return at, true
	}
	info, err := os.Stat(p.dir)
	if err != nil || !anew && info.ModTime().Equal(p.listed) {
		return place{}, false
	}
	p.listed = info.ModTime()
	names, _ := os.ReadDir(p.dir) // an error means that nothing is found
	for _, name := range names {
		path := filepath.Join(p.dir, name.Name())
		if p.known[path] != nil || strings.HasPrefix(name.Name(), temporary) {
			continue
		}
		if list, err := readPack(path); err == nil {
			p.add(path, list)
		}
	}
	at, ok := p.places[sum]
	return at, ok
}

// add indexes a pack and its contents.
func (p *packs) add(path string, list []packed) {
	if p.known == nil {
		p.known, p.places = map[string]*pack{}, map[Sum]place{}
	}
	in := &pack{path: path}
	p.known[path] = in
	for _, c := range list {
		p.places[c.sum] = place{in, c.at, c.size}
	}
}

// gone forgets a pack that no longer exists.
func (p *packs) gone(in *pack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, in.path)
	for sum, at := range p.places {
		if at.in == in {
			delete(p.places, sum)
		}
	}
}

// forget clears the index, so that everything is listed again.
func (p *packs) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.places, p.listed = nil, nil, time.Time{}
}

// touch marks the pack with some contents as new, and reports whether there is one.
func (p *packs) touch(sum Sum, now time.Time) bool {
	for {
		at, ok := p.find(sum, false)
		if !ok {
			return false
		}
		if p.isNew(at.in, now) {
			return true
		}
		if os.Chtimes(at.in.path, now, now) == nil {
			p.mu.Lock()
			at.in.touched = now
			p.mu.Unlock()
			return true
		}
		p.gone(at.in)
	}
}

func (p *packs) isNew(in *pack, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Sub(in.touched) < touchedFor
}

// content reads contents, or returns an error that is fs.ErrNotExist. With anew, it looks for unknown packs.
func (p *packs) content(sum Sum, anew bool) ([]byte, error) {
	for {
		at, ok := p.find(sum, anew)
		if !ok {
			return nil, fs.ErrNotExist
		}
		var data []byte
		err := fs.ErrNotExist
		for _, path := range []string{at.in.path, aside(at.in.path), at.in.path} {
			if errors.Is(err, fs.ErrNotExist) {
				data, err = readAt(path, at.at, at.size)
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
		p.gone(at.in)
	}
}

func readAt(path string, at int64, size int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, size)
	_, err = f.ReadAt(data, at)
	return data, err
}

// packed is a pack's entry for contents.
type packed struct {
	sum  Sum
	at   int64
	size int
}

// index returns what precedes the bytes of a pack.
func index(list []packed) []byte {
	head := binary.LittleEndian.AppendUint32([]byte(packHead), uint32(len(list)))
	for _, c := range list {
		head = binary.LittleEndian.AppendUint32(append(head, c.sum[:]...), uint32(c.size))
	}
	return head
}

// readPack reads the index of a pack. An incomplete one is an error: the machine stopped while it was being written.
func readPack(path string) ([]packed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	errBroken := fmt.Errorf("%s is not a whole pack", path)
	const each = sha256.Size + 4
	head := make([]byte, len(packHead)+4)
	if _, err := io.ReadFull(f, head); err != nil || !bytes.HasPrefix(head, []byte(packHead)) {
		return nil, errBroken
	}
	count := int64(binary.LittleEndian.Uint32(head[len(packHead):]))
	at := int64(len(head)) + count*each
	if at > info.Size() {
		return nil, errBroken
	}
	entries := make([]byte, count*each)
	if _, err := io.ReadFull(f, entries); err != nil {
		return nil, err
	}
	var list []packed
	for ; len(entries) > 0; entries = entries[each:] {
		c := packed{sum: Sum(entries[:sha256.Size]), at: at, size: int(binary.LittleEndian.Uint32(entries[sha256.Size:]))}
		list = append(list, c)
		at += int64(c.size)
	}
	if at != info.Size() {
		return nil, errBroken
	}
	return list, nil
}

// Batch puts many contents. It may be used from any goroutine; what was put is there after Flush.
type Batch struct {
	store *Store

	mu    sync.Mutex // guards the fields below, and is held while a pack is written
	list  []packed   // where in data
	data  []byte
	in    map[Sum]bool
	there []func() // called when what was put is on the disk
}

// Batch returns a batch for putting many contents.
func (s *Store) Batch() *Batch { return &Batch{store: s, in: map[Sum]bool{}} }

// Put keeps contents as [Store.Put] does. there, which may be nil, is called when they are on the disk, on any
// goroutine.
func (b *Batch) Put(data []byte, there func(Sum)) error {
	sum := Sum(sha256.Sum256(data))
	if there == nil {
		there = func(Sum) {}
	}
	if b.store.Has(sum, len(data)) {
		there(sum)
		return nil
	}
	if len(data) > packable {
		err := b.store.write(sum, data)
		if err == nil {
			there(sum)
		}
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.there = append(b.there, func() { there(sum) })
	if b.in[sum] {
		return nil
	}
	b.in[sum] = true
	b.list = append(b.list, packed{sum, int64(len(b.data)), len(data)})
	if b.data = append(b.data, data...); len(b.data) < packSize {
		return nil
	}
	return b.flush()
}

// Flush writes everything that was put to the disk.
func (b *Batch) Flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.flush()
}

func (b *Batch) flush() error {
	list, data, there := b.list, b.data, b.there
	b.list, b.data, b.there, b.in = nil, nil, nil, map[Sum]bool{}
	if len(list) < packWith {
		for _, c := range list {
			if err := b.store.write(c.sum, data[c.at:][:c.size]); err != nil {
				return err
			}
		}
	} else if err := b.store.packs.write(list, data); err != nil {
		return fmt.Errorf("keep contents: %w", err)
	}
	for _, f := range there {
		f()
	}
	return nil
}

// write makes a pack.
func (p *packs) write(list []packed, data []byte) error {
	head := index(list)
	path := filepath.Join(p.dir, Sum(sha256.Sum256(head)).String())
	if err := atomicfile.Write(path, head, data); err != nil {
		return err
	}
	for i := range list {
		list[i].at += int64(len(head))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(path, list)
	return nil
}
