package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func store(t *testing.T) *Store { return Open(filepath.Join(t.TempDir(), "data", "acp")) }

// keep puts contents, and has them be of that age.
func keep(t *testing.T, s *Store, data string, age time.Duration) Sum {
	t.Helper()
	sum, err := s.Put([]byte(data))
	must.Do(t, err)
	backdate(t, s.contentPath(sum), age)
	return sum
}

func backdate(t *testing.T, path string, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	must.Do(t, os.Chtimes(path, at, at))
}

func text(t *testing.T, s *Store, sum Sum) string {
	t.Helper()
	data, err := s.Content(sum)
	must.Do(t, err)
	return string(data)
}

func TestContents(t *testing.T) {
	s := store(t)
	for _, data := range []string{"", "a", "a\r\nb\x00\xff", strings.Repeat("long ", 1<<20)} {
		sum := keep(t, s, data, 0)
		check.Equal(t, keep(t, s, data, 0), sum, "the same contents are %v and %v", sum)
		if got := text(t, s, sum); got != data {
			t.Errorf("%d bytes came back as %d", len(data), len(got))
		}
	}
	if _, err := s.Content(Sum{1}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("contents that were never put: %v", err)
	}
}

func TestFilesAreForTheUserAlone(t *testing.T) {
	s := store(t)
	keep(t, s, "x", 0)
	must.Do(t, s.Save("k", "", []byte("x")))
	count := 0
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[e.IsDir()]; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
		count++
		return err
	})
	if err != nil || count != 6 {
		t.Errorf("%d files and folders, %v", count, err)
	}
}

func TestDamagedContents(t *testing.T) {
	s := store(t)
	sum := keep(t, s, "some text", 0)
	put(t, s.contentPath(sum), "some")
	if data, err := s.Content(sum); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("contents that were cut are %q, %v", data, err)
	}
	keep(t, s, "some text", 0)
	check.Equal(t, text(t, s, sum), "some text", "contents that were put again are %q")
}

func TestNoRoomIsAnError(t *testing.T) {
	s := store(t)
	put(t, s.dir, "a file where the folder should be")
	if _, err := s.Put([]byte("x")); err == nil {
		t.Error("contents were kept in no folder")
	}
	if err := s.Save("k", "", nil); err == nil {
		t.Error("a record was saved in no folder")
	}
	if _, err := s.Records(); err == nil {
		t.Error("the records of no folder are listed")
	}
	for what, files := range map[string][]string{
		"a file":       {"x"},
		"a large file": {strings.Repeat("x", packable+1)},
		"a pack":       strings.Split("abcdefghijkl", ""),
	} {
		dir := t.TempDir()
		b := s.Batch()
		var put error
		for i, text := range files {
			must.Write(t, dir, fmt.Sprint(i), text)
			put = errors.Join(put, b.Put([]byte(text), func(Sum) { t.Errorf("%s is said to be there", what) }))
		}
		if err := errors.Join(put, b.Flush()); err == nil {
			t.Errorf("%s was kept in no folder", what)
		}
		if _, err := s.Snapshot(t.Context(), []string{dir}, nil); err == nil {
			t.Errorf("a snapshot with %s was kept in no folder", what)
		}
	}
}

// A record that cannot be removed is an error.
func TestRecordThatStays(t *testing.T) {
	s := store(t)
	must.Do(t, s.Remove("k"))
	put(t, filepath.Join(s.recordPath("k"), "file"), "in its way")
	if err := s.Remove("k"); err == nil {
		t.Error("a record that is still there was removed")
	}
}

func TestSumAsText(t *testing.T) {
	for _, sum := range []Sum{{}, {1, 2}, {31: 0xff}} {
		var got struct{ S Sum }
		text, err := json.Marshal(struct{ S Sum }{sum})
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || got.S != sum {
			t.Errorf("%v became %s and %v, %v", sum, text, got.S, err)
		}
	}
	for _, text := range []string{"12", strings.Repeat("0g", 32), strings.Repeat("00", 33), "0"} {
		if err := new(Sum).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a sum", text)
		}
	}
}

func TestRecords(t *testing.T) {
	s := store(t)
	if list, err := s.Records(); err != nil || len(list) != 0 {
		t.Errorf("a new store has %v, %v", list, err)
	}
	keys := []string{"gemini/1", "GEMINI/1", "..", "", "a\nb", strings.Repeat("long", 1000)}
	for i, key := range keys {
		for _, data := range []string{"draft", "line\nline\n\x00" + key} {
			must.Do(t, s.Save(key, "about "+key, []byte(data), Sum{byte(i)}, Sum{}, Sum{byte(i)}))
		}
		backdate(t, s.recordPath(key), time.Duration(i)*time.Minute)
	}
	for i, key := range keys {
		if data, err := s.Load(key); err != nil || string(data) != "line\nline\n\x00"+key {
			t.Errorf("%.9q is %q, %v", key, data, err)
		}
		at, err := s.SavedAt(key)
		if age := time.Since(at); err != nil || age < time.Duration(i)*time.Minute || age > time.Hour {
			t.Errorf("%.9q is there since %v, %v", key, at, err)
		}
	}
	put(t, filepath.Join(s.dir, "records", "junk"), "no record")
	put(t, s.recordPath("junk"), "{\"key\":\"other\"}\n")
	backdate(t, s.recordPath("junk"), time.Hour)
	list, err := s.Records()
	must.Do(t, err)
	var got []string
	for _, r := range list {
		got = append(got, r.Key)
		if r.Key != "other" && r.About != "about "+r.Key {
			t.Errorf("the record %.9q is about %.9q", r.Key, r.About)
		}
		if r.Size == 0 || time.Since(r.Saved) > 2*time.Hour {
			t.Errorf("the record %+v", r)
		}
	}
	if want := append(slices.Clone(keys), "other"); !slices.Equal(got, want) {
		t.Errorf("the records are %.40q, want %.40q", got, want)
	}
	if _, err := s.Load("junk"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file with another's record: %v", err)
	}
	must.Do(t, errors.Join(s.Remove(".."), s.Remove("..")))
	must.Do(t, s.Renew("a\nb"))
	if at, err := s.SavedAt("a\nb"); err != nil || time.Since(at) > 2*time.Minute {
		t.Errorf("a record that is renewed is there since %v, %v", at, err)
	}
	_, err = s.Load("..")
	_, never := s.SavedAt("..")
	for _, err := range []error{err, never, s.Renew("..")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a record that was removed: %v", err)
		}
	}
	if err := s.Save("\xff", "", nil); err == nil {
		t.Error("a key is no text")
	}
}

// A record that was cut short is none.
func TestRecordCutShort(t *testing.T) {
	s := store(t)
	must.Do(t, s.Save("k", "", nil, Sum{1}, Sum{2}))
	info, err := os.Stat(s.recordPath("k"))
	if err == nil {
		err = os.Truncate(s.recordPath("k"), info.Size()-1)
	}
	must.Do(t, err)
	if _, err := s.Load("k"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("loading it: %v", err)
	}
	if list, err := s.Records(); err != nil || len(list) != 0 {
		t.Errorf("the records are %v, %v", list, err)
	}
}

// TestSavingIsInTime has contents named by a record that Clean does not know of yet.
func TestSavingIsInTime(t *testing.T) {
	s := store(t)
	sum := keep(t, s, "x", 2*day)
	seen, err := os.Lstat(s.contentPath(sum))
	if err == nil {
		err = s.Save("k", "", nil, sum)
	}
	must.Do(t, err)
	if (&clean{store: s}).remove(s.contentPath(sum), seen.ModTime()) {
		t.Error("contents that a record needs since a moment are removed")
	}
}

func TestLargeRecord(t *testing.T) {
	s := store(t)
	var needs []Sum
	for i := range 20_000 {
		needs = append(needs, Sum{byte(i), byte(i >> 8), 1})
	}
	data := bytes.Repeat([]byte("x\n"), 1<<20)
	must.Do(t, s.Save("k", "", data, needs...))
	if got, err := s.Load("k"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if files, err := s.recordFiles(); err != nil || len(files) != 1 || len(files[0].needs) != len(needs) {
		t.Errorf("the record needs %d contents, %v", len(files[0].needs), err)
	}
}
