package v2

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// types has the Go type of each object of the schema that is here.
var types = map[string]any{
	"AgentAuthCapabilities":          AgentAuthCapabilities{},
	"AgentCapabilities":              AgentCapabilities{},
	"AgentMessage":                   Message{},
	"Annotations":                    wire.Annotations{},
	"AudioContent":                   wire.AudioContent{},
	"AvailableCommandsUpdate":        AvailableCommandsUpdate{},
	"BlobResourceContents":           wire.BlobResourceContents{},
	"CancelSessionNotification":      CancelSessionNotification{},
	"CancelTerminalRequest":          CancelTerminalRequest{},
	"CancelToolCallRequest":          CancelToolCallRequest{},
	"CancelledPermissionOutcome":     wire.CancelledPermissionOutcome{},
	"ClientAuthCapabilities":         ClientAuthCapabilities{},
	"ClientCapabilities":             ClientCapabilities{},
	"CloseSessionRequest":            wire.CloseSessionRequest{},
	"CommandPermissionSubject":       CommandPermissionSubject{},
	"CompactionSummaryChunk":         CompactionSummaryChunk{},
	"CompactionUpdate":               CompactionUpdate{},
	"ConfigOptionUpdate":             ConfigOptionUpdate{},
	"Content":                        Content{},
	"ContentChunk":                   ContentChunk{},
	"Cost":                           wire.Cost{},
	"DeleteSessionRequest":           wire.DeleteSessionRequest{},
	"Diff":                           Diff{},
	"DiffChange":                     DiffChange{},
	"DiffPatch":                      DiffPatch{},
	"DiffPathChange":                 DiffPathChange{},
	"DiffPathPairChange":             DiffPathPairChange{},
	"ElicitationCapabilities":        wire.ElicitationCapabilities{},
	"EmbeddedResource":               wire.EmbeddedResource{},
	"EnvVariable":                    wire.EnvVariable{},
	"HttpHeader":                     wire.HTTPHeader{},
	"Icon":                           wire.Icon{},
	"ImageContent":                   wire.ImageContent{},
	"Implementation":                 wire.Implementation{},
	"InitializeRequest":              InitializeRequest{},
	"InitializeResponse":             InitializeResponse{},
	"ListSessionsRequest":            wire.ListSessionsRequest{},
	"ListSessionsResponse":           ListSessionsResponse{},
	"LoginAuthRequest":               LoginAuthRequest{},
	"LogoutAuthRequest":              LogoutAuthRequest{},
	"McpCapabilities":                MCPCapabilities{},
	"McpServerHttp":                  MCPServerHTTP{},
	"McpServerStdio":                 MCPServerStdio{},
	"NewSessionRequest":              NewSessionRequest{},
	"NewSessionResponse":             NewSessionResponse{},
	"Notice":                         Notice{},
	"PermissionOption":               wire.PermissionOption{},
	"PlanEntry":                      PlanEntry{},
	"PlanUpdate":                     PlanUpdate{},
	"PromptCapabilities":             PromptCapabilities{},
	"PromptRequest":                  wire.PromptRequest{},
	"PromptResponse":                 PromptResponse{},
	"RequestPermissionRequest":       RequestPermissionRequest{},
	"RequestPermissionResponse":      wire.RequestPermissionResponse{},
	"ResourceLink":                   wire.ResourceLink{},
	"ResumeSessionRequest":           ResumeSessionRequest{},
	"ResumeSessionResponse":          SessionChoices{},
	"SelectedPermissionOutcome":      wire.SelectedPermissionOutcome{},
	"SessionCapabilities":            SessionCapabilities{},
	"SessionConfigOption":            SessionConfigOption{},
	"SessionConfigSelectGroup":       SessionConfigSelectGroup{},
	"SessionConfigSelectOption":      wire.SessionConfigSelectOption{},
	"SessionInfo":                    SessionInfo{},
	"SessionInfoUpdate":              SessionInfoUpdate{},
	"SetSessionConfigOptionResponse": SetSessionConfigOptionResponse{},
	"Terminal":                       Terminal{},
	"TerminalCancelCapabilities":     wire.Supported{},
	"TerminalCapabilities":           TerminalCapabilities{},
	"TerminalExitStatus":             TerminalExitStatus{},
	"TerminalOutput":                 TerminalOutput{},
	"TerminalOutputChunk":            TerminalOutputChunk{},
	"TerminalSize":                   TerminalSize{},
	"TerminalUpdate":                 TerminalUpdate{},
	"TextContent":                    wire.TextContent{},
	"TextResourceContents":           wire.TextResourceContents{},
	"ToolCallCancelCapabilities":     wire.Supported{},
	"ToolCallCapabilities":           ToolCallCapabilities{},
	"ToolCallContentChunk":           ToolCallContentChunk{},
	"ToolCallLocation":               wire.ToolCallLocation{},
	"ToolCallPermissionSubject":      ToolCallPermissionSubject{},
	"ToolCallUpdate":                 ToolCallUpdate{},
	"UpdateSessionNotification":      UpdateSessionNotification{},
	"UsageUpdate":                    UsageUpdate{},
	"UserMessage":                    Message{},
}

// beyond has the fields of the unstable schema.
var beyond = map[string][]string{
	"AgentAuthCapabilities": {"status"},
	"AgentCapabilities":     {"providers"},
	"ListSessionsRequest":   {"archived"},
	"NewSessionRequest":     {"systemPrompt"},
	"ResumeSessionRequest":  {"systemPrompt"},
	"SessionCapabilities":   {"archive", "fork", "status", "systemPrompt", "title"},
}

// TestFieldsMatchSchema compares the fields of all types, and their rules for what is missing
// or malformed, with the schema's annotations.
func TestFieldsMatchSchema(t *testing.T) {
	v := schema.ValidatorV2(t)
	for name, value := range types {
		check.Slice(t, v.CheckFields(t, name, value), beyond[name], "%s has fields beyond the schema: %q", name)
	}
	if got := schema.DraftsV2(t).CheckFields(t, "ForkSessionRequest", ForkSessionRequest{}); len(got) > 0 {
		t.Errorf("ForkSessionRequest has fields beyond the unstable schema: %q", got)
	}
}
