package host

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/labels"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A user whose pending changes cannot be saved is told so once, not at each attempt; the log has them all.
func TestPendingChangesThatCannotBeSaved(t *testing.T) {
	data := t.TempDir()
	must.Write(t, data, "records", "a file where the folder should be")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Data: data})
		for range 2 {
			about := saved.About{Agent: "puppet", Cwd: "/", ID: "x"}
			image, err := saved.Take(saved.Session{About: about, Record: review.New(1 << 20)}, nil)
			must.Do(t, err)
			w.saves.Write(about.Key(), image, func(int, error) {})
			w.settle()
		}
		check.Slice(t, w.nvim.take(), []string{"warning: pending changes are not saved: not a directory"}, "the user is told %q")
		check.Equal(t, strings.Count(w.log.String(), "not a directory"), 2, "the log has %d of two failures: %s", w.log.String())
	})
}

// keepsChanges saves the review of a session that has made a file.
func (w *world) keepsChanges(about saved.About) {
	w.t.Helper()
	record := review.New(1 << 20)
	record.Changed("/f", review.Content{}, review.Text("x"))
	image, err := saved.Take(saved.Session{About: about, Record: record}, nil)
	must.Do(w.t, err)
	w.saves.Write(about.Key(), image, func(_ int, err error) { must.Do(w.t, err) })
	w.settle()
}

// When an agent has deleted a session, nothing of it is kept here; if it refuses that, or for another one, all is.
func TestWhatIsKeptOfADeletedSession(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		told   string
		kept   string
	}{
		"it is deleted": {nil, "7 true ", "y"},
		"it is not":     {errors.New("no"), "7 <nil> Puppet refused session/delete: no.", "x y"},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			for _, id := range []string{"x", "y"} {
				keepTranscript(t, data, id, "go on", time.Now())
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{Data: data})
				for _, id := range []string{"x", "y"} {
					w.keepsChanges(saved.About{Agent: "puppet", Cwd: "/p", ID: id})
					must.Do(t, w.labels.Change("puppet", id, func(l *labels.Label) { l.Title, l.Archived = "Mine", true }))
				}
				w.keepsChanges(saved.About{Agent: "other", Cwd: "/p", ID: "x"})
				_, agent := w.process(toldPuppet, session.Info{Deletes: true})
				w.receive("delete_stored", map[string]any{"agent": puppetFields, "cwd": "/", "agent_session_id": "x", "callback": 7})
				w.settle()
				agent.answer(c.answer)
				w.told(c.told)
				var transcripts, changes, labelled []string
				list, err := w.history.List()
				must.Do(t, err)
				entries, err := w.saves.List()
				must.Do(t, err)
				for _, id := range []string{"x", "y"} {
					for _, e := range list {
						if e.ID == id {
							transcripts = append(transcripts, id)
						}
					}
					for _, e := range entries {
						if e.ID == id && e.Agent == "puppet" {
							changes = append(changes, id)
						}
					}
					if l := w.labels.Of("puppet", id); l.Title != "" || l.Archived {
						labelled = append(labelled, id)
					}
				}
				for what, ids := range map[string][]string{"transcripts": transcripts, "changes": changes, "labels": labelled} {
					check.Equal(t, strings.Join(ids, " "), c.kept, "%s are kept of %q", what)
				}
				check.Equal(t, len(entries)-len(changes), 1, "of another agent's %d are kept")
			})
		})
	}
}

// The sessions with saved changes are listed under the titles that the user has given them.
func TestListingSessionsWithSavedChanges(t *testing.T) {
	data := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Data: data})
		w.keepsChanges(saved.About{Agent: "puppet", AgentTitle: "Puppet", Cwd: "/p", ID: "x", Title: "Work", Changes: 3})
		list := func() rpc.SavedSession {
			w.receive("list_saved", map[string]any{"callback": 7})
			w.settle()
			all := w.nvim.result.([]rpc.SavedSession)
			must.Equal(t, len(all), 1, "%d are listed")
			if at, err := time.Parse(time.RFC3339, all[0].UpdatedAt); err != nil || at.Year() < 2026 {
				t.Errorf("it was saved %v, %v", at, err)
			}
			all[0].UpdatedAt = ""
			return all[0]
		}
		want := rpc.SavedSession{
			StoredSession: rpc.StoredSession{AgentSessionID: "x", Cwd: "/p", Title: "Work"},
			Agent:         "puppet", AgentTitle: "Puppet", Changes: 3,
		}
		check.Deep(t, list(), want, "listed is %+v")
		must.Do(t, w.labels.Change("puppet", "x", func(l *labels.Label) { l.Title, l.Archived = "Mine", true }))
		keepTranscript(t, data, "x", "go on", time.Now())
		want.Title, want.Archived = "Mine", true
		check.Deep(t, list(), want, "with a label, listed is %+v")
		must.Do(t, w.labels.Change("puppet", "x", func(l *labels.Label) { *l = labels.Label{Agent: l.Agent, ID: l.ID} }))
		w.keepsChanges(saved.About{Agent: "puppet", AgentTitle: "Puppet", Cwd: "/p", ID: "x", Changes: 3})
		want.Title, want.Archived = "go on", false
		check.Deep(t, list(), want, "without any other title, listed is %+v")
	})
}
