// Package v1 has the messages of version 1 of the Agent Client Protocol: a Go type for each type of its stable schema,
// under the schema's name, and what widespread agents send beyond it. What version 2 spells alike is in
// [github.com/acp-nvim/acp-nvim/acp/wire]. The methods of one area are in one file with their requests and responses.
//
// Encode with encoding/json; decode with [acp.Decode], which obeys the `wire` tags. Unions are sealed interfaces whose
// variants are pointers; anything without a known variant is an [Unknown]. Fields named Meta hold the `_meta` object,
// which belongs to extensions.
//
// See the specification's page "Overview".
package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Version is the protocol version that this package speaks.
const Version ProtocolVersion = 1

// ProtocolVersion is a version of the protocol; it grows with breaking changes only.
// See "Initialization", "Protocol version".
type ProtocolVersion uint16

// Unknown is a variant that no union of this version knows, as a newer agent may send it. It is kept as it came.
type Unknown struct {
	// Type is the value of the union's discriminator, "" if the object has none.
	Type string
	// Raw is the whole object.
	Raw json.RawMessage
}

// MarshalJSON encodes the object as it came.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Raw, nil }

// encodeInline encodes an object together with the union that stands in it.
func encodeInline(common, variant any) ([]byte, error) {
	if whole, ok := variant.(*Unknown); ok {
		return whole.Raw, nil
	}
	return acp.EncodeMerged(common, variant)
}

// register makes the union T known to acp.Decode.
func register[T any](tag string, variants map[string]func() T, unknown func(*Unknown) T) {
	registerDefault(tag, variants, nil, unknown)
}

// registerDefault is register for a union one of whose variants has no discriminator.
func registerDefault[T any](
	tag string, variants map[string]func() T, byDefault func() T, unknown func(*Unknown) T,
) {
	acp.RegisterUnion(acp.Union[T]{
		Tag:      tag,
		Variants: variants,
		Default:  byDefault,
		Unknown: func(name string, raw json.RawMessage) T {
			return unknown(&Unknown{Type: name, Raw: raw})
		},
	})
}
