package rules

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// commandVariables matches variables that name a program that others start, a library that they load, or the settings
// in which they find such names.
var commandVariables = regexp.MustCompile(`^(PATH|ENV|BASH_ENV|BASH_FUNC_.*|ZDOTDIR|FPATH|PS4|HOME|XDG_CONFIG_HOME|VISUAL|FCEDIT|BROWSER|LD_.*|DYLD_.*` +
	`|GIT_SSH|GIT_EXTERNAL_DIFF|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|GIT_CONFIG.*|LESSOPEN|LESSCLOSE|TAR_OPTIONS|RIPGREP_CONFIG_PATH` +
	`|PERL5OPT|PERL5DB|PYTHONSTARTUP|PYTHONBREAKPOINT|DOTNET_STARTUP_HOOKS|R_PROFILE(_USER)?|GCC_EXEC_PREFIX|COMPILER_PATH|BASH_LOADABLES_PATH|WGETRC|CURL_HOME|LUA_INIT.*|VIMINIT|EXINIT|INPUTRC|PSQLRC|HGRCPATH|MAKEFILES|GCONV_PATH|OPENSSL_CONF` +
	`|CC|CXX|CPP|LD|AR|AS|RUSTC|.*(PAGER|EDITOR|ASKPASS|COMMAND|BROWSER|SHELL|_shell|_RSH|WRAPPER|RUNNER|LINKER|LAUNCHER))$`)

// harmlessCommands matches programs that these variables often name and that no rule is about.
var harmlessCommands = regexp.MustCompile(`^(cat|more|less|true|false|:|(cc|c\+\+|gcc|g\+\+|clang|clang\+\+)(-[0-9]+)?|ccache|sccache|(ba|z|da)?sh|/bin/(ba|z|da)?sh)( -[FRXSN]+)*$`)

// options have the variables that hold a program's options, by what in them names a command.
var options = map[string]*regexp.Regexp{
	"GOFLAGS":           regexp.MustCompile(`exec`),
	"LESS":              regexp.MustCompile(`[+!]`),
	"MAKEFLAGS":         regexp.MustCompile(`[^-jkns0-9 ]`),
	"GNUMAKEFLAGS":      regexp.MustCompile(`[^-jkns0-9 ]`),
	"NODE_OPTIONS":      regexp.MustCompile(`require|import|loader|-r`),
	"RUBYOPT":           regexp.MustCompile(`-\w*[rI]`),
	"RUSTFLAGS":         regexp.MustCompile(`linker`),
	"JAVA_TOOL_OPTIONS": regexp.MustCompile(`agent|OnError|OnOutOfMemory|bootclasspath`),
	"JDK_JAVA_OPTIONS":  regexp.MustCompile(`agent|OnError|OnOutOfMemory|bootclasspath`),
	"_JAVA_OPTIONS":     regexp.MustCompile(`agent|OnError|OnOutOfMemory|bootclasspath`),
	"JAVA_OPTS":         regexp.MustCompile(`agent|OnError|OnOutOfMemory|bootclasspath`),
	"MAVEN_OPTS":        regexp.MustCompile(`agent|OnError|OnOutOfMemory|bootclasspath`),
	"GRADLE_OPTS":       regexp.MustCompile(`agent|OnError|OnOutOfMemory|bootclasspath`),
}

// namesCommand reports whether a variable with a value says which programs others start.
func namesCommand(name string, value word) bool {
	if shape, ok := options[name]; ok {
		return !value.known || shape.MatchString(value.text)
	}
	return commandVariables.MatchString(name) && !(value.known && harmlessCommands.MatchString(value.text))
}

// setting splits a word NAME=value.
func setting(w word) (name string, value word, ok bool) {
	name, text, ok := strings.Cut(w.text, "=")
	return name, word{text, w.known}, ok && w.known
}

// setCommand reports whether a word of a command is a variable, with a value, that says which programs others start.
func setCommand(w word) bool {
	name, value, ok := setting(w)
	return ok && namesCommand(name, value)
}

// setsBefore reports whether one of these variables may be set before the command in the arguments of env or sudo.
func setsBefore(args []word) bool {
	for i, w := range args {
		switch {
		case i == lookedAt, setCommand(w):
			return true
		case !isOption(w.text) && (i == 0 || !strings.HasPrefix(args[i-1].text, "-")):
			return false // the command
		}
	}
	return false
}

// intoCommand reports whether a word is the name of such a variable, into which something is read.
func intoCommand(w word) bool {
	return !w.known || options[w.text] != nil || commandVariables.MatchString(w.text)
}

// assigned reports whether a variable that a script sets decides which programs others start, and its value if known.
func assigned(a *syntax.Assign) (names bool, value string) {
	is := word{known: true}
	first := "" // what it begins with, if that is another variable's value
	if a.Value != nil {
		text, why := wordOf(a.Value, false)
		if is = (word{text, why == "" || why == quoted}); !is.known {
			is.text = ""
		}
		first = beginning(a.Value)
	}
	switch {
	case a.Name == nil: // a word of export's
		return setCommand(is), ""
	case a.Naked:
		return false, ""
	case a.Name.Value == "PATH" && (a.Append || first == "PATH"):
		return false, "" // what was found is found as before
	case a.Array != nil:
		is.known = false
	}
	return namesCommand(a.Name.Value, is), is.text
}

// beginning returns the name of the variable whose value a word begins with: that of $NAME:… , also in double quotes.
func beginning(w *syntax.Word) string {
	parts := w.Parts
	if len(parts) > 0 {
		if quoted, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = quoted.Parts
		}
	}
	if len(parts) < 2 {
		return ""
	}
	value, ok := parts[0].(*syntax.ParamExp)
	rest, lit := parts[1].(*syntax.Lit)
	if !ok || !lit || value.Param == nil || value.Excl || value.Length || value.Width || value.Index != nil ||
		value.Slice != nil || value.Repl != nil || value.Exp != nil || !strings.HasPrefix(rest.Value, ":/") {
		return ""
	}
	return value.Param.Value
}

// holdsRun reports whether the value of a variable, as a command, fits the pattern.
func (s *stopper) holdsRun(value string) bool {
	if strings.ContainsAny(value, " \t\n;|&") {
		return s.scriptRuns(value, 0)
	}
	return value != "" && matchWords(s.pattern, []word{{value, true}}) != no
}

// setsByWord reports whether a builtin sets one of the variables that decide which programs others start.
func setsByWord(words []word) bool {
	args := words[1:]
	switch words[0].text {
	case "export", "declare", "typeset", "readonly", "local":
		return slices.ContainsFunc(args, func(w word) bool { return setCommand(w) || declaresName(w) })
	case "read", "mapfile", "readarray", "getopts":
		return slices.ContainsFunc(args, func(w word) bool { return w.known && intoCommand(w) })
	case "printf", "wait":
		for i, w := range args {
			name, joined := strings.CutPrefix(w.text, "-v")
			switch {
			case joined && name != "" && intoCommand(word{name, true}),
				i > 0 && (args[i-1].text == "-v" || args[i-1].text == "-p") && w.known && intoCommand(w):
				return true
			}
		}
	}
	return false
}

// declaresName reports whether an option makes a variable another name of one.
func declaresName(w word) bool {
	return len(w.text) > 1 && w.text[0] == '-' && strings.Contains(w.text, "n")
}
