//go:build !linux

package terminal

// census finds nothing: the environment of other processes cannot be read.
type census struct{}

var strays census

func (census) all() []stray { return nil }

func strayOf(int) (stray, bool) { return stray{}, false }
