package host

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/folder"
)

// leaveUnwritable removes from the options the folders that cannot be written, as in many containers: everything works
// without them. It returns a sentence for the user, or "".
func (o *Options) leaveUnwritable() string {
	var where, without []string
	if o.NoLog != "" {
		where, without = append(where, cmp.Or(folder.Obstacle(filepath.Dir(o.NoLog)), o.NoLog)), append(without, "log")
	}
	saved := len(where)
	for _, dir := range []*string{&o.State, &o.Data, &o.Cache} {
		if in := folder.Obstacle(*dir); in != "" {
			where = append(where, in)
			*dir = ""
		}
	}
	if len(where) > saved {
		without = append(without, "saved data")
	}
	if len(where) == 0 {
		return ""
	}
	slices.Sort(where)
	return strings.Join(slices.Compact(where), " and ") + " cannot be written: running without " + strings.Join(without, " and ") + "."
}
