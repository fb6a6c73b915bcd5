package transcript

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// FileName is the file that a URI names, below cwd if it is there, with the
// lines that the fragment names: src/lexer.lua:40-66 for L40-66.
func FileName(uri, cwd string) (name string, ok bool) {
	path, fragment, ok := fileOf(uri)
	if !ok {
		return "", false
	}
	name = path
	if rel, err := filepath.Rel(cwd, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		name = rel
		if strings.HasSuffix(path, "/") {
			name += "/"
		}
	}
	if lines, found := strings.CutPrefix(fragment, "L"); found {
		name += ":" + strings.ReplaceAll(lines, "L", "")
	}
	return name, true
}

// UnsavedText describes the link to a file whose unsaved text was sent with a prompt.
const UnsavedText = "unsaved text"

// Attached is what was attached to a prompt's words: one of its fields from Place on says which.
type Attached struct {
	Name    string // for people
	Last    int    // line of Place.Path
	Place   styled.Place
	Address string
	Excerpt string // what it was of the user's editor, see [ExcerptURI]
	Unsaved bool   // not named by the user
}

// Attached says what a block of a prompt is.
func (t *Transcript) Attached(c session.Content) Attached {
	a := Attached{Name: t.attachment(c)}
	uri := ""
	switch c := c.(type) {
	case session.ResourceLink:
		uri, a.Unsaved = c.URI, c.Description == UnsavedText
	case session.Resource:
		uri = c.URI
	case session.Image:
		uri = c.URI
	}
	u, err := url.Parse(uri)
	place, isFile := PlaceOf(uri)
	switch {
	case isFile:
		a.Place, a.Last = place, place.Line
		if _, last, found := strings.Cut(u.Fragment, "-"); found {
			a.Last, _ = strconv.Atoi(strings.TrimPrefix(last, "L"))
		}
	case err == nil && u.Scheme == excerptScheme:
		a.Excerpt = u.Host
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"):
		a.Address = uri
	default:
		a.Place.Path, _ = t.saved(c)
	}
	return a
}

// PlaceOf returns the place that a file URI names: of lines, the first.
func PlaceOf(uri string) (styled.Place, bool) {
	path, fragment, ok := fileOf(uri)
	if !ok {
		return styled.Place{}, false
	}
	lines, _, _ := strings.Cut(strings.TrimPrefix(fragment, "L"), "-")
	first, _ := strconv.Atoi(lines)
	return styled.Place{Path: path, Line: max(first, 0)}, true
}

// fileOf is the file of this computer that a URI names, and the fragment.
func fileOf(uri string) (path, fragment string, ok bool) {
	path = session.LocalPath(uri)
	u, err := url.Parse(uri)
	if path == uri || err != nil {
		return "", "", false
	}
	return path, u.Fragment, true
}

// excerptScheme is the scheme of what was in the user's editor and is not a file: nvim://diagnostics/src/lexer.lua.
const excerptScheme = "nvim"

// ExcerptURI names what was in the user's editor and is not a file: what it is, and of what, if anything.
func ExcerptURI(what, of string) string {
	u := url.URL{Scheme: excerptScheme, Host: what}
	if of != "" {
		u.Path = "/" + of
	}
	return u.String()
}

// excerptName is what such a URI names, for people.
func excerptName(uri string) (name string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != excerptScheme || u.Host == "" {
		return "", false
	}
	if of := strings.TrimPrefix(u.Path, "/"); of != "" {
		return u.Host + ": " + of, true
	}
	return u.Host, true
}

// attachment describes what is attached to a prompt's words, in one line.
func (t *Transcript) attachment(c session.Content) string {
	uri, description := "", ""
	switch c := c.(type) {
	case session.ResourceLink:
		uri, description = c.URI, c.Description
	case session.Resource:
		uri = c.URI
	case session.Image:
		uri, description = c.URI, strings.Trim(link(session.Image{MimeType: c.MimeType, Data: c.Data}, ""), "[]")
	}
	name, ok := FileName(uri, t.config.Cwd)
	if !ok {
		name, ok = excerptName(uri)
	}
	if !ok {
		name, description = Describe(c), ""
	}
	if description != "" {
		name += " · " + description
	}
	name, _, _ = strings.Cut(name, "\n")
	return name
}
