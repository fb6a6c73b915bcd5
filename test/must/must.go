// Package must is for the steps of a test without which it cannot go on: each of them fails the test at once.
package must

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// Patience is how long a test waits for what has to come. No machine is so slow that it needs more.
const Patience = time.Minute

// Do fails the test if there is an error.
func Do(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Equal fails the test if got is not want, in the words of [check.Equal].
func Equal[T comparable](t testing.TB, got, want T, format string, args ...any) {
	t.Helper()
	if check.Equal(t, got, want, format, args...); got != want {
		t.FailNow()
	}
}

// Write writes a file, whose folders it makes, and returns its path.
func Write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	Do(t, os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
	return path
}

// Receive returns what comes over a channel, or the zero value when it is closed.
func Receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(Patience):
		t.Fatalf("never came: %s", what)
		panic("unreachable")
	}
}

// Become waits until something is so.
func Become(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came: %s", what)
		}
	}
}
