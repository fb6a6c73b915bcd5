package acp

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Opt is a field of a message that may be omitted, null or set; in updates these mean different things. The zero value
// is omitted. Fields of this type carry the `omitzero` JSON option.
type Opt[T any] struct {
	value T
	state optState
}

type optState uint8

const (
	omitted optState = iota
	null
	set
)

// Set returns an Opt that holds v.
func Set[T any](v T) Opt[T] { return Opt[T]{value: v, state: set} }

// Null returns an Opt that is present and null.
func Null[T any]() Opt[T] { return Opt[T]{state: null} }

// IsZero reports whether the field is omitted.
func (o Opt[T]) IsZero() bool { return o.state == omitted }

// IsNull reports whether the field is present and null.
func (o Opt[T]) IsNull() bool { return o.state == null }

// Get returns the value, and whether there is one.
func (o Opt[T]) Get() (T, bool) { return o.value, o.state == set }

// Or returns the value if there is one, otherwise def.
func (o Opt[T]) Or(def T) T {
	if o.state == set {
		return o.value
	}
	return def
}

// MarshalJSON encodes the value, or null. A set nil list is the empty list, since null means something else.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if o.state != set {
		return []byte("null"), nil
	}
	data, err := json.Marshal(o.value)
	if err == nil && bytes.Equal(data, []byte("null")) && isList(reflect.TypeFor[T]()) {
		return []byte("[]"), nil
	}
	return data, err
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8
}

// UnmarshalJSON decodes the value with [Decode].
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	return Decode(data, o)
}

// optional is how the decoder fills an Opt of any type.
type optional interface {
	slot() any // pointer to the value
	mark(optState)
}

func (o *Opt[T]) slot() any { return &o.value }

func (o *Opt[T]) mark(s optState) { o.state = s }
