package chat

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestUsageOfATurn(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		usage := func(used int, cost float64) {
			p.Update("usage_update", obj{"used": used, "size": 200_000, "cost": obj{"amount": cost, "currency": "USD"}})
		}
		usage(1000, 0.1)
		s.AwaitBar("0.10 USD", true)
		turn := s.Prompt(p, "work")
		p.Think("Hm.")
		p.Say("Done.\n")
		usage(42_000, 0.119)
		p.Reply(turn, obj{"stopReason": "end_turn", "usage": obj{"totalTokens": 3126, "inputTokens": 3000, "outputTokens": 126}})
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitChat("  · 3,126 tokens · 0.019 USD · ")
		s.GoldenScreen("usage")
		// A turn of which nothing was told has no such line.
		turn = s.Prompt(p, "work")
		p.EndTurn(turn)
		s.OnceInChat("tokens")
	}, scene.Wide)
}

func TestLooks(t *testing.T) {
	for _, look := range []struct {
		name string
		set  string
		opts []nvimtest.Option
	}{
		{"80x24", `c.layout = 'right'`, nil},
		{"80x24 bottom", `c.layout = 'bottom'`, nil},
		{"200x50", `c.layout = 'right'`, []nvimtest.Option{nvimtest.Size(200, 50)}},
		{"200x50 nerd", `c.nerd_font = true`, []nvimtest.Option{nvimtest.Size(200, 50)}},
		{"40 columns", `c.layout = { position = 'right', width = 40 }`, []nvimtest.Option{nvimtest.Size(120, 50)}},
	} {
		t.Run(look.name, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.Configure(look.set)
				richTurn(s)
				s.GoldenScreen("rich")
			}, look.opts...)
		})
	}
	for _, background := range []string{"dark", "light"} {
		t.Run(background, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				richTurn(s)
				s.Golden("rich", nvimtest.Attrs(), nvimtest.Replace(`\d\.\d s\b`, "N.N s"))
			}, nvimtest.Size(120, 50), nvimtest.Background(background))
		})
	}
}
