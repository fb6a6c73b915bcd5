package reviewui

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What the user has not sent is there when the session is resumed, where it had moved to by then, and goes before what
// they have written since.
func TestUnsentCommentsAreSaved(t *testing.T) {
	play(t, func(w *world) {
		w.store = checkpoint.Open(t.TempDir())
		w.resume()
		about := saved.About{Agent: "puppet", Cwd: w.Cwd, ID: "s1"}
		w.On(func() { w.ledger.Opened(about) })
		must.Write(t, w.Cwd, "a", "1\n2\n3\n4\n")
		must.Write(t, w.Cwd, "b", "1\n")
		w.writes("a", "1\ntwo\n3\n4\n")
		w.writes("b", "one\n")
		w.open()
		comment := func(m rpc.CommentAt, draft, text string) {
			t.Helper()
			id := w.review.Comments.lastID + 1
			w.do(func() { w.review.Comments.At(m) })
			w.Expect("answer 0 " + draft + " ")
			w.do(func() { w.review.Comments.Write(rpc.Comment{ID: id, Text: text}) })
		}
		w.do(func() { w.review.Decide(rpc.Decide{Do: "reject", Path: w.path("b")}) })
		w.Expect("answer 0 {1} ")
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("sent I have refused these changes of yours, and they are not in the files any more. Do not make them again:\n\n"+
			"b:1\n```diff\n-1\n+one\n```", "answer 0 false ")
		comment(rpc.CommentAt{Path: w.path("a"), First: 1, Last: 1, Lines: []string{"1"}}, "{1 a 1 1 }", "") // is none
		comment(rpc.CommentAt{Path: w.path("a"), First: 3, Last: 4, Lines: []string{"3", "4"}}, "{2 a 3 4 }", "in the buffer")
		comment(rpc.CommentAt{At: w.at("● 2 - 2"), Last: w.row("● 2 + two")}, "{3 a 2 2 }", "on the page")
		w.writes("a", "0\n1\ntwo\n3\n4\n")

		w.resume()
		var reminded []string
		takeUp := func() {
			w.do(func() { w.review.TakeUp(about, func(text string) { reminded = append(reminded, text) }) })
		}
		takeUp()
		check.Slice(t, reminded, []string{"2 changes in 1 file of this session wait for your review: :Acp review shows them. " +
			"2 comments of yours have not been sent: :Acp review send sends them."}, "the user is reminded: %q")
		w.open()
		comment(rpc.CommentAt{Path: w.path("a"), First: 1, Last: 1, Lines: []string{"0"}}, "{3 a 1 1 }", "since")
		w.writes("a", "new\n0\n1\ntwo\n3\n4\n") // what was taken up moves on
		w.do(func() { w.review.Comments.At(rpc.CommentAt{At: w.at("↳ you: in the buffer")}) })
		w.Expect("answer 0 {1 a 5 6 in the buffer} ")

		w.resume()
		takeUp()
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("sent My comments on your changes:\n\na:2\n```\n0\n```\nsince\n\na:4\n```diff\n-2\n+two\n```\non the page\n\n"+
			"a:5-6\n```\n3\n4\n```\nin the buffer", "answer 0 false ")

		w.resume()
		takeUp()
		w.do(func() { w.review.Comments.Send(rpc.ReviewSend{}) })
		w.Expect("answer 0 <nil> there is nothing to send: no comment, nothing refused")
	})
}

// What was saved of a review and cannot be read is said, and the session goes on without.
func TestAReviewThatCannotBeRead(t *testing.T) {
	play(t, func(w *world) {
		dir := t.TempDir()
		w.store = checkpoint.Open(dir)
		w.resume()
		about := saved.About{Agent: "puppet", Cwd: w.Cwd, ID: "s1"}
		w.On(func() { w.ledger.Opened(about) })
		w.writes("a", "1\n")
		files := 0
		must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			files++
			return os.WriteFile(path, []byte("broken"), 0o600)
		}))
		check.Equal(t, files > 0, true, "that something was saved is %t")

		w.resume()
		var reminded []string
		w.do(func() { w.review.TakeUp(about, func(text string) { reminded = append(reminded, text) }) })
		want := []string{"The pending review of this session could not be read; :Acp log says why."}
		check.Slice(t, reminded, want, "the user is told %q")
		w.do(func() { w.review.Tab.Open(rpc.ReviewOpen{}) })
		w.Expect("answer 0 <nil> the agent has changed no file in this session")
	})
}

// The user is told what waits for them in a session that they resume.
func TestWhatIsSaidToWait(t *testing.T) {
	for _, c := range []struct {
		changes, files, comments int
		want                     string
	}{
		{0, 0, 0, ""},
		{1, 1, 0, "1 change of this session waits for your review: :Acp review shows it."},
		{2, 1, 0, "2 changes in 1 file of this session wait for your review: :Acp review shows them."},
		{3, 2, 0, "3 changes in 2 files of this session wait for your review: :Acp review shows them."},
		{0, 0, 1, "1 comment of yours has not been sent: :Acp review send sends it."},
		{0, 0, 2, "2 comments of yours have not been sent: :Acp review send sends them."},
		{1, 1, 1, "1 change of this session waits for your review: :Acp review shows it. " +
			"1 comment of yours has not been sent: :Acp review send sends it."},
	} {
		s := saved.Session{About: saved.About{Changes: c.changes, Files: c.files}, Comments: make([]saved.Comment, c.comments)}
		check.Equal(t, waiting(s), c.want, "of %d changes and %d comments is said %q", c.changes, c.comments)
	}
}
