package host

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// ballast is memory that is never touched, see [Serve].
const ballast = 64 << 20

const (
	spareAfter = 10 * time.Second // without the end of a turn
	spareLeast = 32 << 20         // bytes: less is kept for what comes next
)

// spare returns memory that turns needed to the system, once no turn has ended for a while. Any goroutine.
type spare struct {
	mu    sync.Mutex
	timer *time.Timer
	left  uint64 // what was kept the last time, in bytes
}

// turnEnded restarts the wait.
func (s *spare) turnEnded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil {
		s.timer = time.AfterFunc(spareAfter, s.giveBack)
		return
	}
	s.timer.Reset(spareAfter)
}

func (s *spare) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if heapHeld() < s.left+spareLeast {
		return
	}
	debug.FreeOSMemory()
	s.left = heapHeld()
}

// heapHeld returns how much of the system's memory the heap has, in bytes.
func heapHeld() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys - m.HeapReleased
}
