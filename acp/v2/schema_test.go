package v2

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// types has the Go type of each object of the schema that is here.
var types = map[string]any{
	"AgentAuthCapabilities":          AgentAuthCapabilities{},
	"AgentCapabilities":              AgentCapabilities{},
	"AgentMessage":                   Message{},
	"Annotations":                    Annotations{},
	"AudioContent":                   AudioContent{},
	"AvailableCommandsUpdate":        AvailableCommandsUpdate{},
	"BlobResourceContents":           BlobResourceContents{},
	"CancelSessionNotification":      CancelSessionNotification{},
	"CancelTerminalRequest":          CancelTerminalRequest{},
	"CancelToolCallRequest":          CancelToolCallRequest{},
	"CancelledPermissionOutcome":     CancelledPermissionOutcome{},
	"ClientAuthCapabilities":         ClientAuthCapabilities{},
	"ClientCapabilities":             ClientCapabilities{},
	"CloseSessionRequest":            CloseSessionRequest{},
	"CommandPermissionSubject":       CommandPermissionSubject{},
	"CompactionSummaryChunk":         CompactionSummaryChunk{},
	"CompactionUpdate":               CompactionUpdate{},
	"ConfigOptionUpdate":             ConfigOptionUpdate{},
	"Content":                        Content{},
	"ContentChunk":                   ContentChunk{},
	"Cost":                           Cost{},
	"DeleteSessionRequest":           DeleteSessionRequest{},
	"Diff":                           Diff{},
	"DiffChange":                     DiffChange{},
	"DiffPatch":                      DiffPatch{},
	"DiffPathChange":                 DiffPathChange{},
	"DiffPathPairChange":             DiffPathPairChange{},
	"ElicitationCapabilities":        ElicitationCapabilities{},
	"EmbeddedResource":               EmbeddedResource{},
	"EnvVariable":                    EnvVariable{},
	"HttpHeader":                     HTTPHeader{},
	"Icon":                           Icon{},
	"ImageContent":                   ImageContent{},
	"Implementation":                 Implementation{},
	"InitializeRequest":              InitializeRequest{},
	"InitializeResponse":             InitializeResponse{},
	"ListSessionsRequest":            ListSessionsRequest{},
	"ListSessionsResponse":           ListSessionsResponse{},
	"LoginAuthRequest":               LoginAuthRequest{},
	"LogoutAuthRequest":              LogoutAuthRequest{},
	"McpCapabilities":                MCPCapabilities{},
	"McpServerHttp":                  MCPServerHTTP{},
	"McpServerStdio":                 MCPServerStdio{},
	"NewSessionRequest":              NewSessionRequest{},
	"NewSessionResponse":             NewSessionResponse{},
	"Notice":                         Notice{},
	"PermissionOption":               PermissionOption{},
	"PlanEntry":                      PlanEntry{},
	"PlanUpdate":                     PlanUpdate{},
	"PromptCapabilities":             PromptCapabilities{},
	"PromptRequest":                  PromptRequest{},
	"PromptResponse":                 PromptResponse{},
	"RequestPermissionRequest":       RequestPermissionRequest{},
	"RequestPermissionResponse":      RequestPermissionResponse{},
	"ResourceLink":                   ResourceLink{},
	"ResumeSessionRequest":           ResumeSessionRequest{},
	"ResumeSessionResponse":          SessionChoices{},
	"SelectedPermissionOutcome":      SelectedPermissionOutcome{},
	"SessionCapabilities":            SessionCapabilities{},
	"SessionConfigOption":            SessionConfigOption{},
	"SessionConfigSelectGroup":       SessionConfigSelectGroup{},
	"SessionConfigSelectOption":      SessionConfigSelectOption{},
	"SessionInfo":                    SessionInfo{},
	"SessionInfoUpdate":              SessionInfoUpdate{},
	"SetSessionConfigOptionResponse": SetSessionConfigOptionResponse{},
	"Terminal":                       Terminal{},
	"TerminalCancelCapabilities":     Supported{},
	"TerminalCapabilities":           TerminalCapabilities{},
	"TerminalExitStatus":             TerminalExitStatus{},
	"TerminalOutput":                 TerminalOutput{},
	"TerminalOutputChunk":            TerminalOutputChunk{},
	"TerminalSize":                   TerminalSize{},
	"TerminalUpdate":                 TerminalUpdate{},
	"TextContent":                    TextContent{},
	"TextResourceContents":           TextResourceContents{},
	"ToolCallCancelCapabilities":     Supported{},
	"ToolCallCapabilities":           ToolCallCapabilities{},
	"ToolCallContentChunk":           ToolCallContentChunk{},
	"ToolCallLocation":               ToolCallLocation{},
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
