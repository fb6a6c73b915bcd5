package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// wordsOf are the words of a line, in which ␣ is a blank, ␤ ends a line, ” is an empty word, and ? begins one that is
// not known: alone it is one of which nothing is.
func wordsOf(line string) []word {
	var words []word
	for _, text := range strings.Fields(line) {
		text = strings.NewReplacer("␣", " ", "␤", "\n", "''", "").Replace(text)
		unknown, ok := strings.CutPrefix(text, "?")
		switch {
		case text == "?":
			words = append(words, word{unknownWhole, false})
		case ok:
			words = append(words, word{unknown, false})
		default:
			words = append(words, word{text, true})
		}
	}
	return words
}

// What is known of single programs, by their arguments: yes and no have one line each for what does what is asked, and
// for what does not.
func TestWhatIsKnownOfPrograms(t *testing.T) {
	named := func(ask func(name string, args []word) bool) func([]word) bool {
		return func(words []word) bool { return ask(words[0].text, words[1:]) }
	}
	for name, c := range map[string]struct {
		ask     func(words []word) bool
		yes, no string
	}{
		"awk runs a command": {runsByAwk, `
			BEGIN{system("x")}
			-e system(1)
			--source system(1)
			-e {print} -e {print|"x"}
			-esystem(1)
			--source=system(1)
			-f -
			-f ?
			-f-
			--file=-
			--file -
			--file ?x
			-E /dev/stdin
			-E/dev/stdin
			--exec /dev/stdin
			--exec=/proc/1/fd/0
			-l ?
			-l-
			--load ?
			--load=-
			-i ?
			-i-
			--include=/proc/1/fd
			--include -
			?
			-v a=b system(1)
			-F : system(1)
			--assign a=b system(1)
			--field-separator : system(1)
			-va=b system(1)
			a/b|c/d
			"a"|"b"
			@f(1)
			a="\\"|"x"
			#a␤x|y
			system#x␤(1)
			system␣(1)`, `
			{print} system(1)
			-f x system(1)
			-fx system(1)
			-e {print} system(1)
			-e{print} system(1)
			--file=x system(1)
			--file x system(1)
			-v system(1) {print}
			-F system(1) {print}
			--assign system(1) {print}
			--field-separator system(1) {print}
			{print||x}
			"a|b"
			$1~/a|b/
			/a|b/
			a,␣/b|c/
			/a\/|b/
			"a\"|b"
			#a|b
			-f
			-e
			?{print}
			xsystem
			/x/,/y|z/`},
		"sed runs a command": {runsBySed, `
			e
			1e␣x
			s/a/b/e
			s/a/b/ge
			s/a/b/2e
			-e p -e e␣x
			-ee
			-ne1e
			-n -e 1e
			--expression=e
			--expression e
			--expression p -e e
			-f -
			-f ?
			-f-
			-nf -
			--file=-
			--file ?
			?
			-e ?
			/a/e
			/a/Ie
			\,a,e
			1,$e
			1~2!e
			/a/{p;e}
			{e}
			y/a/b/;e
			b;e
			bx;e
			t;e
			:x;e
			q5;e
			Q␣3;e
			l␣3;e
			=;e
			h;G;x;e
			@e
			s/e/b
			/e
			y/e/
			s/a[/]/b/e
			s/\/e/b/e
			--file=x -e e
			-i e
			s/[/x/e;s/]/y/
			s/x[]/]y/b/e
			s/a/b/w␣e␤e
			a␤e
			-e ?p -e e
			-e @e -e @
			-s -E e`, `
			p
			s/e/e/
			s/a/e/g
			s/a/e/gI
			-e p e
			-ie p
			-n p e
			a␣e
			i␣e
			r␣e
			w␣e
			R␣e
			be
			te
			:e
			y/e/x/
			/e/p
			\,e,p
			#e
			s/a/b/w␣e
			s/a\/e/b/
			@
			s
			s/a
			?p
			-f x
			-fx e
			-f x e
			--file x e
			--posix p e
			-e
			-l5 p
			s/[/]e/
			bse;p
			q;s/e/b/
			=;s/e/b/
			0,/e/p
			/a/Ip;s/e/b/
			\,,p;s/e/b/
			\
			a␣x\␤e
			a␣x\\␤p
			s/a/b/gw␣e
			-e ?@e -e @
			--expression=p e`},
		"a file in the place of a command's input": {func(words []word) bool { return isInputFile(words[0]) }, `
			-
			-f-
			-nf/dev/stdin
			--file=-
			--file=/dev/fd/3
			/proc/self/fd/0
			-/dev/stdin
			/dev/fd/63`, `
			/dev/null
			-f
			--
			--file
			--file=x
			a=-
			x`},
		"make reads a file that is not told": {unknownFile, "-f ?\n--file ?x\n-j --makefile ?", "-f x\n? x\n-x ?\n? -f"},
		"a program is given commands": {named(runsByCommands), `
			ex
			vim -c x
			vim -es f
			nvim --cmd x
			vim --remote-send x
			vi --remote-expr=x
			view +x
			gvim -c x
			vimdiff -S x
			vim +1x
			less +!x
			more +/x!
			emacs --eval x
			emacs -l x
			emacs -eval x
			emacs --execute x
			emacs -f x
			emacs --funcall x
			emacs --load x
			emacs --script x
			emacsclient -e x
			gdb -ex x
			gdb -iex x
			gdb -eval-command x
			gdb --eval-command x
			gdb -init-eval-command x
			gdb -x x
			gdb -ix x
			gdb --command x
			gdb -O x
			gdb -s x
			gdb -S x
			gdb -k x
			gdb --one-line x
			lldb -o x
			lldb --source=x
			sqlite3 db .shell␣x
			sqlite3 db .system␣x
			sqlite3 db .once␣|x
			sqlite3 db .read␣x
			sqlite3 db .import␣x
			psql -c \!␣x
			mysql -e \!␣x
			mariadb -e \!␣x
			make --eval=x
			gmake -E x
			bmake -E x
			remake -E x
			make SHELL=x
			make MAKE=x
			make .SHELLFLAGS=x
			make -E x
			make -f -
			make -f ?
			make A=$(x)
			make CC=rm
			deno
			deno eval x
			deno repl
			deno run -
			brew sh
			brew irb
			brew ruby x
			perl -I. -Mx f
			perl -mx -Ix f
			perl -Mlib=. -Mx f
			crystal eval x
			bun run -
			npm set-script x
			npm pkg set scripts.x=y
			yarn config set script-shell x
			pnpm config set script-shell x
			cargo --config a.runner=x b
			cargo --config=linker=x b
			cargo --config rustc=x b
			cargo --config a.wrapper=x b
			cargo --config a.linker=x b
			cargo rustc -C␣linker=x
			uv run -
			ninja -f /dev/stdin
			cmake -P -
			task -t -
			gh alias set x y
			glab alias set x y
			gcc -Bx f
			clang -specs=x f
			cc -fplugin=x f
			g++ -Bx f
			c++ -Bx f
			clang++ -Bx f
			tclsh
			guile -c x
			wish -e x
			erl -eval x
			groovy -e x
			ghci -e x
			tclsh --eval=x
			sbcl --load x
			expect -
			ed f
			red
			dc
			dc !x
			dc -f -
			m4 -
			m4
			m4 syscmd(x)
			gnuplot system(x)
			octave system(x)
			socat - EXEC:x
			socat - exec:x
			socat - system:x
			socat SYSTEM:x -`, `
			vim f
			vim +
			vim +12 f
			less +12 f
			less x!
			more +G f
			emacs f
			gdb --args x
			sqlite3 db .tables
			psql -c select
			make all
			make -f x all
			make A=b
			deno run x.ts
			deno fmt eval
			brew install ruby
			brew
			perl -Mx f
			perl -I. f
			crystal build eval
			crystal
			bun run x
			npm pkg get script
			npm config set x y
			npm set script
			cargo --config a.b=x c
			cargo runner linker
			uv run x
			gh alias list
			gh set x
			gcc -O2 f
			gcc xB -o specs
			tclsh f
			ed --version
			ed --help
			dc 1␣2+p
			m4 f
			gnuplot f
			socat - TCP:x
			unknown`},
		"a shell runs more than its words": {unreadScript, `
			x.sh
			-x x.sh
			-
			?
			-c
			-c ?
			-c x ?
			-xc ?
			--rcfile x -c ls
			--rcfile -c ls
			?-n x
			--init-file x
			-o pipefail x.sh
			-O extglob
			+O x y.sh
			-i
			-l`, `
			-c ls
			-lc ls
			-c ls x
			--version
			--help
			-n x.sh
			-xn x.sh
			-o noexec x.sh
			-o pipefail -c ls
			-o c -c ls
			+o c -c ls
			-O c -c ls
			+O c -c ls
			+x -c ls`},
		"a variable is set before the command": {setsBefore, `
			PATH=x ls
			-i PAGER=x git
			-i ls PATH=x
			-u me LD_PRELOAD=x ls
			A=b PATH=x ls`, `
			A=b ls
			ls PATH=x
			?PATH=x
			PAGER=cat git`},
		"a builtin sets such a variable": {setsByWord, `
			export PATH=x
			declare -x EDITOR=x
			typeset PAGER=x
			readonly PATH=x
			local -n x=y
			declare -gn x=y
			read PATH
			read -r x PATH
			mapfile PAGER
			readarray LD_X
			getopts a PATH
			printf -vPATH x
			printf -v PATH x
			wait -p PATH
			printf x -v PATH`, `
			export A=b
			export PATH
			export -p
			declare n=x
			declare -
			read x
			read ?PATH
			printf -v x PATH
			printf -v ?PATH
			printf -vx PATH
			printf PATH
			printf -v
			echo PATH=x`},
		"a builtin evaluates a word": {evaluates, `
			test -v a[$(x)]
			test -v a[b]
			test a[b] -eq 1
			[ -R a[b] ]
			test x[$y]
			printf x[$(y)]
			printf -v a[0] x[$y]
			print [` + "`x`" + `]
			read a[b]
			unset a[0]
			builtin read a[b]
			command builtin read a[b]
			let a[b]
			exit a[b]
			shift a[b]`, `
			test -f a[b]
			test a[b] = c
			printf a[b]
			printf %s [x]
			read a
			read ?a[b]
			echo a[$(b)]
			builtin
			unset [x]
			read 1[x]`},
		"git is told a command's name": {func(words []word) bool { return setsGit(words) }, `
			config alias.p push
			config --global Alias.p push
			config alias.p=x
			config core.hooksPath .
			config pager.log x
			config filter.a.clean x
			clone --config core.sshCommand=x a
			clone --config=core.editor=x a
			config include.path x
			config includeIf.a.path x`, `
			log alias.p push
			config alias.p
			config --get alias.p
			config user.name x
			alias.p config
			clone a
			clone a --config core.editor=`},
		"an option of git's is a command": {runsByGit, `
			-c a.b=!x s
			-c alias.x s
			--config-env=alias.x s
			-c core.pager=x log
			init --template=x
			clone --templ=x a
			fetch ext::x
			instaweb`, `
			-c user.name=x s
			-c core.pager= log
			-c core.pager=less log
			log --template=x
			-C
			log -c a.b=!x`},
		"a command has a shell run what is not told": {func(words []word) bool { return unread(words, true) }, `
			at now
			batch
			env -S x
			env --split-string=x
			env PATH=x ls
			crontab
			crontab x
			newgrp
			parallel
			parallel ::::f
			su
			su -
			su ?me
			unshare -r
			nsenter -t 1
			script -a
			sudo -s
			doas -i
			sudo --login
			sudo PATH=x ls
			chroot /
			. x
			source x
			alias a=b
			alias ?x
			hash -p x y
			fc x
			enable -f x
			bind -x y
			complete -C x y
			complete -F x y
			compgen -W $(x)
			mapfile -C x
			mapfile a[b]
			readarray PATH
			fish x
			fish
			fish --version ?
			bash x.sh
			python -c x
			vim.tiny -c x
			sed e
			gawk system(1)
			export PATH=x`, `
			? x
			?at now
			env A=b ls
			crontab -l
			parallel ls
			su me
			su -c x
			su -c 5
			unshare ls
			sudo -s ls
			sudo ls
			sudo -n
			chroot / ls
			alias a
			hash x
			fc -l
			fc
			enable x
			bind x
			complete -W x
			mapfile a
			ls x
			fish --version
			vim.tiny f
			export A=b`},
		"a program that is no builtin has it so":          {func(words []word) bool { return unread(words, false) }, "at now", ". x\nalias a=b\nfc x\nmapfile -C x\nexport PATH=x"},
		"a program runs others":                           {func(words []word) bool { return isWrapper(words[0].text) }, "sudo\ngtimeout\nld-linux.so\nld.so\nqemu-x86\ntime2\nenv.exe\nlinux32", "ls\ngls\nld\nqemu"},
		"an option of find executes":                      {func(words []word) bool { return executes(words[0].text) }, "-exec\n-execdir\n-ok\n-okdir", "-print\n-name\nexec"},
		"a word stands between a wrapper and its command": {func(words []word) bool { return isOption(words[0].text) }, "-x\nA=b\n5\n1.5m\n10s\n2d", "ls\nm\n5x\nsm\n."},
		"ssh runs its input": {func(words []word) bool { return (&stopper{}).readsCommands(words[0].text, words[1:]) }, `
			ssh h
			ssh -p 22 h
			ssh -p22 h
			ssh -T h
			ssh -o x -i y h
			ssh
			docker build -
			docker build -f - .
			kubectl build ?
			podman build /dev/stdin`, `
			ssh h ls
			ssh -p 22 h ls
			ssh -T h ls
			ssh -op h ls
			cat x
			docker build .
			docker run x
			docker run ?
			helm x /dev/null`},
		"xargs gives a program commands": {func(words []word) bool {
			i := slices.IndexFunc(words, func(w word) bool { return w.text == "|" })
			return givesCommands(words[:i], words[i+1:])
		}, `
			| git
			| git -x
			| docker
			| cargo
			| /usr/bin/go
			| make
			| make x
			-n1 | make x
			| just x
			| task x
			| ninja x
			-n 2 | make -C
			-I x | make ?
			-I x | make -C d ?
			-i | just ?
			--replace=x | ninja -j ?
			-n1 | make -C x`, `
			| git log
			| ls
			| make :::
			| git ::: a
			-n1 | make -C
			-L1 | make --directory
			-n 1 | make -C
			-L 1 | make -C
			-I x | make -C ?
			-I x | make --directory ? all
			-J x | make -C ?`},
	} {
		for want, lines := range map[bool]string{true: c.yes, false: c.no} {
			for line := range strings.Lines(lines) {
				if line = strings.TrimSpace(line); line != "" && c.ask(wordsOf(line)) != want {
					t.Errorf("%s, %q: %v", name, line, !want)
				}
			}
		}
	}
}

// said writes words as wordsOf reads them.
func said(words []word) string {
	var list []string
	for _, w := range words {
		text := strings.ReplaceAll(w.text, " ", "␣")
		if !w.known {
			text = "?"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// Where in a command's words others stand.
func TestWhereCommandsStand(t *testing.T) {
	s := &stopper{pattern: []string{"rm"}}
	for name, c := range map[string]struct {
		ask   func(name string, args []word) string
		wants map[string]string
	}{
		"behind a runner": {func(name string, args []word) string { return said(behindRunner(name, args)) }, map[string]string{
			"docker exec c rm": "c rm", "docker run rm": "rm", "docker ps rm": "", "docker a b c run x": "x", "docker a b c d run x": "", "docker -a -b -c -d run x": "x",
			"unknown spawn rm": "rm", "unknown -- rm x": "rm x", "unknown a b c d -- rm": "rm", "unknown --args rm": "rm", "git -- rm": "", "git bisect run rm": "run rm", "git log -- rm": "", "ls -- rm": "", "docker exec": "",
		}},
		"in options": {func(name string, args []word) string { return strings.Join(commandValues(name, args), "|") }, map[string]string{
			"unknown --command=rm": "rm", "unknown --command rm x": "rm|rm x", "git --exec rm x": "rm", "tar -I rm␣x": "rm x|rm x", "tar -Irm": "rm", "tar -cIrm": "rm", "tar -xf a -Irm": "rm", "tar -I=rm": "=rm|rm",
			"unknown -x rm": "", "x --exec a=rm": "a=rm|rm|a=rm|rm", "x --hook=a=!rm": "a=!rm|rm", "fzf --bind=a:execute(rm)": "a:execute(rm)|rm)", "gcc -wrapper rm,x f": "rm,x|rm|rm,x f|rm",
			"x --command": "", "x command=rm": "", "x -": "", "go -exec=rm": "rm", "x -exec rm": "rm|rm", "x --a=b": "", "ssh -oProxyCommand=rm": "ProxyCommand=rm|rm", "ssh -4o=rm": "=rm|rm", "ssh -%o rm": "",
			"x --run " + strings.Repeat("a ", 20): "a|" + strings.TrimSpace(strings.Repeat("a ", 16)), "--cmd rm": "",
		}},
		"in values of options": {func(name string, args []word) string { return strings.Join(scriptValues(name, args), "|") }, map[string]string{
			"x --any=a␣b": "a b", "x --any a␣b": "a b", "x -z a;b": "a;b", "x -z a": "", "x --title a␣b": "", "x -m=a␣b": "", "x a␣b": "", "x a=b␣c": "", "echo -z a␣b": "", "x --a=b=c␣d": "c d|b=c d", "x --a b=c": "", "x --a [1]": "[1]", "x --a {b}": "{b}", "x --a": "",
		}},
		"behind a wrapper's options": {func(name string, args []word) string {
			rest, sure := behindOptions(name, args)
			return fmt.Sprint(said(rest), " ", sure)
		}, map[string]string{
			"sudo rm x": "rm x true", "sudo -u me rm": "rm true", "sudo -nu me rm": "rm true", "sudo -n rm": "rm true", "sudo --user me rm": "me rm false", "sudo --user=me rm": "rm true", "sudo -- rm": "rm true", "sudo A=b rm": "rm false",
			"timeout 5 rm": "rm true", "timeout -k 5 9 rm": "rm true", "find . -exec rm": "rm false", "find -exec rm": "rm false", "unknown -u rm": "rm false", "unknown": " false", "sudo": " true", "sudo -u": " true", "sudo - rm": "rm true", "xargs -I {} rm": "rm true", "nice -n5 rm": "rm true", "nice -n 5 rm": "rm true", "sudo -C 3 rm": "rm true",
		}},
		"where others are put": {func(name string, args []word) string {
			return said(placed(name, append([]word{{name, true}}, args...))[1:])
		}, map[string]string{
			"find . -exec rm {} +": ". -exec rm ? +", "find . -exec rm a{}": ". -exec rm ?", "xargs rm {}": "rm {}", "xargs -I X rm X aX": "-I X rm ? ?", "xargs -I{} rm {}": "-I{} rm ?", "xargs -iX rm X": "-iX rm ?", "xargs -i rm {}": "-i rm ?", "xargs --replace rm {}": "--replace rm ?", "xargs --replace=X rm X": "--replace=X rm ?",
			"xargs -J % rm % x": "-J % rm ? x", "xargs -I": "-I", "xargs -I X rm -X": "-I X rm -X", "xargs -n 1 -I X rm X": "-n 1 -I X rm ?", "parallel rm {.}": "rm ?", "sudo rm {}": "rm {}", "xargs rm -I {} {}": "rm -I {} ?",
		}},
		"by a line's names": {func(name string, args []word) string { return fmt.Sprint(s.mentioned(name, args)) }, map[string]string{
			"x rm": "true", "x a␣rm␣b": "true", "x rma": "false", "x a/rm": "false", "x bin/rm": "true", "x -crm␣x": "true", "x -qcrm": "true", "x -crm": "true", "x -c": "false", "x --crm": "false", "python3 rm": "false", "python3 os.system(\"rm\")": "true", "x": "false", "x /rm": "false", "x ./rm": "true",
		}},
		"by a copy of its program": {func(name string, args []word) string { return fmt.Sprint(s.copies(name, args)) }, map[string]string{
			"cp /bin/rm x": "true", "ln -s /usr/bin/rm x": "true", "mv bin/rm x": "true", "link /bin/rm x": "true", "cp rm x": "false", "cp /x/rm y": "false", "cat /bin/rm": "false", "cp /bin/rmx y": "false", "cp ?/bin/rm y": "false",
		}},
	} {
		for line, want := range c.wants {
			words := wordsOf(line)
			check.Equal(t, c.ask(words[0].text, words[1:]), want, "%s, %q: %q", name, line)
		}
	}
}

// Options may stand before the words that a pattern wants.
func TestPatternsWithOptionsBetween(t *testing.T) {
	for line, want := range map[string]match{
		"git push|git push": yes, "git push|git -p push": yes, "git push|git -C a push": yes, "git push|git -C push": no, "git push|git --git-dir=x push": yes, "git push|git --new push": maybe, "git push|git --new x push": maybe, "git push|git -x push": maybe,
		"git push|git log push": no, "git push|git -- push": no, "git push|git - push": no, "git push|git": no, "git|git push": no, "git push|hub -p push": no, "git push **|git -p push -f a": yes, "git push|git -p push -f": no, "git push -f|git push --x -f": maybe, "git push -f|git push --x=y -f": maybe,
		"git push -f|git -p push -f": yes, "git push|? push": no, "git push|git ? push": no, "git push|git -p ?": maybe, "make deploy|make A=b deploy": yes, "make deploy|make -A=b deploy": maybe, "npm publish|npm A=b publish": no, "cargo publish|cargo +x publish": yes, "git push|git +x push": no, "cargo publish|cargo x publish": no,
		"git push a|git push -x b a": maybe, "git push a|git push b a": no, "git push -n a|git push -n -p a": maybe, "git push a|git push -C a": maybe, "git push a|git push -p a": maybe, "* push|? -p push": no, "git push|?git -p push": no, "git push|git -C push push": yes, "kubectl delete *|kubectl -n x delete pod": yes, "docker push|docker -H=x push": yes,
	} {
		pattern, words, _ := strings.Cut(line, "|")
		if got := matchSubcommand(strings.Fields(pattern), wordsOf(words)); got != want && !(want == yes && matchWords(strings.Fields(pattern), wordsOf(words)) == yes) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

// Which arguments of an interpreter are code, or have it come from its input.
func TestCodeOfInterpreters(t *testing.T) {
	for line, want := range map[string]bool{
		"python -c x": true, "python3.12 -Ic x": true, "python x.py": false, "python -u x.py -c y": false, "python": true, "python -": true, "python -W a -c x": true, "python -Wa x.py": false, "python -W x.py": true, "python -m x": false, "python -mx -c y": false, "python '' -c x": true, "node --test-only -e x": false, "node --require a": true, "node --opt=a x.js -e y": false, "node --opt a=b -e y": true, "python -m code": true, "python -mpdb x": true, "python -m": false, "python --version": false, "python -V": false, "python --help": false, "ruby -v": false, "ruby -h": false, "python ?": true, "python x.py -c y": false, "python -- x.py": false, "python /dev/stdin": true,
		"python --a x --b y -c z": false, "python --a x -c z": true,
		"python -X a x.py": false, "node -e x": true, "node -pe x": true, "node --eval=x": true, "node --print x": true, "node -r a x.js": false, "node -r a": true, "node --require a x.js": false, "node --import=a x.js": false, "node --test": false, "node --new x.js": false, "node --new a x.js": false, "node --new=a x.js": false, "node -ra": true, "node -r␣a;b": true,
		"perl -ne x": true, "perl -Mx f": false, "perl -M;x f": true, "perl -I a f": false, "perl -n f": false, "php -r x": true, "php -f x": false, "php -d a=b x": false, "bun x": false, "bun": false, "bun -e x": true, "ruby -rx f": false, "Rscript -e x": true, "Rscript": false, "lua -l a f": false, "lua -l␣a(b f": true, "lua -l a": true,
	} {
		words := wordsOf(line)
		in, ok := codeOf(words[0].text)
		check.Equal(t, ok && in.runsCode(words[1:]), want, "%s: %v", line)
	}
	if _, ok := codeOf("pythonic"); ok {
		t.Error("another name is an interpreter's")
	}
}

// marks are what is known of the parts of a script beside their words.
func marks(script string) string {
	var list []string
	for _, p := range Shell(script).parts {
		var of []string
		for mark, is := range map[string]bool{"holds": p.holds, "fed": p.fed != "", "written": p.written, "value " + p.value: p.value != "", fmt.Sprint(len(p.folders), " folders"): len(p.folders) > 0} {
			if is {
				of = append(of, mark)
			}
		}
		slices.Sort(of)
		list = append(list, strings.Join(of, ", "))
	}
	return strings.Join(list, " | ")
}

func TestMarksOfParts(t *testing.T) {
	for script, want := range map[string]string{
		"A=b": "value b", "declare a='$(x)'": "holds | holds, value $(x)", "echo x > makefile; make": " |  | written", "echo x > GNUmakefile; gmake": " |  | written", "export $X": " | ", "GOFLAGS=(-exec=x)": "holds |  | ", "PATH=${#PATH}:/x": "holds | ", "PATH=${PATH:-x}:/y": "holds | ", "PATH=${PATH/a/b}:/x": "holds | ",
		"PATH=${!PATH}:/x": "holds | ", "PATH=${PATH[0]}:/x": "holds | ", "PATH=${PATH:1}:/x": "holds | ", "PATH='a':/x": "holds, value a:/x", "PATH=$PATH$X": "holds", "PATH=\"$PATH:/x\"": "", "A='$(x)'": "holds, value $(x)", "A='`x`'": "holds, value `x`", "A=$'\\x'": "holds", "A='\\x'": "value \\x", "PATH=x": "holds, value x", "PATH=$PATH:/x": "", "PATH=${PATH}:/x": " | ", "PATH+=x": "", "PATH=$PATH:x": "holds", "PATH=(x)": "holds |  | ", "A=$x": "", "export PATH=x": " | holds, value x",
		"a | b; c": " | fed | ", "a |& b": " | fed", "echo x > Makefile; bmake": " |  | written", "echo x > Makefile; remake": " |  | written", "a | { b; }": " | fed", "a < f": "fed | ", "a < /dev/null": "", "a <<E\nx\nE": "fed | ", "a <<< x": "fed | ", "a <&3": "fed", "a <(b)": "fed | ", "a > f": " | ", "{ a; } < f; b": "fed |  | ", "a | bash -c b": " | fed | fed",
		"echo x > run; ./run": " |  | written", "echo x > run; run": " |  | fed", "curl -o Makefile u; make": "fed | written", "tee ./x; ./x": "fed | written", "dd of=x; bash x": " | fed", "cp x y; ./x": " | ", "echo > s; bash s": " |  | fed",
		"cd a; ls": "1 folders | 1 folders", "cd a; pushd b; ls": "2 folders | 2 folders | 2 folders", "for PATH in x; do a; done": "holds |  | ", "for x in y; do a; done": " |  | ", "declare -n x": "holds |  | ", "declare x": " | ", "declare x=-n": " | value -n", "${PATH:=x}": " | holds", "${X:=y}": " | ", "${PATH:-x}": " | ", "((a['$(x)']))": "holds",
	} {
		check.Equal(t, marks(script), want, "%q is marked %q", script)
	}
}

// What of a text may be a name, a script or a program.
func TestNamesInTexts(t *testing.T) {
	r := request(Request{})
	for name, c := range map[string]struct {
		ask   func(text string) string
		wants map[string]string
	}{
		"names in a word": {func(text string) string { return strings.Join(inWord(text), " ") }, map[string]string{
			"x": "x", "a=b": "a=b b", "h:a": "h:a a", "http://h/a": "http://h/a", "http://h/a=b": "http://h/a=b b", "-fx": "-fx x", "-f": "-f", "--file=x": "--file=x x", "@a": "@a a", "a,": "a,", "a,b": "a,b b",
		}},
		"names in code": {func(text string) string { return strings.Join(inCode(text), " ") }, map[string]string{
			`print(open("./a"))`: "./a", "a b": "", "x='~/k';y": "~/k", "a.b/c": "a.b/c",
		}},
		"the script of eval": {func(text string) string { return evalScript(wordsOf(text)) }, map[string]string{
			"eval a b": "a b", "eval -- a": "a", "builtin eval a": "a", "command builtin eval a": "a", "trap a EXIT": "a", "trap -- a EXIT": "a", "trap -l": "", "trap a": "a", "eval": "", "eval a ?": "", "ls a": "", "eval --": "",
		}},
		"the program to which a path leads": {func(text string) string { return Shell(text).parts[0].linked(r) }, map[string]string{
			"./link x": "etc", "./link$X x": "", "link x": "", "http://h/x y": "", "$X/link": "", "/bin/ls": "", "/p/./x": "",
		}},
		"a name without its version": {unversioned, map[string]string{
			"python3.12": "python", "vim.tiny": "vim", "a.static": "a", "vim.basic": "vim", "vim.nox": "vim", "vim.gtk": "vim", "vim.gtk3": "vim", "nvim.appimage": "nvim", "bash-static": "bash", "a.exe": "a", "a.b": "a.b", "zsh-5.9": "zsh", "ls": "ls", "a.exe.b": "a.exe.b",
		}},
		"the plain part of a glob": {plainPart, map[string]string{"**/.env": ".env", "a/*/bcd": "bcd", "[a]b": "", "{a,b}": "", "*": "", "ab?cd": "ab"}},
		"the fixed part of a glob": {func(text string) string {
			fixed, rest := fixedPart(text)
			return fixed + " " + rest
		}, map[string]string{"a/b": "a/b ", "a/*.go": "a *.go", "*": ". *", `a/\*`: "a/* ", "a/b/**": "a/b **", `a\`: `a\ `}},
		"names in order": {func(text string) string { return fmt.Sprint(mentions([]string{"git", "-*", "push"}, text)) }, map[string]string{
			"git push": "true", "git": "false", "push git": "false", "git x push y": "true", "gitpush": "false", "legit git push": "true", "": "false",
		}},
	} {
		for text, want := range c.wants {
			check.Equal(t, c.ask(text), want, "%s, %q: %q", name, text)
		}
	}
	got := List{Private: []string{"**/.env", "/keys/**", "~/.ssh/*", "/**", "a/b", "/p/link/x", "/one"}}.PrivateFolders(r)
	check.Slice(t, got, []string{"/keys", "/home/me/.ssh", "/etc/x", "/one"}, "private folders are %q")
	lost := r
	lost.Resolve = func(string) string { return "" }
	check.Slice(t, List{Private: []string{"/keys/**"}}.PrivateFolders(lost), nil, "where nothing can be resolved they are %q")
	unclear := request(Request{Kind: "edit", Paths: named("/p/x")})
	unclear.Paths[0].Real = ""
	if got := (List{Rules: []Rule{{Action: Allow}}}).Decide(unclear); got.Action != Ask || got.Why != "it is not clear which file `/p/x` is" {
		t.Errorf("of a file that is not known: %+v", got)
	}
}
