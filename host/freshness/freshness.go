// Package freshness remembers which texts of files a session's agent knows, and which have changed since.
package freshness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/feature"
)

// Files are the files that an agent has read or written: through its client, by a tool call that names them, or with a
// prompt. Each is noted as the user sees it then, so a later text is one that the agent has not seen. Except where
// noted, it belongs to the session's goroutine.
type Files struct {
	base  feature.Base
	watch func() *buffers.Watch // nil while nothing is watched
	known map[string]string     // fingerprints, by real path
}

// New returns Files without any.
func New(base feature.Base, watch func() *buffers.Watch) *Files {
	return &Files{base: base, watch: watch, known: map[string]string{}}
}

// maxText is the largest file whose text is compared, in bytes: for a larger one, the time and the size are.
const maxText = 4 << 20

// Fingerprint returns what is noted of a text.
func Fingerprint(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func fingerprintOf(seen buffers.Seen) string {
	switch {
	case seen.Large:
		return fmt.Sprint(seen.Disk)
	case !seen.Exists && seen.Text == "":
		return ""
	}
	return Fingerprint(seen.Text)
}

// look looks at a file as the user sees it; then gets it on the session's goroutine. With settle its buffer is synced
// with the disk first. Any goroutine.
func (f *Files) look(path string, settle bool, then func(buffers.Seen)) {
	w := f.watch()
	if w == nil {
		return
	}
	w.Look(path, settle, maxText, func(seen buffers.Seen, err error) {
		if err == nil {
			f.base.Box.Put(func() { then(seen) })
		}
	})
}

// Learn notes that the agent knows a file as it is now. With settle its buffer is synced with the disk first. Any
// goroutine.
func (f *Files) Learn(path string, settle bool) {
	f.look(path, settle, func(seen buffers.Seen) { f.Note(seen.Path, fingerprintOf(seen)) })
}

// LearnText notes that the agent knows a file, by its real path, whose text the user now sees as this. Any goroutine.
func (f *Files) LearnText(real, text string) {
	// On the disk no text is more than four times as long, so this is what [fingerprintOf] makes of it.
	if text != "" && len(text) <= maxText/4 {
		f.base.Box.Put(func() { f.Note(real, Fingerprint(text)) })
		return
	}
	f.Learn(real, false)
}

// LearnFrom notes what the agent learned about files from a call that has ended.
func (f *Files) LearnFrom(call *session.ToolCall) {
	if call.Status != session.StatusCompleted {
		return
	}
	if call.Kind == session.KindRead {
		for _, path := range session.AllAbsolute(call.Files().Named, f.base.Absolute) {
			f.Learn(path, false)
		}
		return
	}
	for _, path := range session.AllAbsolute(call.Files().Changed, f.base.Absolute) {
		f.Learn(path, true)
	}
}

// Note notes the fingerprint of what the agent knows of a file, by its real path.
func (f *Files) Note(real, print string) { f.known[real] = print }

// Check tells then whether the user's present text of a file differs from what the agent knows; it does not call it for
// one that cannot be looked at.
func (f *Files) Check(path string, then func(stale bool)) {
	if len(f.known) == 0 {
		return
	}
	f.look(path, false, func(seen buffers.Seen) {
		known, ok := f.known[seen.Path]
		then(ok && known != fingerprintOf(seen))
	})
}
