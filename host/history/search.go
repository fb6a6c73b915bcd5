package history

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Found is a line of a transcript that matches.
type Found struct {
	Entry
	Name string // of the transcript, see [Store.Named]
	Line int    // from 1, of its page
	Text string
	At   time.Time
}

// pageWidth is where lines of a page are broken for reading, in bytes: longer ones would slow an editor down.
const pageWidth = 2000

// broken returns a page without long lines.
func (p Page) broken() Page {
	var out Page
	for i, l := range p.Lines {
		for len(l) > pageWidth {
			cut := pageWidth
			for cut > pageWidth-utf8.UTFMax && !utf8.RuneStart(l[cut]) {
				cut--
			}
			out.Lines, out.Times = append(out.Lines, l[:cut]), append(out.Times, p.Times[i])
			l = l[cut:]
		}
		out.Lines, out.Times = append(out.Lines, l), append(out.Times, p.Times[i])
	}
	return out
}

// Page returns the transcript for reading in an editor.
func (p Past) Page() Page { return p.Story().Markdown().broken() }

// Name returns the store's name of a session's transcript.
func (s *Store) Name(a About) string {
	return strings.TrimSuffix(filepath.Base(s.path(a.Agent, a.ID)), suffix)
}

// Named reads the transcript with this name.
func (s *Store) Named(name string) (Past, error) {
	return read(filepath.Join(s.dir, filepath.Base(name)+suffix))
}

// Search looks for a text in all transcripts, the latest first, and returns at most limit lines. Case is ignored unless
// the text has upper case.
func (s *Store) Search(ctx context.Context, text string, limit int) ([]Found, error) {
	files, err := s.list()
	if err != nil {
		return nil, err
	}
	in := make([][]Found, len(files))
	var searches sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, f := range files {
		room <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		searches.Go(func() {
			in[i] = s.searchIn(f, text, limit)
			<-room
		})
	}
	searches.Wait()
	found := slices.Concat(in...)
	return found[:min(limit, len(found))], ctx.Err()
}

// searchIn looks for a text in one file. An unreadable file has no matches.
func (s *Store) searchIn(f file, text string, limit int) (found []Found) {
	past, err := read(f.path)
	if err != nil {
		return nil
	}
	fold := strings.ToLower(text) == text
	e := Entry{About: past.About, Title: past.Title(), Saved: f.at}
	page := past.Page()
	for i, l := range page.Lines {
		if fold {
			l = strings.ToLower(l)
		}
		if strings.Contains(l, text) {
			if found = append(found, Found{e, s.Name(past.About), i + 1, page.Lines[i], page.Times[i]}); len(found) == limit {
				break
			}
		}
	}
	return found
}
