package rules

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Command is what a request runs, split into simple commands. The zero value is none.
type Command struct{ parts []part }

// Given reports whether there is a command at all.
func (c Command) Given() bool { return len(c.parts) > 0 }

// part is one simple command, or something in its place that no pattern can allow.
type part struct {
	text  string // as written
	words []word
	why   string // what keeps an allow rule from matching, or ""
	outer bool   // a shell whose script is in parts of its own
	inert bool   // every command in it is in other parts
	holds bool   // a text in it may become a command
	file  string // that a redirection names
	value string // of a variable that is set, which may be a command

	expanded []*syntax.Word // words that the shell expands, and those of lists and values: they may name files
	folders  []part         // parts of the same script that change the folder
	fed      string         // the script that may give it its input, or a file that it is named; or ""
	written  bool           // it runs a file that the same script may have written
}

// word is one word of a part, without its quotes. Its text is unknown if the shell would still expand it.
type word struct {
	text  string
	known bool
}

// maxDepth is how many nested shells are examined.
const maxDepth = 4

// Shell splits a command line. Everything in it, in pipes, substitutions, functions or the script of a `bash -c`,
// becomes a part.
func Shell(script string) Command { return Command{shellParts(script, 0)} }

// Argv splits a command that is run without a shell, unless it is a shell itself.
func Argv(argv []string) Command {
	if len(argv) == 0 {
		return Command{}
	}
	p := part{text: Quoted(argv)}
	for _, arg := range argv {
		p.words = append(p.words, word{arg, true})
		if hidden(arg) {
			p.why = "`" + p.text + "` has invisible characters"
		}
	}
	return Command{insides(p, 0)}
}

// Unknown returns a command of which only a description is known.
func Unknown(text, why string) Command { return Command{[]part{{text: text, why: why}}} }

// Doubtful returns the command marked so that no pattern allows it, and why.
func (c Command) Doubtful(why string) Command {
	parts := slices.Clone(c.parts)
	for i := range parts {
		parts[i].why = why
	}
	return Command{parts}
}

// Quoted writes an argv as a line for a shell.
func Quoted(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		quoted, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			quoted = arg // has a null byte
		}
		words[i] = quoted
	}
	return strings.Join(words, " ")
}

// hidden reports whether a text has invisible characters other than line breaks and tabs.
func hidden(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar || (unicode.Is(unicode.Zs, r) && r != ' '))
	})
}

// scriptLimit bounds the scripts that are parsed: the parser recurses as deep as the script nests.
const scriptLimit = 32 << 10

func shellParts(script string, depth int) (parts []part) {
	opaque := func(why string) []part { return []part{{text: script, why: why}} }
	if len(script) > scriptLimit {
		return opaque("it is too long to be read")
	}
	defer func() {
		if broken := recover(); broken != nil { // a bug in the parser, on an agent's input
			parts = opaque("it cannot be read as a shell command")
		}
	}()
	file, err := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	switch {
	case err != nil:
		return append(opaque("it cannot be read as a shell command"), guessed(script)...)
	case depth > maxDepth:
		return opaque("it has too many shells within each other")
	}
	w := walker{script: script, depth: depth, piped: map[*syntax.Stmt]bool{}}
	syntax.Walk(file, w.visit)
	w.relate()
	if hidden(script) {
		w.parts = append(w.parts, opaque("it has invisible characters")...)
	}
	if len(w.parts) == 0 {
		w.refuse(file, "it runs nothing")
	}
	return w.parts
}

// guessed returns what an invalid script might run, for rules that reject or ask.
func guessed(script string) []part {
	var parts []part
	for _, line := range strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`$", r) }) {
		p := part{text: strings.TrimSpace(line), why: "it cannot be read as a shell command"}
		for _, f := range strings.Fields(line) {
			p.words = append(p.words, word{strings.Trim(f, `'"\`), true})
		}
		if len(p.words) > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

// walker collects the parts of a parsed script.
type walker struct {
	script string
	depth  int
	parts  []part
	fed    []bool                // for the enclosing nodes: whether their input is another's output, or a file
	piped  map[*syntax.Stmt]bool // those that get the output of another
}

func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(w.script) {
		return w.script
	}
	return strings.TrimSpace(w.script[from:to])
}

// refuse adds a part that no pattern allows, although what it runs, if anything, is in parts of its own.
func (w *walker) refuse(n syntax.Node, why string) {
	w.parts = append(w.parts, part{text: w.source(n), why: why, inert: true})
}

// evaluated is refuse for what the shell evaluates.
func (w *walker) evaluated(n syntax.Node, why string) {
	w.refuse(n, why)
	w.parts[len(w.parts)-1].holds = holdsCommand(n)
}

// doubt makes rules that reject or ask, ask about the last part if it sets a variable that decides which programs
// others start.
func (w *walker) doubt(sets bool) {
	last := &w.parts[len(w.parts)-1]
	last.holds = last.holds || sets
}

// visit recognizes what is harmless, and what is a command. Anything else is refused.
func (w *walker) visit(n syntax.Node) bool {
	if n == nil {
		w.fed = w.fed[:len(w.fed)-1]
		return true
	}
	fed := len(w.fed) > 0 && w.fed[len(w.fed)-1]
	switch n := n.(type) {
	case *syntax.Stmt:
		fed = fed || w.piped[n] || slices.ContainsFunc(n.Redirs, isInput)
	case *syntax.BinaryCmd:
		w.piped[n.Y] = n.Op == syntax.Pipe || n.Op == syntax.PipeAll
	}
	w.fed = append(w.fed, fed)
	switch n := n.(type) {
	case *syntax.File, *syntax.Subshell, *syntax.Block, *syntax.BinaryCmd, *syntax.IfClause, *syntax.WhileClause,
		*syntax.CaseClause, *syntax.CaseItem, *syntax.TimeClause,
		*syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.CmdSubst, *syntax.ProcSubst,
		*syntax.ExtGlob, *syntax.BraceExp:
		// Inside a command it makes that command's words unknown.
	case *syntax.Stmt:
		if n.Coprocess {
			w.refuse(n, "it starts a coprocess")
		}
	case *syntax.ParamExp:
		if !n.Short {
			w.evaluated(n, expands+": `"+w.source(n)+"`")
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				w.doubt(n.Param != nil && intoCommand(word{n.Param.Value, true}))
			}
		}
	case *syntax.CallExpr:
		w.call(n)
	case *syntax.Redirect:
		w.redirect(n)
	case *syntax.Assign:
		w.evaluated(n, "it sets a variable: `"+w.source(n)+"`")
		set := &w.parts[len(w.parts)-1]
		names, value := assigned(n)
		set.holds, set.value = set.holds || names, value
		if n.Value != nil {
			set.expanded = append(set.expanded, n.Value)
		}
	case *syntax.Comment:
		w.refuse(n, "it has a comment")
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause, *syntax.DeclClause, *syntax.CStyleLoop:
		w.evaluated(n, "it has more than plain commands: `"+w.source(n)+"`")
		if d, ok := n.(*syntax.DeclClause); ok {
			w.doubt(slices.ContainsFunc(d.Args, func(a *syntax.Assign) bool {
				return a.Naked && a.Name == nil && a.Value != nil && declaresName(word{a.Value.Lit(), true})
			}))
		}
	case *syntax.ForClause:
		w.refuse(n, "it has more than plain commands: `"+w.source(n)+"`")
		if each, ok := n.Loop.(*syntax.WordIter); ok {
			w.doubt(intoCommand(word{each.Name.Value, true}))
			w.parts[len(w.parts)-1].expanded = each.Items
		}
	default:
		w.refuse(n, "it has more than plain commands: `"+w.source(n)+"`")
	}
	return true
}

func (w *walker) redirect(r *syntax.Redirect) {
	target := ""
	if r.Word != nil {
		target = r.Word.Lit()
	}
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		if target == "-" || (target != "" && strings.Trim(target, "0123456789") == "") {
			return // 2>&1
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll, syntax.AppAll:
		if target == "/dev/null" {
			return
		}
	}
	w.refuse(r, "it redirects: `"+w.source(r)+"`")
	w.parts[len(w.parts)-1].file = target
	if r.Word != nil && r.Hdoc == nil {
		w.parts[len(w.parts)-1].expanded = []*syntax.Word{r.Word}
	}
}

// isInput reports whether a redirection gives a command its input, which /dev/null does not.
func isInput(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut:
		return r.Word == nil || r.Word.Lit() != "/dev/null"
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
		return true
	}
	return false
}

// relate relates the parts of one script: in which folders they may run, and which of them use files that others write.
func (w *walker) relate() {
	written := map[string]bool{}
	var folders []part
	for _, p := range w.parts {
		if p.file != "" {
			written[path.Clean(p.file)] = true
		}
		switch name := p.name(); {
		case (name == "cd" || name == "pushd") && len(folders) < mostFolders:
			folders = append(folders, p)
		case slices.Contains([]string{"tee", "curl", "wget", "dd"}, path.Base(name)):
			for _, w := range p.words[1:] {
				if w.known && w.text != "" {
					written[path.Clean(strings.TrimPrefix(w.text, "of="))] = true
				}
			}
		}
	}
	for i := range w.parts {
		p := &w.parts[i]
		p.folders = folders
		for j, word := range p.words {
			named := word.known && word.text != "" && written[path.Clean(word.text)]
			switch {
			case j == 0 && named && strings.Contains(word.text, "/"),
				j == 0 && isMake(word.text) && (written["Makefile"] || written["makefile"] || written["GNUmakefile"]):
				p.written = true
			case named:
				p.fed = w.script
			}
		}
	}
}

func isMake(name string) bool {
	return slices.Contains([]string{"make", "gmake", "bmake", "remake"}, name)
}

func (w *walker) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		return // assignments alone
	}
	p := part{text: w.source(&syntax.CallExpr{Args: c.Args})}
	fed := w.fed[len(w.fed)-1]
	for i, arg := range c.Args {
		text, why := wordOf(arg, i == 0)
		p.words = append(p.words, word{text, why == "" || why == quoted})
		if why != "" && p.why == "" {
			p.why = why + ": `" + w.source(arg) + "`"
		}
		if why == expands {
			p.expanded = append(p.expanded, arg)
		}
		fed = fed || slices.ContainsFunc(arg.Parts, func(part syntax.WordPart) bool { _, ok := part.(*syntax.ProcSubst); return ok })
	}
	if fed {
		p.fed = w.script
	}
	if len(p.words) > 1 && p.words[0].text == "printf" && strings.HasPrefix(p.words[1].text, "-v") && p.why == "" {
		p.why = "it sets a variable: `" + p.text + "`"
	}
	if p.why == "" && evaluates(p.words) {
		p.why = "the shell may run what is in it: `" + p.text + "`"
	}
	w.parts = append(w.parts, insides(p, w.depth)...)
}

// quoted is the reason for words that are known but oddly written.
const quoted = "it has an oddly quoted word"

// expands is the reason for words that only the shell knows.
const expands = "the shell would still expand it"

// wordOf returns the text of a word, and why an allow rule does not accept it. Only ordinary words are accepted: bare,
// or in quotes in which nothing expands.
func wordOf(w *syntax.Word, first bool) (text, why string) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			alone := len(w.Parts) == 1 && slices.Contains([]string{"[", "=", "]"}, p.Value) // of [ a = b ]
			if !alone && (strings.ContainsAny(strings.ReplaceAll(p.Value, "{}", ""), "*?[]{}") || (b.Len() == 0 && strings.HasPrefix(p.Value, "~") || strings.HasPrefix(p.Value, "="))) {
				return "", expands
			}
			if strings.Contains(p.Value, `\`) {
				why = quoted
			}
			b.WriteString(withoutBackslashes(p.Value))
		case *syntax.SglQuoted:
			if p.Dollar && len(w.Parts) == 1 {
				return unknownWhole, expands
			}
			if p.Dollar {
				return b.String(), expands
			}
			if first || strings.HasSuffix(p.Value, `\`) { // where fish goes on
				why = quoted
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if first || p.Dollar {
				why = quoted
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok && len(w.Parts) == 1 && len(p.Parts) == 1 {
					return unknownWhole, expands
				}
				if !ok {
					return b.String(), expands
				}
				if strings.Contains(lit.Value, `\`) {
					why = quoted
				}
				b.WriteString(withoutBackslashes(lit.Value))
			}
		case *syntax.ProcSubst:
			return b.String() + "/dev/fd/63", expands
		default:
			if len(w.Parts) == 1 {
				return unknownWhole, expands
			}
			return b.String(), expands
		}
	}
	return b.String(), why
}

// unknownWhole is the text of a word about which nothing is known. The text of other unknown words is their known
// beginning.
const unknownWhole = "\x00"

func withoutBackslashes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// shells run a script that is one of their arguments. They are recognized only by these names: elsewhere another
// program may have the name.
var shells = []string{"sh", "bash", "zsh", "dash", "ksh"}

// insides returns a part, preceded by what a shell in it runs.
func insides(p part, depth int) []part {
	name := p.name()
	if script := evalScript(p.words); script != "" {
		return append(within(p, script, depth), p)
	}
	if !isOneOf(shells, path.Base(name)) {
		return []part{p}
	}
	flag := slices.IndexFunc(p.words, func(w word) bool {
		return len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-' && strings.HasSuffix(w.text, "c")
	})
	if flag < 0 {
		return []part{p}
	}
	var parts []part
	for _, w := range p.words[flag+1:] {
		if w.known {
			parts = append(parts, within(p, w.text, depth)...)
		}
	}
	trusted := slices.Contains(shells, name) || slices.Contains([]string{"/bin/", "/usr/bin/"}, strings.TrimSuffix(name, path.Base(name)))
	plain := flag == 1 && len(p.words) == 3 && p.words[2].known && strings.Trim(p.words[1].text, "-celux") == ""
	switch {
	case trusted && plain && p.why == "":
		p.outer = true
	case p.why == "":
		p.why = "it runs another shell: `" + p.text + "`"
	}
	return append(parts, p)
}

// within returns what a script in a part runs, which has the part's input.
func within(p part, script string, depth int) []part {
	parts := shellParts(script, depth+1)
	for i := range parts {
		if p.fed != "" {
			parts[i].fed += "\n" + p.fed
		}
	}
	return parts
}

// evalScript returns the script in the words of eval or trap, or "".
func evalScript(words []word) string {
	for len(words) > 0 && (words[0].text == "builtin" || words[0].text == "command") {
		words = words[1:]
	}
	if len(words) < 2 {
		return ""
	}
	args := words[1:]
	if args[0].text == "--" {
		args = args[1:]
	}
	if words[0].text == "trap" && len(args) > 0 && !strings.HasPrefix(args[0].text, "-") {
		args = args[:1]
	} else if words[0].text != "eval" {
		return ""
	}
	var texts []string
	for _, w := range args {
		if !w.known {
			return "" // which is asked about
		}
		texts = append(texts, w.text)
	}
	return strings.Join(texts, " ")
}

func (p part) name() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0].text
}

// allowedBy reports whether an allow rule's pattern fits: yes, no, or maybe if only something odd prevents it.
func (p part) allowedBy(pattern []string) match {
	m := matchWords(pattern, p.words)
	if p.why != "" && (m != no || len(p.words) == 0) {
		return maybe
	}
	if m == maybe {
		return no
	}
	return m
}

// matchWords compares a pattern with a command, word by word. In a word of the pattern * stands for any characters, **
// as its last word for any words. It is maybe if it depends on an unknown word.
func matchWords(pattern []string, words []word) match {
	for i, want := range pattern {
		switch {
		case want == "**" && i == len(pattern)-1:
			return yes
		case i >= len(words):
			return no
		case !words[i].known:
			return maybe
		case !matchWord(want, words[i].text):
			return no
		}
	}
	if len(words) == len(pattern) {
		return yes
	}
	if slices.ContainsFunc(words[len(pattern):], func(w word) bool { return w.known }) {
		return no
	}
	return maybe
}

func matchWord(pattern, text string) bool {
	pieces := strings.Split(pattern, "*")
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(pieces) == 1 {
		return pattern == text
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		at := strings.Index(text, piece)
		if at < 0 {
			return false
		}
		text = text[at+len(piece):]
	}
	return true
}

// checkPattern finds patterns that cannot mean what they say.
func checkPattern(pattern string) error {
	words := strings.Fields(pattern)
	switch {
	case len(words) == 0:
		return errors.New("it is empty")
	case strings.ContainsAny(pattern, ";&|<>`\n") || strings.Contains(pattern, "$("):
		return errors.New("it has more than one command; each part of a compound one is looked up by itself")
	case slices.Contains(words[:len(words)-1], "**"):
		return errors.New("** can only be its last word")
	}
	return nil
}
