package files

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junegunn/fzf/src/algo"
	"github.com/junegunn/fzf/src/util"
)

// fzf's tables are global to the process; this one matches only paths.
func init() { algo.Init("path") }

// index is a list of paths, made ready to be searched.
type index struct {
	paths []string
	chars []util.Chars
}

func newIndex(paths []string) *index {
	x := &index{paths: paths, chars: make([]util.Chars, len(paths))}
	for i, p := range paths {
		x.chars[i] = util.ToChars([]byte(p))
	}
	return x
}

// hit is a matching path.
type hit struct {
	at, score int
	inName    bool // the match ends in the last part of the path
}

// search returns the best matching paths, at most limit and none of those to skip; for an empty text the first ones in
// order. Upper case in the text is significant.
func (x *index) search(text string, limit int, skip map[string]bool) []string {
	matchCase := strings.ContainsFunc(text, unicode.IsUpper)
	pattern := []rune(text)
	slab := util.MakeSlab(100*1024, 2048)
	var best []hit
	for i := range x.paths {
		if len(best) == limit && (limit <= 0 || text == "") {
			break
		}
		r, _ := algo.FuzzyMatchV2(matchCase, true, true, &x.chars[i], pattern, false, slab)
		if r.Start < 0 {
			continue
		}
		h := hit{at: i, score: r.Score, inName: true}
		if len(best) == limit && x.compare(h, best[limit-1]) > 0 || skip[x.paths[i]] {
			continue
		}
		h.inName = r.End > lastPart(x.paths[i])
		at, _ := slices.BinarySearchFunc(best, h, x.compare)
		best = slices.Insert(best, at, h)
		best = best[:min(len(best), limit)]
	}
	found := make([]string, len(best))
	for i, h := range best {
		found[i] = x.paths[h.at]
	}
	return found
}

// compare puts the better one first. Among equals it is the shorter path, or the one listed first
// where nothing was asked for.
func (x *index) compare(a, b hit) int {
	if a.score == 0 && b.score == 0 {
		return cmp.Compare(a.at, b.at)
	}
	name := 0
	if a.inName != b.inName {
		name = 1
		if a.inName {
			name = -1
		}
	}
	return cmp.Or(cmp.Compare(b.score, a.score), name, cmp.Compare(len(x.paths[a.at]), len(x.paths[b.at])), cmp.Compare(a.at, b.at))
}

// lastPart returns where the last part of a path begins, in characters.
func lastPart(p string) int {
	slash := strings.LastIndexByte(strings.TrimSuffix(p, "/"), '/')
	return utf8.RuneCountInString(p[:slash+1])
}
