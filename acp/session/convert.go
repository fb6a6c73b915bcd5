package session

import (
	"math"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// This file converts what both versions of the protocol spell alike into the model's types and back.

func mapOpt[T, U any](o acp.Opt[T], f func(T) U) acp.Opt[U] {
	if o.IsNull() {
		return acp.Null[U]()
	}
	if v, ok := o.Get(); ok {
		return acp.Set(f(v))
	}
	return acp.Opt[U]{}
}

func fromLocations(list []wire.ToolCallLocation) []Location {
	locations := make([]Location, len(list))
	for i, l := range list {
		locations[i] = Location{Path: LocalPath(l.Path), Line: int(l.Line.Or(0))}
	}
	return locations
}

func fromBlocks(list []wire.ContentBlock) []Content {
	content := make([]Content, len(list))
	for i, b := range list {
		content[i] = fromBlock(b)
	}
	return content
}

func fromBlock(b wire.ContentBlock) Content {
	c, notes := contentOf(b)
	if notes != nil && len(notes.Audience) > 0 && !slices.Contains(notes.Audience, wire.RoleUser) {
		return ForAgent{c}
	}
	return c
}

func contentOf(b wire.ContentBlock) (Content, *wire.Annotations) {
	switch b := b.(type) {
	case *wire.TextContent:
		return Text{Text: b.Text}, b.Annotations
	case *wire.ImageContent:
		return Image{MimeType: b.MIMEType, Data: b.Data, URI: b.URI}, b.Annotations
	case *wire.AudioContent:
		return Audio{MimeType: b.MIMEType, Data: b.Data}, b.Annotations
	case *wire.ResourceLink:
		l := ResourceLink{
			URI: b.URI, Name: b.Name, Title: b.Title, MimeType: b.MIMEType, Description: b.Description, Size: int64(min(b.Size.Or(0), math.MaxInt64)),
		}
		if b.Annotations != nil {
			l.Modified = day(b.Annotations.LastModified)
		}
		return l, b.Annotations
	case *wire.EmbeddedResource:
		if t := b.Resource.Text; t != nil {
			return Resource{URI: t.URI, MimeType: t.MIMEType, Text: t.Text}, b.Annotations
		}
		if blob := b.Resource.Blob; blob != nil {
			return Resource{URI: blob.URI, MimeType: blob.MIMEType, Blob: blob.Blob}, b.Annotations
		}
	case *wire.Unknown:
		return UnknownContent{Type: b.Type, Raw: b.Raw}, nil
	}
	return UnknownContent{}, nil
}

func toBlocks(prompt []Content) []wire.ContentBlock {
	blocks := make([]wire.ContentBlock, len(prompt))
	for i, b := range prompt {
		blocks[i] = toBlock(b)
	}
	return blocks
}

// toBlock translates a block of a prompt. Blocks of unknown type are only ever received.
func toBlock(c Content) wire.ContentBlock {
	switch c := c.(type) {
	case Text:
		return wire.Text(c.Text)
	case Image:
		return &wire.ImageContent{MIMEType: c.MimeType, Data: c.Data, URI: c.URI}
	case Audio:
		return &wire.AudioContent{MIMEType: c.MimeType, Data: c.Data}
	case ResourceLink:
		return &wire.ResourceLink{URI: c.URI, Name: c.Name, Title: c.Title, MIMEType: c.MimeType, Description: c.Description}
	case Resource:
		if c.Blob != "" {
			return &wire.EmbeddedResource{Resource: wire.EmbeddedResourceResource{Blob: &wire.BlobResourceContents{URI: c.URI, MIMEType: c.MimeType, Blob: c.Blob}}}
		}
		return &wire.EmbeddedResource{Resource: wire.EmbeddedResourceResource{Text: &wire.TextResourceContents{URI: c.URI, MIMEType: c.MimeType, Text: c.Text}}}
	}
	return wire.Text("")
}

func choices(group string, list []wire.SessionConfigSelectOption) []Choice {
	var out []Choice
	for _, c := range list {
		out = append(out, Choice{Value: string(c.Value), Name: c.Name, Description: c.Description, Group: group})
	}
	return out
}

func permissionOptions(list []wire.PermissionOption) []PermissionOption {
	var options []PermissionOption
	for _, o := range list {
		options = append(options, PermissionOption{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind)})
	}
	return options
}
