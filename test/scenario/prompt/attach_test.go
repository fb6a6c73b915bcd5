package prompt

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestAddedLinesAreSentWithUnsavedText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		path := s.WriteFile("code a.txt", "one\ntwo\nthree\nfour\n")
		s.Command("edit code\\ a.txt")
		s.Keys("jcctwo, unsaved<Esc>")
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Command("Acp toggle")
		add(s, "2,3Acp add")
		add(s, "1Acp add")
		s.AwaitPrompt(`@"code a.txt":2-3 @"code a.txt":1 `)
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		if got := s.LuaInt(`#vim.tbl_filter(function(m) return m[4].hl_group == 'AcpChip' end,
			vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('acp_mention'), 0, -1, { details = true }))`); got != 2 {
			t.Errorf("%d chips are highlighted", got)
		}
		s.Keys("AWhy?<C-s>")
		uri := "file://" + strings.ReplaceAll(path, " ", "%20")
		want := []any{
			obj{"type": "text", "text": `@"code a.txt":2-3 @"code a.txt":1 Why?`},
			obj{"type": "resource", "resource": obj{"uri": uri + "#L2-3", "text": "two, unsaved\nthree\n"}},
			obj{"type": "resource", "resource": obj{"uri": uri + "#L1", "text": "one\n"}},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.AwaitChat("Why?\n@ code a.txt:2-3\n@ code a.txt:1")
		s.AwaitPrompt("")
	})
}

func TestFilesAreLinkedWhereTheAgentTakesNoMore(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("src/lexer.lua")
		s.WriteFile("long.txt", strings.Repeat("long\n", 30_000))
		s.WriteFile("binary", "\x00\x01\n")
		p := s.Begin()
		link := func(name, fragment string) obj {
			return obj{"type": "resource_link", "uri": "file://" + filepath.Join(s.Dir, name) + fragment, "name": name + strings.Replace(fragment, "#L", ":", 1)}
		}
		text := "(see @src/lexer.lua:1-2, @src/ @src/lexer.lua:1-2 @no/such.lua me@src)."
		s.Keys("i" + text + "<C-s>")
		folder := link("src", "")
		folder["uri"], folder["name"] = folder["uri"].(string)+"/", "src/"
		want := []any{obj{"type": "text", "text": text}, link("src/lexer.lua", "#L1-2"), folder}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.Command("Acp close")
		p.AwaitEnd()
		s.Command("Acp new")
		p = beginTaking(s, obj{"embeddedContext": true})
		text = "@long.txt @binary"
		s.Command("Acp prompt " + text)
		want = []any{obj{"type": "text", "text": text}, link("long.txt", ""), link("binary", "")}
		check.Deep(t, blocks(p), want, "sent were %v")
	})
}

func TestPromptsWithFilesKeepTheirOrder(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("a.lua")
		p := s.Begin()
		s.OK(`(function() local acp = require('acp')
			acp.prompt({ { type = 'file', path = 'a.lua' }, { type = 'text', text = 'first' } })
			acp.prompt('second')
			return acp.prompt('third') end)()`)
		for _, want := range []string{"first", "second", "third"} {
			p.PlayTurn(want)
		}
		// A cancel right behind a prompt is for that prompt.
		s.OK(`(function() local acp = require('acp')
			acp.prompt({ { type = 'text', text = 'fourth' }, { type = 'file', path = 'a.lua' } })
			return acp.cancel() end)()`)
		m, _ := p.Prompted()
		p.Expect("session/cancel")
		p.Stop(m, "cancelled")
	})
}

func TestChipsBelongToTheirSession(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("a.lua", "b.lua")
		s.Command("edit a.lua")
		if add(s, "Acp add"); !strings.Contains(s.Messages(), "there is no session. :Acp new starts one") {
			t.Errorf("without a session the user is told %q", s.Messages())
		}
		p := s.Begin()
		add(s, "Acp add")
		add(s, "%Acp add")
		s.AwaitPrompt("@a.lua @a.lua ")
		s.Command("Acp new")
		p.NewSession(2)
		s.Command("wincmd t")
		s.Command("edit b.lua")
		add(s, "Acp add")
		s.AwaitPrompt("@b.lua ")
		s.Command("wincmd b")
		s.Keys("A<C-s>")
		m, text := p.Prompted()
		if text != "@b.lua" || m.Text("sessionId") != scene.SessionID(2) {
			t.Errorf("sent was %s", m)
		}
		p.Stop(m, "end_turn")
		// What is deleted is not sent.
		s.Command("wincmd t")
		s.OK(`require('acp').add({ session = 1 })`)
		s.Lua(nil, `require('acp.chat.layout').open(1, true)`)
		s.AwaitPrompt("@a.lua @a.lua @b.lua ")
		s.Keys("<Esc>ggdGinothing<C-s>")
		m, text = p.Prompted()
		if blocks, _ := m.Get("prompt").([]any); text != "nothing" || len(blocks) != 1 || m.Text("sessionId") != scene.SessionID(1) {
			t.Errorf("sent was %s", m)
		}
		p.Stop(m, "end_turn")
	})
}

func TestTextWithoutAFileIsQuoted(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Begin()
		s.Command("wincmd t")
		s.Keys("iwords<CR>```<CR>end<Esc>")
		add(s, "%Acp add")
		s.AwaitPrompt("````\nwords\n```\nend\n````\n")
		s.Command("Acp")
		s.Command("Acp add")
		s.AwaitMessage("this is the prompt itself")
	})
}

func TestContentBlocksAreChecked(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := beginTaking(s, obj{"image": true})
		for _, invalid := range []string{
			`{ 'text' }`, `{ { type = 'text' } }`, `{ { type = 'song', data = '' } }`, `{ { text = 'x' } }`,
			`{ { type = 'image', data = 'x' } }`, `{ { type = 'resource_link', uri = 'file:///x' } }`,
			`{ { type = 'resource', uri = 'file:///x', text = '' } }`, `{ { type = 'file' } }`,
			`{ { type = 'file', path = '/x', first = 3 } }`, `{ { type = 'file', path = '/x', first = 3, last = 2 } }`,
		} {
			if err := s.Refused(`require('acp').prompt(` + invalid + `)`); !strings.HasPrefix(err, "a content block") {
				t.Errorf("%s is refused: %s", invalid, err)
			}
		}
		s.Refused(`require('acp').prompt(7)`)
		for _, kind := range []string{"audio", "resource"} {
			err := s.Refused(`require('acp').prompt({ { type = '` + kind + `', mimeType = 'a/b', data = 'aGk=', resource = { uri = 'x:y', text = 'z' } } })`)
			if want := "Puppet takes no content blocks of type " + kind; err != want {
				t.Errorf("%s is refused: %s", kind, err)
			}
		}
		s.OK(`require('acp').prompt({
			{ type = 'text', text = 'look' },
			{ type = 'image', mimeType = 'image/png', data = 'aGk=' },
			{ type = 'resource_link', uri = 'https://example.org/', name = 'page', title = 'The page' },
		})`)
		want := []any{
			obj{"type": "text", "text": "look"},
			obj{"type": "image", "mimeType": "image/png", "data": "aGk="},
			obj{"type": "resource_link", "uri": "https://example.org/", "name": "page", "title": "The page"},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
	})
}

func TestContentIsRefusedOnceTheAgentIsKnown(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp")
		p := s.Agent()
		s.OK(`require('acp').prompt({ { type = 'image', mimeType = 'image/png', data = 'aGk=' } })`)
		s.OK(`require('acp').prompt('next')`)
		p.Begin()
		check.Deep(t, blocks(p), []any{obj{"type": "text", "text": "next"}}, "sent were %v")
		s.AwaitChat("Puppet takes no images: the prompt was not sent.")
	})
}
