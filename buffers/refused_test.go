package buffers

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// Of what was refused the latest is kept, each text once, and as much as there is room for; the last one in any case.
func TestRefusedTextsAreBounded(t *testing.T) {
	var r refused
	half := strings.Repeat("x", refusedBytes/2)
	r.put("/a", half)
	r.put("/a", half)
	r.put("/b", half)
	check.Equal(t, len(r.get("/a")), 1, "of a there are %d")
	r.put("/b", "y")
	check.Equal(t, len(r.get("/a")), 0, "of a, which is older, there are %d")
	check.Equal(t, len(r.get("/b")), 2, "of b there are %d")
	r.put("/c", half+half+"z")
	check.Equal(t, len(r.get("/b")), 0, "beside one that takes all room there are %d of b")
	check.Equal(t, len(r.get("/c")), 1, "of that one there are %d")
	r.put("/c", "short")
	check.Slice(t, r.get("/c"), []string{"short"}, "then there is %q")
	r.put("/b", half)
	check.Equal(t, len(r.get("/c")), 1, "with room again there is of c %d")
}
