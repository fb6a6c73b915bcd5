package v1

import (
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// types has the Go type of each object of the schema.
var types = map[string]any{
	"Annotations":                              wire.Annotations{},
	"AgentAuthCapabilities":                    AgentAuthCapabilities{},
	"AgentCapabilities":                        AgentCapabilities{},
	"AudioContent":                             wire.AudioContent{},
	"AuthCapabilities":                         AuthCapabilities{},
	"AuthMethodAgent":                          AuthMethod{},
	"AuthMethodTerminal":                       AuthMethod{},
	"AuthenticateRequest":                      AuthenticateRequest{},
	"AuthenticateResponse":                     AuthenticateResponse{},
	"AvailableCommand":                         AvailableCommand{},
	"AvailableCommandsUpdate":                  AvailableCommandsUpdate{},
	"BlobResourceContents":                     wire.BlobResourceContents{},
	"BooleanConfigOptionCapabilities":          wire.Supported{},
	"BooleanPropertySchema":                    BooleanPropertySchema{},
	"CancelNotification":                       CancelNotification{},
	"CancelRequestNotification":                CancelRequestNotification{},
	"ClientCapabilities":                       ClientCapabilities{},
	"ClientSessionCapabilities":                ClientSessionCapabilities{},
	"CloseSessionRequest":                      wire.CloseSessionRequest{},
	"CloseSessionResponse":                     CloseSessionResponse{},
	"CompactionCapabilities":                   wire.Supported{},
	"CompactionSummaryChunk":                   CompactionSummaryChunk{},
	"CompactionUpdate":                         CompactionUpdate{},
	"CompleteElicitationNotification":          CompleteElicitationNotification{},
	"ConfigOptionUpdate":                       ConfigOptionUpdate{},
	"Content":                                  Content{},
	"ContentChunk":                             ContentChunk{},
	"Cost":                                     wire.Cost{},
	"CreateElicitationRequest":                 CreateElicitationRequest{},
	"CreateElicitationResponse":                CreateElicitationResponse{},
	"CreateTerminalRequest":                    CreateTerminalRequest{},
	"CreateTerminalResponse":                   CreateTerminalResponse{},
	"CurrentModeUpdate":                        CurrentModeUpdate{},
	"DeleteSessionRequest":                     wire.DeleteSessionRequest{},
	"DeleteSessionResponse":                    DeleteSessionResponse{},
	"Diff":                                     Diff{},
	"ElicitationAcceptAction":                  CreateElicitationResponse{},
	"ElicitationCapabilities":                  wire.ElicitationCapabilities{},
	"ElicitationFormCapabilities":              wire.Supported{},
	"ElicitationFormMode":                      ElicitationFormMode{},
	"ElicitationSchema":                        ElicitationSchema{},
	"ElicitationUrlCapabilities":               wire.Supported{},
	"ElicitationUrlMode":                       ElicitationURLMode{},
	"EmbeddedResource":                         wire.EmbeddedResource{},
	"EnumOption":                               EnumOption{},
	"EnvVariable":                              wire.EnvVariable{},
	"FileSystemCapabilities":                   FileSystemCapabilities{},
	"HttpHeader":                               wire.HTTPHeader{},
	"ImageContent":                             wire.ImageContent{},
	"Implementation":                           wire.Implementation{},
	"InitializeRequest":                        InitializeRequest{},
	"InitializeResponse":                       InitializeResponse{},
	"IntegerPropertySchema":                    IntegerPropertySchema{},
	"KillTerminalRequest":                      KillTerminalRequest{},
	"KillTerminalResponse":                     KillTerminalResponse{},
	"ListSessionsRequest":                      wire.ListSessionsRequest{},
	"ListSessionsResponse":                     ListSessionsResponse{},
	"LoadSessionRequest":                       LoadSessionRequest{},
	"LoadSessionResponse":                      LoadSessionResponse{},
	"LogoutCapabilities":                       wire.Supported{},
	"LogoutRequest":                            LogoutRequest{},
	"LogoutResponse":                           LogoutResponse{},
	"McpCapabilities":                          MCPCapabilities{},
	"McpServerHttp":                            MCPServerHTTP{},
	"McpServerSse":                             MCPServerSSE{},
	"McpServerStdio":                           MCPServerStdio{},
	"MultiSelectPropertySchema":                MultiSelectPropertySchema{},
	"NewSessionRequest":                        NewSessionRequest{},
	"NewSessionResponse":                       NewSessionResponse{},
	"Notice":                                   Notice{},
	"NoticeCapabilities":                       wire.Supported{},
	"NumberPropertySchema":                     NumberPropertySchema{},
	"PermissionOption":                         wire.PermissionOption{},
	"Plan":                                     Plan{},
	"PlanEntry":                                PlanEntry{},
	"PromptCapabilities":                       PromptCapabilities{},
	"PromptRequest":                            wire.PromptRequest{},
	"PromptResponse":                           PromptResponse{},
	"ReadTextFileRequest":                      ReadTextFileRequest{},
	"ReadTextFileResponse":                     ReadTextFileResponse{},
	"ReleaseTerminalRequest":                   ReleaseTerminalRequest{},
	"ReleaseTerminalResponse":                  ReleaseTerminalResponse{},
	"RequestPermissionRequest":                 RequestPermissionRequest{},
	"RequestPermissionResponse":                wire.RequestPermissionResponse{},
	"ResourceLink":                             wire.ResourceLink{},
	"ResumeSessionRequest":                     ResumeSessionRequest{},
	"ResumeSessionResponse":                    ResumeSessionResponse{},
	"SelectedPermissionOutcome":                wire.SelectedPermissionOutcome{},
	"SessionAdditionalDirectoriesCapabilities": wire.Supported{},
	"SessionCapabilities":                      SessionCapabilities{},
	"SessionCloseCapabilities":                 wire.Supported{},
	"SessionConfigBoolean":                     SessionConfigBoolean{},
	"SessionConfigOption":                      SessionConfigOption{},
	"SessionConfigOptionsCapabilities":         SessionConfigOptionsCapabilities{},
	"SessionConfigSelect":                      SessionConfigSelect{},
	"SessionConfigSelectGroup":                 SessionConfigSelectGroup{},
	"SessionConfigSelectOption":                wire.SessionConfigSelectOption{},
	"SessionDeleteCapabilities":                wire.Supported{},
	"SessionInfo":                              SessionInfo{},
	"SessionInfoUpdate":                        SessionInfoUpdate{},
	"SessionListCapabilities":                  wire.Supported{},
	"SessionMode":                              SessionMode{},
	"SessionModeState":                         SessionModeState{},
	"SessionNotification":                      SessionNotification{},
	"SessionResumeCapabilities":                wire.Supported{},
	"SetSessionConfigOptionRequest":            SetSessionConfigOptionRequest{},
	"SetSessionConfigOptionResponse":           SetSessionConfigOptionResponse{},
	"SetSessionModeRequest":                    SetSessionModeRequest{},
	"SetSessionModeResponse":                   SetSessionModeResponse{},
	"StringMultiSelectItems":                   StringMultiSelectItems{},
	"StringPropertySchema":                     StringPropertySchema{},
	"Terminal":                                 Terminal{},
	"TerminalExitStatus":                       TerminalExitStatus{},
	"TerminalOutputRequest":                    TerminalOutputRequest{},
	"TerminalOutputResponse":                   TerminalOutputResponse{},
	"TextContent":                              wire.TextContent{},
	"TextResourceContents":                     wire.TextResourceContents{},
	"TitledMultiSelectItems":                   TitledMultiSelectItems{},
	"ToolCall":                                 ToolCall{},
	"ToolCallLocation":                         wire.ToolCallLocation{},
	"ToolCallUpdate":                           ToolCallUpdate{},
	"UnstructuredCommandInput":                 AvailableCommandInput{},
	"UsageUpdate":                              UsageUpdate{},
	"WaitForTerminalExitRequest":               WaitForTerminalExitRequest{},
	"WaitForTerminalExitResponse":              WaitForTerminalExitResponse{},
	"WriteTextFileRequest":                     WriteTextFileRequest{},
	"WriteTextFileResponse":                    WriteTextFileResponse{},
}

// elsewhere has the objects of the schema that are no type of this package: the envelopes of
// JSON-RPC belong to acp, and the scopes of elicitations stand in CreateElicitationRequest.
var elsewhere = []string{
	"AgentNotification", "AgentRequest", "ClientNotification", "ClientRequest", "Error",
	"ElicitationRequestScope", "ElicitationSessionScope",
}

// beyond has the fields that the schema does not have, or has in an alternative of the object.
var beyond = map[string][]string{
	"AgentAuthCapabilities":         {"status"},
	"AgentCapabilities":             {"providers"},
	"ClientCapabilities":            {"plan", "subagents"},
	"ListSessionsRequest":           {"archived"},
	"LoadSessionRequest":            {"systemPrompt"},
	"NewSessionRequest":             {"systemPrompt"},
	"ResourceLink":                  {"icons"}, // version 2 has them
	"ResumeSessionRequest":          {"systemPrompt"},
	"SessionCapabilities":           {"archive", "fork", "status", "systemPrompt", "title"},
	"AuthMethodAgent":               {"args", "env", "type", "vars"},
	"AuthMethodTerminal":            {"type", "vars"},
	"CreateElicitationRequest":      {"requestId", "sessionId", "toolCallId"},
	"CreateElicitationResponse":     {"action", "content"},
	"ElicitationAcceptAction":       {"_meta", "action"},
	"Diff":                          {"deleted"},
	"InitializeResponse":            {"sessionCapabilities"},
	"LoadSessionResponse":           {"models"},
	"NewSessionResponse":            {"models"},
	"PromptResponse":                {"usage"},
	"ResumeSessionResponse":         {"models"},
	"SetSessionConfigOptionRequest": {"type", "value"},
	"CompactionCapabilities":        {"_meta"},
	"NoticeCapabilities":            {"_meta"},
}

// TestFieldsMatchSchema compares the fields of all types, and their rules for what is missing
// or malformed, with the schema's annotations.
func TestFieldsMatchSchema(t *testing.T) {
	v := schema.Validator(t)
	for name, value := range types {
		check.Slice(t, v.CheckFields(t, name, value), beyond[name], "%s has fields beyond the schema: %q", name)
	}
	if got := schema.Drafts(t).CheckFields(t, "ForkSessionRequest", ForkSessionRequest{}); len(got) > 0 {
		t.Errorf("ForkSessionRequest has fields beyond the unstable schema: %q", got)
	}
	for name, def := range v.Defs() {
		_, known := types[name]
		if !known && len(def.Properties) > 0 && !slices.Contains(elsewhere, name) {
			t.Errorf("the schema's %s has no type", name)
		}
	}
}
