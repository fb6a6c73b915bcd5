package session

import (
	"encoding/json"
	"time"
)

// Content is one block of a message or of a tool call's output (specification: Content). The set is sealed; types of
// later protocols arrive as [UnknownContent] and are shown generically.
type Content interface{ content() }

// Text is plain or markdown text.
type Text struct{ Text string }

// Image is a picture, either inline (Data, base64) or by URI.
type Image struct {
	MimeType, Data, URI string
}

// Audio is a sound, base64 encoded.
type Audio struct {
	MimeType, Data string
}

// ResourceLink points at something the agent can read by itself.
type ResourceLink struct {
	URI, Name, Title, MimeType, Description string
	Size                                    int64  // in bytes; 0 if unknown
	Modified                                string // the day, 2006-01-02; "" where it is not told
}

// day returns the day of an agent's time in ISO 8601, "" for anything else.
func day(at string) string {
	d := at[:min(len(at), len(time.DateOnly))]
	if _, err := time.Parse(time.DateOnly, d); err != nil {
		return ""
	}
	return d
}

// Resource carries the resource itself: Text, or Blob in base64.
type Resource struct {
	URI, MimeType, Text, Blob string
}

// ForAgent is a block whose annotations say that it is not for the user (specification: Content, audience). It is
// never a ForAgent itself.
type ForAgent struct{ Content Content }

// UnknownContent is a block of a type that this client does not know.
type UnknownContent struct {
	Type string
	Raw  json.RawMessage
}

func (Text) content()           {}
func (Image) content()          {}
func (Audio) content()          {}
func (ResourceLink) content()   {}
func (Resource) content()       {}
func (ForAgent) content()       {}
func (UnknownContent) content() {}
