package wire

import (
	"encoding/json"
	"errors"

	"github.com/acp-nvim/acp-nvim/acp"
)

// ContentBlock is a piece of a message or of a tool's result: [*TextContent], [*ImageContent],
// [*AudioContent], [*ResourceLink], [*EmbeddedResource] or [*Unknown]. See "Content".
type ContentBlock interface{ contentBlock() }

func (*TextContent) contentBlock()      {}
func (*ImageContent) contentBlock()     {}
func (*AudioContent) contentBlock()     {}
func (*ResourceLink) contentBlock()     {}
func (*EmbeddedResource) contentBlock() {}
func (*Unknown) contentBlock()          {}

func init() {
	register("type", map[string]func() ContentBlock{
		"text":          func() ContentBlock { return new(TextContent) },
		"image":         func() ContentBlock { return new(ImageContent) },
		"audio":         func() ContentBlock { return new(AudioContent) },
		"resource_link": func() ContentBlock { return new(ResourceLink) },
		"resource":      func() ContentBlock { return new(EmbeddedResource) },
	}, func(u *Unknown) ContentBlock { return u })
}

// TextContent is text, as a rule in Markdown. See "Content", "Text Content".
type TextContent struct {
	Text        string          `json:"text" wire:"required"`
	Annotations *Annotations    `json:"annotations,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c TextContent) MarshalJSON() ([]byte, error) {
	type body TextContent
	return acp.EncodeVariant("type", "text", body(c))
}

// ImageContent is an image; Data is in base64. See "Content", "Image Content".
type ImageContent struct {
	Data        string          `json:"data" wire:"required"`
	MIMEType    string          `json:"mimeType" wire:"required"`
	URI         string          `json:"uri,omitzero" wire:"lenient"`
	Annotations *Annotations    `json:"annotations,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c ImageContent) MarshalJSON() ([]byte, error) {
	type body ImageContent
	return acp.EncodeVariant("type", "image", body(c))
}

// AudioContent is sound; Data is in base64. See "Content", "Audio Content".
type AudioContent struct {
	Data        string          `json:"data" wire:"required"`
	MIMEType    string          `json:"mimeType" wire:"required"`
	Annotations *Annotations    `json:"annotations,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c AudioContent) MarshalJSON() ([]byte, error) {
	type body AudioContent
	return acp.EncodeVariant("type", "audio", body(c))
}

// ResourceLink points to something that the agent can read by itself; Size is in bytes. See "Content", "Resource Link".
type ResourceLink struct {
	URI         string          `json:"uri" wire:"required"`
	Name        string          `json:"name" wire:"required"`
	Title       string          `json:"title,omitzero" wire:"lenient"`
	Description string          `json:"description,omitzero" wire:"lenient"`
	MIMEType    string          `json:"mimeType,omitzero" wire:"lenient"`
	Icons       []Icon          `json:"icons,omitzero" wire:"lenient,skip"`
	Size        acp.Opt[uint64] `json:"size,omitzero" wire:"lenient"`
	Annotations *Annotations    `json:"annotations,omitzero" wire:"lenient"`
	Meta        json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c ResourceLink) MarshalJSON() ([]byte, error) {
	type body ResourceLink
	return acp.EncodeVariant("type", "resource_link", body(c))
}

// Icon is an image for a resource; Src is an https or data URI. Each of Sizes is like "48x48", or "any". See "Content".
type Icon struct {
	Src      string          `json:"src" wire:"required"`
	MIMEType string          `json:"mimeType,omitzero" wire:"lenient"`
	Sizes    []string        `json:"sizes,omitzero" wire:"lenient,skip"`
	Theme    IconTheme       `json:"theme,omitzero" wire:"lenient"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// IconTheme is the background an icon is for. An agent may use others.
type IconTheme string

// The themes of the schema.
const (
	IconLight IconTheme = "light"
	IconDark  IconTheme = "dark"
)

// EmbeddedResource is the contents of a resource. See "Content", "Embedded Resource".
type EmbeddedResource struct {
	Resource    EmbeddedResourceResource `json:"resource" wire:"required"`
	Annotations *Annotations             `json:"annotations,omitzero" wire:"lenient"`
	Meta        json.RawMessage          `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c EmbeddedResource) MarshalJSON() ([]byte, error) {
	type body EmbeddedResource
	return acp.EncodeVariant("type", "resource", body(c))
}

// EmbeddedResourceResource is either a text or a blob; the other is nil.
type EmbeddedResourceResource struct {
	Text *TextResourceContents
	Blob *BlobResourceContents
}

// MarshalJSON encodes the one that is there.
func (r EmbeddedResourceResource) MarshalJSON() ([]byte, error) {
	switch {
	case r.Text != nil:
		return json.Marshal(r.Text)
	case r.Blob != nil:
		return json.Marshal(r.Blob)
	}
	return nil, errors.New("encode embedded resource: neither text nor blob")
}

// UnmarshalJSON decodes a text if the object has text, else a blob.
func (r *EmbeddedResourceResource) UnmarshalJSON(data []byte) error {
	*r = EmbeddedResourceResource{}
	var text TextResourceContents
	noText := acp.Decode(data, &text)
	if noText == nil {
		r.Text = &text
		return nil
	}
	var blob BlobResourceContents
	if err := acp.Decode(data, &blob); err != nil {
		return errors.Join(noText, err)
	}
	r.Blob = &blob
	return nil
}

// TextResourceContents is a resource that is text.
type TextResourceContents struct {
	URI      string          `json:"uri" wire:"required"`
	MIMEType string          `json:"mimeType,omitzero" wire:"lenient"`
	Text     string          `json:"text" wire:"required"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// BlobResourceContents is a resource of bytes; Blob is in base64.
type BlobResourceContents struct {
	URI      string          `json:"uri" wire:"required"`
	MIMEType string          `json:"mimeType,omitzero" wire:"lenient"`
	Blob     string          `json:"blob" wire:"required"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// Annotations say whom content is for and how much it matters. LastModified is in ISO 8601; Priority is from 0 to 1.
// See "Content".
type Annotations struct {
	Audience     []Role           `json:"audience,omitzero" wire:"lenient,skip"`
	LastModified string           `json:"lastModified,omitzero" wire:"lenient"`
	Priority     acp.Opt[float64] `json:"priority,omitzero" wire:"lenient"`
	Meta         json.RawMessage  `json:"_meta,omitzero" wire:"lenient,object"`
}

// Role is a party of the conversation.
type Role string

// The roles of the schema.
const (
	RoleAssistant Role = "assistant"
	RoleUser      Role = "user"
)

// Text returns a block of text.
func Text(text string) ContentBlock { return &TextContent{Text: text} }
