package buffers

import "strings"

// This file has the messages to Neovim about a buffer, and its answers: see acp.buffers.Write and the like in
// lua/acp/files/buffers.lua.

// target is a buffer, and the state that it and its file must still be in.
type target struct {
	Buf         int            `msgpack:"buf"`
	Changedtick int            `msgpack:"changedtick"`
	Path        string         `msgpack:"path"`
	Disk        map[string]any `msgpack:"disk"` // see diskArgs
}

func targetOf(path string, l live, disk file) target {
	return target{l.Buf, l.Changedtick, path, diskArgs(disk)}
}

// writeArgs has Neovim give a buffer a text, and write it.
type writeArgs struct {
	target
	*mergeArgs
	Steps   []undoStep `msgpack:"steps"`
	Unsaved bool       `msgpack:"unsaved,omitempty"` // the disk already has its text, and the buffer a different one
	Save    bool       `msgpack:"save"`              // the disk has another text and is to be written
	Saved   bool       `msgpack:"saved,omitempty"`   // the host has already written it
	State   string     `msgpack:"state,omitempty"`   // in which the file's buffer must still be
	Text    *string    `msgpack:"text,omitempty"`    // the agent's, with mergeArgs or if only Neovim knows the encoding
}

// syncArgs has Neovim bring what the disk has into a buffer.
type syncArgs struct {
	target
	*mergeArgs
	Step     *undoStep `msgpack:"step,omitempty"` // nil: the text stays
	Own      bool      `msgpack:"own"`            // Neovim itself left the disk like this
	Reload   bool      `msgpack:"reload,omitempty"`
	Bom      *bool     `msgpack:"bom,omitempty"`
	Format   string    `msgpack:"format,omitempty"`   // how the disk's lines end, "" where that is not known
	Encoding string    `msgpack:"encoding,omitempty"` // if that has changed
	Text     *string   `msgpack:"text,omitempty"`     // what the disk has, with mergeArgs
}

// mergeArgs says where a buffer that gets a merged text conflicts with the other text.
type mergeArgs struct {
	Conflicts []conflictArgs `msgpack:"conflicts"`
	Differing []int          `msgpack:"differing"` // rows where the texts differ: older conflicts elsewhere are over
}

type conflictArgs struct {
	Row    int       `msgpack:"row"`
	Count  int       `msgpack:"count"`
	Theirs []string  `msgpack:"theirs"`
	Noeol  bool      `msgpack:"noeol"`
	Base   *[]string `msgpack:"base,omitempty"`
}

func mergeArgsOf(merged, theirs string, conflicts []conflict) *mergeArgs {
	args := &mergeArgs{Conflicts: make([]conflictArgs, len(conflicts)), Differing: differing(merged, theirs)}
	for i, c := range conflicts {
		noeol := len(c.theirs) > 0 && !strings.HasSuffix(c.theirs[len(c.theirs)-1], "\n")
		args.Conflicts[i] = conflictArgs{Row: c.row, Count: c.count, Theirs: bare(c.theirs), Noeol: noeol}
		if c.based {
			base := bare(c.base)
			args.Conflicts[i].Base = &base
		}
	}
	return args
}

// undoStep is how a buffer gets a text, as one undo step.
type undoStep struct {
	Hunks []hunkArgs `msgpack:"hunks"`         // in order
	Eol   *bool      `msgpack:"eol,omitempty"` // whether the last line ends; nil if there is none
}

// hunkArgs is the first row, how many lines are removed, and the lines added.
type hunkArgs [3]any

func (h hunkArgs) removes() int { return h[1].(int) }

func (h hunkArgs) adds() []string { return h[2].([]string) }

// stepTo returns the step from lines, each with a newline, to a text.
func stepTo(lines, text string) undoStep {
	s := undoStep{Hunks: []hunkArgs{}}
	for _, c := range between(lines, Lined(text)) {
		s.Hunks = append(s.Hunks, hunkArgs{c.Start, c.End - c.Start, bare(c.Lines)})
	}
	if text != "" {
		ends := strings.HasSuffix(text, "\n")
		s.Eol = &ends
	}
	return s
}

// answered is what Neovim answers to a write.
type answered struct {
	Changed bool   `msgpack:"changed"`
	Moved   bool   `msgpack:"moved"`
	Locked  bool   `msgpack:"locked"`
	Lossy   bool   `msgpack:"lossy"`
	Err     string `msgpack:"err"`
	Keys    string `msgpack:"keys"` // how the user decides conflicts
	Save    int    `msgpack:"save"`
	Tick    int    `msgpack:"tick"` // with the new text
	Info    live   `msgpack:"info"` // the buffer then, or later
}

// tookOver is what Neovim answers to a sync.
type tookOver struct {
	Changed bool   `msgpack:"changed"`
	Moved   bool   `msgpack:"moved"`
	Locked  bool   `msgpack:"locked"`
	Err     string `msgpack:"err"`
	Keys    string `msgpack:"keys"`
	Tick    int    `msgpack:"tick"`    // with the new text
	Writing bool   `msgpack:"writing"` // the user is writing the buffer
}
