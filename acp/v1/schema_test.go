package v1

import (
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// types has the Go type of each object of the schema.
var types = map[string]any{
	"Annotations":                              Annotations{},
	"AgentAuthCapabilities":                    AgentAuthCapabilities{},
	"AgentCapabilities":                        AgentCapabilities{},
	"AudioContent":                             AudioContent{},
	"AuthCapabilities":                         AuthCapabilities{},
	"AuthMethodAgent":                          AuthMethod{},
	"AuthMethodTerminal":                       AuthMethod{},
	"AuthenticateRequest":                      AuthenticateRequest{},
	"AuthenticateResponse":                     AuthenticateResponse{},
	"AvailableCommand":                         AvailableCommand{},
	"AvailableCommandsUpdate":                  AvailableCommandsUpdate{},
	"BlobResourceContents":                     BlobResourceContents{},
	"BooleanConfigOptionCapabilities":          Supported{},
	"BooleanPropertySchema":                    BooleanPropertySchema{},
	"CancelNotification":                       CancelNotification{},
	"CancelRequestNotification":                CancelRequestNotification{},
	"ClientCapabilities":                       ClientCapabilities{},
	"ClientSessionCapabilities":                ClientSessionCapabilities{},
	"CloseSessionRequest":                      CloseSessionRequest{},
	"CloseSessionResponse":                     CloseSessionResponse{},
	"CompactionCapabilities":                   Supported{},
	"CompactionSummaryChunk":                   CompactionSummaryChunk{},
	"CompactionUpdate":                         CompactionUpdate{},
	"CompleteElicitationNotification":          CompleteElicitationNotification{},
	"ConfigOptionUpdate":                       ConfigOptionUpdate{},
	"Content":                                  Content{},
	"ContentChunk":                             ContentChunk{},
	"Cost":                                     Cost{},
	"CreateElicitationRequest":                 CreateElicitationRequest{},
	"CreateElicitationResponse":                CreateElicitationResponse{},
	"CreateTerminalRequest":                    CreateTerminalRequest{},
	"CreateTerminalResponse":                   CreateTerminalResponse{},
	"CurrentModeUpdate":                        CurrentModeUpdate{},
	"DeleteSessionRequest":                     DeleteSessionRequest{},
	"DeleteSessionResponse":                    DeleteSessionResponse{},
	"Diff":                                     Diff{},
	"ElicitationAcceptAction":                  CreateElicitationResponse{},
	"ElicitationCapabilities":                  ElicitationCapabilities{},
	"ElicitationFormCapabilities":              Supported{},
	"ElicitationFormMode":                      ElicitationFormMode{},
	"ElicitationSchema":                        ElicitationSchema{},
	"ElicitationUrlCapabilities":               Supported{},
	"ElicitationUrlMode":                       ElicitationURLMode{},
	"EmbeddedResource":                         EmbeddedResource{},
	"EnumOption":                               EnumOption{},
	"EnvVariable":                              EnvVariable{},
	"FileSystemCapabilities":                   FileSystemCapabilities{},
	"HttpHeader":                               HTTPHeader{},
	"ImageContent":                             ImageContent{},
	"Implementation":                           Implementation{},
	"InitializeRequest":                        InitializeRequest{},
	"InitializeResponse":                       InitializeResponse{},
	"IntegerPropertySchema":                    IntegerPropertySchema{},
	"KillTerminalRequest":                      KillTerminalRequest{},
	"KillTerminalResponse":                     KillTerminalResponse{},
	"ListSessionsRequest":                      ListSessionsRequest{},
	"ListSessionsResponse":                     ListSessionsResponse{},
	"LoadSessionRequest":                       LoadSessionRequest{},
	"LoadSessionResponse":                      LoadSessionResponse{},
	"LogoutCapabilities":                       Supported{},
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
	"NoticeCapabilities":                       Supported{},
	"NumberPropertySchema":                     NumberPropertySchema{},
	"PermissionOption":                         PermissionOption{},
	"Plan":                                     Plan{},
	"PlanEntry":                                PlanEntry{},
	"PromptCapabilities":                       PromptCapabilities{},
	"PromptRequest":                            PromptRequest{},
	"PromptResponse":                           PromptResponse{},
	"ReadTextFileRequest":                      ReadTextFileRequest{},
	"ReadTextFileResponse":                     ReadTextFileResponse{},
	"ReleaseTerminalRequest":                   ReleaseTerminalRequest{},
	"ReleaseTerminalResponse":                  ReleaseTerminalResponse{},
	"RequestPermissionRequest":                 RequestPermissionRequest{},
	"RequestPermissionResponse":                RequestPermissionResponse{},
	"ResourceLink":                             ResourceLink{},
	"ResumeSessionRequest":                     ResumeSessionRequest{},
	"ResumeSessionResponse":                    ResumeSessionResponse{},
	"SelectedPermissionOutcome":                SelectedPermissionOutcome{},
	"SessionAdditionalDirectoriesCapabilities": Supported{},
	"SessionCapabilities":                      SessionCapabilities{},
	"SessionCloseCapabilities":                 Supported{},
	"SessionConfigBoolean":                     SessionConfigBoolean{},
	"SessionConfigOption":                      SessionConfigOption{},
	"SessionConfigOptionsCapabilities":         SessionConfigOptionsCapabilities{},
	"SessionConfigSelect":                      SessionConfigSelect{},
	"SessionConfigSelectGroup":                 SessionConfigSelectGroup{},
	"SessionConfigSelectOption":                SessionConfigSelectOption{},
	"SessionDeleteCapabilities":                Supported{},
	"SessionInfo":                              SessionInfo{},
	"SessionInfoUpdate":                        SessionInfoUpdate{},
	"SessionListCapabilities":                  Supported{},
	"SessionMode":                              SessionMode{},
	"SessionModeState":                         SessionModeState{},
	"SessionNotification":                      SessionNotification{},
	"SessionResumeCapabilities":                Supported{},
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
	"TextContent":                              TextContent{},
	"TextResourceContents":                     TextResourceContents{},
	"TitledMultiSelectItems":                   TitledMultiSelectItems{},
	"ToolCall":                                 ToolCall{},
	"ToolCallLocation":                         ToolCallLocation{},
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
