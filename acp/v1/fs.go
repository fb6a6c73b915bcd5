package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Methods of the client's files, sent by the agent. Each needs the client's capability.
const (
	MethodFSReadTextFile  = "fs/read_text_file"
	MethodFSWriteTextFile = "fs/write_text_file"
)

// ReadTextFileRequest asks for the text of a file, unsaved changes included: from Line on, counted from 1, and at most
// Limit lines. Path is absolute. See "File System", "Reading Files".
type ReadTextFileRequest struct {
	SessionID wire.SessionID  `json:"sessionId" wire:"required"`
	Path      string          `json:"path" wire:"required"`
	Line      acp.Opt[uint32] `json:"line,omitzero"`
	Limit     acp.Opt[uint32] `json:"limit,omitzero"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ReadTextFileResponse is the text.
type ReadTextFileResponse struct {
	Content string          `json:"content" wire:"required"`
	Meta    json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// AppendJSON writes the response as [json.Marshal] does.
func (r ReadTextFileResponse) AppendJSON(buf []byte) []byte {
	buf = acp.AppendText(append(buf, `{"content":`...), r.Content)
	if r.Meta != nil {
		buf = append(append(buf, `,"_meta":`...), r.Meta...)
	}
	return append(buf, '}')
}

// WriteTextFileRequest gives a file, which need not exist, a new text. Path is absolute.
// See "File System", "Writing Files".
type WriteTextFileRequest struct {
	SessionID wire.SessionID  `json:"sessionId" wire:"required"`
	Path      string          `json:"path" wire:"required"`
	Content   string          `json:"content" wire:"required"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// WriteTextFileResponse says that the text is written.
type WriteTextFileResponse struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
