package host

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// Serving ends well when Neovim closes the pipe or the program is told to end; that Neovim says what is no message is an
// error.
func TestTheEndOfServing(t *testing.T) {
	for name, c := range map[string]struct {
		says, want string
		cancelled  bool
	}{
		"nothing is said":       {},
		"it is told to end":     {cancelled: true},
		"what is no message":    {says: "no", want: "speak with Neovim: "},
		"another plugin speaks": {says: "old", want: "the plugin speaks revision old, this program "},
	} {
		t.Run(name, func(t *testing.T) {
			in, neovim, err := os.Pipe()
			must.Do(t, err)
			defer neovim.Close()
			heard, out, err := os.Pipe()
			must.Do(t, err)
			defer heard.Close()
			go io.Copy(io.Discard, heard)
			o := Options{Log: slog.New(slog.DiscardHandler)}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			switch {
			case c.cancelled:
				cancel()
			case c.says == "old":
				o.API = c.says
			default:
				_, err := neovim.WriteString(c.says)
				must.Do(t, err, neovim.Close())
			}
			said := ""
			if err := Serve(ctx, in, out, o); err != nil {
				said = err.Error()
			}
			if !strings.HasPrefix(said, c.want) || (said == "") != (c.want == "") {
				t.Errorf("it ended with %q; want %q", said, c.want)
			}
		})
	}
}
