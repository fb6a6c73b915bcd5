package rules

import (
	"slices"
	"strings"
)

// interpreter is how an interpreter other than a shell takes code that is not in a file.
type interpreter struct {
	code    string // options with code, each between blanks
	letters string // the same, among other letters behind one dash
	modules string // letters whose value is the rest of the word
	values  string // options that take the next word, each between blanks
	program string // the option whose value is a program of files, or ""
	input   bool   // without a file its input is the code
}

// interpreters are those that agents and users write one-line code for.
var interpreters = func() map[string]interpreter {
	python := interpreter{letters: "c", modules: "WX", program: "-m", values: " -W -X ", input: true}
	node := interpreter{code: " --eval --print -pe ", letters: "ep", modules: "rC", values: " -r -C --require --import --loader --conditions --env-file ", input: true}
	lua := interpreter{letters: "e", modules: "l", values: " -l ", input: true}
	return map[string]interpreter{
		"python": python, "pypy": python, "ipython": python, "node": node, "nodejs": node, "tsx": node, "ts-node": node, "lua": lua, "luajit": lua,
		"perl":    {letters: "eE", modules: "IMmx", values: " -I ", input: true},
		"ruby":    {letters: "e", modules: "rIEK", values: " -I -r ", input: true},
		"php":     {code: " --run --process-begin --process-code --process-end ", letters: "rBRE", modules: "cdzS", values: " -c -d -z -S -t ", input: true},
		"bun":     {code: " --eval --print ", letters: "ep"},
		"Rscript": {letters: "e"}, "julia": {code: " --eval --print ", letters: "eE"}, "osascript": {letters: "e", input: true}, "elixir": {code: " --eval ", letters: "e"},
		"ghc": {letters: "e"}, "scala": {letters: "e"}, "kotlin": {letters: "e"}, "clojure": {letters: "e"}, "clj": {letters: "e"}, "racket": {letters: "e"}, "ocaml": {letters: "e"},
		"micropython": python, "bpython": python, "R": {letters: "e"}, "jython": python, "irb": {letters: "e", input: true}, "pry": {letters: "e", input: true}, "iex": {letters: "e", input: true},
		"rake": {letters: "eEp"}, "gforth": {letters: "e"}, "qjs": {letters: "e", input: true}, "gjs": {letters: "c", input: true}, "janet": {letters: "e", input: true},
		"jrunscript": {letters: "e", input: true}, "groovysh": {letters: "e", input: true}, "swipl": {letters: "gt", input: true}, "clisp": {letters: "x", input: true}, "escript": {},
		"raku": {letters: "e", input: true}, "swift": {letters: "e"}, "jshell": {input: true},
	}
}()

// prompts are Python's modules that run code from their words or their input.
var prompts = strings.Fields("code pdb timeit asyncio IPython bpython ptpython")

// codeOf finds the interpreter of a name: python3.12 is python.
func codeOf(name string) (interpreter, bool) {
	if found, ok := interpreters[name]; ok {
		return found, true
	}
	found, ok := interpreters[unversioned(name)]
	return found, ok
}

// runsCode reports whether an interpreter with these arguments runs code in them, or code that cannot be read.
func (in interpreter) runsCode(args []word) bool {
	unsure := false // the word before may be the value of an option
	for i := 0; i < len(args); i++ {
		w := args[i]
		name, _, _ := strings.Cut(w.text, "=")
		switch {
		case !w.known, isInputFile(w):
			return true
		case w.text == "":
		case w.text[0] != '-':
			if unsure || i == 0 || !strings.HasPrefix(args[i-1].text, "--") || strings.Contains(args[i-1].text, "=") {
				return false // a file
			}
			unsure = true
		case slices.Contains([]string{"--version", "--help", "-V", "-v", "-h"}, w.text):
			return false
		case strings.Contains(in.code, " "+name+" "):
			return true
		case strings.HasPrefix(w.text, "--"):
			if strings.HasPrefix(w.text, "--test") {
				return false
			}
			if strings.Contains(in.values, " "+w.text+" ") {
				i++
			}
		case in.program != "" && strings.HasPrefix(w.text, in.program):
			module := strings.TrimPrefix(w.text, in.program)
			if module == "" && i+1 < len(args) {
				module = args[i+1].text
			}
			return slices.Contains(prompts, module)
		default:
			if in.amongLetters(w.text[1:]) {
				return true
			}
			if strings.Contains(in.values, " "+w.text+" ") {
				i++
			}
		}
	}
	return in.input && !unsure
}

// amongLetters reports whether one of several letters behind a dash is followed by code.
func (in interpreter) amongLetters(letters string) bool {
	for i, r := range letters {
		switch {
		case strings.ContainsRune(in.letters, r):
			return true
		case strings.ContainsRune(in.modules, r):
			return strings.ContainsAny(letters[i:], " \t\n;()") // a module's name is none
		}
	}
	return false
}
