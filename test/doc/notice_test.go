package doc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/source"
)

// gap stands in a wording for what is only known when it is said.
const gap = "…"

// wordings are what Go code says to people, by the kind of it: "error", "notice" or "remark".
type wordings map[string][]string

func wordingsOf(t *testing.T, folders ...string) wordings {
	t.Helper()
	all := wordings{}
	for _, folder := range folders {
		for name, text := range source.Files(t, folder, ".go") {
			file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
			must.Do(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					all.addCall(n)
				case *ast.KeyValueExpr:
					if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Sentence" || key.Name == "Advice") {
						all.add("remark", n.Value)
					}
				}
				return true
			})
		}
	}
	return all
}

func (w wordings) addCall(call *ast.CallExpr) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	of := ""
	if p, ok := f.X.(*ast.Ident); ok {
		of = p.Name + "."
	}
	add := func(kind string, at int) {
		if at < len(call.Args) {
			w.add(kind, call.Args[at])
		}
	}
	switch {
	case of == "errors." && f.Sel.Name == "New", of == "fmt." && f.Sel.Name == "Errorf":
		add("error", 0)
	case f.Sel.Name == "Notify":
		add("notice", 1)
	case f.Sel.Name == "Answer" && len(call.Args) == 3:
		add("notice", 2)
	case f.Sel.Name == "Remark", f.Sel.Name == "Say":
		add("remark", 1)
	case f.Sel.Name == "Alert", f.Sel.Name == "alert":
		add("remark", 1)
		add("notice", 2)
	}
}

func (w wordings) add(kind string, e ast.Expr) {
	if text := wording(e); strings.Trim(text, gap) != "" {
		w[kind] = append(w[kind], text)
	}
}

// verb is one of fmt's.
var verb = regexp.MustCompile(`%[-+#0-9.\[\]]*[a-zA-Z]`)

// wording is the text of an expression, with gaps for what is no literal.
func wording(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return wording(e.X) + wording(e.Y)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" {
			return verb.ReplaceAllString(wording(e.Args[0]), gap)
		}
	}
	return gap
}

// begins reports whether a wording begins with a capital, and whether it begins with a word at all.
func begins(text string) (capital, word bool) {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(first), unicode.IsLetter(first)
}

// names are written alike wherever they stand.
var names = regexp.MustCompile(`^(Go|Neovim|npm|uv|[A-Z]{2,}\w*)\b`)

// TestNotices tells of a notice that is not one short line: it begins in lower case, unless with a name or a command,
// has no full stop at its end, and fits into 80 columns behind "acp: ".
func TestNotices(t *testing.T) {
	const room = 80 - len("acp: ")
	notices := wordingsOf(t, "host")["notice"]
	if len(notices) < 50 {
		t.Fatalf("only %d notices of the host were found", len(notices))
	}
	lua := regexp.MustCompile(`--[^\n]*`).ReplaceAllString(source.Text(t, "lua", ".lua"), "")
	calls := `\b(?:notify\.(?:info|warn|error)|require\('acp\.notify'\)\.(?:info|warn|error)|warn)\(\s*\(*`
	notices = append(notices, firsts(calls+`'([^'\n]+)'`, lua)...)
	notices = append(notices, firsts(calls+`"([^"\n]+)"`, lua)...)
	if len(notices) < 130 {
		t.Fatalf("only %d notices were found", len(notices))
	}
	for _, notice := range notices {
		if capital, _ := begins(notice); capital && !names.MatchString(notice) {
			t.Errorf("%q begins with a capital", notice)
		}
		if strings.HasSuffix(notice, ".") {
			t.Errorf("%q ends with a full stop", notice)
		}
		if n := utf8.RuneCountInString(notice); n > room {
			t.Errorf("%q is %d characters long, more than %d", notice, n, room)
		}
	}
}

// Errors are parts of sentences, as Go has them, so that whoever says one may put words around it.
func TestErrors(t *testing.T) {
	errors := wordingsOf(t, "host", "buffers", "acp")["error"]
	if len(errors) < 200 {
		t.Fatalf("only %d errors were found", len(errors))
	}
	for _, text := range errors {
		if capital, _ := begins(text); capital && !names.MatchString(text) {
			t.Errorf("%q begins with a capital", text)
		}
		if strings.TrimRight(text, ".!?: \n") != text || strings.Contains(text, "\n") {
			t.Errorf("%q ends like a sentence, or has two lines", text)
		}
		if regexp.MustCompile(`^(failed to|error|unable to|could not) `).MatchString(text) {
			t.Errorf("%q says that it is an error", text)
		}
	}
}

// What is said in the chat are whole sentences.
func TestRemarks(t *testing.T) {
	remarks := wordingsOf(t, "host")["remark"]
	if len(remarks) < 60 {
		t.Fatalf("only %d remarks were found", len(remarks))
	}
	for _, text := range remarks {
		if capital, word := begins(text); word && !capital && !names.MatchString(text) {
			t.Errorf("%q begins in lower case", text)
		}
		if !regexp.MustCompile(`([.:?]|` + gap + `|:help \S+)$`).MatchString(text) {
			t.Errorf("%q does not end", text)
		}
	}
}
