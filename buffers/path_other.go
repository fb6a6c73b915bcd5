//go:build !linux

package buffers

// isReal is what only Linux tells at once.
func isReal(string) bool { return false }
