package prompt

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// picture is not quite one, but nobody here looks into it; it is no text.
const picture = "\x89PNG\r\n\x1a\n\x00picture"

func TestImagesGoAlong(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a b.PNG", picture)
		s.WriteFile("s.mp3", "ID3\x00sound")
		p := beginTaking(s, obj{"image": true, "audio": true})
		s.Command("Acp add file a b.PNG")
		s.AwaitScreen("@ a b.PNG 1 KB")
		s.Command("Acp add file s.mp3")
		s.AwaitPrompt(`@"a b.PNG" @s.mp3 `)
		s.Command("Acp add file none.png")
		s.AwaitMessage("there is no file none.png")
		s.Keys("<CR>")
		want := []any{
			obj{"type": "text", "text": `@"a b.PNG" @s.mp3`},
			obj{"type": "image", "mimeType": "image/png", "uri": "file://" + strings.ReplaceAll(path, " ", "%20"),
				"data": base64.StdEncoding.EncodeToString([]byte(picture))},
			obj{"type": "audio", "mimeType": "audio/mpeg", "data": base64.StdEncoding.EncodeToString([]byte("ID3\x00sound"))},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.AwaitChat("@ a b.PNG · image image/png 16 bytes\n@ [audio audio/mpeg 9 bytes]")
	})
}

// What cannot go along is a link, which the user knows before and after.
func TestImagesAreLinkedWhereTheyCannotGoAlong(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.png", picture)
		large := s.WriteFile("large.png", strings.Repeat("\x00", 6<<20))
		p := s.Begin()
		s.Keys("i@a.png")
		s.AwaitScreen("@ a.png 1 KB (link: no images)")
		s.Keys("<C-s>")
		want := []any{
			obj{"type": "text", "text": "@a.png"},
			obj{"type": "resource_link", "uri": "file://" + path, "name": "a.png", "mimeType": "image/png"},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.AwaitChat("Puppet takes no images: a.png was sent as a link.")
		s.Keys("@large.png")
		s.AwaitScreen("@ large.png 6.0 MB (link")
		s.Keys("<C-s>")
		want = []any{
			obj{"type": "text", "text": "@large.png"},
			obj{"type": "resource_link", "uri": "file://" + large, "name": "large.png", "mimeType": "image/png"},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.AwaitChat("large.png is 6.0 MB: it was sent as a link, as at most 5.0 MB are sent.")
	})
}

// Terminals paste the path of what is dropped on them.
func TestDroppedImagesAreNamed(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a b.png", picture)
		s.WriteFile("a.txt", "text")
		s.Begin()
		s.Keys("isee")
		for _, paste := range []string{`{ DIR .. '/a\\ b.png' }`, `{ "'" .. DIR .. "/a b.png'" }`, `{ vim.uri_from_fname(DIR .. '/a b.png') }`} {
			s.Lua(nil, `vim.api.nvim_paste(table.concat(`+strings.ReplaceAll(paste, "DIR", "vim.uv.cwd()")+`, '\n'), true, -1)`)
		}
		s.AwaitPrompt("see " + strings.Repeat(`@"a b.png" `, 3))
		s.Keys("<Esc>ccx")
		s.Lua(nil, `vim.api.nvim_paste(vim.uv.cwd() .. '/a.txt', true, -1)`)
		s.AwaitPrompt("x" + filepath.Join(s.Dir, "a.txt"))
		s.Command("wincmd t")
		s.Lua(nil, `vim.api.nvim_paste(vim.uv.cwd() .. '/a b.png', true, -1)`)
		if got := s.LuaString(`vim.api.nvim_get_current_line()`); !strings.HasPrefix(got, "/") {
			t.Errorf("elsewhere was pasted %q", got)
		}
	})
}

// clipboard is a folder with a wl-paste that has what a file of the folder has.
func clipboard(t *testing.T) (dir string, path nvimtest.Option) {
	dir = t.TempDir()
	script := "#!/bin/sh\nif [ $1 = --list-types ]; then echo text/plain; [ -e '" + dir + "/data' ] && echo image/png; exit 0; fi\n" +
		"[ \"$*\" = '--no-newline --type image/png' ] && cat '" + dir + "/data'\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "wl-paste"), []byte(script), 0o777))
	return dir, nvimtest.Env("PATH=" + dir + ":" + os.Getenv("PATH"))
}

func TestImageOfTheClipboard(t *testing.T) {
	dir, path := clipboard(t)
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		_ = os.Remove(filepath.Join(dir, "data"))
		p := beginTaking(s, obj{"image": true})
		s.Command("Acp paste")
		s.AwaitMessage("the clipboard has no image")
		must.Do(t, os.WriteFile(filepath.Join(dir, "data"), []byte(picture), 0o666))
		s.Keys("gI")
		s.AwaitScreen("@ pasted-")
		s.Keys("<CR>")
		got := blocks(p)
		if len(got) != 2 || got[1].(obj)["data"] != base64.StdEncoding.EncodeToString([]byte(picture)) {
			t.Errorf("sent were %v", got)
		}
	}, path)
}
