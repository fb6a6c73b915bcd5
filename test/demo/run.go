package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// run stands in for a test where there is none: package nvimtest makes its checks through it. Of
// testing.TB it has only what that package uses.
type run struct {
	testing.TB

	mu       sync.Mutex
	failed   bool     // guarded by mu
	cleanups []func() // guarded by mu
}

// do calls f and waits until it has returned or failed.
func (r *run) do(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// end calls the cleanups, last in, first out, and reports whether anything has failed.
func (r *run) end() (failed bool) {
	r.mu.Lock()
	cleanups := slices.Clone(r.cleanups)
	r.mu.Unlock()
	for _, f := range slices.Backward(cleanups) {
		r.do(f)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// Helper implements testing.TB.
func (r *run) Helper() {}

// Name implements testing.TB.
func (r *run) Name() string { return "demo" }

// Cleanup implements testing.TB.
func (r *run) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// Logf implements testing.TB.
func (r *run) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "demo: "+format+"\n", args...) }

// Errorf implements testing.TB.
func (r *run) Errorf(format string, args ...any) {
	r.Logf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

// Fatalf implements testing.TB.
func (r *run) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// FailNow implements testing.TB.
func (r *run) FailNow() {
	r.mu.Lock()
	r.failed = true
	r.mu.Unlock()
	runtime.Goexit()
}
