package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// This file has the files attached to a prompt.

const (
	maxEmbedded = 100 << 10 // bytes of a text that goes along with a prompt
	maxRead     = 4 << 20   // bytes of a file of which a part may go along
	maxWait     = 2 * time.Second
)

// attachment is a file, or lines of it, that the user puts beside a prompt's
// words.
type attachment struct {
	path        string // absolute
	first, last int    // 1-based, inclusive; 0 for the whole file
}

// prompt is what the user has written, and the files attached to it by their
// place among the blocks.
type prompt struct {
	blocks   []session.Content
	attached map[int]attachment
}

// prompted is a prompt as Lua tells it.
func prompted(list []rpc.Content) prompt {
	p := prompt{attached: map[int]attachment{}}
	for _, b := range list {
		switch b.Type {
		case "file":
			p.attached[len(p.blocks)] = attachment{b.Path, b.First, b.Last}
			p.blocks = append(p.blocks, nil)
		case "unsaved":
			p.blocks = append(p.blocks, unsavedRoom(b.Room))
		case "text":
			p.blocks = append(p.blocks, session.Text{Text: b.Text})
		case "resource_link":
			p.blocks = append(p.blocks, session.ResourceLink{
				URI: b.URI, Name: b.Name, Title: b.Title, MimeType: b.MimeType, Description: b.Description,
			})
		case "resource":
			var r rpc.Resource
			if b.Resource != nil {
				r = *b.Resource
			}
			p.blocks = append(p.blocks, session.Resource{URI: r.URI, MimeType: r.MimeType, Text: r.Text, Blob: r.Blob})
		case "image":
			p.blocks = append(p.blocks, session.Image{MimeType: b.MimeType, Data: b.Data, URI: b.URI})
		case "audio":
			p.blocks = append(p.blocks, session.Audio{MimeType: b.MimeType, Data: b.Data})
		}
	}
	return p
}

// submit takes what the user does with prompts, and does it when the files attached to them have been read.
func (s *Session) submit(d *draft) {
	s.outbox.add(d)
	for _, p := range d.prompts {
		for i, file := range p.attached {
			file.path, _ = s.base.Absolute(file.path)
			s.base.Background(func() {
				s.read(file, func(content session.Content) {
					s.base.Box.Put(func() {
						s.outbox.attach(d, p, i, content)
						s.proceed()
					})
				})
			})
		}
	}
	s.proceed()
}

// submitCancel cancels what runs; what was sent just before counts as sent.
func (s *Session) submitCancel() {
	if s.outbox.cancel() {
		s.cancel()
	}
	s.proceed()
}

// read gives what stands for a file in a prompt: its text as the user sees it,
// or a link where that is no text, too long, or cannot be read. It blocks for
// the disk; done is called once, from any goroutine.
func (s *Session) read(file attachment, done func(session.Content)) {
	link := session.ResourceLink{URI: file.uri()}
	link.Name, _ = transcript.FileName(link.URI, s.base.Cwd)
	info, err := os.Stat(file.path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // a buffer may have it
	case err != nil || !info.Mode().IsRegular() || info.Size() > maxRead:
		if err == nil && info.IsDir() && !strings.HasSuffix(link.Name, "/") {
			link.URI, link.Name = link.URI+"/", link.Name+"/"
		}
		done(link)
		return
	}
	r := buffers.Read{Path: file.path}
	if file.first > 0 {
		limit := file.last - file.first + 1
		r.Line, r.Limit = &file.first, &limit
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	s.base.Files.Read(ctx, r, func(text string, err error) {
		cancel()
		if err != nil || len(text) > maxEmbedded || !isText(text) {
			done(link)
			return
		}
		done(session.Resource{URI: link.URI, Text: text})
	})
}

// uri names the lines as most agents understand them: in the fragment.
func (f attachment) uri() string {
	u := url.URL{Scheme: "file", Path: f.path}
	switch {
	case f.first > 0 && f.first == f.last:
		u.Fragment = fmt.Sprintf("L%d", f.first)
	case f.first > 0:
		u.Fragment = fmt.Sprintf("L%d-%d", f.first, f.last)
	}
	return u.String()
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// fit makes a prompt of what the agent takes: a file that cannot go along is
// linked. For what cannot be sent at all it returns a sentence.
func (s *Session) fit(blocks []session.Content) ([]session.Content, error) {
	fitting := make([]session.Content, len(blocks))
	for i, block := range blocks {
		fitting[i] = block
		switch b := block.(type) {
		case session.Image:
			if !s.info.Images {
				return nil, s.cannotTake("images")
			}
		case session.Audio:
			if !s.info.Audio {
				return nil, s.cannotTake("audio")
			}
		case session.Resource:
			if s.info.EmbeddedContext {
				continue
			}
			if filepath.IsAbs(b.URI) { // which is none, but says enough
				b.URI = attachment{path: b.URI}.uri()
			}
			name, isFile := transcript.FileName(b.URI, s.base.Cwd)
			if !isFile {
				return nil, s.cannotTake("embedded resources")
			}
			fitting[i] = session.ResourceLink{URI: b.URI, Name: name, MimeType: b.MimeType}
		}
	}
	return fitting, nil
}

func (s *Session) cannotTake(what string) error {
	return fmt.Errorf("%s takes no %s: the prompt was not sent", s.base.Title, what)
}
