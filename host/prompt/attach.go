package prompt

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

const (
	maxEmbedded = 100 << 10 // bytes of a text that goes along with a prompt
	maxRead     = 4 << 20   // bytes of a file of which a part may go along
	maxWait     = 2 * time.Second
)

// attachment is a file, or lines of it, that the user puts beside a prompt's words.
type attachment struct {
	path        string // absolute
	first, last int    // 1-based, inclusive; 0 for the whole file
}

// prompt is what the user has written, and the files attached to it by their place among the blocks.
type prompt struct {
	blocks   []session.Content
	attached map[int]attachment
}

// decode makes a prompt of Lua's message.
func decode(list []rpc.Content) prompt {
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
func (p *Prompts) submit(d *draft) {
	p.add(d)
	for _, one := range d.prompts {
		for i, file := range one.attached {
			file.path, _ = p.config.Absolute(file.path)
			p.config.Background(func() {
				p.read(file, func(content session.Content) {
					p.config.Box.Put(func() {
						p.attach(d, one, i, content)
						p.Proceed()
					})
				})
			})
		}
	}
	p.Proceed()
}

// read gives what stands for a file in a prompt: its text as the user sees it, or a link where that is no text, too
// long, or cannot be read. It blocks for the disk; done is called once, from any goroutine.
func (p *Prompts) read(file attachment, done func(session.Content)) {
	link := session.ResourceLink{URI: file.uri()}
	link.Name, _ = transcript.FileName(link.URI, p.config.Cwd)
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
	p.config.Files.Read(ctx, r, func(text string, err error) {
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

// fit makes a prompt of what the agent takes: a file that cannot go along is linked. For what cannot be sent at all it
// returns a sentence.
func (p *Prompts) fit(blocks []session.Content) ([]session.Content, error) {
	takes := p.config.Agent()
	fitting := make([]session.Content, len(blocks))
	for i, block := range blocks {
		fitting[i] = block
		switch b := block.(type) {
		case session.Image:
			if !takes.Images {
				return nil, p.cannotTake("images")
			}
		case session.Audio:
			if !takes.Audio {
				return nil, p.cannotTake("audio")
			}
		case session.Resource:
			if takes.EmbeddedContext {
				continue
			}
			if filepath.IsAbs(b.URI) { // which is none, but says enough
				b.URI = attachment{path: b.URI}.uri()
			}
			name, isFile := transcript.FileName(b.URI, p.config.Cwd)
			if !isFile {
				return nil, p.cannotTake("embedded resources")
			}
			fitting[i] = session.ResourceLink{URI: b.URI, Name: name, MimeType: b.MimeType}
		}
	}
	return fitting, nil
}

func (p *Prompts) cannotTake(what string) error {
	return fmt.Errorf("%s takes no %s: the prompt was not sent", p.config.Title, what)
}
