package session

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v2"
)

// V2 speaks what tool calls need of version 2 of the protocol: it is the
// [acp.Handler] of a connection. What arrives is translated on the reader
// goroutine; what is about anything else is unknown to it.
type V2 struct{ client Client }

var _ acp.Handler = (*V2)(nil)

// NewV2 returns the adapter.
func NewV2(client Client) *V2 { return &V2{client: client} }

// HandleNotification implements [acp.Handler].
func (a *V2) HandleNotification(method string, params json.RawMessage) {
	if method != v2.MethodSessionUpdate {
		return
	}
	var n v2.UpdateSessionNotification
	if err := acp.DecodeMessage(params, &n); err != nil {
		if id, kind := headOf(params); id != "" {
			a.client.Update(id, UnknownUpdate{Type: "malformed " + kind, Raw: params, Reason: strings.TrimPrefix(err.Error(), "decode ")})
		}
		return
	}
	if u := updateV2(n.Update); u != nil {
		a.client.Update(string(n.SessionID), u)
	}
}

// HandleRequest implements [acp.Handler].
func (a *V2) HandleRequest(r *acp.Request) {
	if r.Method != v2.MethodSessionRequestPermission {
		r.ReplyError(acp.ErrMethodNotFound(r.Method))
		return
	}
	var p v2.RequestPermissionRequest
	if err := acp.DecodeMessage(r.Params, &p); err != nil {
		r.ReplyError(&acp.Error{Code: acp.CodeInvalidParams, Message: fmt.Sprintf("invalid params of %s: %v", r.Method, err)})
		return
	}
	req := permissionV2(&p)
	req.Context = r.Context()
	req.Reply = func(optionID string) {
		switch {
		case optionID != "":
			r.Reply(v2.RequestPermissionResponse{Outcome: &v2.SelectedPermissionOutcome{OptionID: v2.PermissionOptionID(optionID)}})
		case r.Context().Err() != nil:
			r.ReplyError(r.Context().Err()) // withdrawn by the agent
		default:
			r.Reply(v2.RequestPermissionResponse{Outcome: &v2.CancelledPermissionOutcome{}})
		}
	}
	a.client.RequestPermission(req)
}
