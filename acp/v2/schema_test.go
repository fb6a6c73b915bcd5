package v2

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/schema"
)

// types has the Go type of each object of the schema that is here.
var types = map[string]any{
	"Annotations":                Annotations{},
	"AudioContent":               AudioContent{},
	"BlobResourceContents":       BlobResourceContents{},
	"CancelledPermissionOutcome": CancelledPermissionOutcome{},
	"CommandPermissionSubject":   CommandPermissionSubject{},
	"Content":                    Content{},
	"Diff":                       Diff{},
	"DiffChange":                 DiffChange{},
	"DiffPatch":                  DiffPatch{},
	"DiffPathChange":             DiffPathChange{},
	"DiffPathPairChange":         DiffPathPairChange{},
	"EmbeddedResource":           EmbeddedResource{},
	"Icon":                       Icon{},
	"ImageContent":               ImageContent{},
	"PermissionOption":           PermissionOption{},
	"RequestPermissionRequest":   RequestPermissionRequest{},
	"RequestPermissionResponse":  RequestPermissionResponse{},
	"ResourceLink":               ResourceLink{},
	"SelectedPermissionOutcome":  SelectedPermissionOutcome{},
	"Terminal":                   Terminal{},
	"TerminalCancelCapabilities": Supported{},
	"TerminalCapabilities":       TerminalCapabilities{},
	"TerminalExitStatus":         TerminalExitStatus{},
	"TerminalOutput":             TerminalOutput{},
	"TerminalOutputChunk":        TerminalOutputChunk{},
	"TerminalSize":               TerminalSize{},
	"TerminalUpdate":             TerminalUpdate{},
	"TextContent":                TextContent{},
	"TextResourceContents":       TextResourceContents{},
	"ToolCallCancelCapabilities": Supported{},
	"ToolCallCapabilities":       ToolCallCapabilities{},
	"ToolCallContentChunk":       ToolCallContentChunk{},
	"ToolCallLocation":           ToolCallLocation{},
	"ToolCallPermissionSubject":  ToolCallPermissionSubject{},
	"ToolCallUpdate":             ToolCallUpdate{},
	"UpdateSessionNotification":  UpdateSessionNotification{},
}

// TestFieldsMatchSchema compares the fields of all types, and their rules for what is missing
// or malformed, with the schema's annotations.
func TestFieldsMatchSchema(t *testing.T) {
	v := schema.ValidatorV2(t)
	for name, value := range types {
		if beyond := v.CheckFields(t, name, value); len(beyond) > 0 {
			t.Errorf("%s has fields beyond the schema: %q", name, beyond)
		}
	}
}
