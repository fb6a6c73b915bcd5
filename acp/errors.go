package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Error codes of JSON-RPC 2.0 and ACP (schema: ErrorCode).
const (
	CodeParseError                 = -32700
	CodeInvalidRequest             = -32600
	CodeMethodNotFound             = -32601
	CodeInvalidParams              = -32602
	CodeInternalError              = -32603
	CodeRequestCancelled           = -32800
	CodeAuthRequired               = -32000
	CodeResourceNotFound           = -32002
	CodeUnsupportedProtocolVersion = -32022 // protocol version 2
)

// ErrClosed is what every error is (see errors.Is) that is due to the end of the connection, whoever ended it.
var ErrClosed = errors.New("the connection is closed")

// ErrPeerClosed is the cause when the peer closed its output, as it does by exiting.
var ErrPeerClosed = errors.New("the agent closed its output")

// Error is an error answer to a request, in either direction.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the message with the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// ErrMethodNotFound answers a request whose method is unknown.
func ErrMethodNotFound(method string) *Error {
	return &Error{Code: CodeMethodNotFound, Message: fmt.Sprintf("Method not found: %s", method)}
}

// QueueFullError ends a connection whose peer does not read what it is sent.
type QueueFullError struct {
	Queued int // bytes waiting to be written
	Limit  int // bytes
}

func (e *QueueFullError) Error() string {
	return fmt.Sprintf("the agent does not read its input: %d bytes are waiting (limit %d)", e.Queued, e.Limit)
}

// closedError is ErrClosed with its cause.
type closedError struct{ cause error }

func (e *closedError) Error() string {
	if e.cause == nil {
		return ErrClosed.Error()
	}
	return ErrClosed.Error() + ": " + e.cause.Error()
}

func (e *closedError) Is(target error) bool { return target == ErrClosed }
func (e *closedError) Unwrap() error        { return e.cause }

// toWire returns the error object that answers a request with err.
func toWire(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e) && e != nil:
		if len(e.Data) > 0 && !json.Valid(e.Data) {
			return &Error{Code: e.Code, Message: e.Message}
		}
		return e
	case errors.Is(err, context.Canceled):
		return &Error{Code: CodeRequestCancelled, Message: "Request cancelled"}
	case err == nil:
		return &Error{Code: CodeInternalError, Message: "Internal error"}
	}
	return &Error{Code: CodeInternalError, Message: err.Error()}
}

// parseError reads an error object of any shape: what is missing or malformed gets a default, as the request has failed
// all the same.
func parseError(raw json.RawMessage) *Error {
	var fields struct {
		Code, Message, Data json.RawMessage
	}
	e := &Error{Code: CodeInternalError}
	if json.Unmarshal(raw, &fields) != nil {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			e.Message = text
		} else {
			e.Message = shorten(raw)
		}
	} else {
		if code, ok := integer(fields.Code); ok {
			e.Code = code
		}
		var text string
		switch {
		case json.Unmarshal(fields.Message, &text) == nil && text != "":
			e.Message = text
		case fields.Message != nil && string(fields.Message) != "null" && text == "":
			e.Message = shorten(fields.Message)
		}
		if string(fields.Data) != "null" {
			e.Data = fields.Data
		}
	}
	if e.Message == "" || e.Message == `""` {
		e.Message = "Error without a message"
	}
	return e
}
