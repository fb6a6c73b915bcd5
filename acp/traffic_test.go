package acp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func readAll(t *testing.T, file io.Reader) []Entry {
	t.Helper()
	var entries []Entry
	for e, err := range ReadTraffic(file) {
		must.Do(t, err)
		entries = append(entries, e)
	}
	return entries
}

func TestTrafficFile(t *testing.T) {
	traffic := NewTraffic(0)
	long := `{"method":"` + strings.Repeat("é", entryLimit) + `"}`
	traffic.record(ClientToAgent, []byte(`{"id":`), []byte(`1`), []byte(`}`))
	traffic.record(AgentToClient, []byte(long))
	traffic.recordJunk(AgentToClient, []byte("a\tb\xff<"))
	var file bytes.Buffer
	stop, err := traffic.RecordTo(&file)
	must.Do(t, err)
	_, err = traffic.RecordTo(&file)
	must.Equal(t, fmt.Sprint(err), "record traffic: already recording", "of two recordings at a time the second says %s")
	traffic.record(AgentToClient, []byte(long))
	traffic.record(AgentToClient, []byte(`[{"a": 1}, {}]`))
	must.Do(t, stop())
	traffic.record(AgentToClient, []byte(`"not in the file"`))
	must.Do(t, stop())

	got := readAll(t, &file)
	must.Equal(t, len(got), 5, "%d entries")
	if got[0].Dir != ClientToAgent || string(got[0].Msg) != `{"id":1}` || got[0].T < 0 {
		t.Errorf("%+v", got[0])
	}
	if text, ok := got[1].Cut(); !ok || !strings.HasPrefix(long, text) || len(text) < entryLimit/2-4 ||
		!strings.HasSuffix(string(got[1].Msg), fmt.Sprintf(`,"bytes":%d}`, len(long))) {
		t.Errorf("cut to %d bytes: %.30s", len(text), got[1].Msg)
	}
	if text, ok := got[2].NotJSON(); !ok || text != "a\tb�<" {
		t.Errorf("%s", got[2].Msg)
	}
	if got[3].Dir != AgentToClient || string(got[3].Msg) != long {
		t.Errorf("%d bytes of %d", len(got[3].Msg), len(long))
	}
	if string(got[4].Msg) != `[{"a": 1}, {}]` {
		t.Errorf("%s", got[4].Msg)
	}
	if _, ok := got[4].Cut(); ok {
		t.Error("a whole message counts as cut")
	}
	check.Equal(t, len(traffic.Entries()), 6, "%d entries in memory")
	if stop, err = traffic.RecordTo(io.Discard); err != nil {
		t.Fatal(err)
	}
	must.Do(t, stop())
}

// The beginning of a long message that is kept ends with a whole character, whichever byte it ends at.
func TestLongMessagesAreCutBetweenCharacters(t *testing.T) {
	for shift := range 5 {
		traffic := NewTraffic(0)
		text := strings.Repeat("x", shift) + strings.Repeat("世", entryLimit/3+1)
		traffic.record(AgentToClient, []byte(`"`), []byte(text), []byte(`"`))
		kept, ok := traffic.Entries()[0].Cut()
		if !ok || !strings.HasPrefix(`"`+text, kept) || len(kept) <= entryLimit/2-6 || len(kept) > entryLimit/2 {
			t.Errorf("shifted by %d, %d bytes are kept, to %q", shift, len(kept), kept[max(0, len(kept)-6):])
		}
	}
	// What looks like one of ours in a message of the agent's is none.
	for _, msg := range []string{`{"__cut__":7}`, `{"__not_json__":{}}`} {
		e := Entry{Msg: []byte(msg)}
		_, cut := e.Cut()
		if _, junk := e.NotJSON(); cut || junk {
			t.Errorf("%s is taken for a note", msg)
		}
	}
}

// A file that is too slow for the messages misses some, and whoever records hears how many; unless it is worse than that.
func TestRecordingsWithGaps(t *testing.T) {
	for _, c := range []struct {
		lost int
		err  error
		want string
	}{
		{0, nil, "<nil>"}, {1, nil, "record traffic: the file is too slow: it misses 1 of the messages"}, {2, errors.New("disk full"), "record traffic: disk full"},
		{2, nil, "record traffic: the file is too slow: it misses 2 of the messages"},
	} {
		r := &recording{wake: make(chan struct{}, 1), done: make(chan struct{}), lines: make([]byte, recordingLimit+1)}
		w := stuckWriter{make(chan struct{}), c.err}
		for range c.lost {
			r.add(AgentToClient, 0, []byte("{}"))
		}
		r.signal()
		go r.run(w)
		w.release <- struct{}{}
		r.add(AgentToClient, 0, []byte("{}")) // there is room again
		r.finish()
		close(w.release)
		<-r.done
		check.Contains(t, fmt.Sprint(r.err), c.want, "it says %s")
	}
}

func TestTrafficIsBounded(t *testing.T) {
	const limit = 10_000
	traffic := NewTraffic(limit)
	for i := range 10_000 {
		traffic.record(AgentToClient, fmt.Appendf(nil, `[%d]`, i))
	}
	entries := traffic.Entries()
	size := 0
	for _, e := range entries {
		size += len(e.Msg) + entryCost
	}
	if size > limit || size < limit-100 || string(entries[len(entries)-1].Msg) != "[9999]" {
		t.Fatalf("%d bytes in %d entries", size, len(entries))
	}
	traffic.record(AgentToClient, bytes.Repeat([]byte("9"), 1<<20)) // more than the limit by itself
	if n := len(traffic.Entries()); n > 1 {
		t.Fatalf("%d entries", n)
	}
}

func TestNilTraffic(t *testing.T) {
	var traffic *Traffic
	traffic.record(AgentToClient, []byte("{}"))
	traffic.recordJunk(AgentToClient, []byte("x"))
	traffic.Hide([]string{"a secret"})
	traffic.Unhide([]string{"a secret"})
	if traffic.Entries() != nil {
		t.Fatal("entries")
	}
}

// stuckWriter lets a write go on when it is told to.
type stuckWriter struct {
	release chan struct{}
	err     error
}

func (w stuckWriter) Write(b []byte) (int, error) {
	<-w.release
	return len(b), w.err
}

func TestRecordingDoesNotWaitForTheFile(t *testing.T) {
	traffic := NewTraffic(0)
	w := stuckWriter{make(chan struct{}), errors.New("disk full")}
	stop, err := traffic.RecordTo(w)
	must.Do(t, err)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				traffic.record(AgentToClient, []byte("{}")) // one that waited would hang the test
			}
		})
	}
	all.Wait()
	close(w.release)
	if err := stop(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Fatal(err)
	}
	if n := len(traffic.Entries()); n != 4000 {
		t.Fatal(n)
	}
}

// written tells what is written, as it is.
type written chan string

func (w written) Write(b []byte) (int, error) {
	w <- string(b)
	return len(b), nil
}

// What is recorded comes into the file at once, and not when the recording ends.
func TestRecordingsAreWrittenAtOnce(t *testing.T) {
	traffic := NewTraffic(0)
	w := make(written, 9)
	stop, err := traffic.RecordTo(w)
	must.Do(t, err)
	for _, msg := range []string{`{"id":1}`, `{"id":2}`} {
		traffic.record(AgentToClient, []byte(msg))
		check.Contains(t, must.Receive(t, "the message", w), msg, "written is %s")
	}
	must.Do(t, stop())
}

// Why messages were dropped is noted at the latest that have the part, and at no others.
func TestNotes(t *testing.T) {
	traffic := NewTraffic(0)
	for i := range notable + 2 {
		traffic.record(AgentToClient, fmt.Appendf(nil, `{"odd":%d}`, i%2))
	}
	traffic.Note([]byte(`"odd":1`), "odd")
	traffic.Note(nil, "nothing")
	(*Traffic)(nil).Note([]byte("1"), "nowhere")
	noted := 0
	for i, e := range traffic.Entries() {
		if want := i%2 == 1 && i >= 2; (e.Note == "odd") != want {
			t.Errorf("of %d, %s is noted as %q", notable+2, e.Msg, e.Note)
		} else if want {
			noted++
		}
	}
	check.Equal(t, noted, notable/2, "%d are noted")
}

func TestConcurrentRecording(t *testing.T) {
	traffic := NewTraffic(0)
	var file bytes.Buffer
	stop, err := traffic.RecordTo(&file)
	must.Do(t, err)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 1000 {
				traffic.record(ClientToAgent, []byte("["), fmt.Append(nil, i), []byte("]"))
			}
		})
	}
	all.Wait()
	must.Do(t, stop())
	inFile, inMemory := readAll(t, &file), traffic.Entries()
	if len(inFile) != 4000 || len(inMemory) != 4000 {
		t.Fatal(len(inFile), len(inMemory))
	}
	for i := range inFile {
		if string(inFile[i].Msg) != string(inMemory[i].Msg) || inFile[i].T != inMemory[i].T {
			t.Fatalf("entry %d: %+v in the file, %+v in memory", i, inFile[i], inMemory[i])
		}
	}
}

func TestReadTraffic(t *testing.T) {
	const file = "\n" + `{"dir":"c2a","t":1,"msg":{"id":1}}` + "\r\n" +
		`{"dir":"up","t":1,"msg":{}}` + "\n" + `{"dir":"c2a","t":1}` + "\n" + `{"dir":` + "\n" +
		`{"dir":"a2c","t":2.0,"msg":null}`
	var got []string
	for e, err := range ReadTraffic(io.MultiReader(strings.NewReader(file), failing{})) {
		if err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, string(e.Msg))
		}
	}
	want := []string{`{"id":1}`,
		`read traffic: line 3: dir is "up", expected "c2a" or "a2c"`,
		`read traffic: line 4: no msg`,
		`read traffic: line 5: unexpected end of JSON input`,
		`read traffic: line 6: json: cannot unmarshal number 2.0 into Go struct field Entry.t of type int64`,
		`read traffic: disk gone`}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	for range ReadTraffic(strings.NewReader(file)) {
		break // must not go on
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("disk gone") }

func TestReadTrafficWithAHugeLine(t *testing.T) {
	const size = 4 << 20
	file := io.MultiReader(strings.NewReader(`{"dir":"a2c","t":0,"msg":"`),
		bytes.NewReader(bytes.Repeat([]byte("x"), size)), strings.NewReader("\"}\n"))
	if got := readAll(t, file); len(got) != 1 || len(got[0].Msg) != size+2 {
		t.Fatal(len(got))
	}
}

func BenchmarkRecord(b *testing.B) {
	traffic := NewTraffic(0)
	msg := bytes.Repeat([]byte("x"), 200)
	b.ReportAllocs()
	for b.Loop() {
		traffic.record(AgentToClient, msg)
	}
}
