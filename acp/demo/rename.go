package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// mostRenamed bounds the files that a renaming changes.
const mostRenamed = 8

// rename replaces a word by another in all texts of the folder without asking, as trusted agents do, and adds a file
// that says so. It writes every second file past the client.
func rename(ctx context.Context, t *turn) error {
	old, word := "Hello", "Good day"
	if words := strings.Fields(t.rest); len(words) == 2 {
		old, word = words[0], words[1]
	}
	entries, _ := os.ReadDir(t.session.cwd) // a folder that cannot be read has nothing to rename
	var names []string
	for _, e := range entries {
		path := filepath.Join(t.session.cwd, e.Name())
		if _, known := comments[strings.ToLower(filepath.Ext(e.Name()))]; !known || !isText(path) || len(names) == mostRenamed {
			continue
		}
		t.file = file{path: path, exists: true}
		text, err := t.readText(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !strings.Contains(text, old) {
			continue
		}
		names = append(names, e.Name())
		if err := t.renameIn(ctx, text, strings.ReplaceAll(text, old, word), len(names)%2 == 0); err != nil {
			return err
		}
	}
	t.file = file{path: filepath.Join(t.session.cwd, "RENAMED.md")}
	news := fmt.Sprintf("%s is called %s now, in:\n\n", old, word)
	for _, name := range names {
		news += "- " + name + "\n"
	}
	if err := t.renameIn(ctx, "", news, false); err != nil {
		return err
	}
	return t.message(ctx, fmt.Sprintf("I have written “%s” for “%s” in %s. `:Acp review` shows it, `:Acp undo` takes it back.\n", word, old, count(len(names), "file")))
}

// renameIn writes the turn's file, past the client or through it.
func (t *turn) renameIn(ctx context.Context, old, text string, past bool) error {
	diff := &v1.Diff{Path: t.file.path, NewText: text}
	if t.file.exists {
		diff.OldText = acp.Set(old)
	}
	id := t.begin(v1.ToolCall{
		Title:     "Rename in " + t.file.name(),
		Kind:      acp.Set(wire.ToolEdit),
		Status:    acp.Set(v1.ToolInProgress),
		Content:   acp.Set([]v1.ToolCallContent{diff}),
		Locations: acp.Set([]wire.ToolCallLocation{{Path: t.file.path}}),
	})
	write := func() error { return t.writeText(ctx, text) }
	if past {
		write = func() error { return os.WriteFile(t.file.path, []byte(text), 0o666) }
	}
	if err := write(); err != nil {
		t.finish(id, v1.ToolFailed, err.Error())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return t.message(ctx, fmt.Sprintf("`%s` stays as it is: %v.\n\n", t.file.name(), err))
	}
	t.finish(id, v1.ToolCompleted, "")
	return nil
}
