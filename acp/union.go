package acp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
)

// Union tells [Decode] how to choose the variant of a union of the wire. T is a sealed interface whose variants are
// pointers to structs. Only the discriminator decides: a known one with a malformed body is an error, an unknown one is
// kept as it came.
type Union[T any] struct {
	// Tag is the property that names the variant.
	Tag string
	// Variants returns an empty variant for each value of the tag.
	Variants map[string]func() T
	// Default returns the variant that has no tag. Nil if every variant has one.
	Default func() T
	// Unknown wraps an object whose tag is not in Variants, or that has none.
	Unknown func(tag string, raw json.RawMessage) T
}

// RegisterUnion makes u known to [Decode]. Each union is registered once, from an init function.
func RegisterUnion[T any](u Union[T]) {
	t := reflect.TypeFor[T]()
	erased := &union{tag: u.Tag, variants: make(map[string]func() any, len(u.Variants))}
	for name, empty := range u.Variants {
		erased.variants[name] = func() any { return empty() }
	}
	if u.Default != nil {
		erased.byDefault = func() any { return u.Default() }
	}
	erased.unknown = func(tag string, raw json.RawMessage) any { return u.Unknown(tag, raw) }
	if _, twice := unions.LoadOrStore(t, erased); twice {
		panic(fmt.Sprintf("acp: union %s registered twice", t))
	}
}

// union is a Union without its type parameter.
type union struct {
	tag       string
	variants  map[string]func() any
	byDefault func() any
	unknown   func(tag string, raw json.RawMessage) any
}

var unions sync.Map // reflect.Type of the interface → *union

// EncodeVariant encodes body, a struct, with its union's tag as the first property.
func EncodeVariant(tag, name string, body any) ([]byte, error) {
	return EncodeMerged(map[string]string{tag: name}, body)
}

// EncodeMerged encodes two objects as one with the properties of both.
func EncodeMerged(a, b any) ([]byte, error) {
	first, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	second, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	for _, object := range [][]byte{first, second} {
		if object[0] != '{' {
			return nil, fmt.Errorf("merge objects: %.20s is not an object", object)
		}
	}
	if len(first) == len("{}") {
		return second, nil
	}
	if len(second) == len("{}") {
		return first, nil
	}
	merged := append(first[:len(first)-1], ',')
	return append(merged, second[1:]...), nil
}
