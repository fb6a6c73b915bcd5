package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/history"
)

// record keeps the conversation with the agent's session from here on.
func (s *Session) record() {
	s.recorder.Open(history.About{Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, ID: s.remote.id})
}

// readPast reads what is kept of the stored session. Any goroutine.
func (s *Session) readPast() history.Past {
	past, err := s.host.history.Read(s.spec.Name, s.remote.stored)
	switch {
	case errors.Is(err, history.ErrNewer):
		s.base.Box.Put(func() {
			s.remark("info", "What was said earlier was written by a newer version of the plugin: the chat has what the agent repeats.")
		})
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		s.base.Log.Warn(err.Error())
	}
	if past.Damaged > 0 {
		s.base.Log.Warn("lines of a transcript cannot be read", "session", s.id, "lines", past.Damaged)
	}
	return past
}

// beginWithPast starts a stored session below what was said in it. Any goroutine.
func (s *Session) beginWithPast() {
	s.base.Box.Put(func() { s.remote.reading = true })
	s.host.background(func() {
		past := s.readPast()
		s.base.Box.Put(func() {
			if s.remote.reading { // it was not restarted meanwhile
				s.tellPast(past)
				s.start()
			}
		})
	})
}

// tellPast shows what was said in the stored session.
func (s *Session) tellPast(past history.Past) {
	s.past = history.Prompts(past.Said)
	if len(past.Said) > 0 {
		past.Tell(func(said history.Said) {
			switch said.Update.(type) {
			case session.TerminalPatch, session.TerminalChunk:
				s.terminals.Update(said.Update)
			default:
				s.conv.ApplyAt(said.At, said.Update)
				s.touched()
			}
		})
		s.terminals.Release() // who ran them is gone
		s.changed()
	}
}

// replayed is told that the agent has repeated what it repeats of the session: what was not known goes below.
func (s *Session) replayed() {
	if s.remote.replay == nil {
		return
	}
	more := s.remote.replay.Over()
	if len(more) > 0 {
		s.remark("info", "The session went on elsewhere:")
	}
	for _, u := range more {
		s.bring(u)
	}
}

// unkeptTranscript tells once that what is said is not kept.
func (h *Host) unkeptTranscript(err error) {
	h.log.Warn("keep a transcript", "err", err)
	h.unkept.Do(func() {
		h.alert("warning", "What is said here is not kept for :Acp resume and :Acp search: "+folder.Reason(err)+".",
			fmt.Sprintf("what is said is not kept: %s", folder.Reason(err)))
	})
}

// cleanHistory keeps the folder of transcripts small.
func (h *Host) cleanHistory() {
	if h.history == nil {
		return
	}
	if err := h.history.Clean(h.over, time.Now()); err != nil {
		h.log.Warn(err.Error())
	}
}

// secretName is how variables are named whose values are secrets.
var secretName = regexp.MustCompile(`(?i)(key|token|secret|password|credential)s?$`)

// scrub blots out, in a line of JSON, what the user gave to log in with an agent, and the secrets of its environment.
func (h *Host) scrub(spec AgentSpec, line []byte) []byte {
	var values []string
	h.mu.Lock()
	for _, value := range h.secrets[spec.Name] {
		values = append(values, value)
	}
	h.mu.Unlock()
	for name, value := range spec.Env {
		if secretName.MatchString(name) && len(value) >= 8 {
			values = append(values, value)
		}
	}
	for _, value := range values {
		var escaped bytes.Buffer
		e := json.NewEncoder(&escaped)
		e.SetEscapeHTML(false)
		if value == "" || e.Encode(value) != nil {
			continue
		}
		line = bytes.ReplaceAll(line, bytes.Trim(escaped.Bytes(), "\"\n"), []byte("***"))
	}
	return line
}
