package v2

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Diff is a change of files. Changes says which and how; Patch is text that shows some or all of
// it, if there is one. See "Tool Calls", "Diffs".
type Diff struct {
	Changes acp.List[DiffChange] `json:"changes" wire:"required,skip"`
	Patch   *DiffPatch           `json:"patch,omitzero" wire:"lenient"`
	Meta    json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

func (d Diff) MarshalJSON() ([]byte, error) {
	type body Diff
	return acp.EncodeVariant("type", "diff", body(d))
}

// DiffPatchFormat is how a patch is written. An agent may use others.
type DiffPatchFormat string

// PatchGit is one or more `diff --git` sections as git writes them, with absolute paths.
const PatchGit DiffPatchFormat = "git_patch"

// DiffPatch is the text of a change.
type DiffPatch struct {
	Format DiffPatchFormat `json:"format" wire:"required"`
	Text   string          `json:"text" wire:"required"`
	Meta   json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// DiffFileType is what a file is. An agent may use others.
type DiffFileType string

// The types of files of the schema.
const (
	FileText      DiffFileType = "text"
	FileBinary    DiffFileType = "binary"
	FileDirectory DiffFileType = "directory"
	FileSymlink   DiffFileType = "symlink"
)

// DiffChange is a change of one file. FileType and MIMEType are of the file after the change, or
// of the one that was deleted; "" is unknown.
type DiffChange struct {
	FileType  DiffFileType    `json:"fileType,omitzero" wire:"lenient"`
	MIMEType  string          `json:"mimeType,omitzero" wire:"lenient"`
	Operation DiffOperation   `json:"-" wire:"inline"`
	Meta      json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c DiffChange) MarshalJSON() ([]byte, error) {
	type common DiffChange
	return encodeInline(common(c), c.Operation)
}

// DiffOperation is what is done to a file: [*DiffAdd], [*DiffDelete], [*DiffModify], [*DiffMove],
// [*DiffCopy] or [*Unknown].
type DiffOperation interface{ diffOperation() }

func (*DiffAdd) diffOperation()    {}
func (*DiffDelete) diffOperation() {}
func (*DiffModify) diffOperation() {}
func (*DiffMove) diffOperation()   {}
func (*DiffCopy) diffOperation()   {}
func (*Unknown) diffOperation()    {}

func init() {
	register("operation", map[string]func() DiffOperation{
		"add":    func() DiffOperation { return new(DiffAdd) },
		"delete": func() DiffOperation { return new(DiffDelete) },
		"modify": func() DiffOperation { return new(DiffModify) },
		"move":   func() DiffOperation { return new(DiffMove) },
		"copy":   func() DiffOperation { return new(DiffCopy) },
	}, func(u *Unknown) DiffOperation { return u })
}

// DiffPathChange is where something is done to one file.
type DiffPathChange struct {
	Path string `json:"path" wire:"required"`
}

// DiffPathPairChange is where something is done to a file at OldPath that makes one at Path.
type DiffPathPairChange struct {
	OldPath string `json:"oldPath" wire:"required"`
	Path    string `json:"path" wire:"required"`
}

// The operations of the schema.
type (
	// DiffAdd makes a file.
	DiffAdd DiffPathChange
	// DiffDelete deletes a file.
	DiffDelete DiffPathChange
	// DiffModify changes a file where it is.
	DiffModify DiffPathChange
	// DiffMove moves or renames a file, and may change it.
	DiffMove DiffPathPairChange
	// DiffCopy copies a file, and may change the copy.
	DiffCopy DiffPathPairChange
)

func (o DiffAdd) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("operation", "add", DiffPathChange(o))
}

func (o DiffDelete) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("operation", "delete", DiffPathChange(o))
}

func (o DiffModify) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("operation", "modify", DiffPathChange(o))
}

func (o DiffMove) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("operation", "move", DiffPathPairChange(o))
}

func (o DiffCopy) MarshalJSON() ([]byte, error) {
	return acp.EncodeVariant("operation", "copy", DiffPathPairChange(o))
}
