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
	maxEmbedded = 100 << 10 // bytes of a text attached to a prompt
	maxRead     = 4 << 20   // bytes of a file of which a part may be attached
	maxWait     = 2 * time.Second
)

// attachment is what the user attaches to a prompt's words; it is looked up when they send it.
type attachment interface {
	// read passes what is attached to done, nil for nothing, and what the user is told about it, if anything. It blocks
	// for the disk and for programs; done is called once, from any goroutine.
	read(c Config, done func(along session.Content, told string))
}

// file is a file, or lines of it.
type file struct {
	path        string
	first, last int  // 1-based, inclusive; 0 for the whole file
	gathered    bool // the user did not name it
}

// either is what an agent that takes content of this kind gets, and what others get.
type either struct {
	session.Content
	otherwise session.Content
	told      string // to the user, if others get it
}

// prompt is what the user wrote, and what is attached to it, by index among the blocks.
type prompt struct {
	blocks   []session.Content
	attached map[int]attachment
}

// decode makes a prompt from Lua's message.
func decode(list []rpc.Content) prompt {
	p := prompt{attached: map[int]attachment{}}
	attach := func(a attachment) {
		p.attached[len(p.blocks)] = a
		p.blocks = append(p.blocks, nil)
	}
	for _, b := range list {
		switch b.Type {
		case "file":
			attach(file{b.Path, b.First, b.Last, b.Gathered})
		case "excerpt":
			attach(excerpt{what: b.Name, of: b.Title, heading: b.Description, parts: b.Parts})
		case "diff":
			attach(workingDiff{})
		case "unsaved":
			place := unsavedRoom(b.Room)
			place.listed = b.Files
			p.blocks = append(p.blocks, place)
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

// submit takes an action of the user's on prompts, and performs it once the attachments have been read.
func (p *Prompts) submit(d *draft) {
	p.add(d)
	for _, one := range d.prompts {
		for i, a := range one.attached {
			p.config.Background(func() {
				a.read(p.config, func(content session.Content, told string) {
					p.config.Box.Put(func() {
						if told != "" {
							p.config.Remark("warning", told)
						}
						p.attach(d, one, i, content)
						p.Proceed()
					})
				})
			})
		}
	}
	p.Proceed()
}

// read attaches a file's text as the user sees it, or a link if that is not text, too long, or cannot be read.
func (f file) read(c Config, done func(session.Content, string)) {
	f.path, _ = c.Absolute(f.path)
	link := session.ResourceLink{URI: f.uri()}
	link.Name, _ = transcript.FileName(link.URI, c.Cwd)
	if f.gathered && isPrivate(c, f.path) {
		done(link, fmt.Sprintf("%s is private: its text was not sent. Name it in the prompt to send it.", c.Short(f.path)))
		return
	}
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // a buffer may have its text
	case err != nil || !info.Mode().IsRegular() || info.Size() > maxRead && !isMedia(f.path):
		if err == nil && info.IsDir() && !strings.HasSuffix(link.Name, "/") {
			link.URI, link.Name = link.URI+"/", link.Name+"/"
		}
		done(link, "")
		return
	}
	if err == nil && f.first == 0 && isMedia(f.path) {
		done(media(c, f.path, link, info.Size()))
		return
	}
	r := buffers.Read{Path: f.path}
	if f.first > 0 {
		limit := f.last - f.first + 1
		r.Line, r.Limit = &f.first, &limit
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	c.Files.Read(ctx, r, func(text string, err error) {
		cancel()
		if err != nil || len(text) > maxEmbedded || !isText(text) {
			done(link, "")
			return
		}
		done(session.Resource{URI: link.URI, Text: text}, "")
	})
}

// isPrivate reports whether the text of a file is attached only if the user named it. It reads the disk.
func isPrivate(c Config, path string) bool {
	real, err := buffers.RealPath(path)
	return err != nil || c.Private(path, real)
}

// uri names the lines in the fragment, as most agents understand.
func (f file) uri() string {
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

// fitted is a prompt that an agent can take.
type fitted struct {
	sent, shown []session.Content
	told        []string // to the user: what is sent differently than they may expect
}

// fit makes a prompt that the agent can take: a file that cannot be attached is linked. If something cannot be sent at
// all, the error is a sentence.
func (p *Prompts) fit(blocks []session.Content) (fitted, error) {
	var f fitted
	for _, block := range blocks {
		fitting, err := p.fitOne(block)
		shown := fitting
		if e, ok := block.(either); ok && err != nil {
			fitting, shown, err = e.otherwise, e.Content, nil
			if e.told != "" {
				shown = e.otherwise
				f.told = append(f.told, e.told)
			}
		}
		if err != nil {
			return fitted{}, err
		}
		f.sent, f.shown = append(f.sent, fitting), append(f.shown, shown)
	}
	return f, nil
}

// fitOne makes a block that the agent can take.
func (p *Prompts) fitOne(block session.Content) (session.Content, error) {
	takes := p.config.Agent()
	switch b := block.(type) {
	case either:
		return p.fitOne(b.Content)
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
			return b, nil
		}
		if filepath.IsAbs(b.URI) { // not a URI, but clear enough
			b.URI = file{path: b.URI}.uri()
		}
		name, isFile := transcript.FileName(b.URI, p.config.Cwd)
		if !isFile {
			return nil, p.cannotTake("embedded resources")
		}
		return session.ResourceLink{URI: b.URI, Name: name, MimeType: b.MimeType}, nil
	}
	return block, nil
}

// preferred returns a prompt as sent to an agent that takes everything.
func preferred(blocks []session.Content) []session.Content {
	list := make([]session.Content, len(blocks))
	for i, block := range blocks {
		list[i] = block
		if e, ok := block.(either); ok {
			list[i] = e.Content
		}
	}
	return list
}

func (p *Prompts) cannotTake(what string) error {
	return fmt.Errorf("%s takes no %s: the prompt was not sent", p.config.Title, what)
}
