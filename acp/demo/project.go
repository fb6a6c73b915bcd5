package demo

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// file is the file of the project that a turn works on.
type file struct {
	path   string // absolute
	exists bool
	unread bool   // it exists, but could not be read
	text   string // as the client has it, unsaved changes included
}

func (f file) name() string { return filepath.Base(f.path) }

// comments says how a line comment begins, by extension. Only such files are picked.
var comments = map[string]string{
	".md": "> ", ".txt": "", ".lua": "-- ", ".vim": `" `, ".py": "# ", ".sh": "# ", ".rb": "# ",
	".go": "// ", ".c": "// ", ".h": "// ", ".js": "// ", ".ts": "// ", ".rs": "// ",
}

// pick chooses the file to work on: one that the prompt names, the README, or the first small text. In a folder without
// any it is hello.txt, which does not exist yet.
func pick(cwd string, named []string) file {
	for _, path := range named {
		if isText(path) {
			return file{path: path, exists: true}
		}
	}
	entries, _ := os.ReadDir(cwd) // sorted; a folder that cannot be read counts as empty
	var first string
	for _, e := range entries {
		path := filepath.Join(cwd, e.Name())
		name := strings.ToLower(e.Name())
		_, known := comments[filepath.Ext(name)]
		if !known || name[0] == '.' || !isText(path) {
			continue
		}
		if name == "readme.md" || name == "readme.txt" {
			return file{path: path, exists: true}
		}
		if first == "" {
			first = path
		}
	}
	if first != "" {
		return file{path: first, exists: true}
	}
	return file{path: filepath.Join(cwd, "hello.txt")}
}

// isText reports whether path is a small regular file in UTF-8.
func isText(path string) bool {
	const most = 64 << 10 // bytes
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && utf8.Valid(text) && !bytes.ContainsRune(text, 0)
}

const note = "The demo agent of acp-nvim was here."

// change is the edit that the demo proposes: a note below the first line, or its removal if it is already there.
func (f file) change() (text, what string) {
	if !f.exists {
		return "Hello from the demo agent of acp-nvim.\n", "create"
	}
	prefix, markdown := comments[strings.ToLower(filepath.Ext(f.path))], strings.HasSuffix(f.path, ".md")
	added := prefix + note + "\n"
	if markdown {
		added = "\n" + added
	}
	if before, after, found := strings.Cut(f.text, added); found {
		return before + after, "take the note out of"
	}
	first, rest, _ := strings.Cut(f.text, "\n")
	return first + "\n" + added + rest, "put a note into"
}

// firstLine is the first line that is not empty, without the marks of a heading or a comment.
func (f file) firstLine() string {
	for line := range strings.Lines(f.text) {
		if line = strings.Trim(line, "#-/*>\"! \t\r\n"); line != "" {
			return line
		}
	}
	return ""
}

func (f file) lines() int {
	n := strings.Count(f.text, "\n")
	if f.text != "" && !strings.HasSuffix(f.text, "\n") {
		n++
	}
	return n
}

// colours is the command that is run in a folder without tests.
const colours = `printf '\033[32mok\033[0m   a command has run\n\033[33mnote\033[0m there is no test.sh here\n'`

// testCommand is the command that tests the project.
func testCommand(cwd string) string {
	if info, err := os.Stat(filepath.Join(cwd, "test.sh")); err == nil && info.Mode().IsRegular() {
		return "sh test.sh"
	}
	return colours
}

// read splits the prompt into its text and the files that it names by a link or by a word.
func (t *turn) read(prompt []wire.ContentBlock) {
	var texts []string
	for _, block := range prompt {
		switch b := block.(type) {
		case *wire.TextContent:
			texts = append(texts, b.Text)
		case *wire.ResourceLink:
			t.name(b.URI)
		case *wire.EmbeddedResource:
			if b.Resource.Text != nil {
				t.name(b.Resource.Text.URI)
			}
		}
	}
	t.prompt = strings.TrimSpace(strings.Join(texts, "\n"))
	for word := range strings.FieldsSeq(t.prompt) {
		word = strings.Trim(word, "`'\"@.,:;!?()")
		if strings.Contains(word, ".") && filepath.IsLocal(word) {
			t.files = append(t.files, filepath.Join(t.session.cwd, word))
		}
	}
}

func (t *turn) name(uri string) {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		t.files = append(t.files, u.Path)
	}
}

// count returns "1 line" or "2 lines".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
