package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// otherShells are those whose language is not parsed.
var otherShells = []string{
	"ash", "mksh", "pdksh", "oksh", "yash", "posh", "rbash", "rksh", "rzsh", "ksh93", "csh", "tcsh", "fish", "nu", "elvish", "xonsh", "pwsh", "powershell",
	"osh", "ysh", "lksh", "loksh", "sash", "rc", "es", "ion", "git-shell",
}

// unread reports whether a command makes a shell run what its words do not show: a file, its input, or a variable's
// value. builtins includes what only a shell itself can do.
func unread(words []word, builtins bool) bool {
	if len(words) == 0 || !words[0].known {
		return false
	}
	name, args := path.Base(words[0].text), words[1:]
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(w word) bool { return !w.known || slices.Contains(options, w.text) })
	}
	switch {
	case isOneOf(shells, name):
		return unreadScript(args)
	case isOneOf(otherShells, name):
		return !has("--version", "--help") || slices.ContainsFunc(args, func(w word) bool { return !w.known })
	}
	if in, ok := codeOf(name); ok && in.runsCode(args) {
		return true
	}
	if runsByCommands(name, args) || unversioned(name) != name && runsByCommands(unversioned(name), args) {
		return true
	}
	switch name {
	case "at", "batch":
		return true
	case "env":
		return slices.ContainsFunc(args, func(w word) bool {
			return strings.HasPrefix(w.text, "-S") || strings.HasPrefix(w.text, "--split-string")
		}) || setsBefore(args)
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return runsByAwk(args)
	case "git", "hub":
		return runsByGit(args)
	case "sed", "gsed":
		return runsBySed(args)
	case "crontab":
		return !has("-l")
	case "newgrp":
		return true
	case "parallel":
		rest, _ := behindOptions(name, args)
		return len(rest) == 0 || strings.HasPrefix(rest[0].text, "::::")
	case "su", "unshare", "nsenter", "script":
		// Without a command they run a shell, or their input.
		return !slices.ContainsFunc(args, func(w word) bool { return w.known && (!isOption(w.text) || w.text == "-c") })
	case "sudo", "doas":
		return len(args) == 1 && has("-s", "-i", "--shell", "--login") || setsBefore(args)
	case "chroot":
		return len(args) == 1
	}
	if !builtins {
		return false
	}
	switch words[0].text {
	case ".", "source":
		return true
	case "alias":
		return slices.ContainsFunc(args, func(w word) bool { return !w.known || strings.Contains(w.text, "=") })
	case "hash":
		return has("-p")
	case "fc":
		return len(args) > 0 && !has("-l")
	case "enable":
		return has("-f")
	case "bind":
		return has("-x")
	case "jobs": // with -x it is a wrapper
		return slices.ContainsFunc(args, func(w word) bool { return !w.known || isOption(w.text) && strings.Contains(w.text, "x") })
	case "complete", "compgen":
		return has("-C", "-F") || slices.ContainsFunc(args, func(w word) bool { return strings.ContainsAny(w.text, "$`") }) // words of -W
	case "mapfile", "readarray":
		return has("-C") || evaluates(words) || setsByWord(words)
	}
	return evaluates(words) || setsByWord(words)
}

// runsByGit reports whether git's options contain a command, or an alias for one.
func runsByGit(args []word) bool {
	for i := 0; i < len(args) && strings.HasPrefix(args[i].text, "-"); i++ {
		value := strings.TrimPrefix(args[i].text, "--config-env=")
		if strings.Contains(tools["git"].values, " "+args[i].text+" ") && i+1 < len(args) {
			i++
			value = args[i].text
		}
		if strings.HasPrefix(strings.ToLower(value), "alias.") || strings.Contains(value, "=!") {
			return true
		}
		if name, command, _ := strings.Cut(value, "="); command != "" && gitCommandKey().MatchString(strings.ToLower(name)) && !harmlessCommands.MatchString(command) && !strings.HasPrefix(command, "ssh") {
			return true
		}
	}
	templates := slices.ContainsFunc(args, func(w word) bool { return w.text == "init" || w.text == "clone" })
	return setsGit(args) || slices.ContainsFunc(args, func(w word) bool {
		return w.text == "instaweb" || strings.Contains(w.text, "ext::") || templates && abbreviates(w.text, "--template")
	})
}

// setsGit reports whether `git config`, or a clone with settings, sets a command for later, or an alias for one.
func setsGit(args []word) bool {
	at := slices.IndexFunc(args, func(w word) bool { return w.text == "config" || w.text == "clone" })
	if at < 0 {
		return false
	}
	return slices.ContainsFunc(args[at+1:], func(w word) bool {
		key, value, joined := strings.Cut(strings.ToLower(strings.TrimPrefix(w.text, "--config=")), "=")
		return gitCommandKey().MatchString(key) && (joined && value != "" || w != args[len(args)-1]) // else it is only read
	})
}

// gitCommandKey matches a git setting that names a command, or makes one of others. It is large, and made when a
// command is first read: the program is also the shim that agents start for each session.
var gitCommandKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(alias\..*|help\.autocorrect|web\.browser|sendemail\.smtpserver|(man|browser|mergetool|difftool)\..*\.path|include\.path|includeif\..*|core\.(sshcommand|fsmonitor|hookspath|pager|editor|askpass)|diff\.external|init\.templatedir` +
		`|.*\.(clean|smudge|process|program|cmd|command|textconv|driver|helper)|pager\..*|sequence\.editor|protocol\.ext\.allow|uploadpack\.packobjectshook)$`)
})

// unreadScript reports whether a shell with these arguments runs more than a script among them.
func unreadScript(args []word) bool {
	for i, w := range args {
		switch {
		case !w.known, w.text == "--rcfile", w.text == "--init-file":
			return true
		case w.text == "--version", w.text == "--help":
			return false
		case i > 0 && slices.Contains([]string{"-o", "+o", "-O", "+O"}, args[i-1].text):
			if w.text == "noexec" {
				return false
			}
		case len(w.text) < 2 || w.text[0] != '-' && w.text[0] != '+':
			return true // a file
		case w.text[0] == '-' && w.text[1] != '-' && strings.HasSuffix(w.text, "c"):
			return i+1 == len(args) || slices.ContainsFunc(args[i+1:], func(w word) bool { return !w.known })
		case w.text[0] == '-' && w.text[1] != '-' && strings.Contains(w.text, "n"):
			return false // it is only read
		}
	}
	return true // its input
}

// evaluating are builtins that take a word as a variable or a number: a subscript in it is expanded once more, commands
// included.
var evaluating = []string{
	"test", "[", "printf", "print", "read", "unset", "wait", "declare", "typeset", "local", "export", "readonly", "let", "getopts",
	"mapfile", "readarray", "exit", "return", "break", "continue", "shift",
}

// evaluatingTests are those tests that are about a variable or a number.
var evaluatingTests = []string{"-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"}

var (
	subscript = regexp.MustCompile("^[A-Za-z_][A-Za-z_0-9]*\\[|\\[.*[$`]")
	expanding = regexp.MustCompile("\\[.*[$`]") // one that is no more than a command
)

// evaluates reports whether a builtin may run what a word of it holds.
func evaluates(words []word) bool {
	for len(words) > 1 && (words[0].text == "builtin" || words[0].text == "command") {
		words = words[1:]
	}
	shape := subscript
	switch words[0].text {
	case "print", "printf":
		shape = expanding
	case "test", "[":
		if !slices.ContainsFunc(words, func(w word) bool { return slices.Contains(evaluatingTests, w.text) }) {
			shape = expanding
		}
	}
	return slices.Contains(evaluating, words[0].text) &&
		slices.ContainsFunc(words[1:], func(w word) bool { return w.known && shape.MatchString(w.text) })
}

// holdsCommand reports whether a text below a node would run a command if expanded once more, as arithmetic does with
// variables.
func holdsCommand(n syntax.Node) bool {
	found := false
	look := func(text string) { found = found || strings.Contains(text, "$(") || strings.Contains(text, "`") }
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			look(strings.ReplaceAll(n.Value, `\`, "")) // $'…' may spell it in other ways
			found = found || n.Dollar && strings.Contains(n.Value, `\`)
		case *syntax.Lit:
			look(withoutBackslashes(n.Value))
		}
		return !found
	})
	return found
}
