package rules

import (
	"regexp"
	"strings"
)

// runsByAwk reports whether an awk program, among the arguments or unreadable, may run a command.
func runsByAwk(args []word) bool {
	program := true // the next word that is not an option is the program
	for i := 0; i < len(args); i++ {
		long := func(names ...string) bool { return abbreviates(args[i].text, names...) }
		switch w := args[i]; {
		case w.text == "-e" || long("--source") && !strings.Contains(w.text, "="):
			if program = false; i+1 < len(args) {
				if i++; awkRuns(args[i].text) {
					return true
				}
			}
		case strings.HasPrefix(w.text, "-f"), strings.HasPrefix(w.text, "-E"), strings.HasPrefix(w.text, "-l"), strings.HasPrefix(w.text, "-i"),
			long("--file", "--exec", "--load", "--include"):
			file := w
			if len(w.text) == 2 || w.text[1] == '-' && !strings.Contains(w.text, "=") {
				if i++; i == len(args) {
					return false
				}
				file = args[i]
			}
			if program = false; !file.known || isInputFile(file) {
				return true
			}
		case w.text == "-v" || w.text == "-F" || long("--assign", "--field-separator"):
			if !strings.Contains(w.text, "=") {
				i++
			}
		case strings.HasPrefix(w.text, "-e"), long("--source"):
			if program = false; awkRuns(w.text[len("-e"):]) {
				return true
			}
		case !strings.HasPrefix(w.text, "-"):
			if program && (awkRuns(w.text) || !w.known && w.text == unknownWhole) {
				return true
			}
			program = false
		}
	}
	return false
}

// awkCall matches where an awk program runs something by name, or includes more code.
var awkCall = regexp.MustCompile(`\bsystem\s*\(|@\s*[a-zA-Z_]`)

// awkRuns reports whether an awk program has a pipe, outside its strings and patterns, or calls something that runs a
// command.
func awkRuns(program string) bool {
	var b strings.Builder // the program without them
	last := byte('\n')    // before blanks
	for i := 0; i < len(program); i++ {
		c := program[i]
		switch {
		case c == '"' || c == '/' && strings.IndexByte("(,!~&|{};=\n?:", last) >= 0:
			for i++; i < len(program) && program[i] != c; i++ {
				if program[i] == '\\' {
					i++
				}
			}
			c = '0'
		case c == '#':
			for i+1 < len(program) && program[i+1] != '\n' {
				i++
			}
			continue
		}
		b.WriteByte(c)
		if c != ' ' && c != '\t' {
			last = c
		}
	}
	rest := strings.ReplaceAll(b.String(), "||", "")
	return strings.Contains(rest, "|") || awkCall.MatchString(rest)
}

// runsBySed reports whether a sed script, among the arguments or unreadable, may run a command.
func runsBySed(args []word) bool {
	var script []string
	known := true
	given := false // by an option
	for i := 0; i < len(args); i++ {
		w := args[i]
		letters, value, joined := sedOption(w.text)
		if joined == 0 {
			continue
		}
		given = true
		next := w
		if next.text = value; joined < 0 {
			if i++; i == len(args) {
				break
			}
			next = args[i]
		}
		switch {
		case letters == 'e' && !next.known && next.text == unknownWhole, letters == 'f' && (!next.known || isInputFile(next)):
			return true
		case letters == 'e':
			script, known = append(script, next.text), known && next.known
		}
	}
	if !given {
		for _, w := range args {
			if !strings.HasPrefix(w.text, "-") {
				if w.text == unknownWhole {
					return true
				}
				script, known = append(script, w.text), w.known
				break
			}
		}
	}
	return sedRuns(strings.Join(script, "\n"), known)
}

// sedOption parses an option that gives sed a script: as text (e) or as a file (f). joined is 1 if the value is in the
// same word, -1 if it is the next one, and 0 if there is none.
func sedOption(option string) (letter byte, value string, joined int) {
	for _, long := range []struct {
		name   string
		letter byte
	}{{"--expression", 'e'}, {"--file", 'f'}} {
		if abbreviates(option, long.name) {
			if _, value, ok := strings.Cut(option, "="); ok {
				return long.letter, value, 1
			}
			return long.letter, "", -1
		}
	}
	if !strings.HasPrefix(option, "-") || strings.HasPrefix(option, "--") {
		return 0, "", 0
	}
	at := strings.IndexAny(option, "efil")
	switch {
	case at < 0 || option[at] == 'i' || option[at] == 'l':
		return 0, "", 0
	case at+1 < len(option):
		return option[at], option[at+1:], 1
	}
	return option[at], "", -1
}

// sedRuns reports whether a sed script, in either way that a sed may parse it, has the command e or the flag e of s,
// which run commands. So counts a known script that cannot be parsed, if it has an e at all.
func sedRuns(script string, known bool) bool {
	runs, ok := readSed(script, false)
	runsToo, okToo := readSed(script, true)
	return runs || runsToo || !ok && !okToo && known && strings.Contains(script, "e")
}

// readSed parses a sed script. brackets says that a delimiter in brackets does not count; seds differ in that.
func readSed(s string, brackets bool) (runs, ok bool) {
	for {
		if s, ok = afterSedAddresses(strings.TrimLeft(s, " \t\r\n;{}"), brackets); !ok {
			return false, false
		}
		if s == "" {
			return false, true
		}
		c := s[0]
		s = s[1:]
		switch {
		case c == 'e':
			return true, true
		case c == 's' || c == 'y':
			if s == "" {
				return false, false
			}
			by := s[0]
			if s, ok = afterSedDelimiter(s[1:], by, brackets); ok {
				s, ok = afterSedDelimiter(s, by, brackets)
			}
			if !ok {
				return false, false
			}
			for c == 's' && s != "" && // a w takes the rest of the line, as the command w does
				strings.IndexByte("gpiImMe0123456789", s[0]) >= 0 {
				if s[0] == 'e' {
					return true, true
				}
				s = s[1:]
			}
		case strings.IndexByte("aicrRwW#", c) >= 0:
			s = afterSedLine(s)
		case strings.IndexByte("btT:", c) >= 0:
			end := strings.IndexAny(s, ";\n}")
			if end < 0 {
				return false, true
			}
			s = s[end:]
		case strings.IndexByte("qQlLv", c) >= 0:
			s = strings.TrimLeft(s, " 0123456789.")
		case strings.IndexByte("=dDgGhHnNpPxzF}{", c) >= 0:
		default:
			return false, false
		}
	}
}

func afterSedAddresses(s string, brackets bool) (rest string, ok bool) {
	for s != "" {
		switch {
		case strings.IndexByte("0123456789$,~+! \t", s[0]) >= 0:
			s = s[1:]
		case s[0] == '/' || s[0] == '\\' && len(s) > 1:
			by := s[0]
			if s = s[1:]; by == '\\' {
				by, s = s[0], s[1:]
			}
			if s, ok = afterSedDelimiter(s, by, brackets); !ok {
				return "", false
			}
			s = strings.TrimLeft(s, "IM")
		default:
			return s, true
		}
	}
	return "", true
}

func afterSedDelimiter(s string, by byte, brackets bool) (rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == by:
			return s[i+1:], true
		case s[i] == '[' && brackets:
			if end := strings.IndexByte(s[min(i+2, len(s)):], ']'); end >= 0 {
				i += 2 + end
			}
		}
	}
	return "", false
}

func afterSedLine(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == '\n' {
			return s[i+1:]
		}
	}
	return ""
}
