package host

import (
	"runtime"
	"testing"
)

// What a turn has needed goes back to the system, and where little would, nothing is done.
func TestSpareMemoryIsGivenBack(t *testing.T) {
	var s spare
	s.giveBack() // what other tests have left
	used := make([]byte, 4*spareLeast)
	for i := 0; i < len(used); i += 4096 {
		used[i] = 1
	}
	before := heapHeld()
	runtime.KeepAlive(used)
	s.giveBack()
	if now := heapHeld(); now+2*spareLeast > before {
		t.Errorf("of %d MB %d are kept", before>>20, now>>20)
	}
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	s.giveBack()
	if runtime.ReadMemStats(&is); is.NumForcedGC != was.NumForcedGC {
		t.Error("memory is collected though there is little to give back")
	}
}
