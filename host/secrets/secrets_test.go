package secrets

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/host/traffic"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestSecretsAreBlottedOut(t *testing.T) {
	s := New(traffic.New())
	s.Keep("puppet", map[string]string{"KEY": "sesame", "OTHER": "sesame-street"})
	s.Hide("puppet", []string{"pirate", "pirate ship", "on"})
	const text = "sesame, sesame-street, pirate ship, pirate, on"
	check.Equal(t, s.Blot("puppet", text), "***, ***, ***, ***, on", "told: %q")
	check.Equal(t, s.Blot("other", text), text, "told of another agent: %q")
	s.Unhide("puppet", []string{"pirate ship"})
	s.Keep("puppet", nil)
	if got := s.Blot("puppet", text); got != "sesame, sesame-street, *** ship, ***, on" || s.Login("puppet") != nil {
		t.Errorf("told after the logout: %q", got)
	}
}

// A login adds to the earlier ones; who has those keeps them as they were.
func TestLoginsAreAdded(t *testing.T) {
	s := New(traffic.New())
	s.Keep("puppet", map[string]string{"A": "1", "B": "1"})
	before := s.Login("puppet")
	s.Keep("puppet", map[string]string{"B": "2"})
	if now := s.Login("puppet"); now["A"] != "1" || now["B"] != "2" || before["B"] != "1" {
		t.Errorf("now %v, before %v", now, before)
	}
}

func TestScrub(t *testing.T) {
	s := New(traffic.New())
	s.Keep("puppet", map[string]string{"KEY": `a "quoted" <key>`, "EMPTY": "", "SHORT": "environ"})
	environment := map[string]string{
		"API_KEY": "environment", "GITHUB_TOKENS": "tokens-of-git", "MONKEY_HOME": "/home/monkey", "DB_PASSWORD": "short",
		"A_SECRET": "8 bytes.", "A_CREDENTIAL": "7 bytes",
	}
	line := `["a \"quoted\" <key>","environment","tokens-of-git","/home/monkey","short","8 bytes.","7 bytes"]`
	check.Equal(t, string(s.Scrub("puppet", environment, []byte(line))), `["***","***","***","/home/monkey","short","***","7 bytes"]`,
		"kept: %s")
}
