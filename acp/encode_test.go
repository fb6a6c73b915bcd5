package acp

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// asJSON is a text as encoding/json writes it.
func asJSON(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	must.Do(t, enc.Encode(text))
	return strings.TrimSuffix(buf.String(), "\n")
}

func TestTextIsWrittenAsByEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	parts := []string{
		"plain text", "longer than eight bytes of it", `"`, `\`, "\n", "\t", "\x00", "\x1f", " ", "!", "#", "[", "]", "~", "\x7f",
		"é", "日本", "😀", "\u2028", "\u2029", "\ufffd", "\xff", "\xe2\x80", "\xed\xa0\x80", "<", "&",
	}
	for range 20_000 {
		var text strings.Builder
		for range r.IntN(12) {
			text.WriteString(parts[r.IntN(len(parts))])
		}
		if got, want := string(AppendText(nil, text.String())), asJSON(t, text.String()); got != want {
			t.Fatalf("%q is written as %s, not %s", text.String(), got, want)
		}
	}
	// Each byte at each place of a word, beside each other one.
	for a := range 256 {
		for b := range 256 {
			text := strings.Repeat("x", a%8) + string([]byte{byte(a), byte(b)}) + "xxxxxxxx"
			must.Equal(t, string(AppendText(nil, text)), asJSON(t, text), "%q is written as %s", text)
		}
	}
}

func TestTextIsAppended(t *testing.T) {
	buf := append(make([]byte, 0, 100), "before "...)
	check.Equal(t, string(AppendText(buf, "a\nb")), `before "a\nb"`, "%v")
}

func FuzzAppendText(f *testing.F) {
	f.Add("a\nb \"c\" \\ \u2028 \xff")
	f.Fuzz(func(t *testing.T, text string) {
		must.Equal(t, string(AppendText(nil, text)), asJSON(t, text), "%q is written as %s", text)
	})
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("local value_1234 = compute(seed, 8638)\n", 1154)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		AppendText(nil, text)
	}
}

func BenchmarkTextByEncodingJSON(b *testing.B) {
	text := strings.Repeat("local value_1234 = compute(seed, 8638)\n", 1154)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, _ = encode(text)
	}
}
