package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp"
)

// step is an entry of the recording: junk from the agent, one message, or a batch from the agent. A batch from the
// client is one step for each message.
type step struct {
	dir      acp.Direction
	t        int64 // milliseconds
	junk     string
	batch    bool
	messages []message
}

// load reads a recording. Messages that were cut off are left out.
func load(traffic io.Reader) ([]step, error) {
	var steps []step
	for e, err := range acp.ReadTraffic(traffic) {
		if err != nil {
			return nil, err
		}
		if _, cut := e.Cut(); cut {
			continue
		}
		s := step{dir: e.Dir, t: e.T}
		if junk, ok := e.NotJSON(); ok {
			if e.Dir == acp.AgentToClient {
				s.junk = junk
				steps = append(steps, s)
			}
			continue
		}
		messages := split(e.Msg)
		if e.Dir == acp.AgentToClient {
			s.batch, s.messages = e.Msg[0] == '[', messages
			steps = append(steps, s)
			continue
		}
		for _, m := range messages {
			s.messages = []message{m}
			steps = append(steps, s)
		}
	}
	return steps, nil
}

type kind int

const (
	notification kind = iota
	request
	response
)

// message is a JSON-RPC message of either side.
type message struct {
	object json.RawMessage // the whole
	kind   kind
	method string
	id     json.RawMessage // of requests and responses
	params json.RawMessage
}

// split returns the messages of a line. Anything else counts as a notification without a method, which a recording may
// contain and no barrier waits for.
func split(line []byte) []message {
	line = bytes.TrimSpace(line)
	var objects []json.RawMessage
	if len(line) == 0 || line[0] != '[' {
		objects = append(objects, line)
	} else if json.Unmarshal(line, &objects) != nil {
		return nil
	}
	messages := make([]message, len(objects))
	for i, object := range objects {
		m := &messages[i]
		m.object = object
		var fields map[string]json.RawMessage
		if json.Unmarshal(object, &fields) != nil {
			continue
		}
		_ = json.Unmarshal(fields["method"], &m.method)
		m.id, m.params = fields["id"], fields["params"]
		switch {
		case fields["method"] == nil:
			m.kind = response
		case m.id != nil:
			m.kind = request
		}
	}
	return messages
}

// matches reports whether m and other are the same step of the conversation.
func (m message) matches(other message) bool {
	if m.kind != other.kind {
		return false
	}
	if m.kind == response {
		return m.key() == other.key()
	}
	return m.method == other.method
}

// key returns the id as text; some peers return a number as a string.
func (m message) key() string {
	var text string
	if json.Unmarshal(m.id, &text) == nil {
		return text
	}
	return string(m.id)
}

// cwd returns the folder of a request that opens a session, "" for any other.
func (m message) cwd() string {
	var params struct {
		CWD string `json:"cwd"`
	}
	if json.Unmarshal(m.params, &params) != nil {
		return ""
	}
	return params.CWD
}

// withID returns the message with another id.
func (m message) withID(id json.RawMessage) json.RawMessage {
	fields := json.NewDecoder(bytes.NewReader(m.object))
	_, _ = fields.Token() // {
	for fields.More() {
		name, _ := fields.Token()
		var value json.RawMessage
		if fields.Decode(&value) != nil {
			break
		}
		if name == "id" {
			end := int(fields.InputOffset())
			return slices.Concat(m.object[:end-len(value)], id, m.object[end:])
		}
	}
	return m.object
}
