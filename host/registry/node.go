package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/failure"
)

// This file checks whether the installed Node.js is new enough for a package, before the package is installed.

// nodeVersion matches a version of Node.js, possibly partial.
var nodeVersion = regexp.MustCompile(`(<?)=?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?`)

type version [3]int

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func versionOf(numbers []string) (v version) {
	for i, n := range numbers {
		v[i], _ = strconv.Atoi(n) // what is not named is 0
	}
	return v
}

// oldest returns the oldest version in a range of package.json, as in ">=20.10" or "^18 || >=20"; 0.0.0 if it names
// none.
func oldest(engines string) version {
	var least []version
	for _, one := range strings.Split(engines, "||") {
		found := nodeVersion.FindStringSubmatch(one)
		if found == nil || found[1] != "" {
			return version{}
		}
		least = append(least, versionOf(found[2:]))
	}
	return slices.MinFunc(least, func(a, b version) int { return slices.Compare(a[:], b[:]) })
}

// newEnough returns an error if a package needs a newer Node.js. If that cannot be determined, installing will show it.
func (r *Registry) newEnough(ctx context.Context, e Entry, pack, dir string, progress func(string)) error {
	output, err := r.run(ctx, job{
		argv: []string{"npm", "view", "--json", "--loglevel=silent", pack, "engines.node"}, dir: dir,
		what: "npm asks what " + pack + " needs", needs: "npm", advice: needsNode, progress: progress,
	})
	var engines string
	if err != nil || json.Unmarshal([]byte(output), &engines) != nil {
		return nil
	}
	output, err = r.run(ctx, job{
		argv: []string{"node", "--version"}, dir: dir, what: "node says its version", needs: "node", advice: needsNode, progress: func(string) {},
	})
	found := nodeVersion.FindStringSubmatch(output)
	if err != nil || found == nil {
		return nil
	}
	there, least := versionOf(found[2:]), oldest(engines)
	if slices.Compare(there[:], least[:]) >= 0 {
		return nil
	}
	return &failure.Failure{
		Sentence: fmt.Sprintf("%s needs Node.js %s or newer, but this is %s: it is not installed.", e.Name, least, there),
		Advice:   "Install a newer one (nodejs.org), see that `node --version` says so, then restart Neovim and try again.",
	}
}

// needsNode is what to do without npm.
const needsNode = "Install Node.js (nodejs.org), which has npm, then try again."

// packageOf returns a package's name with the wanted version.
func packageOf(e Entry, w Wanted) (name, version string) {
	name, version = splitPackage(e.Distribution.Npx.Package, "@")
	return name, cmp.Or(w.Version, version, e.Version)
}
