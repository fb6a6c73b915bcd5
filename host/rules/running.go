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
	"docker-machine": {"ssh"}, "vagrant": {"ssh"}, "colima": {"ssh"}, "perf": {"stat", "record", "trace"}, "cmake": {"-E"}, "salt": {"cmd.run"}, "enroot": {"start"},
	"docker": {"exec", "run"}, "podman": {"exec", "run"}, "nerdctl": {"exec", "run"}, "docker-compose": {"exec", "run"}, "kubectl": {"exec", "run"}, "ip": {"exec"},
	"npm": {"exec", "x"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "bundle": {"exec"}, "mise": {"exec", "x"}, "direnv": {"exec"}, "opam": {"exec"},
	"uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "pdm": {"run"}, "hatch": {"run"}, "rye": {"run"}, "conda": {"run"}, "mamba": {"run"}, "pixi": {"run"},
	"git": {"bisect", "foreach", "filter-branch", "rebase", "difftool"},
}

// usualRunners are such subcommands of other tools.
var usualRunners = []string{"exec", "run", "x", "spawn", "enter", "shell", "cmd"}

// namingFiles are programs for which -- ends the options before names of files, patterns and texts.
var namingFiles = strings.Fields("git grep egrep fgrep zgrep rg ag ack ls cat cp mv ln touch mkdir rmdir cd pushd echo printf sed awk diff cmp comm head tail less more" +
	" chmod chown chgrp stat file wc sort uniq cut tr tee find test set ed vi vim nvim view code gh curl jq yq basename dirname realpath readlink type which apt dnf brew man")

// behindRunner are the words behind the subcommand by which a tool runs others, or behind --, where many have a command.
func behindRunner(name string, args []word) []word {
	subcommands, ok := runners[name]
	if !ok {
		subcommands = usualRunners
	}
	said := 0 // words that are no options
	for i, w := range args {
		if slices.Contains(subcommands, w.text) || !slices.Contains(namingFiles, name) && (w.text == "--" || w.text == "--args") {
			return args[i+1:]
		}
		if !strings.HasPrefix(w.text, "-") {
			said++
		}
		if said > 3 {
			subcommands = nil
		}
	}
	return nil
}

// commandOption is the name of an option whose value is a command, in the tools that have one.
var commandOption = regexp.MustCompile(`command|exec|program|pager|filter|rsh|pre$|action|script|cmd|hook|wrap|call|run$|runner|linker|tool$|shell|preview|bind|askpass` +
	`|upload-pack|receive-pack|rsync-path|entrypoint|sendmail|prog$|conclude|prepare|setup|cleanup`)

// textOptions take a text of the user's, in which a command is none.
var textOptions = strings.Fields("-m -t -b -F -H -d -k --message --title --body --notes --description --subject --comment --text --reason --grep --author --label --regexp" +
	" --regex --pattern --query --search --summary --format --prompt --data --header --name --match")

// texts are programs all of whose words are such.
var texts = strings.Fields("echo printf grep egrep fgrep zgrep rg ag ack jq yq test [ logger notify-send say curl http gh git sed awk gawk type which man")

// shortCommandOptions are those of one letter.
var shortCommandOptions = map[string]string{
	"tar": "IF", "bsdtar": "I", "rsync": "e", "man": "PH", "fd": "xX", "fdfind": "xX", "ssh": "o", "scp": "oS", "sftp": "oS", "git": "cxO", "flock": "c", "nc": "ec",
	"ncat": "ec", "xterm": "e", "nodemon": "x", "chokidar": "c", "just": "c", "npx": "c", "bpftrace": "c", "zip": "T", "nix": "c", "sshfs": "o", "wget": "e", "rustc": "C", "open": "a",
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
		case len(option) > 2 && commandOption.MatchString(option): // also with one dash, as of go, find and gcc
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
			if _, inner, ok := strings.Cut(value, "("); ok { // enter:execute(…)
				values = append(values, inner)
			}
			if first, _, ok := strings.Cut(value, ","); ok { // -wrapper rm,x
				values = append(values, first)
			}
		}
	}
	return values
}

// sedCommand is where a script of sed's runs a command: e, or the flag of s.
var sedCommand = regexp.MustCompile(`(^|[;{}\n])[\s0-9$,~+!]*e(\s|$)|[^\w\s][gipmIM0-9]*e[gipmIM0-9]*\s*([;}\n]|$)`)

// sedLetters are options of sed's of one letter, of which the last has the script behind it.
var sedLetters = regexp.MustCompile(`^-[nrEsuz]*e.`)

// runsBySed reports whether a script among sed's arguments may run a command.
func runsBySed(args []word) bool {
	script := true // the next word that is no option is one
	for i, w := range args {
		value, joined := strings.CutPrefix(w.text, "--expression=")
		switch {
		case joined:
		case i > 0 && (args[i-1].text == "-e" || args[i-1].text == "--expression"):
			value = w.text
		case sedLetters.MatchString(w.text):
			value = w.text[strings.Index(w.text, "e")+1:]
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
	case "less", "more":
		return slices.ContainsFunc(args, func(w word) bool { return strings.HasPrefix(w.text, "+") && strings.Contains(w.text, "!") })
	case "emacs", "emacsclient":
		return option("--eval", "-eval", "-e", "--execute", "-f", "--funcall", "-l", "--load", "--script")
	case "gdb", "lldb":
		return option("-ex", "-eval-command", "--eval-command", "-x", "--command", "-o", "-s", "--one-line", "--source")
	case "sqlite3":
		return holds(".shell", ".system", ".read", ".import")
	case "psql", "mysql":
		return holds(`\!`)
	case "make", "gmake":
		return option("--eval", "SHELL", "MAKE") || slices.ContainsFunc(args, func(w word) bool {
			return w.text == "-" || w.text == "-f-" || strings.HasPrefix(w.text, "/dev/") || strings.Contains(w.text, "$(") || setCommand(w)
		}) || unknownFile(args)
	case "deno":
		return len(args) > 0 && args[0].text == "eval"
	case "tclsh", "expect", "guile", "sbcl", "erl", "groovy", "ghci":
		return len(args) == 0 || option("-", "-c", "-e", "-eval", "--eval", "--load")
	case "ed":
		return !option("--version", "--help") // by its input
	case "dc", "m4":
		return len(args) == 0 || holds("!", "syscmd")
	case "gnuplot", "octave", "R":
		return holds("system")
	case "socat":
		return holds("EXEC:", "SYSTEM:", "exec:", "system:")
	}
	return false
}

// unknownFile reports whether make is to read a file that is not told, as one that a shell makes.
func unknownFile(args []word) bool {
	for i, w := range args {
		if !w.known && i > 0 && slices.Contains([]string{"-f", "--file", "--makefile"}, args[i-1].text) {
			return true
		}
	}
	return false
}

// scriptValues are the values of options that may be a line of a shell's, whatever the option means: none of one word.
func scriptValues(name string, args []word) (values []string) {
	if slices.Contains(texts, name) {
		return nil
	}
	for i, w := range args {
		option, value, joined := strings.Cut(w.text, "=")
		if !strings.HasPrefix(w.text, "-") || slices.Contains(textOptions, option) {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1].text
		}
		if _, inner, ok := strings.Cut(value, "="); ok && strings.ContainsAny(inner, " \t\n;|&") {
			values = append(values, inner)
		}
		if strings.ContainsAny(value, " \t\n;|&") {
			values = append(values, value)
		}
	}
	return values
}

// runsIn is the match of a pattern with what a command runs by its subcommand or by its options.
func runsIn(pattern []string, words []word) match {
	name := path.Base(words[0].text)
	behind := behindRunner(name, words[1:])
	for i, w := range behind {
		if i == lookedAt {
			return maybe
		}
		if matchWords(pattern, behind[i:]) != no || matchSubcommand(pattern, behind[i:]) != no || unread(behind[i:], false) {
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
	lines := scriptValues(name, words[1:])
	if len(lines) > lookedAt || slices.ContainsFunc(lines, func(line string) bool { return scriptNames(pattern, line) }) {
		return maybe
	}
	return no
}

// scriptNames reports whether a command in a shell's script fits a pattern by its name.
func scriptNames(pattern []string, script string) bool {
	return slices.ContainsFunc(shellParts(script, maxDepth), func(p part) bool {
		return len(p.words) > 0 && p.words[0].known && (matchWords(pattern, p.words) != no || matchSubcommand(pattern, p.words) != no)
	})
}

// scriptRuns reports whether a command in a shell's script fits a pattern, or cannot be told.
func scriptRuns(pattern []string, script string) bool {
	return slices.ContainsFunc(shellParts(script, maxDepth), func(p part) bool {
		return len(p.words) > 0 && (matchWords(pattern, p.words) != no || matchSubcommand(pattern, p.words) != no || unread(p.words, true))
	})
}
