package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// feed returns a description of every message in wire, and the record of it.
func feed(wire []byte) ([]string, []Entry) {
	traffic := NewTraffic(1 << 30)
	out := &writer{w: discardCloser{}, limit: 1 << 30, stallAfter: never, flushGrace: never}
	s := newStream(bytes.NewReader(wire), out, traffic, slog.New(slog.DiscardHandler))
	var got []string
	add := func(m message) {
		switch m.kind {
		case notification:
			got = append(got, fmt.Sprintf("notification %s %s", m.method, m.params))
		case request:
			got = append(got, fmt.Sprintf("request %s %s %s", m.peerID, m.method, m.params))
		case response:
			got = append(got, fmt.Sprintf("response %d %s %v", m.id, m.result, m.err))
		}
	}
	s.onNotification, s.onRequest = add, add
	s.onEnd = func(error) {}
	close(s.ready)
	for {
		var skeleton json.RawMessage
		if s.ReadObject(&skeleton) != nil {
			return got, traffic.Entries()
		}
		add(s.current)
	}
}

func TestSplit(t *testing.T) {
	const n = `{"jsonrpc":"2.0","method":"n"}`
	one := []string{"notification n "}
	two := append(one, one...)
	halves := strings.Repeat(messageStart, maxFailures)
	for _, test := range []struct {
		name, wire string
		want       []string
		junk       []string
	}{
		{"nothing", "", nil, nil},
		{"blank lines", "\n\r\n  \n", nil, nil},
		{"one", n + "\n", one, nil},
		{"no newline at the end", n, one, nil},
		{"carriage return", n + "\r\n", one, nil},
		{"spaces", " { \"method\" : \"n\" } \n", one, nil},
		{"escaped names", `{"m\u0065thod":"\u006e"}`, one, nil},
		{"last of two members counts", `{"method":"x","method":"n"}`, one, nil},
		{"names within are not looked at", `{"a":{"id":1,"method":"x"},"method":"n"}`, one, nil},
		{"text", "Loading\n" + n, one, []string{"Loading"}},
		{"text before", "Loading... " + n, one, []string{"Loading..."}},
		{"text behind", n + "done\n", one, []string{"done"}},
		{"byte order mark", "\ufeff" + n, one, []string{"\ufeff"}},
		{"zero bytes", "\x00" + n + "\x00", one, []string{"\x00", "\x00"}},
		{"escape sequences", "\x1b[2K" + n, one, []string{"\x1b[2K"}},
		{"two in a line", n + n, two, nil},
		{"two with junk", "a" + n + "b" + n + "c", two, []string{"a", "b", "c"}},
		{"half a line", `{"jsonrpc":"2.0","method":"x","para` + "\n" + n, one,
			[]string{`{"jsonrpc":"2.0","method":"x","para`}},
		{"half a line and a whole one in it", `{"jsonrpc":"2.0","meth` + n, one, []string{`{"jsonrpc":"2.0","meth`}},
		{"objects in half a line", `{"jsonrpc":"2.0","params":{"method":"x"},"a`, nil,
			[]string{`{"jsonrpc":"2.0","params":{"method":"x"},"a`}},
		{"a message behind halves", halves[len(messageStart):] + n, one, []string{halves[len(messageStart):]}},
		{"a message behind too many halves", halves + n, nil, []string{halves + n}},
		{"other JSON", "5\n\"text\"\nnull\ntrue\n" + n, one, []string{"5", `"text"`, "null", "true"}},
		{"a log line in JSON", `{"level":"info"}` + "\n" + n, one, nil},
		{"too deep", strings.Repeat("[", 20_000) + "\n" + n, one, []string{strings.Repeat("[", 20_000)}},
		{"null method", `{"method":null,"id":1,"result":2}`, []string{"response 1 2 <nil>"}, nil},
		{"id behind the result", `{"result":{"id":7},"id":1}`, []string{`response 1 {"id":7} <nil>`}, nil},
		{"params", `{"method":"n","params":{"b":1.0,"a":[ 1 ]},"id":null}`,
			[]string{`request null n {"b":1.0,"a":[ 1 ]}`}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, entries := feed([]byte(test.wire))
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			var junk []string
			for _, e := range entries {
				if text, ok := e.NotJSON(); ok {
					junk = append(junk, text)
				}
			}
			if fmt.Sprintf("%q", junk) != fmt.Sprintf("%q", test.junk) {
				t.Errorf("recorded junk %q\nwant %q", junk, test.junk)
			}
		})
	}
}

// TestLinesOfAllLengths crosses every boundary of the buffer.
func TestLinesOfAllLengths(t *testing.T) {
	var wire bytes.Buffer
	var want []string
	for _, size := range []int{1, readBuffer - 30, readBuffer - 29, readBuffer - 28, readBuffer - 27, readBuffer - 26,
		readBuffer, 2 * readBuffer, 2*readBuffer + 1, 5 * readBuffer} {
		text := strings.Repeat("x", size)
		fmt.Fprintf(&wire, `{"method":"n","params":"%s"}`+"\n"+`{"method":"m"}`+"\n", text)
		want = append(want, `notification n "`+text+`"`, "notification m ")
	}
	got, _ := feed(wire.Bytes())
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("message %d has %d bytes, want %d", i, len(got[i]), len(want[i]))
		}
	}
}

func TestJunkDoesNotFillTheLog(t *testing.T) {
	var log bytes.Buffer
	s := newStream(strings.NewReader(strings.Repeat("junk\n{}\n", 10_000)), nil, nil,
		slog.New(slog.NewTextHandler(&log, nil)))
	s.onEnd = func(error) {}
	close(s.ready)
	s.ReadObject(nil)
	must.Equal(t, strings.Count(log.String(), "\n"), maxWarnings, "%d lines in the log")
}

// FuzzStream puts a good message between anything, where it must arrive, and
// checks that the record of it all can be read.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{"", "junk", `{"jsonrpc":"2.0","id":1}`, `[{"id":1,"method":"a"},5]`, `{"jsonrpc"`,
		`{"jsonrpc":"2.0","method":"x"`, `{"id":-1.5e3,"error":{"code":"x"}}`, `x{"jsonrpc":[{"jsonrpc":1}`,
		"[[[[", "{\"a\":\"\xff\\u", `{"method":5,"id":{}}`, `{"id":"1","error":[]}`} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		const marker = `{"jsonrpc":"2.0","method":"the marker","params":[1]}`
		wire := bytes.Join([][]byte{before, []byte(marker), after}, []byte("\n"))
		got, entries := feed(wire)
		found := 0
		for _, m := range got {
			if m == "notification the marker [1]" {
				found++
			}
		}
		if found < 1 {
			t.Fatalf("the marker came %d times", found)
		}
		for _, e := range entries {
			line, err := json.Marshal(e)
			if err != nil || bytes.ContainsRune(e.Msg, '\n') {
				t.Fatalf("recorded %q: %v", e.Msg, err)
			}
			for _, err := range ReadTraffic(bytes.NewReader(line)) {
				if err != nil {
					t.Fatalf("recorded %q: %v", e.Msg, err)
				}
			}
		}
	})
}
