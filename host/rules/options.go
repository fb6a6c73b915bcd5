package rules

import (
	"path"
	"slices"
	"strings"
)

// tool is what is known about a program with subcommands: which options may come before one.
type tool struct {
	values string // options that take the next word, each between blanks
	flags  string // options that do not
	others string // prefixes of anything else allowed there, or a = if that is among them
}

// tools are those often used in rules. After an unknown option, the next word may be its value or the subcommand.
var tools = func() map[string]tool {
	git := tool{
		values: " -C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source ",
		flags: " -p -P --paginate --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice" +
			" --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --exec-path ",
	}
	docker := tool{
		values: " -c --context --config -H --host -l --log-level --tlscacert --tlscert --tlskey --connection --url --identity --root --runroot ",
		flags:  " -D --debug --tls --tlsverify -r --remote ",
	}
	npm := tool{
		values: " -C --prefix --dir --cwd -w --workspace -F --filter --registry --userconfig --globalconfig --cache --loglevel --tag --reporter ",
		flags:  " -s --silent -q --quiet -d --verbose -g --global -r --recursive -y --yes -f --force --workspaces -ws --if-present --offline ",
	}
	kubectl := tool{
		values: " -n --namespace -s --server --context --cluster --user --kubeconfig --as --as-group --as-uid --cache-dir --kube-context" +
			" --certificate-authority --client-certificate --client-key --username --password --token --request-timeout --tls-server-name -v ",
		flags: " --insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression --debug ",
	}
	make := tool{
		values: " -C --directory -f --file --makefile -I --include-dir -o --old-file -W --what-if --new-file ",
		flags:  " -B -d -e -i -k -n -q -r -R -s -S -t -w --always-make --dry-run --keep-going --silent --quiet --no-print-directory --jobs ",
		others: "=",
	}
	apt := tool{values: " -o --option -c --config-file -t --target-release --default-release ", flags: " -y --yes --assume-yes -q -qq -s -f -m -V "}
	return map[string]tool{
		"git": git, "docker": docker, "podman": docker, "npm": npm, "pnpm": npm, "yarn": npm, "bun": npm,
		"kubectl": kubectl, "oc": kubectl, "helm": kubectl, "make": make, "gmake": make, "apt": apt, "apt-get": apt,
		"cargo": {
			values: " -C -Z --config --color --explain ",
			flags:  " -v -vv -q --verbose --quiet --locked --offline --frozen ", others: "+",
		},
		"go":        {values: " -C "},
		"terraform": {flags: " -version -help "},
		"systemctl": {
			values: " -H --host -M --machine -t --type -p --property --root -n --lines -o --output -s --signal ",
			flags:  " --user --system --global -q --quiet -f --force --now --no-pager --no-block --no-ask-password ",
		},
	}
}()

// matchSubcommand compares a pattern with a command that may have options before the words of the pattern. It is maybe
// if it depends on what an option means.
func matchSubcommand(pattern []string, words []word) match {
	if len(pattern) < 2 || len(words) < 3 || !words[0].known || !matchWord(pattern[0], words[0].text) {
		return no
	}
	known := tools[path.Base(words[0].text)]
	// How sure it is that the pattern's current word may be at each of the command's.
	at := make([]match, len(words)+2)
	at[1] = yes
	best := no
	for i := 1; i < len(pattern); i++ {
		next := make([]match, len(at))
		for j := 1; j < len(words); j++ {
			if at[j] == no {
				continue
			}
			if j > 1 {
				best = max(best, min(at[j], matchWords(pattern[i:], words[j:])))
			}
			w := words[j]
			if !w.known {
				continue // matchWords has said maybe
			}
			one, two := skipped(known, w.text, i == 1)
			at[j+1] = max(at[j+1], min(at[j], one))
			at[j+2] = max(at[j+2], min(at[j], two))
			if matchWord(pattern[i], w.text) {
				next[j+1] = max(next[j+1], at[j])
			}
		}
		at = next
	}
	return best
}

// skipped reports whether a word is just an option, and whether it is one together with the next.
func skipped(known tool, w string, beforeSubcommand bool) (alone, withNext match) {
	if beforeSubcommand {
		switch {
		case known.others == "=" && strings.Contains(w, "=") && w[0] != '-', known.others == "+" && strings.HasPrefix(w, "+"):
			return yes, no
		}
	}
	if len(w) < 2 || w[0] != '-' || w == "--" {
		return no, no
	}
	name, _, attached := strings.Cut(w, "=")
	switch {
	case beforeSubcommand && strings.Contains(known.values, " "+name+" "):
		if attached {
			return yes, no
		}
		return no, yes
	case beforeSubcommand && strings.Contains(known.flags, " "+name+" "):
		return yes, no
	case attached:
		return maybe, no
	}
	return maybe, maybe
}

// abbreviates reports whether an option is a whole or shortened form of one of these long ones, as GNU programs and git
// take it: --expr, or --expr=x, for --expression.
func abbreviates(option string, names ...string) bool {
	option, _, _ = strings.Cut(option, "=")
	return len(option) > len("--") && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, option) })
}
