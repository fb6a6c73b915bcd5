package rules

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// request is one of the folder /p; nothing there is a symbolic link, but /p/link, which leads to /etc.
func request(r Request) Request {
	r.Cwd, r.Home = "/p", "/home/me"
	r.Absolute = func(name string) (string, bool) {
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			return r.Home + "/" + rest, true
		}
		if !filepath.IsAbs(name) {
			name = r.Cwd + "/" + name
		}
		return name, !strings.Contains(name, "://")
	}
	r.Resolve = func(path string) string {
		path = filepath.Clean(path)
		if rest, ok := strings.CutPrefix(path, "/p/link"); ok && (rest == "" || rest[0] == '/') {
			return "/etc" + rest
		}
		return path
	}
	for i, p := range r.Paths {
		r.Paths[i].Real = r.Resolve(p.Given)
	}
	return r
}

func named(paths ...string) (list []Path) {
	for _, p := range paths {
		list = append(list, Path{Given: p})
	}
	return list
}

func allow(commands ...string) Rule  { return Rule{Commands: commands, Action: Allow} }
func reject(commands ...string) Rule { return Rule{Commands: commands, Action: Reject} }

func TestDecide(t *testing.T) {
	run := func(script string) Request { return Request{Kind: "execute", Run: Shell(script)} }
	edit := func(paths ...string) Request { return Request{Kind: "edit", Paths: named(paths...)} }
	src := Rule{Paths: []string{"src/**"}, Action: Allow}
	for _, c := range []struct {
		name  string
		rules []Rule
		of    Request
		want  Action
		why   string
	}{
		{"nothing is allowed by default", nil, run("ls"), Ask, ""},
		{"nothing is allowed by default: edit", nil, edit("/p/a"), Ask, ""},

		{"a command", []Rule{allow("git status")}, run("git status"), Allow, "command git status"},
		{"one word more", []Rule{allow("git status")}, run("git status -s"), Ask, ""},
		{"a word", []Rule{allow("git show *")}, run("git show HEAD"), Allow, "command git show *"},
		{"no word", []Rule{allow("git show *")}, run("git show"), Ask, ""},
		{"two words", []Rule{allow("git show *")}, run("git show HEAD x"), Ask, ""},
		{"a part of a word", []Rule{allow("npm run test:*")}, run("npm run test:unit"), Allow, "command npm run test:*"},
		{"any words", []Rule{allow("git diff **")}, run(`git diff --stat "a b" 'c'`), Allow, "command git diff **"},
		{"any words: none", []Rule{allow("git diff **")}, run(`git diff`), Allow, "command git diff **"},
		{"one of several", []Rule{allow("make", "ls **")}, run("ls -l"), Allow, "command make or ls **"},
		{"all parts by one rule", []Rule{allow("git **")}, run("git pull && git status | git x; git y"), Allow, "command git **"},
		{"parts by several rules", []Rule{allow("git status"), allow("make test")}, run("git status && make test 2>&1 >/dev/null"), Allow, "command git status; command make test"},
		{"a part is not allowed", []Rule{reject("sudo **"), allow("git status")}, run("git status; rm -rf build"), Ask, "rule 2 allows `git status`, but not `rm -rf build`"},
		{"a part is redirected", []Rule{allow("git **")}, run("git status > x"), Ask, "rule 1 allows `git status`, but it redirects: `> x`"},
		{"a part is not allowed, and another one is redirected", []Rule{allow("git **")}, run("git status; rm x; git log > x"), Ask, "rule 1 allows `git status`, but it redirects: `> x`"},
		{"a shell's script", []Rule{allow("git status")}, run("bash -lc 'git status'"), Allow, "command git status"},
		{"a shell without a script", []Rule{allow("bash **")}, run("bash x.sh"), Allow, "command bash **"},
		{"a shell's script that is not allowed", []Rule{allow("git status", "bash **")}, run("bash -lc 'git status; rm x'"), Ask, "rule 1 allows `git status`, but not `rm x`"},
		{"an argv", []Rule{allow("git commit -m *")}, Request{Kind: "execute", Run: Argv([]string{"git", "commit", "-m", "$(a) b; c"})}, Allow, "command git commit -m *"},
		{"an argv with a shell", []Rule{allow("git status")}, Request{Kind: "execute", Run: Argv([]string{"/bin/bash", "-lc", "git status"})}, Allow, "command git status"},
		{"an argv with a shell that does more", []Rule{allow("git status")}, Request{Kind: "execute", Run: Argv([]string{"bash", "-lc", "git status;rm x"})}, Ask, "rule 1 allows `git status`, but not `rm x`"},
		{"all commands", []Rule{{Kinds: []string{"execute"}, Action: Allow}}, run("X=1 $(rm) > `x` &"), Allow, "kind execute"},
		{"the first match wins", []Rule{allow("git **"), reject("git push **")}, run("git push"), Allow, "command git **"},
		{"the first match wins: reject", []Rule{reject("git push **"), allow("git **")}, run("git status && git push"), Reject, "command git push **"},
		{"in another folder", []Rule{allow("make")}, Request{Kind: "execute", Run: Shell("make").Doubtful("it runs in /tmp")}, Ask, "it runs in /tmp"},

		{"reject any part", []Rule{reject("rm **"), {Kinds: []string{"execute"}, Action: Allow}}, run("ls && (true; rm -rf x)"), Reject, "command rm **"},
		{"reject in a substitution", []Rule{reject("rm **")}, run("echo $(rm x)"), Reject, "command rm **"},
		{"reject by path", []Rule{reject("rm **")}, run("/bin/rm x"), Reject, "command rm **"},
		{"reject behind a wrapper", []Rule{reject("rm **")}, run("sudo -n timeout 10s env A=1 rm x"), Reject, "command rm **"},
		{"reject in a shell", []Rule{reject("rm **")}, run("sh -c 'rm x' a b"), Reject, "command rm **"},
		{"reject a quoted name", []Rule{reject("rm **")}, run(`r\m x`), Reject, "command rm **"},
		{"reject a shell", []Rule{reject("bash **"), allow("ls")}, run(`bash -c ls`), Reject, "command bash **"},
		{"perhaps rejected", []Rule{reject("rm **"), {Kinds: []string{"execute"}, Action: Allow}}, run("$X x"), Ask, "rule 1 may be about `$X x`"},
		{"rejected by find", []Rule{reject("rm **")}, run("find . -exec rm {} +"), Reject, "command rm **"},
		{"rejected by find, which asks", []Rule{reject("rm **")}, run("find . -okdir rm {} ;"), Reject, "command rm **"},
		{"a link by its name", []Rule{{Paths: []string{"l*/**"}, Action: Reject}}, edit("/p/link/x"), Reject, "path l*/**"},
		{"perhaps rejected by find", []Rule{reject("rm **"), {Kinds: []string{"execute"}, Action: Allow}}, run("find . -name x -exec rm {} +"), Ask, "rule 1 may be about `find . -name x -exec rm {} +`"},
		{"perhaps rejected, as it is no command", []Rule{reject("rm **"), {Kinds: []string{"execute"}, Action: Allow}}, run("ls (("), Ask, "rule 2 allows `ls`, but rule 1 may be about `ls ((`"},
		{"a redirection is no command", []Rule{reject("rm **"), {Kinds: []string{"execute"}, Action: Allow}}, run("ls > x"), Allow, "kind execute"},
		{"ask about a file", []Rule{{Paths: []string{"a"}, Action: Ask}, {Action: Allow}}, edit("/p/a"), Ask, "rule 1 asks"},
		{"ask", []Rule{{Commands: []string{"git push **"}, Action: Ask}, allow("git **")}, run("git push"), Ask, "rule 1 asks"},

		{"a path", []Rule{src}, edit("/p/src/a/b.go"), Allow, "path src/**"},
		{"another path", []Rule{src}, edit("/p/test/a.go"), Ask, ""},
		{"all paths", []Rule{src}, edit("/p/src/a", "/etc/passwd"), Ask, "rule 1 allows /p/src/a, but not /etc/passwd"},
		{"no path", []Rule{src}, edit(), Ask, "rule 1 is about files, and the request names none"},
		{"above", []Rule{src}, edit("/p/src/../x"), Ask, ""},
		{"out by a link", []Rule{{Paths: []string{"**"}, Action: Allow}}, edit("/p/link/passwd"), Ask, ""},
		{"a rule by a link", []Rule{{Paths: []string{"link/*"}, Action: Allow}}, edit("/etc/passwd"), Allow, "path link/*"},
		{"home", []Rule{{Paths: []string{"~/notes/*.md"}, Action: Allow}}, edit("/home/me/notes/a.md"), Allow, "path ~/notes/*.md"},
		{"home itself", []Rule{{Paths: []string{"~"}, Action: Reject}}, edit("/home/me"), Reject, "path ~"},
		{"a name that begins like home", []Rule{{Paths: []string{"~x"}, Action: Reject}}, edit("/p/~x"), Reject, "path ~x"},
		{"one of two endings", []Rule{{Paths: []string{"/p/*.{go,mod}"}, Action: Allow}}, edit("/p/go.mod"), Allow, "path /p/*.{go,mod}"},
		{"exactly", []Rule{{Paths: []string{"README.md"}, Action: Allow}}, edit("/p/README.md"), Allow, "path README.md"},
		{"not below", []Rule{{Paths: []string{"README.md"}, Action: Allow}}, edit("/p/README.md/x"), Ask, ""},
		{"case", []Rule{src}, edit("/p/SRC/a"), Ask, ""},
		{"reject any path", []Rule{{Paths: []string{"/etc/**"}, Action: Reject}, src}, edit("/p/src/a", "/etc/passwd"), Reject, "path /etc/**"},
		{"reject by a link", []Rule{{Paths: []string{"link/**"}, Action: Reject}}, edit("/p/link/passwd"), Reject, "path link/**"},
		{"reject a path in a command", []Rule{{Paths: []string{"/etc/**"}, Action: Reject}}, run("cat -n link/passwd"), Reject, "path /etc/**"},
		{"reject a path that is written to", []Rule{{Paths: []string{"/etc/**"}, Action: Reject}}, run("echo >/etc/x"), Reject, "path /etc/**"},
		{"files do not allow a command", []Rule{src}, Request{Kind: "execute", Paths: named("/p/src/a"), Run: Shell("rm -rf /")}, Ask, ""},
		{"a read that is a command", []Rule{{Kinds: []string{"read"}, Action: Allow}}, Request{Kind: "read", Run: Shell("cat x")}, Ask, ""},
		{"a command that is called a read", []Rule{{Kinds: []string{"execute"}, Action: Reject}}, Request{Kind: "read", Run: Shell("cat x")}, Reject, "kind execute"},
		{"a read that is a command is still one", []Rule{{Kinds: []string{"read"}, Action: Reject}}, Request{Kind: "read", Run: Shell("cat x")}, Reject, "kind read"},
		{"what runs nothing is no command", []Rule{{Kinds: []string{"execute"}, Action: Reject}}, Request{Kind: "read"}, Ask, ""},
		{"a command pattern without a command", []Rule{allow("**")}, edit("/p/a"), Ask, ""},
		{"a command pattern without a command or a file", []Rule{allow("**")}, edit(), Ask, ""},
		{"another agent's files", []Rule{{Agents: []string{"x"}, Paths: []string{"**"}, Action: Allow}}, edit(), Ask, ""},
		{"files that are rejected", []Rule{{Paths: []string{"**"}, Action: Reject}}, edit(), Ask, ""},

		{"a kind", []Rule{{Kinds: []string{"read", "search"}, Action: Allow}}, Request{Kind: "search"}, Allow, "kind read or search"},
		{"another kind", []Rule{{Kinds: []string{"read", "search"}, Action: Allow}}, Request{Kind: "edit"}, Ask, ""},
		{"an unknown kind", []Rule{{Kinds: []string{"_dance"}, Action: Reject}}, Request{Kind: "_dance"}, Reject, "kind _dance"},
		{"an agent", []Rule{{Agents: []string{"claude"}, Action: Allow}}, Request{Agent: "claude", Kind: "fetch"}, Allow, "agent claude"},
		{"another agent", []Rule{{Agents: []string{"claude"}, Action: Allow}}, Request{Agent: "codex", Kind: "fetch"}, Ask, ""},
		{"all fields", []Rule{{Agents: []string{"claude"}, Kinds: []string{"edit"}, Paths: []string{"src/*"}, Action: Allow}}, Request{Agent: "claude", Kind: "edit", Paths: named("/p/src/a")}, Allow, "agent claude, kind edit, path src/*"},
		{"not all fields", []Rule{{Agents: []string{"claude"}, Kinds: []string{"edit"}, Paths: []string{"src/*"}, Action: Allow}}, Request{Agent: "claude", Kind: "delete", Paths: named("/p/src/a")}, Ask, ""},

		{"a tool", []Rule{{Tools: []string{"server/*", "other/x"}, Action: Allow}}, Request{MCP: true, Tool: "server/a"}, Allow, "tool server/* or other/x"},
		{"private", []Rule{{Action: Allow}}, edit("/p/a/.env"), Ask, "`/p/a/.env` is private"},
		{"private elsewhere", []Rule{{Action: Allow}}, edit("/x/.git/config"), Ask, "`/x/.git/config` is private"},
		{"private in a command", []Rule{{Action: Allow}}, run("cat .env.local"), Ask, "`/p/.env.local` is private"},
		{"private in an option", []Rule{{Action: Allow}}, run("x --file=a/../.env"), Ask, "`/p/.env` is private"},
		{"private in a redirection", []Rule{{Action: Allow}}, run("cat < .env"), Ask, "`/p/.env` is private"},
		{"private by a link's name", []Rule{{Action: Allow}}, edit("/p/link/secret"), Ask, "`/p/link/secret` is private"},
		{"private at one place", []Rule{{Action: Allow}}, edit("/keys/a"), Ask, "`/keys/a` is private"},
		{"private and rejected", []Rule{{Action: Reject}}, edit("/p/.env"), Reject, "everything"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := List{Rules: c.rules, Private: []string{"**/.env", "**/.env.*", "**/.git/**", "l*/secret", "/keys/*"}}
			must.Do(t, l.Check())
			got := l.Decide(request(c.of))
			if got.Action != c.want || got.Why != c.why {
				t.Errorf("got %s, %q; expected %s, %q", got.Action, got.Why, c.want, c.why)
			}
		})
	}
}

// The rules that have decided are known by their numbers, each once and in order.
func TestWhichRulesDecide(t *testing.T) {
	l := List{Rules: []Rule{
		{Commands: []string{"git push **"}, Action: Ask}, reject("rm **"), allow("git **"), allow("ls"),
	}}
	for script, want := range map[string]string{
		"git push": "[1]", "git push x; ls; git push y": "[1]", "$X x": "[1]", "sudo -Z me rm x": "[2]",
		"rm x; git push": "[2]", "git push; rm x": "[2]", "git push; sudo -Z me rm x": "[1 2]",
		"ls; git x; ls": "[3 4]", "ls": "[4]", "ls; other": "[]", "other": "[]",
	} {
		got := l.Decide(request(Request{Kind: "execute", Run: Shell(script)}))
		check.Equal(t, fmt.Sprint(got.Rules), want, "%q is decided by %s", script)
	}
}

func TestCaseAsTheFileSystem(t *testing.T) {
	l := List{Rules: []Rule{{Paths: []string{"src/*.Go"}, Action: Allow}}}
	r := request(Request{Kind: "edit", Paths: named("/p/SRC/a.go")})
	r.Fold = true
	if got := l.Decide(r); got.Action != Allow {
		t.Errorf("got %v", got)
	}
}

// Without a home folder, or where one cannot be looked at, globs in it fit nothing.
func TestGlobsInAFolderThatIsNotKnown(t *testing.T) {
	l := List{Rules: []Rule{{Paths: []string{"~/**"}, Action: Allow}}}
	r := request(Request{Kind: "edit", Paths: named("/x/a")})
	r.Home = ""
	check.Equal(t, l.Decide(r).Action, Ask, "without a home it is %s")
	r.Home, r.Resolve = "/x", func(string) string { return "" }
	check.Equal(t, l.Decide(r).Action, Ask, "with one that is not found it is %s")
}

// A command with more names than are looked at counts as private.
func TestPrivateRequests(t *testing.T) {
	l := List{Private: []string{"**/.env"}}
	for script, want := range map[string]bool{"cat .env": true, "cat x": false, "cat {1..5000}": true} {
		check.Equal(t, l.IsPrivate(request(Request{Run: Shell(script)})), want, "%s is private: %v", script)
	}
}

// The folder may have any name.
func TestWildcardsInTheFoldersName(t *testing.T) {
	l := List{Rules: []Rule{{Paths: []string{"*.go"}, Action: Allow}}}
	r := request(Request{Kind: "edit", Paths: named("/[p]*/a.go")})
	r.Cwd = "/[p]*"
	if got := l.Decide(r); got.Action != Allow {
		t.Errorf("got %v", got)
	}
}

// bypasses are ways to have a shell do more than `git status`. An allow rule for
// that alone, or for any git command, must leave each of them to the user.
var bypasses = []string{
	"git status; rm x", "git status && rm x", "git status || rm x", "git status | rm x", "git status |& rm x", "git status & rm x",
	"git status\nrm x", "git status\r\nrm x", "git status $(rm x)", "git status$(rm x)", "git status `rm x`", `git status "$(rm x)"`,
	"git status \"`rm x`\"", "git status <(rm x)", "git status >(rm x)", "git status > x", "git status >> x", "git status >| x", "git status &> x",
	"git status <> x", "git status < x", "git status 2> x", "git status <<< $(rm x)", "git status <<< x", "git status << E\n$(rm x)\nE",
	"git status <<-E\nx\nE", "{ git status; rm x; }", "(git status; rm x)", "if git status; then rm x; fi", "while rm x; do git status; done",
	"until git status; do rm x; done", "for i in $(rm x); do git status; done", "for PATH in /evil; do git status; done",
	"for ((i=$(rm x); i<1; i++)); do git status; done", "case $(rm x) in a) git status;; esac", "case a in a) git status;; b) rm x;; esac",
	"select PATH in /evil; do git status; done", "git() { rm x; }; git status", "function git { rm x; }; git status",
	"PATH=/evil git status", "PATH=/evil; git status", "LD_PRELOAD=x git status", "export PATH=/evil; git status", "declare -x A=1; git status",
	"local A; git status", "readonly A=1; git status", "GIT_PAGER=rm git status", "A[$(rm x)]=1; git status", "A=(1 2); git status",
	"env git status", "env PATH=/evil git status", "sudo git status", "nice git status", "timeout 1 git status", "xargs git status", "command git status",
	"exec git status", "builtin git status", "eval git status", "eval 'git status; rm x'", "nohup git status", "time -p rm x; git status", ". git status",
	"source x; git status", "trap 'rm x' EXIT; git status", "alias git=rm; git status", "hash -p /evil git; git status",
	`\git status`, `g\it status`, `"git" status`, `'git' status`, `g"i"t status`, "$'git' status", `$"git" status`, "$'\\x67it' status", "g''it status",
	"$GIT status", "${GIT} status", "${GIT:-git} status", "${x:=git} status", "$(echo git) status", "g?t status", "gi* status", "[g]it status", "{git,status}",
	"git stat{us,}", "git stat*", "git stat?s", "git status ~", "git status $X", "git status ${X}", "git status $((1))", "git status $((a[$(rm x)]))",
	"((a[$(rm x)])); git status", "let 'a[$(rm x)]'; git status", "[[ -v a[$(rm x)] ]]; git status", "[[ $(rm x) ]] && git status", "git status # rm x", "# git status\nrm x",
	"git status ${x@P}", "git status ${!x}", "git status $'\\n'", "coproc git status", "coproc rm x", "git status;;", "git status &&", "git status |", "git status (rm x)",
	"git status )", "git status $(", "git status `", "git status '", `git status "`, "git status \\", "=git status", "git status =git", "./git status", "/tmp/git status", "/usr/bin/git status",
	"bash -c 'git status; rm x'", "bash -c 'git status' x y", "bash -c \"git status $(rm x)\"", "/tmp/bash -c 'git status'", "./sh -c 'git status'", "bash -ic 'git status'",
	"bash --rcfile x -c 'git status'", "bash -c -- 'git status'", "bash x -c 'git status'", "sh -c \"sh -c 'rm x'\"", "bash <<< 'git status'", "bash -c 'bash -c \"bash -c \\\"rm x\\\"\"'",
	"echo 'rm x' | bash", "git status | sh", "bash -s < x", "BASH_ENV=x bash -c 'git status'", "git status\x00rm x", "git status \u202erm x", "git\u00a0status", "git status\u200b", "ɡit status",
	"git status\u2028rm x", "\u200bgit status", "git status \x1b[2K", "GIT status", "git  Status", "", " ", "\n", "#", ":", "true", "!", "! rm x", "git status ! rm; rm x",
	"git status & wait; rm x", "time rm x", "git status 2>&1 | tee x", "git status >&x", "git status <&x", "git status {fd}> x", "git status 3<> x", "git status @(a|b)", "git status 'a\\' ' ; rm x ; echo '", "git status !(a)", "printf -v PATH /evil; git status",
}

func TestBypassesAreAsked(t *testing.T) {
	exact := List{Rules: []Rule{allow("git status")}}
	broad := List{Rules: []Rule{allow("git status", "printf **"), {Kinds: []string{"execute"}, Commands: []string{"git status **"}, Action: Allow}}}
	for _, script := range bypasses {
		for _, l := range []List{exact, broad} {
			if got := l.Decide(request(Request{Kind: "execute", Run: Shell(script)})); got.Action != Ask {
				t.Errorf("%q with %v: %v", script, l.Rules[0].Commands, got)
			}
		}
	}
	for _, script := range []string{"git -c core.pager=rm status", "git -C /evil status", "git --exec-path=/evil status", "git status -s", "git statu", "git statuss", "git"} {
		if got := exact.Decide(request(Request{Kind: "execute", Run: Shell(script)})); got.Action != Ask {
			t.Errorf("%q: %v", script, got)
		}
	}
	for _, argv := range [][]string{{"git", "status", ""}, {"git status"}, {"git", "status", ";", "rm"}, {"bash", "-c", "git status", "x"}, {"bash", "git status"}, {"/tmp/bash", "-c", "git status"}, {"git", "status\u202e"}, {""}, {"sudo", "git", "status"}} {
		if got := exact.Decide(request(Request{Kind: "execute", Run: Argv(argv)})); got.Action != Ask {
			t.Errorf("%q: %v", argv, got)
		}
	}
}

// Whatever stands around a command that is allowed: with something else in it
// nothing is allowed but what is written plainly.
func FuzzAllow(f *testing.F) {
	for _, script := range bypasses {
		f.Add(script)
	}
	f.Add("git status && git status || (git status | git status) & ! git status; time git status 2>&1 >/dev/null")
	l := List{Rules: []Rule{allow("git status")}}
	f.Fuzz(func(t *testing.T, script string) {
		if l.Decide(request(Request{Kind: "execute", Run: Shell(script)})).Action != Allow {
			return
		}
		rest := strings.NewReplacer("/dev/null", "", "\\\n", "").Replace(script)
		for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}<>", r) }) {
			plain := strings.Trim(word, `'"`)
			if !slices.Contains([]string{
				"git", "status", "", "!", "time", "-p", "-", "if", "then", "elif", "else", "fi", "while", "until", "do", "done",
				"bash", "sh", "zsh", "dash", "ksh", "/bin/bash", "/bin/sh", "-c", "-lc",
			}, plain) && strings.Trim(plain, "0123456789") != "" && !strings.Contains(rest, "case") && !strings.Contains(rest, "sh") {
				t.Errorf("%q is allowed with %q in it", script, word)
			}
		}
	})
}

// Neither long nor deep scripts harm.
func TestEndlessScripts(t *testing.T) {
	t.Parallel()
	l := List{Rules: []Rule{allow("git status")}}
	for _, c := range []struct{ open, middle, close string }{
		{"(", "git status", ")"}, {"$(", "git status", ")"}, {"{ ", "git status", "; }"}, {"\"$(", "git status", ")\""}, {"! ", "git status", ""},
		{"", "git status", "; git status"}, {"if git status; then ", "git status", "; fi"}, {"bash -c \"", "git status", "\""}, {"((", "1", "))"}, {"", "x", "\n"},
	} {
		for _, n := range []int{3000, 1 << 20} {
			n /= len(c.open) + len(c.close)
			script := strings.Repeat(c.open, n) + c.middle + strings.Repeat(c.close, n)
			got := l.Decide(request(Request{Kind: "execute", Run: Shell(script)}))
			if got.Action != Ask && len(script) > scriptLimit {
				t.Errorf("%q…: %v", c.open+c.middle+c.close, got)
			}
		}
		n := scriptLimit/(len(c.open)+len(c.close)) - 100
		l.Decide(request(Request{Kind: "execute", Run: Shell(strings.Repeat(c.open, n) + c.middle + strings.Repeat(c.close, n))}))
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want string
	}{
		{Rule{Action: Ask}, ""},
		{Rule{}, `permissions[1].action: expected allow, reject or ask, got ""`},
		{Rule{Action: Allow, Paths: []string{"a[b"}}, `permissions[1].path "a[b": it is not a glob`},
		{Rule{Action: Allow, Paths: []string{"a/*/../b"}}, `permissions[1].path "a/*/../b": it has a .. after a wildcard`},
		{Rule{Action: Allow, Paths: []string{""}}, `permissions[1].path "": it is empty`},
		{Rule{Action: Allow, Commands: []string{" "}}, `permissions[1].command " ": it is empty`},
		{Rule{Action: Allow, Commands: []string{"** a"}}, `permissions[1].command "** a": ** can only be its last word`},
		{Rule{Action: Allow, Commands: []string{"a && b"}}, `permissions[1].command "a && b": it has more than one command; each part of a compound one is looked up by itself`},
		{Rule{Action: Allow, Tools: []string{"server/*", "server"}}, `permissions[1].tool "server": expected server/tool`},
		{Rule{Action: Allow, Tools: []string{"server/"}}, `permissions[1].tool "server/": expected server/tool`},
		{Rule{Action: Allow, Tools: []string{"/tool"}}, `permissions[1].tool "/tool": expected server/tool`},
		{Rule{Action: Allow, Tools: []string{"server/[a"}}, `permissions[1].tool "server/[a": expected server/tool`},
	} {
		got := ""
		if err := (List{Rules: []Rule{c.rule}}).Check(); err != nil {
			got = err.Error()
		}
		check.Equal(t, got, c.want, "%v: %q", c.rule)
	}
}

func TestMatchWord(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"a*b*b*c", "a-b-c", false},
		{"ab*b*c", "abxc", false}, // each of its pieces has letters of its own
		{"a*bc*c", "axbc", false},
		{"*", "", true},
		{"a*", "ab", true},
		{"*b", "ab", true},
		{"a*a", "a", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c", false},
		{"a?c", "abc", false},
	} {
		check.Equal(t, matchWord(c.pattern, c.text), c.want, "%q, %q: %v", c.pattern, c.text)
	}
}

func TestVerdictNamesItsRules(t *testing.T) {
	for _, c := range []struct {
		rules []int
		want  string
	}{{[]int{2}, "rule 2"}, {[]int{1, 3}, "rules 1, 3"}} {
		check.Deep(t, (Verdict{Rules: c.rules}).By(), c.want, "%v: %q", c.rules)
	}
}

// A rule about files or commands never allows an MCP server's tool, and one about tools no other.
func TestToolsOfMCPServers(t *testing.T) {
	find := Request{Kind: "other", MCP: true, Tool: "tickets/find", Paths: named("/p/a")}
	unclear := find
	unclear.Tool = ""
	runs := find
	runs.Run = Shell("ls")
	tool := func(action Action, tools ...string) []Rule { return []Rule{{Tools: tools, Action: action}} }
	for _, c := range []struct {
		name  string
		rules []Rule
		of    Request
		want  Action
	}{
		{"its name", tool(Allow, "tickets/find"), find, Allow},
		{"its name, of a tool that runs something", tool(Allow, "tickets/find"), runs, Allow},
		{"all of its server's", tool(Allow, "tickets/*"), find, Allow},
		{"another server's", tool(Allow, "other/*"), find, Ask},
		{"what is unclear is never allowed", tool(Allow, "*/*"), unclear, Ask},
		{"nor by a rule about everything", []Rule{{Action: Allow}}, unclear, Ask},
		{"what is unclear is asked about", append(tool(Reject, "tickets/find"), Rule{Action: Allow}), unclear, Ask},
		{"its name and a path", []Rule{{Tools: []string{"tickets/*"}, Paths: []string{"**"}, Action: Allow}}, find, Ask},
		{"its kind", []Rule{{Kinds: []string{"other"}, Action: Allow}}, find, Allow},
		{"a kind that runs", []Rule{{Kinds: []string{"execute"}, Action: Allow}}, runs, Ask},
		{"a kind that runs is rejected", []Rule{{Kinds: []string{"execute"}, Action: Reject}}, runs, Reject},
		{"a path", []Rule{{Paths: []string{"**"}, Action: Allow}}, find, Ask},
		{"a command", []Rule{allow("ls")}, runs, Ask},
		{"a path that is rejected", []Rule{{Paths: []string{"a"}, Action: Reject}}, find, Reject},
		{"a tool that is rejected", tool(Reject, "tickets/*"), find, Reject},
		{"a file is no tool", tool(Allow, "*/*"), Request{Kind: "read", Paths: named("/p/a")}, Ask},
	} {
		list := List{Rules: c.rules}
		must.Do(t, list.Check())
		if got := list.Decide(request(c.of)); got.Action != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	elsewhere := find
	elsewhere.Paths = named("/p/a", "/etc/x")
	for name, c := range map[string]struct {
		rules []Rule
		of    Request
		why   string
	}{
		"what is unclear":         {append(tool(Reject, "tickets/find"), Rule{Action: Allow}), unclear, "rule 1 may be about this tool"},
		"files in part of a rule": {[]Rule{{Paths: []string{"**"}, Action: Allow}}, elsewhere, ""},
	} {
		check.Equal(t, List{Rules: c.rules}.Decide(request(c.of)).Why, c.why, "%s is asked about because %q", name)
	}
	for _, wrong := range []string{"tickets", "/find", "tickets/", "a/["} {
		if (List{Rules: tool(Allow, wrong)}).Check() == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
