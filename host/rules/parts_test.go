package rules

import (
	"strings"
	"testing"
)

// told is what a command is taken apart into: words, ? for those that are not known, and why no pattern takes it.
func told(c Command) string {
	var parts []string
	for _, p := range c.parts {
		var words []string
		for _, w := range p.words {
			if text := w.text; w.known {
				words = append(words, text)
			} else {
				words = append(words, "?")
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
		"ls > x":               "ls | (inert)(x): it redirects: `> x`",
		"ls >&x":               "ls | (inert)(x): it redirects: `>&x`",
		"ls <&1x":              "ls | (inert)(1x): it redirects: `<&1x`",
		"ls <<< /dev/null":     "ls | (inert)(/dev/null): it redirects: `<<< /dev/null`",
		"ls > $x":              "ls | (inert): it redirects: `> $x`",
		"A=1 ls":               "ls | (inert): it sets a variable: `A=1`",
		"A=1":                  "(inert): it sets a variable: `A=1`",
		"ls # x":               "ls | (inert): it has a comment",
		"coproc ls":            "(inert): it has more than plain commands: `coproc ls` | ls",
		"ls |& cat":            "ls | cat",
		"echo $x":              "echo_?: the shell would still expand it: `$x`",
		"echo ${x}":            "echo_?: the shell would still expand it: `${x}` | (inert): the shell would still expand it: `${x}`",
		"echo \"$x\"":          "echo_?: the shell would still expand it: `\"$x\"`",
		"echo *":               "echo_?: the shell would still expand it: `*`",
		"echo a?b":             "echo_?: the shell would still expand it: `a?b`",
		"echo [a]":             "echo_?: the shell would still expand it: `[a]`",
		"echo {a,b}":           "echo_?: the shell would still expand it: `{a,b}`",
		"echo ~ a~b":           "echo_?_a~b: the shell would still expand it: `~`",
		"echo =x a=x":          "echo_?_a=x: the shell would still expand it: `=x`",
		"echo $'a'":            "echo_?: the shell would still expand it: `$'a'`",
		"echo $\"a\"":          "echo_a: it has an oddly quoted word: `$\"a\"`",
		"'ls' x":               "ls_x: it has an oddly quoted word: `'ls'`",
		"\"ls\" x":             "ls_x: it has an oddly quoted word: `\"ls\"`",
		"l\\s x":               "ls_x: it has an oddly quoted word: `l\\s`",
		"ls \"a\\\"b\"":        "ls_a\"b: it has an oddly quoted word: `\"a\\\"b\"`",
		"ls 'a\\'":             "ls_a\\: it has an oddly quoted word: `'a\\'`",
		"ls 'a\\b'":            "ls_a\\b",
		"ls a\\\nb":            "ls_ab",
		"printf -vx y":         "printf_-vx_y: it sets a variable: `printf -vx y`",
		"printf x -v":          "printf_x_-v",
		"printf":               "printf",
		"sh -c 'ls x'":         "ls_x | sh_-c_ls x(outer)",
		"/bin/sh -c ls":        "ls | /bin/sh_-c_ls(outer)",
		"/usr/bin/bash -lc ls": "ls | /usr/bin/bash_-lc_ls(outer)",
		"/opt/bash -c ls":      "ls | /opt/bash_-c_ls: it runs another shell: `/opt/bash -c ls`",
		"bash x.sh":            "bash_x.sh",
		"bash -x ls":           "bash_-x_ls",
		"bash --c ls":          "bash_--c_ls",
		"bash - c":             "bash_-_c",
		"bash -c ls x":         "ls | x | bash_-c_ls_x: it runs another shell: `bash -c ls x`",
		"bash -x -c ls":        "ls | bash_-x_-c_ls: it runs another shell: `bash -x -c ls`",
		"bash -oc ls":          "ls | bash_-oc_ls: it runs another shell: `bash -oc ls`",
		"bash -c $x":           "bash_-c_?: the shell would still expand it: `$x`",
		"fish -c ls":           "fish_-c_ls",
		"ls\u200b":             "ls\u200b | : it has invisible characters",
		"":                     "(inert): it runs nothing",
		"ls ((":                "ls: it cannot be read as a shell command | : it cannot be read as a shell command",
	} {
		if got := told(Shell(script)); got != want && !(strings.HasPrefix(want, "ls: it cannot") && strings.Contains(got, "ls: it cannot be read")) {
			t.Errorf("%q is\n%s, want\n%s", script, got, want)
		}
	}
	for want, c := range map[string]Command{
		"":      Argv(nil),
		"ls_$x": Argv([]string{"ls", "$x"}),
		"ls_a\x00b: `ls a\x00b` has invisible characters": Argv([]string{"ls", "a\x00b"}),
		": why":            Unknown("text", "why"),
		"ls: why | x: why": Shell("ls; x").Doubtful("why"),
	} {
		if got := told(c); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
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
	if !strings.Contains(told(Shell(script)), "it has too many shells within each other") {
		t.Errorf("it is %s", told(Shell(script)))
	}
	long := "ls " + strings.Repeat("x", scriptLimit-3)
	if got := told(Shell(long)); got != "ls_"+long[3:] {
		t.Errorf("of the longest script it is %.50s", got)
	}
	if got := told(Shell(long + "x")); got != ": it is too long to be read" {
		t.Errorf("of a longer one it is %.50s", got)
	}
}

// What rules that stop see of commands that run others.
func TestStoppedCommands(t *testing.T) {
	stop := List{Rules: []Rule{{Commands: []string{"rm **"}, Action: Reject}, {Kinds: []string{"execute"}, Action: Allow}}}
	for script, want := range map[string]Action{
		"rm": Reject, "rm x": Reject, "/bin/rm x": Reject, "rmx": Allow, "x rm": Allow, "ls rm x": Allow,
		"sudo rm x": Reject, "sudo -u me rm x": Ask, "env A=1 B=2 rm x": Reject, "timeout 10s rm x": Reject, "timeout 1.5m rm x": Reject,
		"/usr/bin/env rm x": Reject, "xargs rm": Reject, "sudo ls rm": Ask, "sudo ls": Allow, "sudo": Allow, "sudo -n": Allow,
		"eval 'ls; rm x'": Ask, "eval 'rm x'": Ask, "eval 'lsrm'": Allow, "ssh host 'ls'": Allow, "ssh host 'ls -l'": Allow, "ssh host 'ls|rm x'": Ask,
		"$x": Ask, "$x rm": Ask, "sudo $x": Ask, "ls $x": Allow, "": Allow, "nice -n 5 rm x": Reject,
	} {
		r := request(Request{Kind: "execute", Run: Shell(script)})
		if got := stop.Decide(r); got.Action != want {
			t.Errorf("%q: %s, %s; want %s", script, got.Action, got.Why, want)
		}
	}
}

// past are ways past a rule against `git push` or `rm`. None is allowed by a rule behind it.
var past = map[string][]string{
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
		"timeout 5 sh x.sh", "xargs sh", "xargs -n1 sh -c", "find . -exec sh {} +", "exec bash x.sh", "busybox sh x.sh", "/bin/bash x.sh", "flock l bash x.sh", "ssh host bash x.sh", "command bash x.sh", "eval bash x.sh", "bash $X", "bash -c 'bash x.sh'",
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
		"sudo -u me /usr/bin/git -C . push", "sudo -u me" + strings.Repeat(" git", 70) + " -C . push", "npx rm x", "valgrind rm x", "tmux new-session 'rm x'", "hyperfine 'rm x'",
	},
	"programs that run others": {
		"sed 'e rm x' f", "sed -n '1e rm x' f", "sed 's/a/rm x/e' f", "sed -e p -e 's,a,rm x,ge' f", "sed '/a/{s/x/rm y/e;p}' f",
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
		"sed -ne'1e rm x' f", "emacs -eval '(shell-command \"rm x\")'", "gnuplot -e 'system(\"rm x\")'", "octave --eval 'system(\"rm x\")'", "R -e 'system(\"rm x\")'", "ghc -e x", "scala -e x", "kotlin -e x", "clojure -e x", "racket -e x", "ocaml -e x", "raku -e x", "swift -e x",
		"ed -s f <<< '!rm x'", "osh -c 'rm x'", "sash -c 'rm x'", "compgen -W '$(rm x)'", "fc -s ls=rm ls", "FPATH=. zsh -c f",
	},
}

// plain is what no rule against others is about.
var plain = []string{
	"gh pr create --title 'rm x' --body 'rm y; git push'", "git commit -m 'rm x; git push'", "git log --grep='rm x' -- rm", "git checkout -- rm", "grep -rn -e 'rm x' .", "rg -- rm", "cat -- rm", "npm run build -- --x", "npm test -- push", "cargo run -- x", "cargo test -- --nocapture",
	"go test -run 'TestA|TestB' ./...", "go test -exec sudo ./...", "jq -r '.a | .b' f", "curl -H 'A: rm x' -d 'rm x' u", "docker run --name a -e A='b c' alpine ls", "cmake -S . -B build", "cmake -E echo x", "gcc -o rm rm.c", "gh api x", "gls", "git config user.name 'A B'", "git config alias.p",
	"git config core.pager", "git clone u a", "git fetch origin", "make CC=clang A='b c'", "tox -e py", "perf report", "less f", "npm --prefix x run a", "nix build", "fzf --height 40%", "just build", "bun run rmdir", "kubectl logs -f a -- ", "time ls",
	"sed -i 's/a/b/g' f", "sed -n '1,5p' src/pipe", "sed -n '/the/,/end/p' f", "sed 's/one/tree/' f", "sed -e 's,a,b,' -e 2d e", "vim f", "vim +12 f", "emacs f", "gdb ./a.out", "sqlite3 a.db 'select 1'", "psql -c 'select 1'", "make test", "make -f other.mk all", "deno run x.ts",
	"tar -I zstd -xf a.tar.zst", "tar czf a.tgz .", "rsync -e ssh -av a b", "rsync -av --filter='- *.o' a b", "ssh -o BatchMode=yes h ls", "sort f", "fd -e go", "fd -e go -x wc -l", "rg --pre cat x", "git bisect good", "git bisect run make test", "git rebase main", "git -c color.ui=always diff", "git submodule foreach git status",
	"docker ps", "docker run --rm alpine ls", "docker rm c", "docker compose up", "kubectl get pods", "npm test", "npm exec tsc", "uv run pytest -k x", "poetry run pytest", "ip addr",
	"python3 x.py -c y", "python3 -m pytest -k c", "python3 --version", "python3 -u x.py", "node x.js -e y", "node --test", "node --version", "node -r a x.js", "perl -MData::Dumper x.pl", "ruby -Ilib x.rb", "php -d a=b x.php", "bun test", "bun run x",
	"awk '{ print $1 }' f", "awk -F'|' '/a|b/ { print $2 }' f", "awk '$1 == 1 || $2 { print }' f", "git -c core.pager=cat log", "git -c user.name=x commit -m '!rm'", "env A=b ls", "npx tsc", "sudo -u me /bin/ls", "npm run x | tee log",
	"git -C push status", "git -c push=x log", "git --no-pager log push", "git log --grep push", "git commit -m push", "git -C . status", "git --git-dir push status", "git stash push", "git", "git -C push", "git --version",
	"docker -H push ps", "npm --prefix publish test", "npm run build", "cargo +nightly build", "cargo build -p publish", "go -C generate build", "go test ./...", "make -C deploy all", "make -j4 all", "kubectl -n delete get pods", "unknown -x ls",
	"bash -c ls", "bash -lc 'ls -l'", "bash -n x.sh", "bash --version", "bash -o pipefail -c ls", "sh -ec ls", "sudo bash -c ls", "command -v bash", "command -v rm", "which bash", "type bash", "man bash", "apt install fish", "sudo apt install zsh", "find . -name bash",
	"GOFLAGS=-p=1 go test ./...", "CI=1 npm test", "CGO_ENABLED=0 GOOS=linux go build", "FORCE_COLOR=1 NODE_ENV=test npm test", "RUST_LOG=debug cargo test", "RUSTFLAGS='-D warnings' cargo check", "PYTHONPATH=. pytest -q", "DEBUG='a b' node x.js", "GIT_AUTHOR_NAME='A B' git commit -m x",
	"PAGER=cat git log", "GIT_PAGER='less -R' git log", "GIT_EDITOR=true git rebase --continue", "GIT_SEQUENCE_EDITOR=: git rebase -i a", "PATH=$PATH:/usr/local/go/bin go test", "PATH=\"$PATH:/opt/x\" ls", "export PATH=$PATH:/x/bin; ls", "CC=clang make", "CC=gcc-13 CXX=g++-13 make", "RUSTC_WRAPPER=sccache cargo build",
	"env CI=1 npm test", "sudo A=b ls", "export CI=1; npm test", "NODE_OPTIONS=--max-old-space-size=4096 npm test", "MAKEFLAGS=-j4 make", "LESS=-R git log", "RUBYOPT=-W0 ruby x.rb", "JAVA_TOOL_OPTIONS=-Xmx1g mvn test", "A=(a b); ls", "X=$(ls) make", "echo ${PATH:-x}", "for f in a b; do ls $f; done", "declare -i n=1",
	"ls . source", "grep -rn bash .", "alias", "alias l", "hash -r", "complete -p", "crontab -l", "fish --version", "sudo", "sudo -n", "sudo ls", "ssh host ls", "nice make", "xargs ls", "env", "timeout 5 make -j4", "time make",
	"test -f x", "[ -d 'a b' ]", "[ 'a' = 'b[1]' ] || [ -f 'app/[id]/x' ]", "[[ -n $x ]]", "[[ $x =~ a ]]", "(( i++ ))", "echo $((1 + 2))", "x=1; echo $x", "x=$(ls); echo \"$x\"", "export A=b; ls", "read x", "printf '%s\\n' 'a[1]'", "printf %d 1", "unset x", "declare -i x=1", "grep 'a[$]' x", "echo 'run `ls`'", "echo '$(rm x)'", "let i=1", "for i in 1 2; do ls; done",
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
		if got := matchWords(strings.Fields(c.pattern), words); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.pattern, c.words, got, c.want)
		}
	}
	for n, want := range map[int]string{1: "rule 1", 2: "rules 1, 2"} {
		v := Verdict{}
		for i := range n {
			v.Rules = append(v.Rules, i+1)
		}
		if got := v.By(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
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
			l.Decide(request(Request{Kind: "execute", Run: Shell(first + strings.Repeat(word, scriptLimit/len(word)-2))}))
		}
	}
}
