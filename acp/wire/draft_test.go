package wire

import (
	"encoding/json"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/schema"
)

// TestFieldsMatchSchema compares the types with the unstable schema of version 1.
func TestFieldsMatchSchema(t *testing.T) {
	v := schema.Drafts(t)
	for name, value := range map[string]any{
		"SessionSystemPromptCapabilities":     SessionSystemPromptCapabilities{},
		"SessionSystemPromptModeCapabilities": SessionSystemPromptModeCapabilities{},
		"SystemPrompt":                        SystemPrompt{},
		"SetSessionTitleRequest":              SetSessionTitleRequest{},
		"SetSessionTitleResponse":             SetSessionTitleResponse{},
		"ArchiveSessionRequest":               ArchiveSessionRequest{},
		"UnarchiveSessionRequest":             UnarchiveSessionRequest{},
		"SessionStatusRequest":                SessionStatusRequest{},
		"SessionStatusResponse":               SessionStatusResponse{},
		"AuthStatusRequest":                   AuthStatusRequest{},
		"AuthStatusResponse":                  AuthStatusResponse{},
		"AuthStatusUpdateNotification":        AuthStatusResponse{},
		"AuthAccount":                         AuthAccount{},
		"ListProvidersRequest":                ListProvidersRequest{},
		"ListProvidersResponse":               ListProvidersResponse{},
		"ProviderInfo":                        ProviderInfo{},
		"ProviderCurrentConfig":               ProviderCurrentConfig{},
		"SetProviderRequest":                  SetProviderRequest{},
		"DisableProviderRequest":              DisableProviderRequest{},
		"SubagentUpdate":                      SubagentUpdate{},
		"SubagentSessionCapabilities":         SubagentSessionCapabilities{},
		"SessionMessage":                      SessionMessage{},
		"SessionMessageChunk":                 SessionMessageChunk{},
		"PlanUpdate":                          PlanUpdate{},
		"PlanRemoved":                         PlanRemoved{},
		"PlanEntry":                           PlanEntry{},
	} {
		if beyond := v.CheckFields(t, name, value); len(beyond) > 0 {
			t.Errorf("%s has fields beyond the schema: %q", name, beyond)
		}
	}
}

// TestSystemPromptIsValid validates what is encoded by hand.
func TestSystemPromptIsValid(t *testing.T) {
	encoded, err := json.Marshal(SystemPrompt{Mode: Override, Content: []TextContent{{Text: "Be brief."}}})
	if err == nil {
		err = schema.Drafts(t).CheckDef("SystemPrompt", encoded)
	}
	if err != nil {
		t.Errorf("%s: %v", encoded, err)
	}
}
