package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/draw"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/history"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// record keeps the conversation with the agent's session from here on.
func (s *Session) record() {
	if s.host.unkept.Load() {
		s.recorder.Close()
		return
	}
	s.recorder.Open(history.About{
		Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, Directories: s.base.Roots[1:], ID: s.remote.id,
	})
}

// beginWithPast starts a stored session below what was said in it. Any goroutine.
func (s *Session) beginWithPast() {
	s.base.Box.Put(func() { s.remote.reading = true })
	s.host.history.ReadLater(s.spec.Name, s.remote.stored, s.base.Background, func(past history.Past, err error) {
		s.base.Box.Put(func() {
			if !s.remote.reading { // it was restarted meanwhile
				return
			}
			switch {
			case errors.Is(err, history.ErrNewer):
				s.remark("info", "What was said was kept by a newer version of the plugin: the chat has what the agent repeats.")
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				s.base.Log.Warn(err.Error())
			}
			if past.Damaged > 0 {
				s.base.Log.Warn("lines of a transcript cannot be read", "session", s.id, "lines", past.Damaged)
			}
			s.tellPast(past)
			s.start()
		})
	})
}

// tellPast shows what was said in the stored session.
func (s *Session) tellPast(past history.Past) {
	s.past = history.Prompts(past.Said)
	if len(past.Said) > 0 {
		title := s.conv.Title
		past.Tell(func(said history.Said) {
			switch said.Update.(type) {
			case session.TerminalPatch, session.TerminalChunk:
				s.terminals.Update(said.Update)
			default:
				s.conv.ApplyAt(said.At, said.Update)
				s.touched()
			}
		})
		s.conv.Title = cmp.Or(title, s.conv.Title)
		s.conv.TakenUp()
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

// withTranscripts adds to the sessions of which a review is saved those of which only the transcript is kept.
func (h *Host) withTranscripts(list []rpc.SavedSession) []rpc.SavedSession {
	if h.history == nil {
		return list
	}
	kept, err := h.history.List()
	if err != nil {
		h.log.Warn(err.Error())
	}
	for _, e := range kept {
		at := slices.IndexFunc(list, func(s rpc.SavedSession) bool { return s.Agent == e.Agent && s.AgentSessionID == e.ID })
		if at < 0 {
			t := h.transcript(e)
			list = append(list, rpc.SavedSession{StoredSession: t.StoredSession, Agent: t.Agent, AgentTitle: t.AgentTitle})
		} else if list[at].Title == "" {
			list[at].Title = e.Title
		}
	}
	return list
}

// transcript is a kept transcript as Lua knows it.
func (h *Host) transcript(e history.Entry) rpc.Transcript {
	return rpc.Transcript{
		Agent: e.Agent, AgentTitle: e.AgentTitle, Path: transcriptPath(e.Agent, h.history.Name(e.About)),
		StoredSession: rpc.StoredSession{
			AgentSessionID: e.ID, Cwd: e.Cwd, Directories: e.Directories, Title: styled.OneLine(e.Title), UpdatedAt: e.Saved.UTC().Format(time.RFC3339),
		},
	}
}

// transcriptPath names the buffer of a kept transcript.
func transcriptPath(agent, name string) string {
	return "acp://history/" + url.PathEscape(agent) + "/" + name
}

// flushHistory has all written that was said until now.
func (h *Host) flushHistory() {
	var writes sync.WaitGroup
	h.eachSession(func(s *Session) {
		writes.Add(1)
		if !s.base.Box.Put(func() { s.recorder.Flush(writes.Done) }) {
			writes.Done()
		}
	})
	writes.Wait()
}

const nothingKept = "What is said is not kept, as its folder cannot be written. :checkhealth acp says more."

// foundLimit is how many lines a search finds.
const foundLimit = 1000

func (h *Host) searchHistory(m rpc.SearchHistory) {
	if h.history == nil {
		h.editor.Answer(m.Callback, nil, nothingKept)
		return
	}
	h.flushHistory()
	found, err := h.history.Search(h.over, m.Text, foundLimit)
	if err != nil {
		h.editor.Answer(m.Callback, nil, fmt.Sprintf("the kept transcripts cannot be searched: %v", err))
		return
	}
	all := h.labels.All()
	list := make([]rpc.FoundLine, len(found))
	for i, f := range found {
		f.Title = cmp.Or(all.Of(f.Agent, f.ID).Title, f.Title)
		list[i] = rpc.FoundLine{
			Session: f.ID, Agent: f.Agent, Cwd: f.Cwd, Line: f.Line, Path: transcriptPath(f.Agent, f.Name),
			Text: f.Text, Title: styled.OneLine(f.Title),
		}
		if !f.At.IsZero() {
			list[i].Time = f.At.UTC().Format(time.RFC3339)
		}
	}
	h.editor.Answer(m.Callback, list, "")
}

func (h *Host) listHistory(callback int) {
	if h.history == nil {
		h.editor.Answer(callback, nil, nothingKept)
		return
	}
	h.flushHistory()
	kept, err := h.history.List()
	if err != nil {
		h.editor.Answer(callback, nil, fmt.Sprintf("the kept transcripts cannot be listed: %v", err))
		return
	}
	all := h.labels.All()
	list := make([]rpc.Transcript, len(kept))
	for i, e := range kept {
		e.Title = cmp.Or(all.Of(e.Agent, e.ID).Title, e.Title)
		list[i] = h.transcript(e)
	}
	h.editor.Answer(callback, list, "")
}

func (h *Host) showHistory(m rpc.ShowHistory) {
	if h.history == nil {
		h.editor.Answer(m.Callback, nil, nothingKept)
		return
	}
	h.flushHistory()
	past, err := h.history.Named(path.Base(m.Path))
	if err != nil {
		h.log.Warn(err.Error())
		h.editor.Answer(m.Callback, nil, "this transcript is no longer kept")
		return
	}
	title := cmp.Or(h.labels.Of(past.Agent, past.ID).Title, past.Title())
	h.editor.Answer(m.Callback, h.transcript(history.Entry{About: past.About, Title: title, Saved: past.Saved}), "")
	lines := past.Page().Lines
	draw.Fill(h.editor, m.Buf, func() (styled.Line, bool) {
		if len(lines) == 0 {
			return styled.Line{}, false
		}
		l := lines[0]
		lines = lines[1:]
		return styled.Line{Text: l}, true
	})
}

// export tells the session in Markdown.
func (s *Session) export(m rpc.Export) {
	if len(s.conv.Entries) == 0 {
		s.base.Editor.Answer(m.Callback, nil, "nothing has been said in this session yet")
		return
	}
	about := history.About{Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, ID: s.remote.stored}
	story := history.NewStory(about, s.conv, s.terminals.Shown)
	s.base.Background(func() {
		text := s.host.scrub(s.spec, []byte(story.Markdown().Text()))
		if m.Path == "" {
			s.base.Editor.Answer(m.Callback, rpc.Exported{Text: string(text)}, "")
			return
		}
		switch err := history.WriteFile(m.Path, text, m.Replace); {
		case errors.Is(err, fs.ErrExist):
			s.base.Editor.Answer(m.Callback, nil, folder.Tilde(m.Path)+" already exists. :Acp export! overwrites it.")
		case err != nil:
			s.base.Editor.Answer(m.Callback, nil, folder.Tilde(m.Path)+" could not be written: "+folder.Reason(err)+".")
		default:
			s.base.Editor.Answer(m.Callback, rpc.Exported{Path: m.Path}, "")
		}
	})
}

// unkeptTranscript tells once that what is said is not kept.
func (h *Host) unkeptTranscript(err error) {
	h.tellUnkept.Do(func() {
		h.log.Warn("keep a transcript", "err", err)
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
