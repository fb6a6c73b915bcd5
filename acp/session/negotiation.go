package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

const version1 = int(v1.Version)

// Negotiation finds out which version of the protocol an agent speaks (specification: Initialization). It is the
// handler of the agent's connection, and passes everything on to that version's adapter.
type Negotiation struct {
	client    Client
	version   string
	overrides map[string]bool
	ask       int

	conn    *acp.Conn
	handler atomic.Pointer[acp.Handler] // nil until the agent has answered
}

var _ acp.Handler = (*Negotiation)(nil)

// Negotiate returns a negotiation that asks for a version of the protocol, 1 or 2. version is this program's, the
// overrides are the user's for [Quirks].
func Negotiate(client Client, version string, overrides map[string]bool, protocol int) *Negotiation {
	return &Negotiation{client: client, version: version, overrides: overrides, ask: max(protocol, version1)}
}

// Start gives the negotiation its connection, before anything else.
func (n *Negotiation) Start(conn *acp.Conn) { n.conn = conn }

// offer is the request that offers both versions: each finds its own fields in it.
type offer struct {
	v1.InitializeRequest
	Info         wire.Implementation   `json:"info"`
	Capabilities v2.ClientCapabilities `json:"capabilities"`
}

// Initialize agrees on the version and the capabilities; done is called exactly once, on the connection's reader
// goroutine.
func (n *Negotiation) Initialize(done func(Agent, Info, error)) {
	first := NewV1(n.client, n.version, n.overrides)
	first.Start(n.conn)
	hello := first.hello()
	var request any = hello
	if n.ask == v2.Version {
		hello.ProtocolVersion = v2.Version
		info := wire.Implementation{Name: hello.ClientInfo.Name, Title: hello.ClientInfo.Title, Version: n.version}
		request = offer{hello, info, capabilitiesV2()}
	}
	n.conn.Call(v1.MethodInitialize, request, func(raw json.RawMessage, err error) {
		if n.ask == v2.Version && wantsV1(err) {
			n.ask = version1
			n.Initialize(done)
			return
		}
		var r struct {
			ProtocolVersion int `json:"protocolVersion" wire:"required"`
		}
		if err = decode(raw, err, &r); err != nil {
			done(nil, Info{}, err)
			return
		}
		var agent interface {
			Agent
			acp.Handler
			welcome(json.RawMessage) (Info, error)
		}
		switch {
		case r.ProtocolVersion == version1:
			agent = first
		case r.ProtocolVersion == v2.Version && n.ask == v2.Version:
			second := NewV2(n.client)
			second.Start(n.conn)
			agent = second
		default:
			done(nil, Info{}, fmt.Errorf("it speaks version %d of the protocol, this client version %d", r.ProtocolVersion, n.ask))
			return
		}
		info, err := agent.welcome(raw)
		if err != nil {
			done(nil, Info{}, err)
			return
		}
		handler := acp.Handler(agent)
		n.handler.Store(&handler)
		done(agent, info, nil)
	})
}

// wantsV1 reports whether, after this answer to an offer of version 2, it is worth asking again in version 1.
func wantsV1(err error) bool {
	var answer *acp.Error
	if !errors.As(err, &answer) {
		return false
	}
	switch answer.Code {
	case acp.CodeInvalidParams:
		return true
	case acp.CodeUnsupportedProtocolVersion:
		var data struct {
			Supported []int `json:"supported"`
		}
		return json.Unmarshal(answer.Data, &data) != nil || data.Supported == nil || slices.Contains(data.Supported, version1)
	}
	return false
}

// HandleNotification implements [acp.Handler]. What comes before the answer to initialize belongs to no session.
func (n *Negotiation) HandleNotification(method string, params json.RawMessage) {
	if h := n.handler.Load(); h != nil {
		(*h).HandleNotification(method, params)
	}
}

// HandleRequest implements [acp.Handler].
func (n *Negotiation) HandleRequest(r *acp.Request) {
	if h := n.handler.Load(); h != nil {
		(*h).HandleRequest(r)
		return
	}
	r.ReplyError(acp.ErrMethodNotFound(r.Method))
}
