// Package extension passes requests for methods that are not in the specification to the user's Lua functions.
package extension

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Requests are the open requests of all agents. Its methods may be called from any goroutine.
type Requests struct {
	post func(editor.Op)

	mu     sync.Mutex // guards the fields below
	served map[string]bool
	open   map[int]open
	lastID int
}

// open is a request that Lua has been asked to answer.
type open struct {
	session.ExtensionRequest
	stop func() bool // ends the watch for a withdrawal
}

// New returns requests that are sent to Lua by post.
func New(post func(editor.Op)) *Requests {
	return &Requests{post: post, served: map[string]bool{}, open: map[int]open{}}
}

// Serve sets which methods the user serves from now on.
func (rs *Requests) Serve(m rpc.ServeRequests) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.served = map[string]bool{}
	for _, method := range m.Methods {
		rs.served[method] = true
	}
}

// Ask has Lua answer a request; it reports whether its method is served.
func (rs *Requests) Ask(r session.ExtensionRequest) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if !rs.served[r.Method] {
		return false
	}
	rs.lastID++
	id := rs.lastID
	rs.open[id] = open{r, context.AfterFunc(r.Context, func() { rs.resolve(id, nil, r.Context.Err()) })}
	rs.post(editor.Do(rpc.ExtensionRequest{ID: id, Method: r.Method, Params: string(r.Params)}))
	return true
}

// Answer replies with what the user's function returned.
func (rs *Requests) Answer(m rpc.AnswerExtension) {
	result := json.RawMessage(m.Result)
	switch {
	case m.Unknown:
		rs.unknown(m.ID)
	case m.Error != "":
		rs.resolve(m.ID, nil, &acp.Error{Code: acp.CodeInternalError, Message: m.Error})
	case !json.Valid(result):
		rs.resolve(m.ID, nil, &acp.Error{Code: acp.CodeInternalError, Message: "the answer is not JSON"})
	default:
		rs.resolve(m.ID, result, nil)
	}
}

func (rs *Requests) unknown(id int) {
	rs.mu.Lock()
	method := rs.open[id].Method
	rs.mu.Unlock()
	rs.resolve(id, nil, acp.ErrMethodNotFound(method))
}

func (rs *Requests) resolve(id int, result json.RawMessage, err error) {
	rs.mu.Lock()
	r, isOpen := rs.open[id]
	delete(rs.open, id)
	rs.mu.Unlock()
	if isOpen {
		r.stop()
		r.Reply(result, err)
	}
}
