package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// lookedAt is how many words behind a runner, and how many commands in options, are looked at: each look is at all words
// behind it. What has more of them cannot be told.
const lookedAt = 64

// runners run what comes behind one of their subcommands.
var runners = map[string][]string{
	"docker": {"exec", "run"}, "podman": {"exec", "run"}, "nerdctl": {"exec", "run"}, "docker-compose": {"exec", "run"}, "kubectl": {"exec", "run"}, "ip": {"exec"},
	"npm": {"exec", "x"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "bundle": {"exec"}, "mise": {"exec", "x"}, "direnv": {"exec"}, "opam": {"exec"},
	"uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "pdm": {"run"}, "hatch": {"run"}, "rye": {"run"}, "conda": {"run"}, "mamba": {"run"}, "pixi": {"run"},
	"git": {"bisect", "foreach", "filter-branch", "rebase", "difftool"},
}

// behindRunner are the words behind the subcommand by which a tool runs others.
func behindRunner(name string, args []word) []word {
	subcommands, ok := runners[name]
	if !ok {
		return nil
	}
	said := 0 // words that are no options
	for i, w := range args {
		if slices.Contains(subcommands, w.text) {
			return args[i+1:]
		}
		if strings.HasPrefix(w.text, "-") {
			continue
		}
		if said++; said > 3 {
			break
		}
	}
	return nil
}

// commandOption is the name of an option whose value is a command, in the tools that have one.
var commandOption = regexp.MustCompile(`command|exec|program|pager|filter|rsh|pre$|action`)

// shortCommandOptions are those of one letter.
var shortCommandOptions = map[string]string{
	"tar": "I", "bsdtar": "I", "rsync": "e", "man": "P", "fd": "xX", "fdfind": "xX", "ssh": "o", "scp": "oS", "sftp": "oS", "git": "cxO", "flock": "c", "nc": "ec",
	"ncat": "ec", "xterm": "e",
}

// commandValues are the commands that stand in a command's options.
func commandValues(name string, args []word) (values []string) {
	letters := shortCommandOptions[name]
	for i, w := range args {
		if len(values) > lookedAt {
			break
		}
		if !strings.HasPrefix(w.text, "-") || len(w.text) < 2 {
			continue
		}
		var rest []string // what follows the option, as one command and as words
		option, value, joined := strings.Cut(w.text, "=")
		switch {
		case strings.HasPrefix(w.text, "--") && commandOption.MatchString(option):
			if joined {
				rest = []string{value}
			}
		case !strings.HasPrefix(w.text, "--") && strings.ContainsRune(letters, rune(w.text[1])):
			if len(w.text) > 2 {
				rest = []string{w.text[2:]}
			}
		default:
			continue
		}
		if rest == nil && i+1 < len(args) {
			var words []string
			for _, next := range args[i+1 : min(len(args), i+17)] {
				words = append(words, next.text)
			}
			rest = []string{args[i+1].text, strings.Join(words, " ")}
		}
		for _, value := range rest {
			values = append(values, value)
			if _, inner, ok := strings.Cut(value, "="); ok { // ProxyCommand=…, exec=…
				values = append(values, strings.TrimPrefix(inner, "!"))
			}
		}
	}
	return values
}

// sedCommand is where a script of sed's runs a command: e, or the flag of s.
var sedCommand = regexp.MustCompile(`(^|[;{}\n])[\s0-9$,~+!]*e(\s|$)|[^\w\s][gipmIM0-9]*e[gipmIM0-9]*\s*([;}\n]|$)`)

// runsBySed reports whether a script among sed's arguments may run a command.
func runsBySed(args []word) bool {
	script := true // the next word that is no option is one
	for i, w := range args {
		value, joined := strings.CutPrefix(w.text, "--expression=")
		switch {
		case joined:
		case i > 0 && (args[i-1].text == "-e" || args[i-1].text == "--expression"):
			value = w.text
		case strings.HasPrefix(w.text, "-e") && len(w.text) > 2:
			value = w.text[2:]
		case strings.HasPrefix(w.text, "-"):
			continue
		case script:
			value = w.text
		default:
			continue
		}
		script = false
		if sedCommand.MatchString(value) {
			return true
		}
	}
	return false
}

// runsByCommands reports whether a program is given commands of its own language that can start others.
func runsByCommands(name string, args []word) bool {
	holds := func(texts ...string) bool {
		return slices.ContainsFunc(args, func(w word) bool {
			return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(w.text, text) })
		})
	}
	option := func(names ...string) bool {
		return slices.ContainsFunc(args, func(w word) bool {
			option, _, _ := strings.Cut(w.text, "=")
			return slices.Contains(names, option)
		})
	}
	switch name {
	case "vi", "vim", "nvim", "ex", "view", "vimdiff", "gvim":
		return option("-c", "--cmd", "-S", "-s", "-l", "-u") || slices.ContainsFunc(args, func(w word) bool {
			return strings.HasPrefix(w.text, "+") && strings.Trim(w.text, "+0123456789") != ""
		})
	case "emacs", "emacsclient":
		return option("--eval", "-e", "--execute", "-f", "--funcall", "-l", "--load", "--script")
	case "gdb", "lldb":
		return option("-ex", "-eval-command", "--eval-command", "-x", "--command", "-o", "-s", "--one-line", "--source")
	case "sqlite3":
		return holds(".shell", ".system", ".read", ".import")
	case "psql", "mysql":
		return holds(`\!`)
	case "make", "gmake":
		return option("--eval", "SHELL") || slices.ContainsFunc(args, func(w word) bool { return w.text == "-" || w.text == "-f-" || strings.HasPrefix(w.text, "/dev/") })
	case "deno":
		return len(args) > 0 && args[0].text == "eval"
	case "tclsh", "expect", "guile", "sbcl", "erl", "groovy", "ghci":
		return len(args) == 0 || option("-", "-c", "-e", "-eval", "--eval", "--load")
	case "ed", "dc", "m4":
		return len(args) == 0 || holds("!", "syscmd")
	case "socat":
		return holds("EXEC:", "SYSTEM:", "exec:", "system:")
	}
	return false
}

// runsIn is the match of a pattern with what a command runs by its subcommand or by its options.
func runsIn(pattern []string, words []word) match {
	name := path.Base(words[0].text)
	behind := behindRunner(name, words[1:])
	for i, w := range behind {
		if i == lookedAt {
			return maybe
		}
		if matchWords(pattern, behind[i:]) != no || unread(behind[i:], false) {
			return maybe
		}
		if base := path.Base(w.text); w.known && base != w.text {
			if matchWords(pattern, append([]word{{base, true}}, behind[i+1:]...)) != no {
				return maybe
			}
		}
	}
	values := commandValues(name, words[1:])
	for _, w := range behind {
		if w.known && strings.ContainsAny(w.text, " \t\n;|&") {
			values = append(values, w.text)
		}
	}
	if len(values) > lookedAt {
		return maybe
	}
	if slices.ContainsFunc(values, func(value string) bool { return scriptRuns(pattern, value) }) {
		return maybe
	}
	return no
}

// scriptRuns reports whether a command in a shell's script fits a pattern, or cannot be told.
func scriptRuns(pattern []string, script string) bool {
	return slices.ContainsFunc(shellParts(script, maxDepth), func(p part) bool {
		return len(p.words) > 0 && (matchWords(pattern, p.words) != no || matchSubcommand(pattern, p.words) != no || unread(p.words, true))
	})
}
