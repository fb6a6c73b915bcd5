package buffers_test

import (
	"os"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestForm(t *testing.T) {
	for data, want := range map[string]string{
		"":                          "utf-8 unix",
		"a":                         "utf-8 unix noeol",
		"a\nb\n":                    "utf-8 unix",
		"a\r\nb\r\n":                "utf-8 dos",
		"a\r\nb\n":                  "utf-8 unix", // its text has "\r"
		"a\r\nb":                    "utf-8 dos noeol",
		"\xef\xbb\xbfa\r\n":         "utf-8 dos bom",
		"\xef\xbb\xbf":              "utf-8 unix bom",
		"caf\xe9\r\n":               "latin1 dos",
		"\xef\xbb\xbfcaf\xe9\n":     "latin1 unix",
		"\xff\xfea\x00\r\x00\n\x00": "utf-16le dos bom",
		"\xfe\xff\x00a\x00\n":       "utf-16 unix bom",
	} {
		check.Equal(t, buffers.Form([]byte(data)), want, "%q is %q", data)
	}
}

// TestFormsOfWrites checks what a write tells of how the disk has the text, before and after it.
func TestFormsOfWrites(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		check := func(what string, got buffers.Written, before, after string) {
			t.Helper()
			if got.FormBefore != before || got.FormAfter != after {
				t.Errorf("%s: from %q to %q, want from %q to %q", what, got.FormBefore, got.FormAfter, before, after)
			}
		}
		check("a new file", n.write(n.path("new"), "a\r\n"), "", "utf-8 dos")
		check("a file that no buffer shows", n.write(n.put("b", "\xef\xbb\xbfa\r\n"), "b\n"), "utf-8 dos bom", "utf-8 dos bom")
		check("one that gets a character", n.write(n.put("c", "a\n"), "é\n"), "utf-8 unix", "utf-8 unix")
		path := n.edit("d", "\xef\xbb\xbfa\r\n")
		check("a loaded file", n.write(path, "b\n"), "utf-8 dos bom", "utf-8 dos bom")
		check("the same text", n.write(path, "b\n"), "utf-8 dos bom", "utf-8 dos bom")
		n.cmd("set nobomb fileformat=unix")
		check("with other options of the user's", n.write(path, "c\n"), "utf-8 dos bom", "utf-8 unix")
		n.cmd("set fileformat=dos")
		n.keys("Omine<Esc>")
		check("with unsaved text", n.write(path, "d\n"), "utf-8 unix", "utf-8 dos")
		path = n.put("g", "\xc6\n")
		n.cmd("edit ++enc=cp1251 " + path + " | set fileformat=dos nomodified")
		check("as only Neovim can write it", n.write(path, "ЖЖ\n"), "latin1 unix", "latin1 dos")
		n.cmd("call setline(1, 'Ж')")
		unsaved := make(chan *buffers.Unsaved, 1)
		n.files.Unsaved(t.Context(), path, func(u *buffers.Unsaved, _ error) { unsaved <- u })
		if u := must.Receive(t, "the unsaved text", unsaved); u == nil || u.Text != "Ж\n" || said(u.Disk) != `"ÆÆ\n"` {
			t.Errorf("as only Neovim can read it: %+v", u)
		}

		no := func(*string) (*string, error) { return nil, nil }
		got, err := n.tryChange(buffers.Edit{Path: n.put("e", "a\r\n"), Change: no})
		must.Do(t, err)
		check("removed", got, "utf-8 dos", "")
		got, err = n.tryChange(buffers.Edit{Path: n.edit("f", "a\r\n"), Change: no})
		must.Do(t, err)
		check("removed with its buffer", got, "utf-8 dos", "")
	})
}

// TestTheFormAloneReachesTheBuffer changes line ends and byte order marks on the disk, and nothing else.
func TestTheFormAloneReachesTheBuffer(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		form := "utf-8 unix"
		for _, c := range []struct{ disk, options, form, text string }{
			{"one\r\ntwo\r\n", "dos0", "utf-8 dos", "one\ntwo\n"},
			{"\xef\xbb\xbfone\r\ntwo\r\n", "dos1", "utf-8 dos bom", "one\ntwo\n"},
			{"\xef\xbb\xbfone\r\ntwo\n", "unix1", "utf-8 unix bom", "one\r\ntwo\n"},
			{"one\ntwo\n", "unix0", "utf-8 unix", "one\ntwo\n"},
			{"\xef\xbb\xbfone\ntwo\n", "unix1", "utf-8 unix bom", "one\ntwo\n"},
			{"one\ntwo\n", "unix0", "utf-8 unix", "one\ntwo\n"},
		} {
			n.put("a.txt", c.disk)
			w.await("!&modified && &fileformat .. &bomb ==# '" + c.options + "'")
			w.settle()
			if got := w.changes(); len(got) != 1 || !got[0].Changed || got[0].FormBefore != form || got[0].FormAfter != c.form || said(got[0].After) != said(&c.text) {
				t.Errorf("%q: told: %+v", c.disk, got)
			}
			if seen, err := w.look(path, false); err != nil || seen.Form != c.form || seen.Text != c.text {
				t.Errorf("%q: it is %+v, %v", c.disk, seen, err)
			}
			form = c.form
			w.quietly()
			n.asksNothing("write")
			n.wantDisk("a.txt", c.disk)
			w.wantNone()
		}

		// Under unsaved text.
		n.keys("Omine<Esc>")
		n.put("a.txt", "one\r\ntwo\r\n")
		w.await("&modified && &fileformat ==# 'dos'")
		n.wantText("mine\none\ntwo")
		w.settle()
		if got := w.changes(); len(got) != 1 || !got[0].Changed || got[0].FormBefore != form || got[0].FormAfter != "utf-8 dos" || *got[0].Before != *got[0].After {
			t.Errorf("told: %+v", got)
		}
		n.asksNothing("write")
		n.wantDisk("a.txt", "mine\r\none\r\ntwo\r\n")

		// A mark of a file without any end of line.
		path = n.edit("b.txt", "one")
		w.settle()
		n.put("b.txt", "\xef\xbb\xbfone")
		w.await("!&modified && &bomb")
		w.settle()
		w.changes()
		must.Do(t, os.Remove(path))
		w.await("!filereadable(expand('%'))")
		for {
			w.settle()
			if told := w.changes(); len(told) > 0 {
				if told[0].FormBefore != "utf-8 unix bom noeol" || told[0].FormAfter != "" {
					t.Errorf("told: %+v", told)
				}
				break
			}
		}
		// What the user does to it is not told.
		n.edit("c.txt", "one\n")
		w.settle()
		n.cmd("set fileformat=dos bomb | write")
		w.wantNone()
		if seen, err := w.look(n.path("c.txt"), false); err != nil || seen.Form != "utf-8 dos bom" {
			t.Errorf("it is %+v, %v", seen, err)
		}
	})
}
