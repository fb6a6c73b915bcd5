package acp

import "encoding/json"

// List is a list that the protocol requires: it is encoded as [] when it has no items, never as null.
type List[T any] []T

// MarshalJSON encodes the items.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}
