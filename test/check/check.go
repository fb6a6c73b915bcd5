// Package check compares what a test has got with what it wants. A test goes on after a check that fails.
package check

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Equal fails the test if got is not want. It says so in the words of a format, whose last verb is for got.
func Equal[T comparable](t testing.TB, got, want T, format string, args ...any) {
	t.Helper()
	if got != want {
		fail(t, got, want, format, args)
	}
}

// Deep is Equal for what == does not compare.
func Deep(t testing.TB, got, want any, format string, args ...any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		fail(t, got, want, format, args)
	}
}

// Slice is Equal for slices: one without items is as good as nil.
func Slice[T comparable](t testing.TB, got, want []T, format string, args ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		fail(t, got, want, format, args)
	}
}

// Contains fails the test if a text does not have a part. It says so as Equal does.
func Contains(t testing.TB, text, part, format string, args ...any) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s; want %q in it", fmt.Sprintf(format, append(args, text)...), part)
	}
}

func fail(t testing.TB, got, want any, format string, args []any) {
	t.Helper()
	wanted := fmt.Sprintf("; want %#v", want)
	if text, ok := want.(string); ok && strings.Contains(text, "\n") {
		wanted = "\nwant\n" + text
	}
	t.Errorf("%s%s", fmt.Sprintf(format, append(args, got)...), wanted)
}
