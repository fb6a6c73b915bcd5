package check

import (
	"fmt"
	"testing"
)

// listener is a test that hears of failures instead of failing.
type listener struct {
	testing.TB
	said []string
}

func (l *listener) Helper() {}
func (l *listener) Errorf(format string, args ...any) {
	l.said = append(l.said, fmt.Sprintf(format, args...))
}

func TestChecks(t *testing.T) {
	var l listener
	Equal(&l, 1, 1, "%d")
	Equal(&l, "a", "b", "%s has %q", "it")
	Equal(&l, "a", "b\nc\n", "it is %s")
	Deep(&l, []int{1}, []int{1}, "%d")
	Deep(&l, []int{1}, []int{2}, "there are %v")
	Slice(&l, []int{}, nil, "%d")
	Slice(&l, []int{1}, nil, "it is %d")
	Contains(&l, "abc", "b", "%s")
	Contains(&l, "abc", "d", "it is %s")
	want := []string{`it has "a"; want "b"`, "it is a\nwant\nb\nc\n", "there are [1]; want []int{2}", "it is [1]; want []int(nil)", `it is abc; want "d" in it`}
	Deep(t, l.said, want, "%q")
}
