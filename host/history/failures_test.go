package history

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// said is an error's sentence, "" for none.
func said(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// An update that cannot be a line is left out, and what was written before stays.
func TestUpdatesThatAreNoLines(t *testing.T) {
	for want, update := range map[string]session.Update{
		"there is no encoding of <nil>":        nil,
		"encode session.UnknownUpdate: json: ": session.UnknownUpdate{Type: "t", Raw: json.RawMessage("{")},
		"encode session.ToolCallPatch: json: ": session.ToolCallPatch{ID: "c", RawInput: acp.Set(json.RawMessage("{"))},
	} {
		got, err := appendLine([]byte("before\n"), Said{Update: update})
		check.Equal(t, string(got), "before\n", "written is %q")
		check.Contains(t, said(err), want, "it is said that %q")
	}
}

// A line that is none says what is wrong with it.
func TestLinesThatAreNoUpdates(t *testing.T) {
	for line, want := range map[string]string{
		"no":                        "invalid character",
		`{"is":"dance"}`:            `there is no kind "dance"`,
		`{"is":"message","of":[3]}`: "message: json: cannot unmarshal array",
	} {
		_, err := parseLine([]byte(line))
		check.Contains(t, said(err), want, "of "+line+" it is said that %q")
	}
}

// What cannot be written is said where the user can be told.
func TestTranscriptsThatCannotBeWritten(t *testing.T) {
	for name, c := range map[string]struct {
		inTheWay func(t *testing.T, s *Store)
		want     string
	}{
		"there is no folder": {func(t *testing.T, s *Store) {
			must.Write(t, filepath.Dir(s.dir), "transcripts", "")
		}, "not a directory"},
		"a folder is in its place": {func(t *testing.T, s *Store) {
			must.Do(t, os.MkdirAll(s.path("a", "s"), 0o700))
		}, "is a directory"},
		"the disk is full": {func(t *testing.T, s *Store) {
			if _, err := os.Stat("/dev/full"); err != nil {
				t.Skip("there is no /dev/full")
			}
			must.Do(t, os.MkdirAll(s.dir, 0o700), os.Symlink("/dev/full", s.path("a", "s")))
		}, "no space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			c.inTheWay(t, s.store)
			s.Open(about)
			s.apply(ask("go"))
			s.Flush(nil)
			must.Equal(t, len(s.failed), 1, "it failed %d times")
			check.Contains(t, s.failed[0].Error(), c.want, "it is said that %q")
		})
	}
}

// A transcript that cannot be removed says so; one that is not there is removed already.
func TestRemovingATranscript(t *testing.T) {
	s := Open(t.TempDir())
	must.Do(t, s.Remove("a", "s"), s.add(about, []byte("x\n")), s.Remove("a", "s"))
	if _, err := s.Read("a", "s"); err == nil {
		t.Error("it is still kept")
	}
	must.Write(t, s.path("a", "s"), "file", "")
	check.Contains(t, said(s.Remove("a", "s")), "remove a transcript: remove ", "it is said that %q")
}

// Who ends while transcripts are removed that are too many leaves the others for the next time.
func TestCleaningEnds(t *testing.T) {
	s := Open(t.TempDir())
	s.limits.files = 0
	must.Do(t, s.add(about, []byte("x\n")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Do(t, s.Clean(ctx, time.Now()))
	list, err := s.List()
	must.Do(t, err)
	check.Equal(t, len(list), 1, "%d are kept")
	must.Do(t, s.Clean(t.Context(), time.Now()))
	list, err = s.List()
	must.Do(t, err)
	check.Equal(t, len(list), 0, "then %d are kept")
}

// How long something took is told in few words.
func TestHowLongItTook(t *testing.T) {
	for took, want := range map[time.Duration]string{
		1500 * time.Millisecond: "1.5 s", time.Minute: "1m0s", 90*time.Second + 400*time.Millisecond: "1m30s",
	} {
		conv := session.NewConversation(time.Now)
		at := time.UnixMilli(0)
		conv.ApplyAt(at, ask("go"))
		conv.ApplyAt(at.Add(took), session.TurnEnd{StopReason: session.StopCancelled})
		_, got, _ := strings.Cut(NewStory(about, conv, noTerminal).Markdown().Text(), "## go\n\n")
		check.Equal(t, got, "*Cancelled after "+want+".*\n", "it is told as %q")
	}
}
