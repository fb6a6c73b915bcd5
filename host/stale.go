package host

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// What a session's agent knows of files is noted when it reads or writes one:
// through its client, by a tool call that names it, or with a prompt. Noted is
// what the user has then, so whatever is there later and was not then, the
// agent has not seen. Session.known has it, as fingerprints by real path.

// maxFingerprint is the largest file whose text is compared, in bytes: of a
// larger one it is the time and the size.
const maxFingerprint = 4 << 20

func fingerprint(text string) string {
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
	return fingerprint(seen.Text)
}

// lookAt has a file looked at as the user has it; then gets it on the session's
// goroutine. With settle what the disk has reaches its buffer before.
func (s *Session) lookAt(path string, settle bool, then func(buffers.Seen)) {
	w := s.host.watching()
	if w == nil {
		return
	}
	w.Look(path, settle, maxFingerprint, func(seen buffers.Seen, err error) {
		if err == nil {
			s.base.Box.Put(func() { then(seen) })
		}
	})
}

// learn notes that the agent knows a file as it is now. From any goroutine.
func (s *Session) learn(path string, settle bool) {
	s.lookAt(path, settle, func(seen buffers.Seen) { s.know(seen.Path, fingerprintOf(seen)) })
}

// learnText notes that the agent knows a file, of which the user has this text
// now. From any goroutine.
func (s *Session) learnText(path, text string) {
	// On the disk no text is more than four times as long, so this is what [fingerprintOf] makes of it.
	if real, err := buffers.RealPath(path); err == nil && text != "" && len(text) <= maxFingerprint/4 {
		s.base.Box.Put(func() { s.know(real, fingerprint(text)) })
		return
	}
	s.learn(path, false)
}

func (s *Session) know(path, print string) {
	if s.known == nil {
		s.known = map[string]string{}
	}
	s.known[path] = print
}

// learnFrom notes what a call that has ended tells the agent of files.
func (s *Session) learnFrom(call *session.ToolCall) {
	if call.Status != session.StatusCompleted {
		return
	}
	if call.Kind == session.KindRead {
		for _, path := range session.AllAbsolute(call.Files().Named, s.base.Absolute) {
			s.learn(path, false)
		}
		return
	}
	for _, path := range session.AllAbsolute(call.Files().Changed, s.base.Absolute) {
		s.learn(path, true)
	}
}

// findStale looks which files of a request have changed since the agent has
// read them, and has the request say so.
func (s *Session) findStale(p *permission) {
	if len(s.known) == 0 {
		return
	}
	for _, path := range session.AllAbsolute(p.call.Files().Changed, s.base.Absolute) {
		s.lookAt(path, false, func(seen buffers.Seen) {
			known, ok := s.known[seen.Path]
			stale := ok && known != fingerprintOf(seen)
			if stale == p.stale[path] {
				return
			}
			if p.stale == nil {
				p.stale = map[string]bool{}
			}
			p.stale[path] = stale
			s.shown.permissions = true
			s.changed()
		})
	}
}

// staleLines say which files of a request the agent knows otherwise: all of
// them, or one.
func (s *Session) staleLines(p *permission, path string) []styled.Line {
	if len(p.stale) == 0 {
		return nil
	}
	var lines []styled.Line
	only, _ := s.base.Absolute(path)
	for _, each := range session.AllAbsolute(p.call.Files().Changed, s.base.Absolute) {
		if p.stale[each] && (path == "" || each == only) {
			text := fmt.Sprintf("⚠ %s changed since %s read it", styled.VisibleText(filepath.Base(each)), s.base.Title)
			lines = append(lines, styled.Colored(text, styled.ToolWaiting)...)
		}
	}
	return lines
}
