// Package v2 has the messages of version 2 of the Agent Client Protocol, but for elicitation, which is version 1's,
// and what version 1 spells alike, which is in [github.com/acp-nvim/acp-nvim/acp/wire]. There is a Go type for each type
// of the schema, under the schema's name.
//
// Encode with encoding/json; decode with [acp.Decode], which obeys the `wire` tags. Unions are
// sealed interfaces whose variants are pointers; what has no known variant is an [Unknown].
// Fields named Meta hold the `_meta` object, which belongs to extensions. In updates the fields
// that are an [acp.Opt] are patches: what is omitted stays, null clears, a value replaces.
//
// See the specification's page "Overview" of version 2.
package v2

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Unknown is a variant that no union of this version knows, as a newer agent may send it. It is kept as it came.
type Unknown struct {
	// Type is the value of the union's discriminator, "" if the object has none.
	Type string
	// Raw is the whole object.
	Raw json.RawMessage
}

// MarshalJSON encodes the object as it came.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Raw, nil }

// Bytes are bytes that stand in a message in base64 (RFC 4648).
type Bytes []byte

// MarshalJSON encodes the bytes with padding.
func (b Bytes) MarshalJSON() ([]byte, error) {
	return json.Marshal(base64.StdEncoding.EncodeToString(b))
}

// UnmarshalJSON decodes the bytes; the padding may be missing.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("expected a string in base64, got %.20s", data)
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return fmt.Errorf("expected base64: %w", err)
	}
	*b = decoded
	return nil
}

// encodeInline encodes an object together with the union inlined in it.
func encodeInline(common, variant any) ([]byte, error) {
	if whole, ok := variant.(*Unknown); ok {
		return whole.Raw, nil
	}
	return acp.EncodeMerged(common, variant)
}

// register makes the union T known to acp.Decode.
func register[T any](tag string, variants map[string]func() T, unknown func(*Unknown) T) {
	acp.RegisterUnion(acp.Union[T]{
		Tag:      tag,
		Variants: variants,
		Unknown: func(name string, raw json.RawMessage) T {
			return unknown(&Unknown{Type: name, Raw: raw})
		},
	})
}
