package review

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// A text that is given to the record is not copied: thousands of files have one each.
func TestTextsStayOnceInMemory(t *testing.T) {
	t.Parallel()
	was := strings.Repeat("a line\n", 100) + "one\n"
	is := strings.Repeat("a line\n", 100) + "another\n"
	l := newLayers(was)
	l.agent(is)
	kept := l
	kept.all(kept.pending.edits, (*layers).keep)
	undone := l
	undone.agent(strings.Clone(was))
	refused := l
	refused.all(refused.pending.edits, (*layers).refuse)
	for name, c := range map[string][2]string{
		"kept": {kept.kept.present, kept.accepted()}, "undone": {undone.accepted(), undone.present()}, "refused, kept": {kept.refused.present, kept.accepted()}, "base, kept": {kept.refused.base, kept.accepted()},
		"kept, refused": {refused.kept.present, refused.accepted()}, "refused": {refused.refused.present, refused.accepted()}, "base, refused": {refused.kept.base, refused.accepted()},
	} {
		check.Equal(t, unsafe.StringData(c[0]), unsafe.StringData(c[1]), "decided, %s is a copy: %v", name)
	}
	for name, c := range map[string][2]string{"present": {l.present(), is}, "accepted": {l.accepted(), was}, "baseline": {l.baseline(), was}} {
		check.Equal(t, unsafe.StringData(c[0]), unsafe.StringData(c[1]), "the %s text is a copy: %v", name)
	}
}
