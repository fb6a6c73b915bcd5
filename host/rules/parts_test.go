package rules

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// told is what a command is taken apart into: words, ? for those of which nothing is known, … behind what is of
// others, and why no pattern takes it.
func told(c Command) string {
	var parts []string
	for _, p := range c.parts {
		var words []string
		for _, w := range p.words {
			switch {
			case w.known:
				words = append(words, w.text)
			case w.text == unknownWhole:
				words = append(words, "?")
			default:
				words = append(words, w.text+"…")
			}
		}
		text := strings.Join(words, "_")
		if p.inert {
			text += "(inert)"
		}
		if p.outer {
			text += "(outer)"
		}
		if p.file != "" {
			text += "(" + p.file + ")"
		}
		if p.why != "" {
			text += ": " + p.why
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " | ")
}

func TestPartsOfACommand(t *testing.T) {
	for script, want := range map[string]string{
		"ls":                            "ls",
		"ls -l | cat; (true) && { x; }": "ls_-l | cat | true | x",
		"! ls & time x":                 "ls | x",
		"ls 'a b' \"c d\" e":            "ls_a b_c d_e",
		"ls > /dev/null 2>&1 <&- >> /dev/null &> /dev/null &>> /dev/null < /dev/null": "ls",
		"ls > x":                       "ls | (inert)(x): it redirects: `> x`",
		"ls >&x":                       "ls | (inert)(x): it redirects: `>&x`",
		"ls <&1x":                      "ls | (inert)(1x): it redirects: `<&1x`",
		"ls <<< /dev/null":             "ls | (inert)(/dev/null): it redirects: `<<< /dev/null`",
		"ls > $x":                      "ls | (inert): it redirects: `> $x`",
		"ls >&$x":                      "ls | (inert): it redirects: `>&$x`",
		"ls a\\":                       "ls_a\\: it has an oddly quoted word: `a\\`",
		"[[ a = b ]]":                  "(inert): it has more than plain commands: `[[ a = b ]]` | (inert): it has more than plain commands: `a = b`",
		"for x in a; do ls; done":      "(inert): it has more than plain commands: `for x in a; do ls; done` | (inert): it has more than plain commands: `x in a` | ls",
		"test -v 'a[$(x)]'":            "test_-v_a[$(x)]: the shell may run what is in it: `test -v 'a[$(x)]'`",
		"A=1 ls":                       "ls | (inert): it sets a variable: `A=1`",
		"A=1":                          "(inert): it sets a variable: `A=1`",
		"ls # x":                       "ls | (inert): it has a comment",
		"coproc ls":                    "(inert): it has more than plain commands: `coproc ls` | ls",
		"ls |& cat":                    "ls | cat",
		"echo $x":                      "echo_?: the shell would still expand it: `$x`",
		"echo ${x}":                    "echo_?: the shell would still expand it: `${x}` | (inert): the shell would still expand it: `${x}`",
		"echo \"$x\"":                  "echo_?: the shell would still expand it: `\"$x\"`",
		"echo *":                       "echo_…: the shell would still expand it: `*`",
		"echo a?b":                     "echo_…: the shell would still expand it: `a?b`",
		"echo [a]":                     "echo_…: the shell would still expand it: `[a]`",
		"echo {a,b}":                   "echo_…: the shell would still expand it: `{a,b}`",
		"echo ~ a~b":                   "echo_…_a~b: the shell would still expand it: `~`",
		"echo =x a=x":                  "echo_…_a=x: the shell would still expand it: `=x`",
		"echo $'a'":                    "echo_?: the shell would still expand it: `$'a'`",
		"echo $\"a\"":                  "echo_a: it has an oddly quoted word: `$\"a\"`",
		"'ls' x":                       "ls_x: it has an oddly quoted word: `'ls'`",
		"\"ls\" x":                     "ls_x: it has an oddly quoted word: `\"ls\"`",
		"l\\s x":                       "ls_x: it has an oddly quoted word: `l\\s`",
		"ls \"a\\\"b\"":                "ls_a\"b: it has an oddly quoted word: `\"a\\\"b\"`",
		"ls 'a\\'":                     "ls_a\\: it has an oddly quoted word: `'a\\'`",
		"ls 'a\\b'":                    "ls_a\\b",
		"ls a\\\nb":                    "ls_ab",
		"printf -vx y":                 "printf_-vx_y: it sets a variable: `printf -vx y`",
		"printf x -v":                  "printf_x_-v",
		"printf":                       "printf",
		"sh -c 'ls x'":                 "ls_x | sh_-c_ls x(outer)",
		"/bin/sh -c ls":                "ls | /bin/sh_-c_ls(outer)",
		"/usr/bin/bash -lc ls":         "ls | /usr/bin/bash_-lc_ls(outer)",
		"/opt/bash -c ls":              "ls | /opt/bash_-c_ls: it runs another shell: `/opt/bash -c ls`",
		"bash x.sh":                    "bash_x.sh",
		"bash -x ls":                   "bash_-x_ls",
		"bash --c ls":                  "bash_--c_ls",
		"bash - c":                     "bash_-_c",
		"bash -c ls x":                 "ls | x | bash_-c_ls_x: it runs another shell: `bash -c ls x`",
		"bash -x -c ls":                "ls | bash_-x_-c_ls: it runs another shell: `bash -x -c ls`",
		"bash -oc ls":                  "ls | bash_-oc_ls: it runs another shell: `bash -oc ls`",
		"bash -c $x":                   "bash_-c_?: the shell would still expand it: `$x`",
		"fish -c ls":                   "fish_-c_ls",
		"ls\u200b":                     "ls\u200b | : it has invisible characters",
		"":                             "(inert): it runs nothing",
		"ls ; ((":                      ": it cannot be read as a shell command | ls: it cannot be read as a shell command",
		"echo 'a'~ a$X a\"$X\"":        "echo_a~_a…_a…: the shell would still expand it: `a$X`",
		"echo a'b'$'c' b\"c$X\" a<(b)": "echo_ab…_bc…_a/dev/fd/63…: the shell would still expand it: `a'b'$'c'` | b",
		"printf -v $X *":               "printf_-v_?_…: the shell would still expand it: `$X`",
		"ls\ufffd":                     "ls\ufffd | : it has invisible characters",
		"ls \"a\\\nb\"":                "ls_ab",
	} {
		if got := told(Shell(script)); got != want {
			t.Errorf("%q is\n%s, want\n%s", script, got, want)
		}
	}
	for want, c := range map[string]Command{
		"":      Argv(nil),
		"ls":    Argv([]string{"ls"}),
		"ls_$x": Argv([]string{"ls", "$x"}),
		"ls_a\x00b: `ls a\x00b` has invisible characters": Argv([]string{"ls", "a\x00b"}),
		": why":            Unknown("text", "why"),
		"ls: why | x: why": Shell("ls; x").Doubtful("why"),
	} {
		check.Equal(t, told(c), want, "it is %q")
	}
	if c := Shell("ls"); told(c.Doubtful("why")) == told(c) {
		t.Error("the doubt is about the command itself")
	}
}

// Shells within shells are looked into so deep, and scripts so long.
func TestBoundsOfACommand(t *testing.T) {
	script := "rm x"
	for n := 1; n <= maxDepth+1; n++ {
		script = Quoted([]string{"sh", "-c", script})
		if got := strings.HasPrefix(told(Shell(script)), "rm_x"); got != (n <= maxDepth) {
			t.Errorf("in %d shells: %s", n, told(Shell(script)))
		}
	}
	check.Contains(t, told(Shell(script)), "it has too many shells within each other", "it is %s")
	long := "ls " + strings.Repeat("x", scriptLimit-3)
	check.Equal(t, told(Shell(long)), "ls_"+long[3:], "of the longest script it is %.50s")
	check.Equal(t, told(Shell(long+"x")), ": it is too long to be read", "of a longer one it is %.50s")
}

// What rules that stop see of commands that run others.
func TestStoppedCommands(t *testing.T) {
	stop := List{Rules: []Rule{{Commands: []string{"rm **"}, Action: Reject}, {Kinds: []string{"execute"}, Action: Allow}}}
	for script, want := range map[string]Action{
		"rm": Reject, "rm x": Reject, "/bin/rm x": Reject, "rmx": Allow, "x rm": Ask, "ls rm x": Allow,
		"sudo rm x": Reject, "sudo -u me rm x": Reject, "env A=1 B=2 rm x": Reject, "timeout 10s rm x": Reject, "timeout 1.5m rm x": Reject,
		"/usr/bin/env rm x": Reject, "xargs rm": Reject, "sudo ls rm": Allow, "sudo --user ls rm x": Ask, "sudo ls": Allow, "sudo": Allow, "sudo -n": Allow,
		"eval 'ls; rm x'": Reject, "eval 'rm x'": Reject, "eval 'lsrm'": Allow, "ssh host 'ls'": Allow, "ssh host 'ls -l'": Allow, "ssh host 'ls|rm x'": Ask,
		"$x": Ask, "$x rm": Ask, "sudo $x": Ask, "ls $x": Allow, "": Allow, "nice -n 5 rm x": Reject, "noglob . x": Ask, "nocorrect . x": Ask, "sudo . x": Allow, "fish --help": Allow, "sudo --shell": Ask,
		"xargs aws": Ask, "xargs brew": Ask, "xargs bun": Ask, "xargs deno": Ask, "xargs -r deno fmt": Allow,
	} {
		r := request(Request{Kind: "execute", Run: Shell(script)})
		if got := stop.Decide(r); got.Action != want {
			t.Errorf("%q: %s, %s; want %s", script, got.Action, got.Why, want)
		}
	}
}

// How far a command is stopped by a pattern. With a * in all of its words it is not found by the names in a text.
func TestHowFarACommandIsStopped(t *testing.T) {
	for line, want := range map[string]match{
		"etc **|./link x": maybe, "etc x|./link y": no, "etc **|./other x": no,
		"rm **|- rm x": yes, "rm **|RM x": no, "rm|rm-x y": no, "git push **|git-push x": yes, "git push x|git-push x": yes, "git push **|git-pull x": no,
		"r* **|ssh h a '$(rm)'": maybe, "r* **|ssh h a '(rm)'": maybe, "r* **|flock l a '`rm`'": maybe, "r* **|sudo a '(rm)'": no,
		"r* **|make CC='rm x'": maybe, "r* **|bash -xc 'rm y'": yes,
		"rm **|echo --x=[rm]": no, "rm **|docker ps 'a=[rm]'": no, "rm **|docker ps a=[rm]": maybe,
		"r* **|sudo x rm z": maybe, "r* **|sudo x /bin/rm z": maybe, "rm|sudo --user id /bin/rm": maybe, "rm|sudo --user id /bin/ls": no, "g* p* **|sudo x git -C . push": maybe, "r*|sudo -Z me sh x.sh": maybe, "r*|sudo -Z me env -S y": maybe, "r*|sudo y sh x.sh": no,
		"r* **|sudo -Z me su -c 'rm<x'": maybe, "r*|find src -exec sh y.sh": maybe, "r*|find src -exec ls": no, "r*|find src $X sh y.sh": maybe, "r*|flock l sh x.sh": maybe, "r*|flock l y sh x.sh": no,
		"r* x|ssh host \"bash -c 'rm x'\"": maybe, "r* **|ssh h 'rm y'$X": maybe, "g* p*|docker exec c git -C . push": maybe, "g* p*|docker exec c /usr/bin/git -C . push": maybe,
		"g* p*|docker exec c /usr/bin/git push": maybe, "g* p*|docker exec c /usr/bin/git pull": maybe,
	} {
		pattern, script, _ := strings.Cut(line, "|")
		r := request(Request{})
		check.Equal(t, Shell(script).parts[0].stoppedBy(strings.Fields(pattern), r), want, "%s: %v", line)
		if line == "rm **|RM x" {
			r.Fold = true
			check.Equal(t, Shell(script).parts[0].stoppedBy([]string{"Rm", "**"}, r), yes, "where case is ignored: %v")
		}
	}
}

// In which folders a command may run, of which there are only so many.
func TestWhereACommandRuns(t *testing.T) {
	r := request(Request{}).looking()
	for script, want := range map[string]string{
		"ls": "/p", "cd a; ls": "/p /p/a", "cd a; cd a; ls": "/p /p/a /p/a/a", "cd /a; cd /a; ls": "/p /a", "git -C b ls": "/p /p/b", "git -C {c,d} ls": "/p /p/c /p/d",
		"cd {1..20}; ls": "/p /p/1 /p/2 /p/3 /p/4 /p/5 /p/6 /p/7", "ls -C": "/p", "cd ~/a; ls": "/p /home/me/a", "cd http://a; ls": "/p",
	} {
		parts := Shell(script).parts
		check.Equal(t, strings.Join(parts[len(parts)-1].goesTo(r), " "), want, "%s: %s", script)
	}
}

// past are ways past a rule against `git push` or `rm`. None is allowed by a rule behind it.
var past = map[string][]string{
	"shortened options": {
		"tar cf x --checkpoint=1 --checkpoint-act=exec=rm a", "git grep --open='rm x' y", "git grep --op=rm x", "git difftool --ext 'rm x'", "git rebase --exe='rm x' HEAD", "git fetch --upload-p='rm x' o",
		"git clone --temp=x a b", "sed --expr='e rm x' f", "sed --e 'e rm x' f", "sed --fil=- f", "gawk --fil=/dev/stdin", "gawk --sour='BEGIN{system(\"rm x\")}'", "gawk --so 'BEGIN{system(\"rm x\")}' f",
		"gawk --assign=x 'BEGIN{system(\"rm x\")}'", "man --pag='rm x' ls", "wget --use-ask=rm x",
	},
	"letters without a dash": {"tar cIf 'rm x' a b", "tar xIf rm a"},
	"text in another quote":  {"awk $'BEGIN{system(\"rm x\")}'", "awk $'BEGIN{system\\x28\"rm x\")}'", "sed $'p\\ne rm x' f", "sed $'e rm x' f"},
	"programs that settings of git name": {
		"git -c help.autocorrect=1 pish", "git config help.autocorrect immediate", "git -c web.browser=x help -w", "git -c difftool.vimdiff.path=rm difftool -t vimdiff", "git -c sendemail.smtpServer=/bin/rm send-email x",
		"git send-email --smtp-server=/bin/rm x", "git instaweb -d 'rm x'",
	},
	"prompts for code":              {"echo x | python3 -m code", "python3 -mcode", "python3 -m pdb -c '!x' y.py", "python3 -m timeit '__import__(\"os\").remove(\"x\")'", "cat f | m4 -", "m4 /dev/stdin < f"},
	"more lines than are looked at": {"x" + strings.Repeat(" --a='b c'", lookedAt+1)},
	"jobs that run":                 {"jobs -x rm x", "jobs -lx rm x", "jobs \"$X\" rm x"},
	"options before a subcommand": {
		"git -C . push", "git -c a=b push", "git --git-dir=.git push", "git --git-dir .git push", "git --no-pager push", "git -C . -c a=b --no-pager push -f", "/usr/bin/git -C . push",
		"git --new push", "git --new x push", "git -p --new=x push", "sudo git -C . push", "env A=b git -C . push", "git -C push push", "bash -c 'git -C . push'", "xargs git -C . push",
		"eval 'git -C . push'", "git $X push", "docker -H x push a", "docker --config x push", "podman --url x push", "npm --prefix x publish", "npm -w a publish", "pnpm -C x publish", "yarn --cwd x publish",
		"cargo +nightly publish", "cargo -Z x --locked publish", "cargo --config a=b publish", "go -C x generate ./...", "kubectl -n x delete pod a", "kubectl --context=x -n y delete pod", "oc -n x delete pod",
		"make -C x deploy", "make -j4 deploy", "make -j 4 deploy", "make A=b -f x deploy", "make --directory=x deploy", "systemctl --user stop x", "apt-get -y -o a=b remove x", "helm --kube-context x delete y",
		"npm run -s deploy", "docker compose -f x down", "unknown -x stop", "unknown --file x stop",
	},
	"a shell that is fed": {
		"echo 'rm x' | sh", "bash <<< 'rm x'", "bash <<E\nrm x\nE", "bash < x", "bash -s < x", "bash -s x", "bash -c \"$X\"", "bash -c \"ls $X\"", "bash -c", "bash x.sh", "bash ./x.sh a", "sh /dev/stdin", "sh -x x.sh",
		"bash -o pipefail x.sh", "bash --rcfile x -c ls", "bash -O extglob", "bash -", "curl -s x | bash -", "curl x | sudo bash", "curl x | sudo -E bash -", "sudo -u me bash x.sh", "sudo -s", "echo rm x | sudo -i", "env bash x.sh", "nohup bash x.sh",
		"timeout 5 sh x.sh", "bash --norc x.sh", "bash +n x.sh", "xargs sh", "xargs -n1 sh -c", "find . -exec sh {} +", "exec bash x.sh", "busybox sh x.sh", "/bin/bash x.sh", "flock l bash x.sh", "ssh host bash x.sh", "command bash x.sh", "eval bash x.sh", "bash $X", "bash -c 'bash x.sh'",
		"BASH_ENV=x bash -c ls", "ENV=x sh -c ls", "export BASH_ENV=x; bash -c ls",
	},
	"other shells":        {"fish -c 'rm x'", "fish x", "ash x", "mksh -c 'rm x'", "csh -c 'rm x'", "tcsh x", "yash x", "nu -c 'rm x'", "pwsh -c 'rm x'", "zsh x", "ksh93 x", "sudo fish", "echo 'rm x' | fish"},
	"a file that is read": {". ./x.sh", "source x.sh", ". /dev/stdin <<< 'rm x'", ". <(echo rm x)", "builtin . x", "command source x", "bash -c '. ./x.sh'", "trap '. ./x.sh' EXIT"},
	"other names":         {"alias l='rm x'; l", "alias l=rm", "builtin alias l=rm", "hash -p /bin/rm l; l x", "enable -f ./x.so x", "bind -x '\"a\": rm x'", "complete -C 'rm x' a", "mapfile -C 'rm x' a", "toybox rm x", "busybox rm x", "pkexec rm x", "l() { rm x; }; l"},
	"other feeders":       {"echo 'rm x' | at now", "batch < x", "crontab x", "echo 'rm x' | parallel", "echo rm x | xargs sudo", "echo rm x | xargs env", "su < x", "echo 'rm x' | su -", "unshare", "chroot /", "script < x"},
	"code of other languages": {
		"python3 -c 'import os; os.system(\"rm x\")'", "python3.12 -Ic x", "/usr/bin/python3 -c x", "python3 - <<E\nx\nE", "python3 <<< x", "echo x | python3", "echo x | python3 -", "python3 /dev/stdin < x", "python3 <(echo x)", "python3 -W ignore -c x",
		"perl -e 'unlink \"x\"'", "perl -ne 'system \"rm x\"' f", "perl -E x", "perl '-Mstrict;system(\"rm x\")' f", "node -e x", "node --eval=x", "node -pe x", "node --input-type=module -e x", "echo x | node", "node -r a -e x", "ruby -e x", "echo x | ruby", "php -r x", "lua -e x", "luajit -e x", "bun -e x", "Rscript -e x",
		"sudo python3 -c x", "xargs python3 -c x", "find . -exec perl -e x {} +", "awk 'BEGIN { system(\"rm x\") }'", "awk 'BEGIN { \"rm x\" | getline }'", "awk '{ print | \"rm x\" }' f", "gawk '{ print $1 |& \"sh\" }'",
	},
	"behind other words": {
		"sudo -u me /bin/rm x", "sudo -u me git -C . push", "timeout -s KILL 5 git -C . push", "env -S'rm x'", "env --split-string='rm x'", "git -c alias.x='!rm y' x", "git -C . -c Alias.p=push p", "git --config-env=alias.x=A x", "git -c credential.helper='!rm x' fetch",
		"sudo -u me /usr/bin/git -C . push", "sudo --user me" + strings.Repeat(" git", 70) + " -C . push", "npx rm x", "valgrind rm x", "tmux new-session 'rm x'", "hyperfine 'rm x'",
	},
	"programs that run others": {
		"sed 'e rm x' f", "sed -n '1e rm x' f", "sed 's/a/rm x/e' f", "sed -e p -e 's,a,rm x,ge' f", "sed '/a/{s/x/rm y/e;p}' f", "sed 's/a[/]/rm x/e' f", "gawk -e'system(\"rm x\")' f", "gawk -E/dev/stdin <<< 'x'",
		"vim -c '!rm x'", "nvim --headless +'!rm x' +q", "ex -s -c 'x' f", "emacs --batch --eval '(delete-file \"x\")'", "gdb -batch -ex 'shell rm x'", "sqlite3 a.db '.shell rm x'", "psql -c '\\! rm x'",
		"make -f - <<E\nall: ; rm x\nE", "make --eval='$(shell rm x)'", "make SHELL=/tmp/x all", "deno eval x", "tclsh", "expect -c 'exec rm x'", "ed", "socat - EXEC:'rm x'",
		"tar xf a.tar --to-command='rm x'", "tar cf a.tar . -I 'rm x'", "tar cf a.tar --checkpoint-action=exec='rm x' .", "rsync -e 'rm x' a b", "ssh -o ProxyCommand='rm x' h", "scp -oProxyCommand='rm x' a h:", "man -P 'rm x' ls",
		"sort --compress-program='rm x' f", "split --filter='rm x' f", "fd -e log -x rm", "fd . --exec rm", "rg --pre 'rm' x",
		"git -c core.pager='rm x' log", "git bisect run rm x", "git submodule foreach 'rm x'", "git rebase -x 'rm x' main", "git difftool -x 'rm' HEAD", "git filter-branch --tree-filter 'rm -f x' HEAD",
		"docker exec c rm x", "docker run --rm -v /:/m alpine /bin/rm -rf /m", "docker compose exec web sh -c 'rm x'", "kubectl exec pod -- rm x", "npm exec rm x", "npm exec -c 'rm x'", "pnpm dlx rm x", "uv run rm x", "uv run python -c x", "poetry run rm x", "conda run -n a rm x", "mise exec -- rm x", "ip netns exec a rm x",
	},
	"variables that name a command": {
		"GIT_PAGER=x git log", "PAGER='rm x' git log", "PAGER= man ls", "MANPAGER=x man ls", "GH_PAGER=x gh pr list", "EDITOR='rm x' git commit", "GIT_EDITOR=x git commit", "GIT_SEQUENCE_EDITOR=x git rebase -i a", "VISUAL=x crontab -l",
		"GIT_SSH_COMMAND='rm x' git fetch", "GIT_SSH=x git fetch", "GIT_EXTERNAL_DIFF=x git diff", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.l GIT_CONFIG_VALUE_0='!rm x' git l", "GIT_CONFIG_GLOBAL=x git l", "GIT_EXEC_PATH=. git l", "GIT_ASKPASS=x git fetch", "RSYNC_RSH=x rsync a b:",
		"LD_PRELOAD=./x.so ls", "LD_LIBRARY_PATH=. ls", "DYLD_INSERT_LIBRARIES=x ls", "PATH=. ls", "PATH=.:$PATH ls", "PATH=$PATH:. ls", "PATH= ls", "PATH=${PATH/bin/x}:/a ls", "PATH=(.); ls", "PATH=.; ls", "HOME=. git l", "XDG_CONFIG_HOME=. git l",
		"BASH_ENV=x bash -c ls", "ENV=x sh -c ls", "PS4='$(rm x)' bash -xc ls", "PROMPT_COMMAND='rm x'", "SHELL=./x vim f", "npm_config_script_shell=./x npm test", "BROWSER=x gh browse", "LESSOPEN='|rm %s' less f", "LESS='+!rm x' less f", "TAR_OPTIONS='-I x' tar xf a",
		"PERL5OPT='-Mx' perl f", "NODE_OPTIONS='--require ./x' node f", "NODE_OPTIONS=$X node f", "RUBYOPT=-r./x ruby f", "GOFLAGS=-toolexec=x go build", "MAKEFLAGS='--eval=all:;rm' make", "JAVA_TOOL_OPTIONS=-javaagent:x java a", "CC='rm x' make", "CC=./x make", "RUSTC_WRAPPER=./x cargo build",
		"env PATH=. ls", "env -i PAGER=x git log", "env X='rm x' make", "env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls", "sudo PATH=. ls", "sudo -u me LD_PRELOAD=x ls", "timeout -s KILL 5 env PAGER=x git log", "nice env EDITOR=x git commit", "find . -exec env PATH=. ls ;", "docker exec c env PATH=. ls",
		"export PATH=.; ls", "export \"PATH=.\"; ls", "export GIT_PAGER=x && git log", "declare -x EDITOR=x; git commit", "typeset -x PAGER=x; git log", "readonly PATH=.; ls", "builtin export PATH=.", "declare -n x=PATH; x=.; ls", "local -n x=PATH",
		"read PATH < x; ls", "printf -v PATH . ; ls", "printf -vPATH . ; ls", "mapfile PATH < x", "for PATH in .; do ls; done", "select PAGER in x; do git log; done", ": ${PAGER:=x}; git log", "FOO='rm x' make", "FOO=rm make",
	},
	"evaluation": {
		"test -v 'a[$(rm x)]'", "[ -v 'a[$(rm x)]' ]", "[[ -v 'a[$(rm x)]' ]]", "[[ 'a[$(rm x)]' -eq 1 ]]", "test 'a[`rm x`]' -eq 1", "printf -v 'a[$(rm x)]' x", "printf %d 'a[$(rm x)]'", "read 'a[$(rm x)]'",
		"unset 'a[$(rm x)]'", "declare -n x='a[$(rm x)]'", "declare 'a[$(rm x)]=1'", "x='a[$(rm x)]'; echo $((x))", "x='a[$(rm x)]'; (( x ))", "x=$'a[\\x24(rm x)]'; (( x ))", "let 'a[$(rm x)]'", "(( a['$(rm x)'] ))", "export 'a[$(rm x)]'", "wait -p 'a[$(rm x)]'",
		"builtin test -v 'a[$(rm x)]'", "command test -v 'a[$(rm x)]'", "b='$(rm x)'; test -v 'a[b]'", "test -v 'a[b]'", "echo ${a['$(rm x)']}", "for ((i='a[$(rm x)]'; i < 1; i++)); do ls; done", "exit 'a[$(rm x)]'",
	},
	"other launchers": {
		"setpriv --reuid=1 rm x", "capsh -- -c 'rm x'", "systemd-inhibit rm x", "cpulimit -l 50 -- rm x", "perf stat rm x", "gdb --args rm x", "faketime 1h rm x", "eatmydata rm x", "ts rm x", "mosh h -- rm x", "sem rm x",
		"concurrently 'rm x'", "cross-env A=b rm x", "dotenv -- rm x", "asdf exec rm x", "nix-shell -p a --run 'rm x'", "nix develop -c rm x", "guix shell -- rm x", "lxc exec c -- rm x", "vagrant ssh -c 'rm x'", "kubectl debug a -- rm x",
		"screen -dm rm x", "screen -S a -X stuff 'rm x\n'", "just -c rm x", "op run -- rm x", "distrobox enter a -- rm x", "machinectl shell a /bin/rm x", "pipx run rm", "uvx rm x", "bun x rm", "npm exec --call='rm x'", "stack exec -- rm x",
		"coreutils rm x", "cmake -E rm x", "cmake -E env rm x", "/lib64/ld-linux-x86-64.so.2 /bin/rm x", "qemu-x86_64 /bin/rm x", "linux64 rm x", "runcon t rm x", "tini -- rm x", "mpirun -n 2 rm x", "srun rm x", "pee 'rm x'", "gdbserver :1 rm x",
		"gtimeout 5 rm x", "gxargs rm", "gfind . -exec rm {} +", "grm x", "time -f a rm x", "wezterm start -- rm x", "konsole -e rm x", "unknown spawn rm x", "unknown -- rm x", "unknown --any 'cd a && rm x'", "unknown -z 'rm x'", "newgrp g",
		"sudo gum spin -- rm x", "xargs asdf exec rm", "jj -- git push", "asdf exec git -C . push",
	},
	"other options with a command": {
		"docker run --entrypoint=rm a x", "tar -F 'rm x' -cf a .", "tar --info-script='rm x' -cf a .", "zip a.zip f -T -TT 'rm x'", "rsync --rsync-path='rm x' a b:", "sshfs -o ssh_command='rm x' a b", "wget --use-askpass=rm u", "less +'!rm x' f", "man -H'rm x' a",
		"fzf --preview 'rm {}'", "fzf --bind 'enter:execute(rm {})'", "nodemon -x rm", "chokidar f -c 'rm x'", "hyperfine --prepare 'rm x' ls", "bpftrace -c 'rm x'", "sbatch --wrap='rm x'", "ansible all -a 'rm x'", "aws ssm x --parameters commands='rm x'",
		"go build -toolexec 'rm x'", "go test -exec rm", "gcc -wrapper rm,x f.c", "rustc -C linker=rm f", "npm run a --script-shell=rm", "make CC='rm x'", "make A='$(shell rm x)'", "make MAKE=rm", "make -f <(echo 'a:;rm x')",
		"git fetch --upload-pack 'rm x'", "git ls-remote --upload-pack='rm x' a", "git clone 'ext::rm x' a", "git -c include.path=f log", "git -c protocol.ext.allow=always fetch a", "git clone --config core.sshCommand='rm x' a", "git send-email --sendmail-cmd='rm x' f",
		"git config alias.p push && git p", "git config --global alias.p '!rm x'; git p", "git config core.hooksPath . && git commit", "git config filter.a.clean 'rm x'",
	},
	"other code": {
		"sed -ne'1e rm x' f", "sed -ee f", "sed -e p --expression '1e rm x' f", "dc -e '!rm x'", "m4", "emacs -eval '(shell-command \"rm x\")'", "gnuplot -e 'system(\"rm x\")'", "octave --eval 'system(\"rm x\")'", "R -e 'system(\"rm x\")'", "ghc -e x", "scala -e x", "kotlin -e x", "clojure -e x", "racket -e x", "ocaml -e x", "raku -e x", "swift -e x",
		"ed -s f <<< '!rm x'", "osh -c 'rm x'", "sash -c 'rm x'", "compgen -W '$(rm x)'", "fc -s ls=rm ls", "FPATH=. zsh -c f",
	},
	"what a shell is told": {
		"eval 'rm${IFS}x'", `eval "rm\${IFS}x"`, "eval 'rm<x'", "eval '{rm,x}'", "eval '`rm`'", "builtin eval 'rm${IFS}x'", "command eval 'rm${IFS}x'", "trap 'rm${IFS}x' EXIT", "trap '{rm,x}' DEBUG", "script -c'rm x' /dev/null",
		"script -qc'rm x' /dev/null", "su - me -c'rm x'", "su me -c 'rm${IFS}x'", "ssh host 'sudo rm x'", "ssh host 'sudo -u me rm x'", "ssh -p 22 host 'cd x; sudo rm y'", `ssh host "bash -c 'rm x'"`, "ssh host 'rm${IFS}x'", "ssh host <<< 'rm x'",
		"ssh -o 'LocalCommand rm x' -o PermitLocalCommand=yes host", "ssh -o 'ProxyCommand rm x' host", `ssh -F x host 'sh -c "rm x"'`, "watch 'rm${IFS}x'", `eval 'eval "rm x"'`, `trap 'eval "$X"' EXIT`, "script /dev/null <<< 'git push'",
	},
	"input with commands": {
		"ssh host < x", "echo 'rm x' | ssh host", "cat x | ssh -p 22 host", "ssh host <<E\nrm x\nE", `echo 'system "rm x"' | irb`, `irb <<< 'system("rm x")'`, "deno run - <<< 'x'", "deno < x", "bun run - <<< 'x'", "tclsh8.6 <<< 'exec rm x'",
		"echo 'exec rm x' | tclsh8.6", "wish -f - <<< 'exec rm x'", "escript <(echo 'x')", `R --no-save <<< 'system("rm x")'`, `octave <<< 'system("rm x")'`, "gnuplot <<< '!rm x'", `tcc -run - <<< 'main(){system("rm x");}'`, "vim -es f <<< '!rm x'",
		"vim -e f <<E\n!rm x\nE", "ex f <<< '!rm x'", "sftp -b - h <<< '!rm x'", "sftp h <<< '!rm x'", "ftp h <<< '!rm x'", "mail -s x y <<< '~!rm x'", "mysql <<< '\\! rm x'", "psql <<< '\\! rm x'", "psql <<E\n\\! rm x\nE", "sqlite3 db <<< '.shell rm x'",
		"sqlite3 db '.once |rm x' 'select 1'", "just -f - <<< 'x: ; rm y'", "just --justfile /dev/stdin <<< 'x: ; rm y'", "task -t - <<< x", "ninja -f /dev/stdin <<< 'rm x'", "node --require=/dev/stdin x.js <<< y",
		`python3 -m code <<< 'import os; os.system("rm x")'`, "python3 /proc/self/fd/0 <<< x", "jupyter console <<< '!rm x'", "jupyter run - <<< '!rm x'", "bpython <<< x", `ptpython <<< 'os.system("rm x")'`, `uv run - <<< 'import os; os.system("rm x")'`,
		`runghc <<< 'main = system "rm x"'`, `runhaskell /dev/stdin <<< 'x "rm y"'`, "incrontab <<< 'x IN_MODIFY rm y'", "logrotate <(echo 'x { postrotate rm y; }')", `gp -q <<< 'system("rm x")'`, "psql -f - <<< '\\! rm x'",
		"nmap --interactive <<< '!rm x'", "hping3 <<< 'exec rm x'", "telnet h <<< '!rm x'", "ftp -n <<< '!rm x'", "mail x <<E\n~!rm y\nE", "groff -U <<< '.sy rm x'", "troff -U <<< '.sy rm x'", "packer build - <<< 'rm x'", "ansible-console <<< 'rm x'",
		`chef-shell <<< 'system("rm x")'`,
	},
	"programs that are not known": {
		"docker run --rm -it alpine sh -c 'sudo rm x'", `python3 -m timeit 'import os; os.system("rm x")'`, `python3 -m timeit -s 'import os' 'os.system("rm x")'`, "micropython -c x", "irb -e x", "deno repl --eval 'x'", `iex -e 'System.cmd("rm", ["x"])'`,
		`clisp -x '(shell "rm x")'`, `gforth -e 's" rm x" system bye'`, `qjs -e 'os.exec(["rm","x"])'`, `janet -e '(os/execute ["rm" "x"] :p)'`, `crystal eval 'system("rm x")'`, `rake -e 'sh "rm x"'`, `rails runner 'system("rm x")'`, "ex -sc '!rm x' f",
		"vim.tiny -c '!rm x'", "vim.basic -es -c '!rm x'", "red f", "busybox.static rm x", "gdb -args rm x", "gdb -iex 'shell rm x'", "nc -e /bin/rm h 1", "bash-static x.sh", "bash5 x.sh", "zsh-5.9 x.sh", "zsh5 x.sh", "ksh2020 x.sh", "mksh-static x.sh",
		"zsh -c 'repeat 1 rm x'", "zsh -c 'zmodload zsh/files; zf_rm x'", `zsh -fc 'ls *(e:"rm x":)'`, "^rm x", "cmd.exe /c 'rm x'", "cmd /c rm x", "mywrapper rm x", "./run rm x", "./scripts/with-env rm x", "unknown-tool rm x", "unknown-tool --flag rm x",
		"unknown-tool -c'rm x'", "unknown-tool 'sudo rm x'", "unknown-tool git push", "unknown-tool 'git push origin'", "unknown-tool /bin/rm x", "unknown-tool ./rm x", `unknown-tool '["rm","x"]'`, "heaptrack rm x", "kcov /tmp/o rm x", "bear rm x",
		"steam-run rm x", "fakechroot rm x", "rosetta rm x", "sudo-rs rm x", "please rm x", "dzdo rm x", "pfexec rm x", "calife rm x", "super rm x", "sops exec-env f 'rm x'", "vault-exec rm x", "pdsh -w a rm x", "clush -w a rm x",
		"parallel-ssh -h a 'rm x'", "capistrano rm", "npm pkg set scripts.a='rm x' && npm run a", "npm set-script a 'rm x'", `cargo run --config 'target.x.runner="rm"'`, `rsync -e 'sh -c "rm x"' a b:`, "lftp -e '!rm x' h", "sqlite3 db '.sh rm x'",
		"cgexec -g cpu:a rm x", "fdfind -x sudo rm", "rg --hostname-bin=rm x", "gh alias set x '!rm y' && gh x", "gh codespace ssh -- rm x", "glab alias set x '!rm y'", "cmd /c git push", "docker run alpine/git -C . push",
		"autossh -M 0 host git push", "sshpass -p x ssh host 'sudo rm y'", "meson devenv rm x", "bazel run --run_under=rm //x", "cargo --config build.rustc-wrapper=./x build", `cargo test --config 'target.x.runner="rm"'`, "cargo rustc -- -C linker=rm",
		"gcc -B. x.c -fuse-ld=rm", "node --experimental-loader x -e y", "python3 --check-hash-based-pycs always -c x", "python3 -m subprocess 'rm x'", `mix run -e 'System.cmd("rm", ["x"])'`, `stack runghc -- -e 'system "rm x"'`,
		`nix eval --impure --expr 'x "rm y"'`, "apt-get -o Dir::Bin::dpkg=/bin/rm install y", `tar -cf - x -I 'sh -c "rm y"'`, "zip -TT'rm x' -T a.zip b", "rsync -a -e 'sudo rm' a b:", "rsync -ae'rm x' a b:", `scp -oProxyCommand='sh -c "rm x"' a b:`,
		"aria2c --on-download-complete=rm u", "transmission-cli -f rm x", "cron rm", "xdotool type 'rm x'", "open -a Terminal ./rm", "terminator -x rm y", "zellij action write-chars 'rm x'", `tmux if-shell true 'run "rm x"'`, "byobu rm x",
		"nvim --server x --remote-send ':!rm y<CR>'", "vim --remote-send ':!rm y<CR>'", "vim -Nu x f", "vim -Ec '!rm x'", "kak -e 'nop %sh{rm x}' f", "kak -n -ui dummy -e 'nop %sh{rm x}'", `subl --command 'exec {"cmd": "rm x"}'`, "gnuplot -e '!rm x'",
		`R --slave -e 'unlink("x")'`, `sqlite3 x.db ".shel rm y"`, `sqlite3 x.db "select edit('x','rm')"`, `duckdb -c ".shell rm x"`, `psql -c "COPY x FROM PROGRAM 'rm y'"`, "mysql -e 'system rm x'", `mongosh --eval 'run("rm","x")'`,
		"redis-cli -x eval 'rm y'", "tcpdump -z rm -w x", "lftp -c '!rm x'", "lftp -e 'shell rm x' h", "smbclient //h/x -c '!rm y'", "impacket-psexec h rm x", "winexe h rm x", "mutt -e 'push !rm x\\n'", "most '+!rm x' f",
		"gs -c '(%pipe%rm x) (w) file' -", "mpv --script=x 'rm y'", `vlc --sout '#x{exec="rm y"}'`, "docker create x rm y", "docker service create x rm y", "podman unshare rm x", "buildah unshare rm x", "fly ssh console -C rm", "netlify dev:exec rm x",
		"firebase emulators:exec 'rm x'", "ansible localhost -m shell -a'rm x'", `puppet apply -e 'exec { "/bin/rm x": }'`, `chef-apply -e 'execute "rm x"'`, "salt-call cmd.run 'rm x'", "rundeck-run rm x", `jenkins-cli groovysh 'x("rm y")'`,
		"circleci local execute rm",
	},
	"what make reads": {
		"make -f/dev/stdin <<< 'all:;rm x'", "make --file=- <<< 'all:;rm x'", "make --makefile=/dev/stdin <<< 'all:;rm x'", "make -sf <(echo 'all:;rm x')", "make -f<(echo 'all:;rm x')", "make .SHELLFLAGS='-c rm' all",
		"printf 'all:\\n\\trm x\\n' > Makefile; make", "printf 'all:\\n\\trm x\\n' > Makefile && make all", "make -f x.mk 'Y=`rm x`'", "make GIT='git push'", "make --eval=$'x:\\n\\tgit push'", "bmake -f - < x", "make -f /proc/self/fd/0 <<< x",
		"cmake -P /dev/stdin <<< 'execute_process(COMMAND rm x)'",
	},
	"scripts of sed and awk": {
		`awk 'BEGIN {print|"rm x"}'`, "awk '{print|$0}' f", "awk '{ print | $1 }' f", `awk 'BEGIN{f="system"; @f("rm x")}'`, `awk -f - <<< 'BEGIN{system("rm x")}'`, "awk -f /dev/stdin <<E\nBEGIN{system(\"rm x\")}\nE",
		`awk -f <(echo 'BEGIN{system("rm x")}')`, `awk "$X"`, `original-awk 'BEGIN{system("rm x")}'`, "sed '/a/e rm x' f", "sed '\\,a,e rm x' f", "sed '/a/ e rm x' f", "sed '/a/I,+1e rm x' f", "sed '/a/!e rm x' f", "sed '1,/x/e rm x' f",
		"sed 's/a/rm x/ew /dev/null' f", "sed -f - f <<< 'e rm x'", "sed -f /dev/stdin f <<< 'e rm x'", "sed -f <(echo 'e rm x') f", "sed --file=- f <<< 'e rm x'", "sed -E '/(a|b)/e rm x' f", `sed "$X" f`, "gsed '/a/e rm x' f",
	},
	"a program of the same script": {
		`echo 'main(){system("rm x");}' | tcc -run -`, "cp /bin/rm ./l; ./l x", "cp /bin/rm /tmp/l && /tmp/l x", "ln -s /bin/rm ./l; ./l x", "ln -sf /usr/bin/rm l && ./l x", "install /bin/rm l; ./l x", "mv /bin/rm /bin/l; l x",
		"cat > x.sh <<E\nrm y\nE\n./x.sh", "cat > x.sh <<'E'\n#!/bin/sh\nrm y\nE\nchmod +x x.sh; ./x.sh", "echo 'rm y' > ./x; chmod +x ./x; ./x", `printf 'import os\nos.system("rm x")' > x.py; python3 x.py`,
		`echo 'require("child_process").exec("rm x")' > a.js && node a.js`, "echo 'rm y' | tee x.sh; chmod +x x.sh; ./x.sh", "wget -O /tmp/i u && chmod +x /tmp/i && /tmp/i",
	},
	"words that are put in": {
		"echo 'rm x' | xargs -I% sh -c %", "echo 'rm x' | xargs -I % sh -c %", "echo 'rm x' | xargs -I% bash -c '%'", "echo 'rm x' | xargs -d '\\n' -I% sh -c %", "echo rm | xargs -I% % x", "echo rm | xargs -i '{}' x",
		"echo rm x | xargs --replace=% env % y", "echo rm x | xargs sudo -u me", "echo rm x | xargs flock l", "echo rm x | xargs ssh host", "echo rm x | xargs docker exec c", "echo rm x | xargs kubectl exec p --", "echo push | xargs git",
		"echo push | xargs -n1 git -C .", "xargs -a cmds env", "xargs -a cmds -L1 sudo", "parallel '{}' < cmds", "xargs -n1 -I_ _ x", "xargs -J % % x", "xargs -0 -I F F", "xargs --replace sh -c '{}'", "xargs --arg-file x nice", "xargs tmux new",
		"xargs uv run", "xargs poetry run", "xargs docker run alpine", "xargs docker compose exec web", "xargs git submodule foreach", "xargs -I% git %", "xargs -I% git -C . %", "xargs find . -exec", "parallel -a cmds", "parallel :::: cmds",
		"parallel git ::: push", "parallel -X git ::: push",
	},
	"git, once more": {
		"git-push origin", "/usr/lib/git-core/git-push origin main", "git clone -u 'rm x' h:a", "hub -c alias.p=push p", "git -c core.hooksPath=./h commit", "git -c sendemail.smtpserver=/bin/rm send-email x", "git -c init.templateDir=x init",
		"git -c url.ext::rm.insteadOf=x fetch x", "git config hook.x.command 'rm y'", "git init --template=x", "git clone --template=x u", "git.exe push",
	},
	"programs that are given words or input": {
		"ssh h sudo bash < x.sh", "ssh -t h sudo -u me bash -s < x.sh", "ssh h env A=b bash < x", "ssh h nice sh", "flock l sudo bash x.sh", "chroot / env bash < x", "xargs make", "echo x | xargs -n1 make", "xargs -I{} make {}", "xargs make -C",
		"xargs -I{} make -C {} {}", "parallel make", "xargs docker", "xargs kubectl -n a", "xargs npm", "xargs just", "docker build - <<E\nFROM a\nRUN rm x\nE", "docker build -t x - < Dockerfile", "docker build -f- . <<E\nRUN rm x\nE",
		"docker build --file=- . < x", "docker buildx build -f /dev/stdin . < x", "podman build - < x", "docker build -f <(echo RUN rm x) .", "docker compose -f - up <<E\ncommand: rm x\nE", "kubectl apply -f - <<E\ncommand: [\"rm\", \"x\"]\nE",
	},
	"commands of other places": {
		"brew ruby -e 'x'", "brew sh", "gh extension exec rm", "gh ext exec rm x", "perl -I. -Mx", "perl -I. -Mx f", "perl -I . -M x f", "perl -Mlib=. -Mx f", "aws ssm send-command --parameters 'commands=[\"rm x\"]'",
		"aws ssm send-command --parameters commands=[\"rm x\"]", "aws ssm send-command --parameters '{\"commands\":[\"rm x\"]}'", "aws ssm send-command --parameters={\"commands\":[\"rm\"]}",
		`aws ssm send-command --parameters '{"commands":["\u0072m x"]}'`, "kubectl run x --overrides='{\"spec\":{\"command\":[\"git\",\"push\"]}}'",
	},
	"variables, once more": {
		"CMAKE_C_COMPILER_LAUNCHER=./x make", "MAVEN_OPTS='-javaagent:x' mvn test", "GRADLE_OPTS=-javaagent:x gradle test", "DOTNET_STARTUP_HOOKS=x dotnet run", "R_PROFILE_USER=x R", "GCC_EXEC_PREFIX=. gcc x.c", "WGETRC=x wget u",
		"PYTHONBREAKPOINT=os.system python x.py", "BASH_LOADABLES_PATH=. bash -c 'ls'",
	},
}

// plain is what no rule against others is about.
var plain = []string{
	"gh pr create --title 'rm x' --body 'rm y; git push'", "git commit -m 'rm x; git push'", "git log --grep='rm x' -- rm", "git checkout -- rm", "grep -rn -e 'rm x' .", "rg -- rm", "cat -- rm", "npm run build -- --x", "npm test -- push", "cargo run -- x", "cargo test -- --nocapture",
	"go test -run 'TestA|TestB' ./...", "go test -exec sudo ./...", "jq -r '.a | .b' f", "curl -H 'A: rm x' -d 'rm x' u", "docker run --name a -e A='b c' alpine ls", "cmake -S . -B build", "cmake -E echo x", "gcc -o rm rm.c", "gh api x", "gls", "git config user.name 'A B'", "git config alias.p",
	"git config core.pager", "git clone u a", "git fetch origin", "make CC=clang A='b c'", "tox -e py", "perf report", "less f", "npm --prefix x run a", "nix build", "fzf --height 40%", "just build", "bun run rmdir", "kubectl logs -f a -- ", "time ls",
	"sed -i 's/a/b/g' f", "sed -n '1,5p' src/pipe", "sed -n '/the/,/end/p' f", "sed 's/one/tree/' f", "sed -e 's,a,b,' -e 2d e", "vim f", "vim +12 f", "emacs f", "gdb ./a.out", "sqlite3 a.db 'select 1'", "psql -c 'select 1'", "make test", "make -f other.mk all", "deno run x.ts", "node --run build",
	"tar -I zstd -xf a.tar.zst", "tar czf a.tgz .", "rsync -e ssh -av a b", "rsync -av --filter='- *.o' a b", "ssh -o BatchMode=yes h ls", "sort f", "fd -e go", "fd -e go -x wc -l", "rg --pre cat x", "git bisect good", "git bisect run make test", "git rebase main", "git -c color.ui=always diff", "git submodule foreach git status",
	"docker ps", "docker run --rm alpine ls", "docker rm c", "docker compose up", "kubectl get pods", "npm test", "npm exec tsc", "uv run pytest -k x", "poetry run pytest", "ip addr",
	"python3 x.py -c y", "python3 -m pytest -k c", "python3 --version", "python3 -u x.py", "node x.js -e y", "node --test", "node --version", "node -r a x.js", "perl -MData::Dumper x.pl", "ruby -Ilib x.rb", "php -d a=b x.php", "bun test", "bun run x",
	"awk '{ print $1 }' f", "awk -F'|' '/a|b/ { print $2 }' f", "awk '$1 == 1 || $2 { print }' f", "git -c core.pager=cat log", "git -c user.name=x commit -m '!rm'", "env A=b ls", "npx tsc", "sudo -u me /bin/ls", "npm run x | tee log",
	"git -C push status", "git -c push=x log", "git --no-pager log push", "git log --grep push", "git --x=y log push", "git commit -m push", "git -C . status", "git --git-dir push status", "git stash push", "git", "git -C push", "git --version",
	"docker -H push ps", "npm --prefix publish test", "npm run build", "cargo +nightly build", "cargo build -p publish", "go -C generate build", "go test ./...", "make -C deploy all", "make -j4 all", "kubectl -n delete get pods", "unknown -x ls",
	"bash -c ls", "bash -lc 'ls -l'", "bash -n x.sh", "bash --version", "bash -o pipefail -c ls", "sh -ec ls", "sudo bash -c ls", "command -v bash", "command -v rm", "which bash", "type bash", "man bash", "apt install fish", "sudo apt install zsh", "find . -name bash",
	"GOFLAGS=-p=1 go test ./...", "CI=1 npm test", "CGO_ENABLED=0 GOOS=linux go build", "FORCE_COLOR=1 NODE_ENV=test npm test", "RUST_LOG=debug cargo test", "RUSTFLAGS='-D warnings' cargo check", "PYTHONPATH=. pytest -q", "DEBUG='a b' node x.js", "GIT_AUTHOR_NAME='A B' git commit -m x",
	"PAGER=cat git log", "GIT_PAGER='less -R' git log", "GIT_EDITOR=true git rebase --continue", "GIT_SEQUENCE_EDITOR=: git rebase -i a", "PATH=$PATH:/usr/local/go/bin go test", "PATH=\"$PATH:/opt/x\" ls", "export PATH=$PATH:/x/bin; ls", "CC=clang make", "CC=gcc-13 CXX=g++-13 make", "RUSTC_WRAPPER=sccache cargo build",
	"env CI=1 npm test", "sudo A=b ls", "export CI=1; npm test", "NODE_OPTIONS=--max-old-space-size=4096 npm test", "MAKEFLAGS=-j4 make", "LESS=-R git log", "RUBYOPT=-W0 ruby x.rb", "JAVA_TOOL_OPTIONS=-Xmx1g mvn test", "A=(a b); ls", "X=$(ls) make", "echo ${PATH:-x}", "for f in a b; do ls $f; done", "declare -i n=1",
	"ls . source", "grep -rn bash .", "alias", "alias l", "hash -r", "complete -p", "crontab -l", "fish --version", "sudo", "sudo -n", "sudo ls", "ssh host ls", "nice make", "xargs ls", "env", "timeout 5 make -j4", "time make",
	"test -f x", "[ -d 'a b' ]", "[ 'a' = 'b[1]' ] || [ -f 'app/[id]/x' ]", "[[ -n $x ]]", "[[ $x =~ a ]]", "(( i++ ))", "echo $((1 + 2))", "x=1; echo $x", "x=$(ls); echo \"$x\"", "export A=b; ls", "read x", "printf '%s\\n' 'a[1]'", "printf %d 1", "unset x", "declare -i x=1", "grep 'a[$]' x", "echo 'run `ls`'", "echo '$(rm x)'", "let i=1", "for i in 1 2; do ls; done",
	`grep -rn "rm -rf" .`, "grep -n 'curl' README.md", "rg 'git push' -n", "rg -l curl docs", "find . -name '*.go' | wc -l", "find . -name '*.go' | xargs wc -l", "find . -name '*.go' -exec wc -l {} +", "find . -type f -name '*.py' | xargs grep -l foo",
	"find . -type f -print0 | xargs -0 grep -l TODO", "find . -name rm", "find src -path '*/test/*' -prune -o -print", "sed -n '1,50p' x.go", "sed -i 's/foo/bar/g' x.go", "sed -i '' -e 's/a/b/' x", "sed -E 's/([a-z]+)e/\\1/g' f",
	"sed 's/the/one/;s/more/less/' f", "sed '/^$/d' f", "sed -n '/start/,/end/p' f", `sed -i "s/a/$X/" f`, "sed 's#/usr/local#/opt#g' f", "sed -e '1i\\' -e 'hello there' f", "sed '$a end of file' f", "sed '/re/a some text here' f", `sed "s/'/\"/g" f`,
	"sed 's/[/]/x/' f", "sed ':a;N;$!ba;s/\\n/ /g' f", "sed -n '$=' f", "sed 'y/abc/def/' f", "sed '/a/{n;d}' f", "sed '1~2d' f", "sed 's/x/y/w out.txt' f", "awk '{print $1}' f", `awk -F: '{print $1 "|" $2}' f`, "awk 'NR==1 || NR==3' f",
	"awk '{s+=$1} END {print s}' f", "awk '/a|b/ {print}' f", "awk -v n=3 'NR==n' f", `awk "NR==$n" f`, "awk '{ if ($1 ~ /x|y/) print $2 }' f", `awk 'BEGIN{FS="|"} {print $2}' f`, `awk '{print $1 > "out"}' f`, `awk '{gsub(/\|/, " "); print}' f`,
	"awk -f x.awk f", "awk '{ print length($0) / 2 / 3 }' f", `awk '$3 > 100 { total += $3 } END { printf "%d\n", total }' f`, "git log --grep 'rm x'", "git commit -m 'Remove rm usage; use git push'", `git commit -am "fix: curl error"`,
	"git commit -F - <<E\nrm the old file and git push\nE", "git commit -m \"$(cat <<'E'\nUse curl instead\nE\n)\"", "git ls-files | wc -l", "git ls-files | xargs wc -l", "git rm x", "git grep curl", "npm i curl", "npx tsc --noEmit",
	"npx eslint src --fix", "npx prettier --check .", "npx vitest run x", "go build ./...", "go test -run TestX ./pkg", "go test -run 'TestRm|TestPush' ./...", "go vet ./...", "go run ./cmd/x", "cargo add curl", "make", "make -j4",
	"make build VERBOSE=1", "make -C sub all", "make clean", "cmake -B build && cmake --build build", "cmake --build build -j 4", "./gradlew test", "./gradlew build --info", "python -m pytest", "python -m pytest -k 'curl'", "python3 -m venv .venv",
	"python3 -m http.server 8000", "pytest -k 'rm or curl'", "docker ps -a", "docker build -t x .", "docker compose up -d", "docker compose logs -f web", "docker images", "docker exec c ls", "docker logs c", "docker inspect c",
	"gh pr create --title 'x' --body 'rm y'", "which curl", "which rm git", "type curl", "command -v curl", "whereis curl", "man curl", "tldr curl", "apt install curl", "sudo apt-get update", "brew install curl", "dpkg -l curl", "rpm -q curl",
	"apk add curl", "pacman -S curl", `echo "rm x"`, "echo 'curl is needed' > notes.txt", `echo "done; git push later"`, "cd .. && make", "tar czf x.tgz src", "tar xzf x.tgz", "tar -xf x.tar.xz -C /tmp", "timeout 5 npm test",
	"timeout 60 go test ./...", "time go test ./...", "nohup npm start &", "npm start > log 2>&1 &", "cat <<E > x.txt\nhello\nE", "cat > x.py <<'E'\nprint(1)\nE", "cat > x.py <<'E'\nprint(1)\nE", "cat > main.go <<'E'\npackage main\nE",
	"ssh host 'cd x && ls'", "rsync -av a b", "gcc -o x x.c && ./x", "vim x", "psql -l", "sqlite3 x.db 'select * from t'", "sqlite3 x.db .tables", "sqlite3 x.db .schema", "./build/app", "./build/app --flag arg", "./x.sh", "./scripts/build.sh all",
	"NODE_ENV=test npx jest", "CI=1 make test", "xargs -n1 echo < x", "cat x | xargs -I{} echo {}", "cat x | xargs -d '\\n' ls", "ls | xargs -n 1 basename", "git diff --name-only | xargs gofmt -l", "git ls-files '*.go' | xargs sed -i 's/a/b/'",
	"cat x.sql | psql", "psql < x.sql", "echo y | ./install", "valgrind ./x", "gdb ./x", "lldb ./x", "perf record ./x", "sudo systemctl restart nginx", "sudo cat /var/log/x", "sudo -u postgres psql", "sudo make install", "flock l make",
	"nice make -j4", "env A=b make", "parallel echo ::: a b", "parallel -j4 gzip ::: *.txt", "trap 'echo bye' EXIT", "trap - EXIT", "set -e; make", "bc <<< '1+2'", "curl-config --version", "cat > x.py <<'E'\nprint(1)\nE\npython3 x.py",
	"xargs -I{} make -C {} all", "ls -d */ | xargs -n1 make -C", "ls -d */ | xargs -n 1 make -C", "parallel make ::: a b", "docker ps -q | xargs docker rm", "go list ./... | xargs go test", "ssh h sudo systemctl restart nginx",
	"ssh h time ls", "flock l sudo make", "docker inspect --format '{{.State}}' c", "kubectl get pods -o jsonpath='{.items[*].metadata.name}'", "kubectl apply -f - <<E\ncommand: ls\nE", "kustomize build . | kubectl apply -f -", "cat x | docker load", "docker exec -i db psql < x.sql",
	"docker buildx build -t x --push .", "brew install jq", "gh extension list", "gh pr list --json number,title", "perl -I. x.pl", "perl -Ilib -c f", "aws ec2 describe-instances --filters 'Name=tag,Values=[a]'", "kubectl patch d x --patch '{\"spec\":{\"replicas\":2}}'",
	"jobs -l", "sudo env", "nohup nice", "time env", "tar xIf zstd a", "tar czf a.tgz d", "npx prettier --check .", "npx eslint --ext .ts src", "git send-email --smtp-server=mail.example.org x.patch", "git config --get help.autocorrect", "gawk --assign x=1 '{print x}' f",
	"sed --expr='s/a/b/' f", "man --pager=cat ls", "docker run --user 1000 img ls", "awk -F $'\\t' '{print $1}' f", "grep $'\\t' f", "m4 -DX=1 a.m4", "python3 -m pytest",
	"cat > main.go <<'E'\npackage main\nE\ngo run main.go", "cat > x.sh <<'E'\necho hi\nE\nchmod +x x.sh",
}

func TestWaysPastARule(t *testing.T) {
	l := List{Rules: []Rule{
		reject("git push **", "rm **", "docker push **", "podman push **", "docker compose down **", "npm publish **", "npm run deploy **", "pnpm publish **", "yarn publish **", "cargo publish **", "go generate **",
			"kubectl delete **", "oc delete **", "make deploy **", "systemctl stop **", "apt-get remove **", "helm delete **", "unknown stop **"),
		{Kinds: []string{"execute"}, Action: Allow},
	}}
	for name, scripts := range past {
		for _, script := range scripts {
			t.Run(name+"/"+script, func(t *testing.T) {
				if got := l.Decide(request(Request{Kind: "execute", Run: Shell(script)})); got.Action == Allow {
					t.Errorf("it is allowed")
				}
			})
		}
	}
	for _, script := range plain {
		t.Run("plain/"+script, func(t *testing.T) {
			if got := l.Decide(request(Request{Kind: "execute", Run: Shell(script)})); got.Action != Allow {
				t.Errorf("%s, %s", got.Action, got.Why)
			}
		})
	}
	for script, want := range map[string]Action{
		"git -C . push": Reject, "git --no-pager -c a=b push -f": Reject, "git --new push": Ask, "make -j4 deploy": Ask, "make A=b deploy": Reject, "cargo +nightly publish": Reject, "toybox rm x": Reject,
		"docker compose -f x down": Ask, "unknown -x stop": Ask, "bash x.sh": Ask, "echo 'rm x' | sh": Ask,
	} {
		if got := l.Decide(request(Request{Kind: "execute", Run: Shell(script)})); got.Action != want {
			t.Errorf("%q: %s, %s; want %s", script, got.Action, got.Why, want)
		}
	}
}

// A rule that allows a builtin does not allow what a word of it would run.
func TestEvaluationIsNotAllowed(t *testing.T) {
	l := List{Rules: []Rule{allow("test **", "[ **", "printf **", "read **", "unset **", "wait **", "declare **", "export **", "builtin **", "command **", "exit **", "echo **", "let **")}}
	for _, script := range past["evaluation"] {
		if got := l.Decide(request(Request{Kind: "execute", Run: Shell(script)})); got.Action != Ask {
			t.Errorf("%q: %s, %s", script, got.Action, got.Why)
		}
	}
	for _, script := range []string{"test -f x", "test -v x", "[ 'a' = 'b[1]' ]", "[ -f 'app/[id]/page.tsx' ]", "printf '%s\\n' x", "unset x", "wait 1", "exit 1", "read x"} {
		if got := l.Decide(request(Request{Kind: "execute", Run: Shell(script)})); got.Action != Allow {
			t.Errorf("%q: %s, %s", script, got.Action, got.Why)
		}
	}
}

func TestMatchWords(t *testing.T) {
	for _, c := range []struct {
		pattern, words string
		want           match
	}{
		{"ls", "ls", yes}, {"ls", "ls x", no}, {"ls **", "ls", yes}, {"ls **", "ls x y", yes}, {"ls **", "l", no}, {"**", "", yes},
		{"ls *", "ls", no}, {"ls *", "ls ?", maybe}, {"ls x", "? x", maybe}, {"ls", "ls ?", maybe}, {"ls", "ls ? x", no}, {"ls", "ls ? ?", maybe},
		{"ls ** x", "ls ** x", yes}, {"a b", "a", no}, {"a b", "c ?", no},
	} {
		var words []word
		for _, w := range strings.Fields(c.words) {
			words = append(words, word{w, w != "?"})
		}
		check.Equal(t, matchWords(strings.Fields(c.pattern), words), c.want, "%q and %q: %d", c.pattern, c.words)
	}
	for n, want := range map[int]string{1: "rule 1", 2: "rules 1, 2"} {
		v := Verdict{}
		for i := range n {
			v.Rules = append(v.Rules, i+1)
		}
		check.Equal(t, v.By(), want, "%s")
	}
	for w, want := range map[string]bool{"-x": true, "A=1": true, "10": true, "1.5h": true, "10x": false, "x": false} {
		if isOption(w) != want {
			t.Errorf("%s is an option: %v", w, !want)
		}
	}
}

// A long command does not hold up the session.
func TestLongCommandsPastARule(t *testing.T) {
	t.Parallel()
	l := List{Rules: []Rule{reject("git push **", "sudo rm **", "rm **"), {Kinds: []string{"execute"}, Action: Allow}}}
	for _, word := range []string{"sudo ", "git ", "-x ", "su ", "xargs -n ", "sudo -u ", "find -exec ", "sh -x ", "su -x ", "'a b' ", "docker exec ", "uv run ", "tar -I "} {
		for _, first := range []string{"", "git ", "sudo ", "sudo git ", "sh ", "su ", "eval "} {
			got := l.Decide(request(Request{Kind: "execute", Run: Shell(first + strings.Repeat(word, scriptLimit/len(word)-2) + "rm x")}))
			if got.Action == Allow && first != "git " && (word == "sudo " || word == "su ") {
				t.Errorf("%s and then %s many times: it is allowed", first, word)
			}
		}
	}
}
