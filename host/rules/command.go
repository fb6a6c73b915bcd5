package rules

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Command is what a request runs, taken apart into simple commands. The zero
// value is none.
type Command struct{ parts []part }

// Given reports whether there is a command at all.
func (c Command) Given() bool { return len(c.parts) > 0 }

// part is one simple command, or something in the place of one that no pattern
// can allow.
type part struct {
	text  string // as written
	words []word
	why   string // what keeps an allow rule from matching, or ""
	outer bool   // a shell whose script is in parts of its own
	inert bool   // no command is in it that is not in other parts
	holds bool   // a text in it may become a command
	file  string // that a redirection names
	value string // of a variable that is set, which may be a command
}

// word is one word of a part, without its quotes. What it is, is not known
// where the shell would still expand it.
type word struct {
	text  string
	known bool
}

// maxDepth is how many shells within shells are looked into.
const maxDepth = 4

// Shell takes a command line apart. Whatever it holds anywhere, in pipes,
// substitutions, functions or in the script of a `bash -c`, is a part of it.
func Shell(script string) Command { return Command{shellParts(script, 0)} }

// Argv takes a command apart that is run without a shell, unless it is one.
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

// Unknown is a command of which no more than a description is told.
func Unknown(text, why string) Command { return Command{[]part{{text: text, why: why}}} }

// Doubtful is a command that no pattern allows, and why.
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

// hidden reports whether a text has characters that a reader does not see, line
// breaks and tabs aside.
func hidden(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar || (unicode.Is(unicode.Zs, r) && r != ' '))
	})
}

// scriptLimit is how long a script may be that is read: the parser recurses as
// deep as the script nests.
const scriptLimit = 32 << 10

func shellParts(script string, depth int) (parts []part) {
	opaque := func(why string) []part { return []part{{text: script, why: why}} }
	if len(script) > scriptLimit {
		return opaque("it is too long to be read")
	}
	defer func() {
		if broken := recover(); broken != nil { // of the parser, on what an agent has written
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
	w := walker{script: script, depth: depth}
	syntax.Walk(file, w.visit)
	if hidden(script) {
		w.parts = append(w.parts, opaque("it has invisible characters")...)
	}
	if len(w.parts) == 0 {
		w.refuse(file, "it runs nothing")
	}
	return w.parts
}

// guessed is what a script that is no valid one might run, for rules that stop.
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
}

func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(w.script) {
		return w.script
	}
	return strings.TrimSpace(w.script[from:to])
}

// refuse adds a part that no pattern allows, though what it runs, if anything,
// is in parts of its own.
func (w *walker) refuse(n syntax.Node, why string) {
	w.parts = append(w.parts, part{text: w.source(n), why: why, inert: true})
}

// evaluated is refuse for what the shell evaluates.
func (w *walker) evaluated(n syntax.Node, why string) {
	w.refuse(n, why)
	w.parts[len(w.parts)-1].holds = holdsCommand(n)
}

// doubt has rules that stop ask about the last part if it sets what says which programs others start.
func (w *walker) doubt(sets bool) {
	last := &w.parts[len(w.parts)-1]
	last.holds = last.holds || sets
}

// visit knows what is harmless, and what is a command. What it does not know is
// refused.
func (w *walker) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case nil, *syntax.File, *syntax.Subshell, *syntax.Block, *syntax.BinaryCmd, *syntax.IfClause, *syntax.WhileClause,
		*syntax.CaseClause, *syntax.CaseItem, *syntax.TimeClause,
		*syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.CmdSubst, *syntax.ProcSubst,
		*syntax.ExtGlob, *syntax.BraceExp:
		// What of it stands in a command makes that one's words unknown.
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
}

func (w *walker) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		return // assignments alone
	}
	p := part{text: w.source(&syntax.CallExpr{Args: c.Args})}
	for i, arg := range c.Args {
		text, why := wordOf(arg, i == 0)
		p.words = append(p.words, word{text, why == "" || why == quoted})
		if why != "" && p.why == "" {
			p.why = why + ": `" + w.source(arg) + "`"
		}
	}
	if len(p.words) > 1 && p.words[0].text == "printf" && strings.HasPrefix(p.words[1].text, "-v") && p.why == "" {
		p.why = "it sets a variable: `" + p.text + "`"
	}
	if p.why == "" && evaluates(p.words) {
		p.why = "the shell may run what is in it: `" + p.text + "`"
	}
	w.parts = append(w.parts, insides(p, w.depth)...)
}

// quoted is said of words that are known but oddly written.
const quoted = "it has an oddly quoted word"

// expands is said of words that only the shell knows.
const expands = "the shell would still expand it"

// wordOf is what a word says, and why an allow rule does not take it. Only words
// as one writes them are taken: bare, or within quotes that nothing expands in.
func wordOf(w *syntax.Word, first bool) (text, why string) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			alone := len(w.Parts) == 1 && slices.Contains([]string{"[", "=", "]"}, p.Value) // of [ a = b ]
			if !alone && (strings.ContainsAny(p.Value, "*?[]{}") || (b.Len() == 0 && strings.HasPrefix(p.Value, "~") || strings.HasPrefix(p.Value, "="))) {
				return "", expands
			}
			if strings.Contains(p.Value, `\`) {
				why = quoted
			}
			b.WriteString(withoutBackslashes(p.Value))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", expands
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
				if !ok {
					return "", expands
				}
				if strings.Contains(lit.Value, `\`) {
					why = quoted
				}
				b.WriteString(withoutBackslashes(lit.Value))
			}
		default:
			return "", expands
		}
	}
	return b.String(), why
}

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

// shells run a script that is one of their arguments. They are known by these
// names alone: another program may have the name elsewhere.
var shells = []string{"sh", "bash", "zsh", "dash", "ksh"}

// insides is a part, behind what a shell in it runs.
func insides(p part, depth int) []part {
	name := p.name()
	if !slices.Contains(shells, path.Base(name)) {
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
			parts = append(parts, shellParts(w.text, depth+1)...)
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

func (p part) name() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0].text
}

// allowedBy reports whether an allow rule's pattern fits: yes, no, or maybe when
// it would but for what is odd.
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

// wrappers run what their arguments say.
var wrappers = []string{
	"sudo", "doas", "env", "nice", "ionice", "nohup", "timeout", "time", "command", "builtin", "exec", "xargs", "setsid",
	"stdbuf", "chroot", "unshare", "parallel", "watch", "find", "busybox", "strace", "ltrace", "taskset", "flock", "su",
	"ssh", "script", "eval", "noglob", "nocorrect", "trap", "caffeinate", "chrt", "firejail", "bwrap", "systemd-run",
	"toybox", "pkexec", "run0", "runuser", "sg", "gosu", "su-exec", "fakeroot", "proot", "nsenter", "setarch", "prlimit", "numactl", "xvfb-run",
	"unbuffer", "chronic", "entr", "dbus-run-session", "newgrp", "valgrind", "rlwrap", "hyperfine", "watchexec", "npx", "bunx", "start-stop-daemon", "tmux",
	"xterm", "choom", "proxychains", "proxychains4", "torify", "tsocks", "torsocks", "setpriv", "capsh", "systemd-inhibit", "cpulimit", "faketime", "eatmydata", "rr", "catchsegv",
	"mosh", "pssh", "sem", "cross-env", "dotenv", "dotenvx", "screen", "dbus-launch", "concurrently", "nodemon", "uvx", "mispipe", "pee", "ifne", "retry", "coreutils", "wsl",
	"linux32", "linux64", "i386", "x86_64", "arch", "runcon", "aa-exec", "sandbox-exec", "tini", "dumb-init", "daemonize", "daemon", "chpst", "softlimit", "envdir", "setuidgid",
	"s6-setuidgid", "setlock", "lckdo", "gdbserver", "alacritty", "gnome-terminal", "konsole", "kitty", "foot", "st", "urxvt", "x-terminal-emulator", "systemd-nspawn",
	"arch-chroot", "mpirun", "mpiexec", "srun", "bsub", "condor_run", "aws-vault", "teller", "wine", "dockerize", "wait-for-it", "ts", "tsp", "orb", "with-lock-ex", "zrun", "wsl.exe", "flatpak-spawn",
}

// isWrapper reports whether a program runs what its arguments say. GNU's, beside others, have a g before their names.
func isWrapper(name string) bool {
	gnu, _ := strings.CutPrefix(name, "g")
	return slices.Contains(wrappers, name) || slices.Contains(wrappers, gnu) ||
		strings.HasPrefix(name, "ld-") || name == "ld.so" || strings.HasPrefix(name, "qemu-") || strings.HasPrefix(name, "-") // that of a time with options
}

// stoppedBy reports whether the pattern of a rule that rejects or asks fits, by
// its own name or in a folder, or fits what is run by way of another program.
// It is maybe of whatever cannot be told.
func (p part) stoppedBy(pattern []string) match {
	switch {
	case len(p.words) > 0:
		return stops(pattern, p.words, true, 0)
	case p.inert && !p.holds && !holdsRun(pattern, p.value):
		return no
	}
	return maybe
}

// withOperand are wrappers whose command comes after a word that is no option.
var withOperand = []string{"flock", "chroot", "taskset", "ssh", "chrt", "su", "runuser", "gosu", "su-exec", "sg", "setarch", "entr", "proot"}

// stops is stoppedBy for the words of a command. Builtins says that a shell runs
// it itself, and depth how many wrappers are around it.
func stops(pattern []string, words []word, builtins bool, depth int) match {
	if depth > 4*maxDepth {
		return maybe
	}
	best := max(matchWords(pattern, words), matchSubcommand(pattern, words))
	name := path.Base(words[0].text)
	if words[0].known && name != words[0].text {
		based := append([]word{{name, true}}, words[1:]...)
		best = max(best, matchWords(pattern, based), matchSubcommand(pattern, based))
	}
	if gnu, ok := strings.CutPrefix(name, "g"); ok && matchWords(pattern, append([]word{{gnu, true}}, words[1:]...)) != no {
		best = max(best, maybe)
	}
	if unread(words, builtins) || runsIn(pattern, words) != no {
		best = max(best, maybe)
	}
	if !isWrapper(name) || name == "command" && len(words) > 1 && strings.EqualFold(words[1].text, "-v") {
		return best
	}
	rest := words[1:]
	for len(rest) > 0 && (isOption(rest[0].text) || name == "find" && rest[0].text == ".") {
		rest = rest[1:]
	}
	if name == "find" && !executes(words[len(words)-len(rest)-1].text) {
		rest = nil // what it looks for
	}
	if len(rest) > 0 {
		best = max(best, stops(pattern, rest, slices.Contains([]string{"builtin", "command", "eval", "noglob", "nocorrect"}, name), depth+1))
		if (name == "xargs" || name == "parallel") && slices.Contains(wrappers, path.Base(rest[0].text)) &&
			!slices.ContainsFunc(rest[1:], func(w word) bool { return !isOption(w.text) }) {
			best = max(best, maybe) // what it runs is in its input
		}
	}
	operand := slices.Contains(withOperand, name)
	starts := name != "find" // the next word may be what is run
	tried := 0
	for i, w := range words[1:] {
		if base := path.Base(w.text); w.known && base != w.text {
			based := append([]word{{base, true}}, words[i+2:min(len(words), i+2+len(pattern))]...)
			if matchWords(pattern, based) != no {
				best = max(best, maybe)
			}
		}
		if best == no && w.known && len(pattern) > 1 && matchWord(pattern[0], path.Base(w.text)) {
			based := append([]word{{path.Base(w.text), true}}, words[i+2:]...)
			if tried++; tried > lookedAt || matchSubcommand(pattern, based) != no { // each looks at all words behind it
				best = maybe
			}
		}
		if matchWords(pattern, words[i+1:]) != no || starts && unread(words[i+1:], false) {
			best = max(best, maybe)
		}
		switch {
		case name == "find":
			starts = executes(w.text)
		case isOption(w.text) || strings.HasPrefix(words[i].text, "-"):
		default:
			starts, operand = starts && operand, false
		}
		if w.known && strings.ContainsAny(w.text, " \t\n;|&") && scriptRuns(pattern, w.text) {
			best = max(best, maybe)
		}
		if _, value, ok := setting(w); ok && holdsRun(pattern, value.text) {
			best = max(best, maybe)
		}
	}
	return best
}

// executes reports whether an argument of find has the next ones be a command.
func executes(w string) bool { return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") }

// isOption tells what may stand between a wrapper and its command.
func isOption(w string) bool {
	return strings.HasPrefix(w, "-") || strings.Contains(w, "=") ||
		strings.ContainsAny(w, "0123456789") && strings.Trim(w, "0123456789.smhd") == ""
}

// paths are the files that a part's words may name.
func (p part) paths(r Request) []Path {
	var paths []Path
	for _, w := range append(slices.Clip(p.words), word{p.file, true}) {
		if !w.known || w.text == "" {
			continue
		}
		candidates := []string{w.text}
		if _, value, ok := strings.Cut(w.text, "="); ok && value != "" {
			candidates = append(candidates, value)
		}
		for _, c := range candidates {
			if path, ok := r.Absolute(c); ok {
				paths = append(paths, Path{Given: filepath.Clean(path), Real: r.Resolve(path)})
			}
		}
	}
	return paths
}

// matchWords compares a pattern with a command, word by word. In a word of the
// pattern * stands for any characters, ** as its last word for any words. It is
// maybe where it depends on a word that is not known.
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

// checkPattern finds patterns that could not mean what they say.
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
