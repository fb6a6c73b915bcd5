package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
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

// record keeps the conversation from here on, after what was said in the session it was forked from.
func (s *Session) record(past []history.Said) {
	if s.host.unkept.Load() {
		s.recorder.Close()
		return
	}
	s.recorder.Open(history.About{
		Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, Directories: s.base.Roots[1:], ID: s.opening.ID(),
	})
	s.recorder.Begin(past)
}

// beginWithPast starts a stored session after showing what was said in it. Any goroutine.
func (s *Session) beginWithPast() {
	s.base.Box.Put(func() { s.reading = true })
	s.host.history.ReadLater(s.spec.Name, s.opening.Stored(), s.base.Background, func(past history.Past, err error) {
		s.base.Box.Put(func() {
			if !s.reading { // it was restarted meanwhile
				return
			}
			switch {
			case errors.Is(err, history.ErrNewer):
				s.base.Remark("info", "A newer version of the plugin keeps this transcript: the chat shows what the agent repeats.")
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				s.base.Log.Warn(err.Error())
			}
			if past.Damaged > 0 {
				s.base.Log.Warn("lines of a transcript cannot be read", "session", s.id, "lines", past.Damaged)
			}
			s.replayPast(past)
			s.start()
		})
	})
}

// replayPast shows what was said in the stored session.
func (s *Session) replayPast(past history.Past) {
	s.opening.Known(history.Prompts(past.Said))
	if len(past.Said) > 0 {
		title := s.conv.Title
		past.Replay(func(said history.Said) {
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
		s.terminals.Release() // the agent that ran them is gone
		s.view.Changed()
	}
}

// withTranscripts adds to the sessions with a saved review those with only a transcript.
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

// transcript describes a kept transcript for Lua.
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

// flushHistory writes everything said until now.
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

const nothingKept = "Transcripts are not kept, as their folder cannot be written. :checkhealth acp says more."

// foundLimit bounds the lines that a search finds.
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

// export writes the session in Markdown.
func (s *Session) export(m rpc.Export) {
	if len(s.conv.Entries) == 0 {
		s.base.Editor.Answer(m.Callback, nil, "nothing has been said in this session yet")
		return
	}
	about := history.About{Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, ID: s.opening.Stored()}
	story := history.NewStory(about, s.conv, s.terminals.Shown)
	s.base.Background(func() {
		text := s.host.secrets.Scrub(s.spec.Name, s.spec.Env, []byte(story.Markdown().Text()))
		if m.Path == "" {
			s.base.Editor.Answer(m.Callback, rpc.Exported{Text: string(text)}, "")
			return
		}
		switch err := history.WriteFile(m.Path, text, m.Replace); {
		case errors.Is(err, fs.ErrExist):
			s.base.Editor.Answer(m.Callback, nil, folder.Tilde(m.Path)+" already exists. :Acp export! overwrites it")
		case err != nil:
			s.base.Editor.Answer(m.Callback, nil, folder.Tilde(m.Path)+" could not be written: "+folder.Reason(err))
		default:
			s.base.Editor.Answer(m.Callback, rpc.Exported{Path: m.Path}, "")
		}
	})
}

// unkeptTranscript tells the user, once, that the transcript is not being kept.
func (h *Host) unkeptTranscript(err error) {
	h.tellUnkept.Do(func() {
		h.log.Warn("keep a transcript", "err", err)
		h.alert("warning", "This session is not kept for :Acp resume and :Acp search: "+folder.Reason(err)+".",
			fmt.Sprintf("this session is not kept: %s", folder.Reason(err)))
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
