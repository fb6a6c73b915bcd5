package rpc

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
)

// Revision identifies the contract: a plugin and a host of different revisions refuse to talk to each other. It is
// computed from all names, fields and types, so whoever changes the meaning of a field must rename it.
var Revision = func() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(slices.Concat(outline(Messages), outline(Operations)), "\n"))) // never fails
	return fmt.Sprintf("%08x", h.Sum32())
}()

// Messages are what Lua sends.
var Messages = []any{
	New{}, Close{}, Restart{}, Delete{}, ListStored{}, DeleteStored{}, ListSaved{}, Rename{}, Archive{}, ArchiveStored{}, Authenticate{}, LoginEnded{}, Secrets{},
	Logout{}, SetOption{}, ListProviders{}, SetProvider{}, DisableProvider{}, Traffic{},
	ListAgents{}, InstallAgent{}, UninstallAgent{}, RollbackAgent{}, PinAgent{}, CancelInstall{},
	SearchHistory{}, ListHistory{}, ShowHistory{}, Export{},
	Prompt{}, Steer{}, Cancel{}, Queue{}, PreviewDiff{}, FindFiles{}, AwaitFiles{}, UnsavedFiles{}, ListUnsaved{},
	Visible{}, Width{}, Fold{}, KeepDue{}, CancelCall{}, Next{}, Block{}, Location{}, Inspect{}, Whole{}, Output{}, EditPrompt{}, Redraw{}, GetToolCall{},
	TerminalsAt{}, TerminalShow{}, TerminalShut{}, TerminalFocus{}, TerminalKeys{},
	Respond{}, ChooseAnswer{}, Answer{}, SubmitForm{}, ServeRequests{}, AnswerExtension{}, ShowDiff{}, SelectHunks{}, EditPending{}, WriteEdited{}, SetRules{}, ListDecided{}, Revoke{},
	ListChanges{}, Decide{}, DecideHunks{}, ShowMarks{}, Undo{}, ReviewOpen{}, ReviewClose{}, ReviewFold{}, ReviewNext{},
	ReviewPlace{}, ReviewBeside{}, ReviewDecide{}, ReviewUndo{}, ReviewSend{}, CommentAt{}, Comment{},
	Track{}, Passed{}, Ahead{}, FileRenamed{}, FileSaved{}, Reread{}, Check{}, CatchUp{}, Compare{}, OpenConflicts{}, ListRefused{}, Recover{},
	FollowState{}, EditorTools{}, EditorToolDone{},
}

// Operations are what Lua executes.
var Operations = []any{
	Hello{}, Notify{}, Callback{}, Group{}, Events{},
	Edit{}, ReviewEdit{}, Unsent{}, Fill{}, ImageSaved{}, OpenReview{},
	Session{}, ToolCalls{}, Changes{}, Permissions{}, Elicitations{}, OpenPage{}, ExtensionRequest{},
	Terminals{}, TerminalOutput{}, InstallProgress{},
	DiffPiece{}, Marks{}, Jump{}, LoginTerminal{}, LoginSecrets{},
	Watch{}, WatchLimit{}, UnsavedBufs{}, Unfinished{}, Buffers{},
	EditorTool{}, CancelEditorTool{},
}

// Lua returns the contract as a Lua module.
func Lua() string {
	var b strings.Builder
	b.WriteString(`---What Neovim and the host say to each other: the fields of each message and of each operation.
---Written from host/rpc by go generate; do not edit.
return {
`)
	fmt.Fprintf(&b, "  revision = '%s',\n", Revision)
	for _, part := range []struct {
		name string
		list []any
	}{{"messages", Messages}, {"operations", Operations}} {
		fmt.Fprintf(&b, "  %s = {\n", part.name)
		for _, of := range part.list {
			var fields []string
			for _, f := range describe(reflect.TypeOf(of)).fields {
				fields = append(fields, "'"+f.name+"'")
			}
			b.WriteString(table("    "+Name(of)+" = ", fields))
		}
		b.WriteString("  },\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// table returns a list as stylua formats it.
func table(head string, items []string) string {
	const width = 100
	line := head + "{ " + strings.Join(items, ", ") + " },\n"
	if len(items) == 0 {
		line = head + "{},\n"
	}
	if len(line) <= width+1 {
		return line
	}
	var b strings.Builder
	b.WriteString(head + "{\n")
	for _, item := range items {
		b.WriteString("      " + item + ",\n")
	}
	b.WriteString("    },\n")
	return b.String()
}

// outline describes structs with everything they consist of.
func outline(list []any) []string {
	var lines []string
	for _, of := range list {
		lines = append(lines, Name(of)+" "+shape(reflect.TypeOf(of)))
	}
	slices.Sort(lines)
	return lines
}

func shape(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "?" + shape(t.Elem())
	case reflect.Slice:
		return "[]" + shape(t.Elem())
	case reflect.Map:
		return "map " + shape(t.Elem())
	case reflect.Struct:
		var fields []string
		for _, f := range describe(t).fields {
			fields = append(fields, f.name+" "+shape(t.FieldByIndex(f.index).Type))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return t.Kind().String()
}
