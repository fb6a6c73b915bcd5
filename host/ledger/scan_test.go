package ledger

import (
	"log/slog"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
)

// Of the user's home folder no copies are made, and health says so, once.
func TestNoCopiesOfAHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	var told []Lack
	c := &scanner{config: Config{
		Store: checkpoint.Open(t.TempDir()), Log: slog.New(slog.DiscardHandler), Roots: []string{home},
		Lacks: func(now Lack) { told = append(told, now) },
	}}
	for range 2 {
		c.scan(func(snap *checkpoint.Snapshot) {
			if snap != nil {
				t.Error("a snapshot was taken")
			}
		})
	}
	if len(told) != 1 || told[0].Why == "" {
		t.Errorf("told was %+v", told)
	}
}
