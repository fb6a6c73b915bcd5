package reviewui

import (
	"errors"
	"fmt"

	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// TakeUp restores what was saved of the session, and reminds the user of what awaits them in it. Any goroutine may call
// it; remind is called on the ledger's.
func (r *Review) TakeUp(about saved.About, remind func(text string)) {
	r.config.Ledger.TakeUp(about, func(comments []saved.Comment, knownRefusals []string) {
		r.config.Box.Put(func() { r.Comments.restore(comments, knownRefusals) })
	}, func(was saved.Session, err error) {
		switch {
		case errors.Is(err, saved.ErrNewer):
			remind("The review of this session was saved by a newer version of the plugin: it is left alone, and nothing new is saved, until you update.")
		case err != nil:
			r.config.Log.Warn(err.Error())
			remind("The pending review of this session could not be read; :Acp log says why.")
		default:
			remind(waiting(was))
		}
	})
}

// waiting says what of a saved session waits for the user; "" if nothing does.
func waiting(s saved.Session) string {
	text := ""
	switch {
	case s.About.Changes == 1:
		text = "1 change of this session waits for your review: :Acp review shows it."
	case s.About.Changes > 1:
		text = fmt.Sprintf("%s in %s of this session wait for your review: :Acp review shows them.", styled.Many(s.About.Changes, "change"), styled.Many(s.About.Files, "file"))
	}
	switch n := len(s.Comments); {
	case n == 0:
		return text
	case text != "":
		text += " "
	}
	if len(s.Comments) == 1 {
		return text + "1 comment of yours has not been sent: :Acp review send sends it."
	}
	return text + styled.Many(len(s.Comments), "comment") + " of yours have not been sent: :Acp review send sends them."
}
