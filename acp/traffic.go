package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// Direction is who sent a message.
type Direction string

// The two directions of a traffic record.
const (
	ClientToAgent Direction = "c2a"
	AgentToClient Direction = "a2c"
)

// Entry is one line of traffic.
type Entry struct {
	Dir Direction `json:"dir"`
	T   int64     `json:"t"` // milliseconds since the record began
	// Msg is the message as it was on the wire, a batch included, or {"__not_json__":"…"} for output that is not a
	// message, or {"__cut__":"…","bytes":n} for the beginning of a message of n bytes that was too long to keep in
	// memory.
	Msg json.RawMessage `json:"msg"`

	Note string `json:"-"` // why the client has left the message out, or ""
}

const (
	notJSONKey = "__not_json__"
	cutKey     = "__cut__"
)

// NotJSON returns the text of an entry that is not a message.
func (e Entry) NotJSON() (text string, ok bool) { return e.marked(notJSONKey) }

// Cut returns the beginning of a message that was too long to keep in memory.
func (e Entry) Cut() (beginning string, ok bool) { return e.marked(cutKey) }

func (e Entry) marked(key string) (string, bool) {
	if !bytes.HasPrefix(e.Msg, []byte(`{"`+key+`":`)) {
		return "", false
	}
	var fields map[string]json.RawMessage
	var text string
	if json.Unmarshal(e.Msg, &fields) != nil || json.Unmarshal(fields[key], &text) != nil {
		return "", false
	}
	return text, true
}

// Bounds of the record, in bytes.
const (
	DefaultTrafficLimit = 4 << 20
	entryLimit          = 64 << 10  // of one message in memory
	entryCost           = 64        // of an entry besides its message
	recordingLimit      = 256 << 20 // of what is waiting for a slow file
)

// Traffic records the messages of a connection: the latest in memory and, after RecordTo, all of them in a file. Its
// methods may be called from any goroutine; a nil Traffic records nothing.
type Traffic struct {
	start time.Time
	limit int // bytes of entries

	mu      sync.Mutex
	entries []Entry     // guarded by mu, oldest first
	size    int         // guarded by mu: bytes of entries
	file    *recording  // guarded by mu
	hidden  [][2][]byte // guarded by mu, never changed in place: secrets as JSON writes them, and their replacements
}

// LeastHidden is the least length in bytes of a secret that is hidden wherever it appears. A shorter one is hidden only
// as the value of an MCP server's variable or header.
const LeastHidden = 6

// Hide masks values in what is recorded from now on.
func (t *Traffic) Hide(values []string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	hidden := slices.Clone(t.hidden)
	for _, value := range values {
		text, err := encode(value)
		if value == "" || err != nil {
			continue
		}
		pair := [2][]byte{slices.Concat([]byte(`"value":`), text), []byte(`"value":"***"`)}
		if len(value) >= LeastHidden {
			pair = [2][]byte{text[1 : len(text)-1], []byte("***")}
		}
		if !slices.ContainsFunc(hidden, func(h [2][]byte) bool { return bytes.Equal(h[0], pair[0]) }) {
			hidden = append(hidden, pair)
		}
	}
	slices.SortStableFunc(hidden, func(a, b [2][]byte) int { return len(b[0]) - len(a[0]) }) // one may be in another
	t.hidden = hidden
}

// Unhide is for values that are no longer secret: each hidden one costs a search of every message.
func (t *Traffic) Unhide(values []string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	hidden := slices.Clone(t.hidden)
	for _, value := range values {
		if text, err := encode(value); err == nil && len(value) >= LeastHidden {
			hidden = slices.DeleteFunc(hidden, func(h [2][]byte) bool { return bytes.Equal(h[0], text[1:len(text)-1]) })
		}
	}
	t.hidden = hidden
}

// withoutHidden returns a message with its secrets masked.
func (t *Traffic) withoutHidden(parts [][]byte) [][]byte {
	t.mu.Lock()
	hidden := t.hidden
	t.mu.Unlock()
	if len(hidden) == 0 {
		return parts
	}
	msg := parts[0]
	if len(parts) > 1 {
		msg = slices.Concat(parts...)
	}
	whole := msg
	for _, pair := range hidden {
		if !bytes.Contains(msg, pair[0]) {
			continue // as in almost all messages
		}
		if !bytes.HasPrefix(pair[0], []byte(`"value":`)) || bytes.Contains(whole, []byte(`"mcpServers"`)) {
			msg = bytes.ReplaceAll(msg, pair[0], pair[1])
		}
	}
	return [][]byte{msg}
}

// NewTraffic returns an empty record that starts now and keeps about limit bytes in memory; 0 means
// DefaultTrafficLimit.
func NewTraffic(limit int) *Traffic {
	if limit <= 0 {
		limit = DefaultTrafficLimit
	}
	return &Traffic{start: time.Now(), limit: limit}
}

// Entries returns the entries in memory, oldest first.
func (t *Traffic) Entries() []Entry {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.entries)
}

// record adds a message, valid JSON in one line, given in parts. It keeps a message of one part without copying it, and
// does not wait for a file.
func (t *Traffic) record(dir Direction, parts ...[]byte) {
	if t == nil {
		return
	}
	parts = t.withoutHidden(parts)
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	msg := parts[0]
	if size > entryLimit {
		msg = cut(parts, size)
	} else if len(parts) > 1 {
		msg = slices.Concat(parts...)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := Entry{Dir: dir, T: time.Since(t.start).Milliseconds(), Msg: msg}
	if t.file != nil {
		t.file.add(e.Dir, e.T, parts...)
	}
	t.entries = append(t.entries, e)
	t.size += len(e.Msg) + entryCost
	for t.size > t.limit {
		t.size -= len(t.entries[0].Msg) + entryCost
		t.entries[0] = Entry{}
		t.entries = t.entries[1:]
	}
}

// notable is how many of the latest messages [Traffic.Note] looks at.
const notable = 1000

// Note records why the latest messages that contain this part were dropped.
func (t *Traffic) Note(part json.RawMessage, why string) {
	if t == nil || len(part) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.entries) - 1; i >= max(0, len(t.entries)-notable); i-- {
		if bytes.Contains(t.entries[i].Msg, part) {
			t.entries[i].Note = why
		}
	}
}

func (t *Traffic) recordJunk(dir Direction, junk []byte) {
	if t == nil {
		return
	}
	msg, _ := encode(map[string]string{notJSONKey: string(junk)}) // always encodes
	t.record(dir, msg)
}

// cut returns the entry for the beginning of a message of size bytes.
func cut(parts [][]byte, size int) []byte {
	beginning := make([]byte, 0, entryLimit/2)
	for _, p := range parts {
		beginning = append(beginning, p[:min(len(p), cap(beginning)-len(beginning))]...)
	}
	for len(beginning) > 0 && !utf8.RuneStart(beginning[len(beginning)-1]) {
		beginning = beginning[:len(beginning)-1]
	}
	if n := len(beginning); n > 0 && beginning[n-1] >= utf8.RuneSelf {
		beginning = beginning[:n-1]
	}
	text, _ := encode(string(beginning)) // a string always encodes
	msg := slices.Concat([]byte(`{"`+cutKey+`":`), text, []byte(`,"bytes":`))
	return append(strconv.AppendInt(msg, int64(size), 10), '}')
}

// RecordTo writes to w what is in memory, and from now on every message in full. stop ends that, waits until all is
// written and returns the first write error, which does not disturb the record. RecordTo fails if a recording is
// already running.
func (t *Traffic) RecordTo(w io.Writer) (stop func() error, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		return nil, errors.New("record traffic: already recording")
	}
	r := &recording{wake: make(chan struct{}, 1), done: make(chan struct{})}
	for _, e := range t.entries {
		r.add(e.Dir, e.T, e.Msg)
	}
	t.file = r
	go r.run(w)
	return sync.OnceValue(func() error {
		t.mu.Lock()
		t.file = nil
		t.mu.Unlock()
		r.finish()
		<-r.done
		return r.err
	}), nil
}

// recording is a goroutine that writes lines to a file, so that no message waits for a disk.
type recording struct {
	wake chan struct{}
	done chan struct{}
	err  error // set before done is closed

	mu       sync.Mutex
	lines    []byte // guarded by mu: not yet written
	dropped  int    // guarded by mu: messages for which there was no room
	finished bool   // guarded by mu
}

func (r *recording) add(dir Direction, t int64, parts ...[]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) > recordingLimit {
		r.dropped++
		return
	}
	b := append(r.lines, `{"dir":"`...)
	b = append(append(b, dir...), `","t":`...)
	b = append(strconv.AppendInt(b, t, 10), `,"msg":`...)
	for _, p := range parts {
		b = append(b, p...)
	}
	r.lines = append(b, "}\n"...)
	r.signal()
}

func (r *recording) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
	r.signal()
}

func (r *recording) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *recording) run(w io.Writer) {
	defer close(r.done)
	var spare []byte
	for range r.wake {
		r.mu.Lock()
		lines, finished := r.lines, r.finished
		r.lines = spare[:0]
		if finished && r.dropped > 0 && r.err == nil {
			r.err = fmt.Errorf("record traffic: the file is too slow: it misses %d of the messages", r.dropped)
		}
		r.mu.Unlock()
		if r.err == nil {
			if _, err := w.Write(lines); err != nil {
				r.err = fmt.Errorf("record traffic: %w", err)
			}
		}
		if finished {
			return
		}
		if spare = lines; cap(spare) > 1<<20 {
			spare = nil
		}
	}
}

// ReadTraffic reads a traffic file, with lines of any length. A line that is not an entry yields an error and does not
// end the iteration; a read error does.
func ReadTraffic(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines := bufio.NewReader(r)
		for n := 1; ; n++ {
			line, err := lines.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
				e, err := parseEntry(line)
				if err != nil {
					err = fmt.Errorf("read traffic: line %d: %w", n, err)
				}
				if !yield(e, err) {
					return
				}
			}
			if err != nil {
				if err != io.EOF {
					yield(Entry{}, fmt.Errorf("read traffic: %w", err))
				}
				return
			}
		}
	}
}

func parseEntry(line []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return Entry{}, err
	}
	if e.Dir != ClientToAgent && e.Dir != AgentToClient {
		return Entry{}, fmt.Errorf("dir is %q, expected %q or %q", e.Dir, ClientToAgent, AgentToClient)
	}
	if e.Msg == nil {
		return Entry{}, errors.New("no msg")
	}
	return e, nil
}
