package acp

import "encoding/json"

// List is a required list of the protocol: an empty one is encoded as [], never as null.
type List[T any] []T

// MarshalJSON encodes the items.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}
