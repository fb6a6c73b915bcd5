//go:build !race

package nvimtest

// slowdown is what the race detector costs, in deadlines.
const slowdown = 1
