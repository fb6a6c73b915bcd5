package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// lookedAt is how many words after a runner, and how many commands in options, are examined, as each examines all words
// after it. With more of them the result is maybe.
const lookedAt = 64

// runners run what follows one of their subcommands.
var runners = map[string][]string{
	"docker-machine": {"ssh"}, "vagrant": {"ssh"}, "colima": {"ssh"}, "perf": {"stat", "record", "trace"}, "cmake": {"-E"}, "salt": {"cmd.run"}, "enroot": {"start"},
	"docker": {"exec", "run", "create"}, "podman": {"exec", "run", "create", "unshare"}, "nerdctl": {"exec", "run"}, "gh": {"ssh", "exec"}, "docker-compose": {"exec", "run"}, "kubectl": {"exec", "run"}, "ip": {"exec"},
	"npm": {"exec", "x"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "bundle": {"exec"}, "mise": {"exec", "x"}, "direnv": {"exec"}, "opam": {"exec"},
	"uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "pdm": {"run"}, "hatch": {"run"}, "rye": {"run"}, "conda": {"run"}, "mamba": {"run"}, "pixi": {"run"},
	"git": {"bisect", "foreach", "filter-branch", "rebase", "difftool"},
}

// usualRunners are such subcommands of other tools.
var usualRunners = []string{"exec", "run", "x", "spawn", "enter", "shell", "cmd"}

// namingFiles are programs for which -- ends the options before names of files, patterns and texts.
var namingFiles = strings.Fields("git grep egrep fgrep zgrep rg ag ack ls cat cp mv ln touch mkdir rmdir cd pushd echo printf sed awk diff cmp comm head tail less more" +
	" chmod chown chgrp stat file wc sort uniq cut tr tee find test set ed vi vim nvim view code gh curl jq yq basename dirname realpath readlink type which apt dnf brew man")

// behindRunner returns the words after the subcommand by which a tool runs others, or after --, where many have a
// command.
func behindRunner(name string, args []word) []word {
	subcommands, ok := runners[name]
	if !ok {
		subcommands = usualRunners
	}
	said := 0 // words that are not options
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

// commandOption matches the name of an option whose value is a command, in tools that have one.
var commandOption = regexp.MustCompile(`command|exec|program|bin$|pager|filter|rsh|pre$|action|script|cmd|hook|wrap|call|run$|runner|linker|tool$|shell|preview|bind|askpass` +
	`|upload-pack|receive-pack|rsync-path|^--checkpoint-|entrypoint|sendmail|prog$|conclude|prepare|setup|cleanup`)

// commandOptions are such options whose names may be shortened to what does not match.
var commandOptions = strings.Fields("--to-command --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script" +
	" --open-files-in-pager --extcmd --exec --upload-pack --receive-pack --smtp-server --httpd --pager --html --use-askpass")

// textOptions take a text of the user's, in which commands do not count.
var textOptions = strings.Fields("-m -t -b -F -H -d -k --message --title --body --notes --description --subject --comment --text --reason --grep --author --label --regexp" +
	" --regex --pattern --query --search --summary --format --prompt --data --header --name --match")

// texts are programs all of whose words are such.
var texts = strings.Fields("echo printf grep egrep fgrep zgrep rg ag ack jq yq test [ logger notify-send say curl http gh git sed awk gawk type which man")

// shortCommandOptions are those of one letter.
var shortCommandOptions = map[string]string{
	"apt": "o", "apt-get": "o", "tar": "IF", "bsdtar": "I", "rsync": "e", "man": "PH", "fd": "xX", "fdfind": "xX", "ssh": "o", "scp": "oS", "sftp": "oS", "git": "cxOu", "flock": "c", "nc": "ec",
	"ncat": "ec", "xterm": "e", "nodemon": "x", "chokidar": "c", "just": "c", "npx": "c", "bpftrace": "c", "zip": "T", "nix": "c", "sshfs": "o", "wget": "e", "rustc": "C", "open": "a",
}

// shortOptions are letters of options behind one dash.
var shortOptions = regexp.MustCompile(`^[a-zA-Z0-9]*$`)

// commandValues returns the commands in a command's options.
func commandValues(name string, args []word) (values []string) {
	letters := shortCommandOptions[name]
	for i, w := range args {
		if len(values) > lookedAt {
			break
		}
		if i == 0 && !strings.HasPrefix(w.text, "-") && strings.HasSuffix(name, "tar") && strings.ContainsAny(w.text, letters) {
			for _, value := range args[1:min(len(args), lookedAt)] { // letters without a dash, whose values follow in order
				values = append(values, value.text)
			}
		}
		if !strings.HasPrefix(w.text, "-") {
			continue
		}
		var rest []string // what follows the option, as one command and as words
		option, value, joined := strings.Cut(w.text, "=")
		switch {
		case commandOption.MatchString(option) || abbreviates(option, commandOptions...): // also with one dash, as of go, find and gcc
			if joined {
				rest = []string{value}
			}
		case !strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text, letters) && shortOptions.MatchString(w.text[1:strings.IndexAny(w.text, letters)]):
			if at := strings.IndexAny(w.text, letters); at+1 < len(w.text) {
				rest = []string{strings.TrimLeft(w.text[at+1:], w.text[at:at+1])}
			}
		default:
			continue
		}
		if rest == nil && i+1 < len(args) {
			var words []string
			for _, next := range args[i+1 : min(len(args), i+17)] {
				words = append(words, next.text)
			}
			if rest = []string{args[i+1].text}; name != "git" {
				rest = append(rest, strings.Join(words, " "))
			}
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

// vimLetters matches vim's options that take commands: from its words, a file or its input.
var vimLetters = regexp.MustCompile(`^-[a-zA-Z]*[cSseElu]`)

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
		return name == "ex" || option("--cmd", "--remote-send", "--remote-expr") || slices.ContainsFunc(args, func(w word) bool {
			return vimLetters.MatchString(w.text) || strings.HasPrefix(w.text, "+") && strings.Trim(w.text, "+0123456789") != ""
		})
	case "less", "more":
		return slices.ContainsFunc(args, func(w word) bool { return strings.HasPrefix(w.text, "+") && strings.Contains(w.text, "!") })
	case "emacs", "emacsclient":
		return option("--eval", "-eval", "-e", "--execute", "-f", "--funcall", "-l", "--load", "--script")
	case "gdb", "lldb":
		return option("-ex", "-iex", "-eval-command", "--eval-command", "-init-eval-command", "-x", "-ix", "--command", "-o", "-O", "-s", "-S", "-k", "--one-line", "--source")
	case "sqlite3":
		return holds(".sh", ".sy", ".read", ".import", "|")
	case "psql", "mysql", "mariadb":
		return holds(`\!`)
	case "make", "gmake", "bmake", "remake":
		return option("--eval", "-E", "SHELL", ".SHELLFLAGS", "MAKE") || unknownFile(args) || slices.ContainsFunc(args, func(w word) bool {
			return isInputFile(w) || strings.Contains(w.text, "$(") || setCommand(w)
		})
	case "deno":
		return len(args) == 0 || slices.Contains([]string{"eval", "repl"}, args[0].text) || slices.ContainsFunc(args, isInputFile)
	case "brew":
		return len(args) > 0 && slices.Contains([]string{"ruby", "irb", "sh"}, args[0].text)
	case "perl": // a module, out of a folder that it is told
		module, folder := false, false
		for _, w := range args {
			module = module || strings.HasPrefix(w.text, "-M") || strings.HasPrefix(w.text, "-m")
			folder = folder || strings.HasPrefix(w.text, "-I") || strings.HasPrefix(w.text, "-Mlib")
		}
		return module && folder
	case "crystal":
		return len(args) > 0 && args[0].text == "eval"
	case "bun":
		return slices.ContainsFunc(args, isInputFile)
	case "npm", "pnpm", "yarn": // a script that is run by its name
		return option("set-script") || option("pkg", "config") && option("set") && holds("script")
	case "cargo":
		return holds("linker=") || option("--config") && holds("runner", "linker", "wrapper", "rustc")
	case "uv", "ninja", "task", "cmake":
		return slices.ContainsFunc(args, isInputFile)
	case "gh", "glab":
		return option("alias") && option("set")
	case "gcc", "g++", "cc", "c++", "clang", "clang++":
		return slices.ContainsFunc(args, func(w word) bool {
			return strings.HasPrefix(w.text, "-B") || strings.HasPrefix(w.text, "-specs") || strings.HasPrefix(w.text, "-fplugin")
		})
	case "tclsh", "wish", "expect", "guile", "sbcl", "erl", "groovy", "ghci":
		return len(args) == 0 || option("-", "-c", "-e", "-eval", "--eval", "--load")
	case "ed", "red":
		return !option("--version", "--help") // by its input
	case "dc", "m4":
		return len(args) == 0 || holds("!", "syscmd") || slices.ContainsFunc(args, isInputFile)
	case "gnuplot", "octave":
		return holds("system")
	case "socat":
		return holds("EXEC:", "SYSTEM:", "exec:", "system:")
	}
	return false
}

// isInputFile reports whether a word, or the value of an option, stands for the input, or for the output of a command
// in place of a file.
func isInputFile(w word) bool {
	value := w.text
	if option, joined, ok := strings.Cut(value, "="); ok && strings.HasPrefix(option, "--") {
		value = joined
	} else if len(value) > 2 && value[0] == '-' && value[1] != '-' {
		value = strings.TrimLeft(value[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	}
	return value == "-" || strings.HasPrefix(value, "/dev/") && value != "/dev/null" || strings.HasPrefix(value, "/proc/")
}

// unknownFile reports whether make reads an unknown file, such as one made by a shell.
func unknownFile(args []word) bool {
	for i, w := range args {
		if !w.known && i > 0 && slices.Contains([]string{"-f", "--file", "--makefile"}, args[i-1].text) {
			return true
		}
	}
	return false
}

// scriptValues returns the values of options that may be a shell line, whatever the option means: those of more than
// one word.
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
		if _, inner, _ := strings.Cut(value, "="); strings.ContainsAny(inner, " \t\n;|&") {
			values = append(values, inner)
		}
		if strings.ContainsAny(value, " \t\n;|&[{") {
			values = append(values, value)
		}
	}
	return values
}

// runsIn reports whether what a command runs by its subcommand or by its options may fit the pattern.
func (s *stopper) runsIn(words []word, depth int) bool {
	pattern := s.pattern
	name := path.Base(words[0].text)
	behind := behindRunner(name, words[1:])
	for i, w := range behind {
		if i == lookedAt {
			return true
		}
		if matchWords(pattern, behind[i:]) != no || matchSubcommand(pattern, behind[i:]) != no || unread(behind[i:], false) {
			return true
		}
		if base := path.Base(w.text); w.known && base != w.text {
			if based := append([]word{{base, true}}, behind[i+1:]...); matchWords(pattern, based) != no || matchSubcommand(pattern, based) != no {
				return true
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
		return true
	}
	if slices.ContainsFunc(values, func(value string) bool { return s.scriptRuns(value, depth) }) {
		return true
	}
	lines := scriptValues(name, words[1:])
	if len(lines) > lookedAt || slices.ContainsFunc(lines, func(line string) bool {
		return scriptNames(pattern, line) || strings.ContainsAny(line, "[{") && (mentions(pattern, line) || strings.Contains(line, `\u`)) // a list, or JSON
	}) {
		return true
	}
	return false
}

// scriptNames reports whether a command in a shell's script fits a pattern by its name.
func scriptNames(pattern []string, script string) bool {
	return slices.ContainsFunc(shellParts(script, maxDepth), func(p part) bool {
		return len(p.words) > 0 && p.words[0].known && (matchWords(pattern, p.words) != no || matchSubcommand(pattern, p.words) != no)
	})
}

// scriptRuns reports whether a command in a shell's script fits, or may fit, the pattern.
func (s *stopper) scriptRuns(script string, depth int) bool {
	return slices.ContainsFunc(shellParts(script, maxDepth), func(p part) bool {
		return len(p.words) > 0 && s.stops(p.words, true, depth+1) != no
	})
}
