package providers

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
)

func TestProviders(t *testing.T) {
	featuretest.Play(t, func(s *featuretest.Session) {
		var agent session.Agent
		var info session.Info
		blot := func(text string) string { return strings.ReplaceAll(text, "sesame", "***") }
		p := New(s.Base, Config{
			Requests: control.New(s.Base, blot), Agent: func() session.Agent { return agent },
			Info: func() session.Info { return info }, Hide: func(secrets []string) { s.Did("hide", secrets) }, Blot: blot,
		})
		asks := rpc.Asks{Callback: 7}
		list := func() { p.List(rpc.ListProviders{Asks: asks}) }
		set := func() {
			p.Set(rpc.SetProvider{Asks: asks, ID: "main", Type: "openai", URL: "https://models", Headers: map[string]string{"Key": "sesame"}})
		}

		s.On(list)
		s.Expect("answer 7 <nil> Puppet is not running")
		s.On(func() { p.Disable(rpc.DisableProvider{Asks: asks, ID: "main"}) })
		s.Expect("answer 7 <nil> Puppet is not running")
		puppet := s.NewAgent()
		agent = puppet
		s.On(set)
		s.Expect("answer 7 <nil> Puppet has no providers to choose")

		info.Providers = true
		s.On(list)
		puppet.Answer([]session.Provider{{ID: "main", Types: []string{"openai"}, Required: true, Type: "openai", URL: "https://here"}}, nil)
		s.Expect("asked providers", "answer 7 [{main [openai] true openai https://here}] ")
		s.On(list)
		puppet.Answer(nil, featuretest.ErrLogin)
		s.Expect("asked providers", "answer 7 <nil> Puppet needs you to log in first: :Acp new puppet, then :Acp auth.")

		s.On(set)
		puppet.Answer(nil, featuretest.Refused("bad key sesame"))
		s.Expect("hide [sesame]", "asked set provider main openai https://models",
			"answer 7 <nil> Puppet refused providers/set: bad key ***.")
		s.On(func() { p.Disable(rpc.DisableProvider{Asks: asks, ID: "main"}) })
		puppet.Answer(nil, nil)
		s.Expect("asked disable provider main", "answer 7 true ")
	})
}
