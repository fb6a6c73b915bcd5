package elsewhere

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func paths(t *testing.T, m map[string]string) *Map {
	t.Helper()
	got, err := New(m)
	must.Do(t, err)
	return got
}

func TestPaths(t *testing.T) {
	m := paths(t, map[string]string{"/home/me": "/w", "/home/me/deep/": "/d", "/lib": "/"})
	for here, there := range map[string]string{
		"/home/me": "/w", "/home/me/a b": "/w/a b", "/home/me/deep/x": "/d/x", "/home/mean": "/home/mean", "/lib/c": "/c", "relative": "relative", "": "",
	} {
		check.Equal(t, m.There(here), there, "%s is %s there", here)
		if got := m.Here(there); got != here && here != "/home/mean" {
			t.Errorf("%s is %s here, not %s", there, got, here)
		}
	}
	if m, err := New(nil); m != nil || err != nil {
		t.Error("a map of nothing")
	}
	for here, there := range map[string]string{"a": "/b", "/a": "b"} {
		if _, err := New(map[string]string{here: there}); err == nil {
			t.Errorf("a relative path is taken: %q as %q", here, there)
		}
	}
	root := paths(t, map[string]string{"/": "/host"})
	for here, there := range map[string]string{"/": "/host/", "/a": "/host/a", "a": "a"} {
		check.Equal(t, root.There(here), there, "%s is %s there", here)
	}
}

// Whatever is said, no path of the user's goes out but in words of its own, and what comes back is the same.
func TestMessages(t *testing.T) {
	m := paths(t, map[string]string{"/home/me/project": "/workspace"})
	random := rand.New(rand.NewPCG(1, 2))
	path := func() string { return "/home/me/project" + []string{"", "/a.go", "/ü/b c"}[random.IntN(3)] }
	make := []func() map[string]any{
		func() map[string]any {
			return map[string]any{"id": 1, "method": "session/new", "params": map[string]any{"cwd": path(), "additionalDirectories": []any{path(), path()}}}
		},
		func() map[string]any {
			return map[string]any{"id": json.Number("12345678901234567890"), "method": "fs/read_text_file", "params": map[string]any{"path": path(), "line": 1}}
		},
		func() map[string]any {
			return map[string]any{"method": "session/update", "params": map[string]any{"update": map[string]any{
				"locations": []any{map[string]any{"path": path()}}, "content": []any{
					map[string]any{"type": "diff", "path": path(), "oldPath": path(), "newText": "text of <b> & c"},
					map[string]any{"type": "content", "content": map[string]any{"type": "resource_link", "uri": "file://" + strings.ReplaceAll(path(), " ", "%20")}},
				}}}}
		},
		func() map[string]any {
			root := map[string]any{"uri": "file://" + strings.ReplaceAll(path(), " ", "%20"), "name": "it"}
			return map[string]any{"id": 4, "result": map[string]any{"roots": []any{map[string]any{"name": "first"}, root, map[string]any{"name": "last"}}}}
		},
		func() map[string]any {
			return map[string]any{"id": 3, "method": "terminal/create", "params": map[string]any{"cwd": path(), "command": "ls"}}
		},
	}
	for range 200 {
		before, _ := json.Marshal(make[random.IntN(len(make))]())
		var out bytes.Buffer
		w := m.Out(closer{&out})
		line := append(before, '\n')
		for len(line) > 0 { // in pieces
			n := 1 + random.IntN(len(line))
			if _, err := w.Write(line[:n]); err != nil {
				t.Fatal(err)
			}
			line = line[n:]
		}
		if strings.Contains(out.String(), "/home/me") {
			t.Errorf("%s goes out", out.String())
		}
		back, err := io.ReadAll(iotest.OneByteReader(m.In(&out)))
		must.Do(t, err)
		if !same(t, before, back) {
			t.Errorf("%s came back as %s", before, back)
		}
	}
}

// same compares what is meant.
func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	var texts [2]string
	for i, text := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var value any
		must.Do(t, d.Decode(&value))
		out, _ := json.Marshal(value)
		texts[i] = strings.ReplaceAll(string(out), "%C3%BC", "ü") // in a link
	}
	return texts[0] == texts[1]
}

// Words, what is the agent's own, and what is no JSON, are left alone, to the byte.
func TestLeftAlone(t *testing.T) {
	m := paths(t, map[string]string{"/home/me": "/w"})
	for _, line := range []string{
		`{"params":{"text":"see /home/me/a", "rawInput":{"path":"/home/me/a"}, "_meta":{"cwd":"/home/me"}}}`,
		`{"uri":"https://example.com/home/me"}`, `no JSON: /home/me`, ``, `[1, 2.50]`,
	} {
		got, err := io.ReadAll(m.In(strings.NewReader(line)))
		if err != nil || string(got) != line {
			t.Errorf("%s became %s, %v", line, got, err)
		}
		var out bytes.Buffer
		w := m.Out(closer{&out})
		_, _ = io.WriteString(w, line)
		if err := w.Close(); err != nil || out.String() != line {
			t.Errorf("%s became %s, %v", line, out.String(), err)
		}
	}
}

type closer struct{ io.Writer }

func (closer) Close() error { return nil }

// broken is an agent that reads no more.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (broken) Close() error              { return nil }

// Whoever writes to an agent that reads no more hears of it, as soon as a line is whole.
func TestWritesThatFail(t *testing.T) {
	w := &writer{to: broken{}, change: strings.ToUpper}
	if n, err := w.Write([]byte(`{"id":`)); n != 6 || err != nil {
		t.Errorf("the beginning of a line: %d, %v", n, err)
	}
	if n, err := w.Write([]byte("1}\n")); n != 0 || err != io.ErrClosedPipe {
		t.Errorf("its end: %d, %v", n, err)
	}
	if err := w.Close(); err == nil {
		t.Error("the rest is lost, without a word")
	}
}
