package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// stopper looks for the pattern of a rule that rejects or asks in a command, and in anything that it runs.
type stopper struct {
	pattern []string
	fed     string // what may be the command's input, or ""
	left    int    // of mostLooks
}

// mostLooks is how many commands within one are examined, a long one counting for each hundred of its words; with more of
// them it is maybe.
const mostLooks = 1000

// stoppedBy reports whether the pattern of a rule that rejects or asks fits, by name or in a folder, or fits what is
// run through another program. It is maybe if that cannot be determined.
func (p part) stoppedBy(pattern []string, r Request) match {
	s := stopper{pattern: pattern, fed: p.fed, left: mostLooks}
	switch {
	case len(p.words) > 0:
		best := s.stops(p.words, true, 0)
		if name := p.linked(r); name != "" && best == no && s.stops(append([]word{{name, true}}, p.words[1:]...), false, 0) != no || p.written {
			best = max(best, maybe)
		}
		if !slices.Contains(texts, path.Base(p.name())) && len(p.expanded) > 0 && mentions(pattern, bracketed.FindString(p.text)) {
			best = max(best, maybe)
		}
		if r.Fold && best == no {
			s.pattern = folded(pattern)
			best = s.stops(foldedWords(p.words), true, 0)
		}
		return best
	case p.inert && !p.holds && !s.holdsRun(p.value):
		return no
	}
	return maybe
}

// bracketed is a list, or JSON, that is the value of an option, and that a shell takes for a pattern.
var bracketed = regexp.MustCompile(`=[\[{].*`)

// linked returns the name of the program to which a command's path leads, if it differs.
func (p part) linked(r Request) string {
	named := p.words[0]
	if !named.known || !strings.Contains(named.text, "/") {
		return ""
	}
	at, ok := r.Absolute(named.text)
	if !ok {
		return ""
	}
	if real := r.Resolve(at); real != "" && path.Base(real) != path.Base(named.text) {
		return path.Base(real)
	}
	return ""
}

// folded returns texts with case folded, as some file systems do with the names of programs.
func folded(texts []string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = strings.ToLower(text)
	}
	return list
}

func foldedWords(words []word) []word {
	list := slices.Clone(words)
	for i := range list {
		list[i].text = strings.ToLower(list[i].text)
	}
	return list
}

// wrappers run what their arguments say.
var wrappers = strings.Fields(`
	sudo doas env nice ionice nohup timeout time command builtin exec xargs setsid stdbuf chroot unshare parallel watch find busybox strace ltrace
	taskset flock su ssh script eval noglob nocorrect trap caffeinate chrt firejail bwrap systemd-run toybox pkexec run0 runuser sg gosu su-exec
	fakeroot proot nsenter setarch prlimit numactl xvfb-run unbuffer chronic entr dbus-run-session newgrp valgrind rlwrap hyperfine watchexec npx bunx
	start-stop-daemon tmux xterm choom proxychains proxychains4 torify tsocks torsocks setpriv capsh systemd-inhibit cpulimit faketime eatmydata rr
	catchsegv mosh pssh sem cross-env dotenv dotenvx screen dbus-launch concurrently nodemon uvx mispipe pee ifne retry coreutils wsl linux32 linux64
	i386 x86_64 arch runcon aa-exec sandbox-exec tini dumb-init daemonize daemon chpst softlimit envdir setuidgid s6-setuidgid setlock lckdo gdbserver
	alacritty gnome-terminal konsole kitty foot st urxvt x-terminal-emulator systemd-nspawn arch-chroot mpirun mpiexec srun bsub condor_run aws-vault
	teller wine dockerize wait-for-it ts tsp orb with-lock-ex zrun flatpak-spawn`)

// shellWrappers are those that have a shell run their arguments.
var shellWrappers = strings.Fields("su ssh script eval trap watch sg runuser parallel sem tmux screen hyperfine flock entr concurrently nodemon mosh pssh watchexec pee mispipe")

// withOperand are wrappers whose command comes after a word that is not an option.
var withOperand = strings.Fields("flock chroot taskset ssh chrt su runuser gosu su-exec sg setarch entr proot")

// takingValues are the options of wrappers that take the next word, each a letter.
var takingValues = map[string]string{
	"xargs": "adEIJLnPRSs", "sudo": "CDghpRrTtUu", "doas": "Cu", "env": "Cu", "nice": "n", "ionice": "cnpu", "timeout": "ks", "stdbuf": "eio", "time": "fo",
	"strace": "aeoOpsSuPXEI", "exec": "a", "watch": "n", "parallel": "jnaIdNLPSEsC",
}

// naming are programs whose further words name packages, files and tasks: none of them runs a command among these,
// except as behindRunner and commandValues know.
var naming = slices.Concat(namingFiles, texts, strings.Fields(`
	rm unlink shred install dd tar zip unzip gzip gunzip bzip2 xz zstd 7z rsync scp patch column paste join split tac nl fold fmt expand seq date true false
	: expr sleep kill pkill killall pgrep pidof ps top htop lsof id whoami groups hostname uname export alias unalias unset declare local readonly typeset
	return exit shift read help history bat fd fdfind tree eza exa lsd delta dpkg dpkg-query rpm yum pacman apk zypper snap flatpak nix-env pip pip3
	pipx gem cargo rustup npm pnpm yarn bun deno docker podman nerdctl docker-compose kubectl oc helm make gmake go git apt apt-get apt-cache terraform
	systemctl service journalctl choco scoop winget port whatis whereis apropos info tldr hash gcc g++ cc c++ clang clang++ ld ar rustc javac poetry uv
	pipenv conda mamba bundle md5sum sha256sum sha1sum cksum xxd od hexdump strings nm objdump size ldd du df dirs popd [[ let wait jobs umask ulimit
	base64 tsc eslint prettier pytest jest vitest ruff black mypy cmake ninja aws gcloud az gsutil perf ip screen`))

// isWrapper reports whether a program runs what its arguments say. GNU versions may have a g before their names.
func isWrapper(name string) bool {
	gnu, _ := strings.CutPrefix(name, "g")
	return isOneOf(wrappers, name) || slices.Contains(wrappers, gnu) ||
		strings.HasPrefix(name, "ld-") || name == "ld.so" || strings.HasPrefix(name, "qemu-")
}

// isOneOf reports whether a program is one of a list, or a build of one, as bash-static, zsh-5.9 and vim.tiny are.
func isOneOf(list []string, name string) bool {
	return slices.Contains(list, name) || slices.Contains(list, unversioned(name))
}

// unversioned returns the name of a program without what distinguishes its builds.
func unversioned(name string) string {
	if bare, suffix, _ := strings.Cut(name, "."); slices.Contains([]string{"exe", "static", "tiny", "basic", "nox", "gtk", "gtk3", "appimage"}, suffix) {
		name = bare
	}
	return strings.TrimRight(strings.TrimSuffix(name, "-static"), "0123456789.-")
}

// otherNames are prefixes of other names for a program: GNU versions, shell modules, and one that makes a shell look
// among programs.
var otherNames = []string{"g", "zf_", "^"}

// stops is stoppedBy for the words of a command. builtins says that a shell runs it itself, and depth how many wrappers
// are around it.
func (s *stopper) stops(words []word, builtins bool, depth int) match {
	if s.left -= 1 + len(words)/100; s.left < 0 || depth > 4*maxDepth {
		return maybe
	}
	best := s.matches(words)
	name := strings.TrimSuffix(path.Base(words[0].text), ".exe")
	if words[0].known && name != words[0].text {
		best = max(best, s.matches(append([]word{{name, true}}, words[1:]...)))
	}
	if first, second, _ := strings.Cut(name, "-"); len(s.pattern) > 1 && s.pattern[0] == first && s.pattern[1] == second { // git-push
		best = max(best, s.matches(append([]word{{first, true}, {second, true}}, words[1:]...)))
	}
	for _, prefix := range otherNames {
		if bare, ok := strings.CutPrefix(name, prefix); ok && s.matches(append([]word{{bare, true}}, words[1:]...)) != no {
			best = max(best, maybe)
		}
	}
	if unread(words, builtins) || s.runsIn(words, depth) || s.copies(name, words[1:]) || s.fed != "" && s.readsCommands(name, words[1:]) {
		best = max(best, maybe)
	}
	wrapper := isWrapper(name) || strings.HasPrefix(name, "-") && (len(name) > 1 || depth == 0) // that of a time with options, and zsh's
	if (!wrapper || slices.Contains(shellWrappers, name)) && !slices.Contains(naming, name) && (s.mentioned(name, words[1:]) || mentions(s.pattern, s.fed)) {
		best = max(best, maybe)
	}
	if isOneOf(shells, name) && slices.ContainsFunc(words[1:], func(w word) bool {
		return strings.ContainsAny(w.text, " \t\n;|&") && s.scriptRuns(w.text, depth)
	}) {
		best = max(best, maybe)
	}
	if isMake(name) && slices.ContainsFunc(words[1:], func(w word) bool {
		_, value, ok := setting(w)
		return ok && strings.ContainsAny(value.text, " \t") && s.scriptRuns(value.text, depth)
	}) {
		best = max(best, maybe)
	}
	if !wrapper || name == "command" && len(words) > 1 && strings.EqualFold(words[1].text, "-v") {
		return best
	}
	words = placed(name, words)
	rest, sure := behindOptions(name, words[1:])
	if name == "find" && !executes(words[len(words)-len(rest)-1].text) {
		rest = nil // what it looks for
	}
	if len(rest) > 0 {
		run := rest
		if name == "xargs" || name == "parallel" {
			run = append(slices.Clip(rest), word{}) // what it is given
			if givesCommands(words[1:len(words)-len(rest)], rest) {
				best = max(best, maybe)
			}
		}
		best = max(best, s.stops(run, slices.Contains([]string{"builtin", "command", "eval", "noglob", "nocorrect"}, name), depth+1))
		if sure && rest[0].known && slices.Contains(naming, rest[0].text) {
			return best
		}
	}
	return max(best, s.stopsBehind(name, words, best, depth))
}

// matches compares the pattern with the words of a command.
func (s *stopper) matches(words []word) match {
	return max(matchWords(s.pattern, words), matchSubcommand(s.pattern, words))
}

// stopsBehind looks for the pattern at any of the words after a wrapper's name, as not all options are known to take a
// word or not.
func (s *stopper) stopsBehind(name string, words []word, best match, depth int) match {
	operand := slices.Contains(withOperand, name)
	starts := name != "find" // the next word may be what is run
	script := " \t\n;|&"
	if slices.Contains(shellWrappers, name) {
		script += "<>$`(){}\\'\""
	}
	tried := 0
	for i, w := range words[1:] {
		if name == "find" && !starts {
			starts = executes(w.text) || !w.known
			continue
		}
		if base := path.Base(w.text); w.known && base != w.text {
			based := append([]word{{base, true}}, words[i+2:min(len(words), i+2+len(s.pattern))]...)
			if matchWords(s.pattern, based) != no {
				best = max(best, maybe)
			}
		}
		if best == no && w.known && len(s.pattern) > 1 && matchWord(s.pattern[0], path.Base(w.text)) {
			based := append([]word{{path.Base(w.text), true}}, words[i+2:]...)
			if tried++; tried > lookedAt || matchSubcommand(s.pattern, based) != no { // each looks at all words behind it
				best = maybe
			}
		}
		if matchWords(s.pattern, words[i+1:]) != no || starts && (unread(words[i+1:], false) || isWrapper(path.Base(w.text)) && s.stops(words[i+1:], false, depth+1) != no) {
			best = max(best, maybe)
		}
		if name == "xargs" && isWrapper(path.Base(w.text)) && !slices.ContainsFunc(words[i+2:], func(w word) bool { return !isOption(w.text) }) {
			best = max(best, maybe) // what that runs is in the input
		}
		switch {
		case name == "find":
			starts = executes(w.text) || !w.known
		case isOption(w.text) || strings.HasPrefix(words[i].text, "-"):
		default:
			starts, operand = starts && operand, false
		}
		if strings.ContainsAny(w.text, script) && s.scriptRuns(w.text, depth) {
			best = max(best, maybe)
		}
		if _, value, ok := setting(w); ok && s.holdsRun(value.text) {
			best = max(best, maybe)
		}
	}
	return best
}

// behindOptions returns the arguments of a wrapper from the first that is neither an option nor an option's value. It
// is sure if all of these options are known.
func behindOptions(name string, args []word) (rest []word, sure bool) {
	letters, sure := takingValues[name]
	for len(args) > 0 && (isOption(args[0].text) || name == "find" && args[0].text == ".") {
		option := args[0].text
		args = args[1:]
		switch {
		case !strings.HasPrefix(option, "-") && strings.Contains(option, "="):
			sure = false // a variable, which may be a command
		case strings.HasPrefix(option, "--"):
			sure = sure && (option == "--" || strings.Contains(option, "="))
		case len(args) > 0 && len(option) > 1 && option[0] == '-' && strings.IndexByte(letters, option[len(option)-1]) >= 0:
			args = args[1:]
		}
	}
	return args, sure
}

// placed returns the words of a wrapper that substitutes others into them: those are then unknown.
func placed(name string, words []word) []word {
	mark := "{"
	switch name {
	case "find":
		mark = "{}"
	case "parallel":
	case "xargs":
		mark = ""
		for i, w := range words[1:] {
			option, value, _ := strings.Cut(w.text, "=")
			switch {
			case option == "--replace":
				mark = value
			case (w.text == "-I" || w.text == "-J") && i+2 < len(words):
				mark = words[i+2].text
			case strings.HasPrefix(w.text, "-I"), strings.HasPrefix(w.text, "-i"):
				mark = w.text[2:]
			default:
				continue
			}
			if mark == "" {
				mark = "{}"
			}
			break
		}
	default:
		return words
	}
	if mark == "" {
		return words
	}
	out := slices.Clone(words)
	for i := 1; i < len(out); i++ {
		if strings.Contains(out[i].text, mark) && out[i].text != mark || out[i].text == mark && out[i-1].text != "-I" && out[i-1].text != "-J" {
			if !strings.HasPrefix(out[i].text, "-") {
				out[i] = word{}
			}
		}
	}
	return out
}

// givesCommands reports whether the words that xargs, with its options, takes from its input may have a program run commands:
// they are its subcommand, or what make is to do, but for the folder where it is to do that.
func givesCommands(options, run []word) bool {
	name := path.Base(run[0].text)
	has := func(list []word, texts ...string) bool {
		return slices.ContainsFunc(list, func(w word) bool { return slices.Contains(texts, w.text) })
	}
	switch {
	case has(run, ":::"): // they are parallel's own
		return false
	case !isMake(name) && name != "just" && name != "task" && name != "ninja":
		bare := !slices.ContainsFunc(run[1:], func(w word) bool { return !strings.HasPrefix(w.text, "-") })
		return bare && (runners[name] != nil || slices.Contains([]string{"aws", "brew", "bun", "cargo", "deno", "go"}, name))
	}
	inFolder := func(i int) bool { return run[i-1].text == "-C" || run[i-1].text == "--directory" }
	placed := slices.ContainsFunc(options, func(w word) bool {
		return strings.HasPrefix(w.text, "-I") || strings.HasPrefix(w.text, "-J") || strings.HasPrefix(w.text, "-i") || strings.HasPrefix(w.text, "--replace")
	})
	if !placed {
		one := has(options, "-n1", "-L1") || has(options, "-n", "-L") && has(options, "1")
		return !one || !inFolder(len(run))
	}
	for i := 1; i < len(run); i++ {
		if !run[i].known && !inFolder(i) {
			return true
		}
	}
	return false
}

// executes reports whether an argument of find makes the next ones a command.
func executes(w string) bool { return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") }

// isOption reports whether a word may come between a wrapper and its command.
func isOption(w string) bool {
	return strings.HasPrefix(w, "-") || strings.Contains(w, "=") ||
		strings.ContainsAny(w, "0123456789") && strings.Trim(w, "0123456789.smhd") == ""
}

// readsCommands reports whether a program that is given input runs it: ssh without a command has a shell there, an image
// is built by commands, and what is deployed names some.
func (s *stopper) readsCommands(name string, args []word) bool {
	switch name {
	case "docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc", "helm":
		builds := slices.ContainsFunc(args, func(w word) bool { return w.text == "build" })
		return slices.ContainsFunc(args, func(w word) bool {
			return builds && !w.known || isInputFile(w) && (builds || mentions(s.pattern, s.fed))
		})
	case "ssh":
	default:
		return false
	}
	operands := 0
	for i := 0; i < len(args); i++ {
		switch w := args[i].text; {
		case !strings.HasPrefix(w, "-"):
			operands++
		case len(w) == 2 && strings.Contains("BbcDEeFIiJLlmOopQRSWw", w[1:]):
			i++
		}
	}
	return operands < 2
}

// copies reports whether a program that the pattern names is given another name, by which it may then be run.
func (s *stopper) copies(name string, args []word) bool {
	return slices.Contains([]string{"cp", "ln", "mv", "install", "link"}, name) && slices.ContainsFunc(args, func(w word) bool {
		dir, base := path.Split(w.text)
		return w.known && strings.HasSuffix(dir, "bin/") && matchWord(s.pattern[0], base)
	})
}

// mentioned reports whether arguments of an unknown program name the pattern's command, which it may run. For programs
// of an interpreter a word is a name, unless it looks like code.
func (s *stopper) mentioned(name string, args []word) bool {
	_, interprets := codeOf(name)
	var b strings.Builder
	for _, w := range args {
		if interprets && !strings.ContainsAny(w.text, " \t\n;(") {
			continue
		}
		b.WriteByte(' ')
		if len(w.text) > 3 && w.text[0] == '-' && w.text[1] != '-' { // -c'rm x', -qc'rm x'
			b.WriteString(w.text[2:] + " " + w.text[3:] + " ")
		}
		b.WriteString(w.text)
	}
	return mentions(s.pattern, b.String())
}

// mentions reports whether a text has all words of a pattern, as separate names and in order.
func mentions(pattern []string, text string) bool {
	found := false
	for _, want := range pattern {
		if strings.Contains(want, "*") {
			continue
		}
		at := indexName(text, want)
		if at < 0 {
			return false
		}
		text = text[at+len(want):]
		found = true
	}
	return found
}

// indexName returns where a text has a name that is not part of another, or a program's path with it.
func indexName(text, name string) int {
	const letters = "-_.+@ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return -1
		}
		at += from
		before, behind := text[:at], text[at+len(name):]
		first := at == 0 || strings.IndexByte(letters+"/", text[at-1]) < 0 || strings.HasSuffix(before, "bin/") || strings.HasSuffix(before, " ./")
		if first && (behind == "" || strings.IndexByte(letters+"/", behind[0]) < 0) {
			return at
		}
		from = at + 1
	}
}
