package host

import "github.com/neovim/go-client/msgpack"

// packed is a value for Neovim that is written without reflection, which takes
// longer than all else that a batch costs the host.
type packed struct{ value any }

// MarshalMsgPack writes the value as [msgpack.Encoder] would.
func (p packed) MarshalMsgPack(e *msgpack.Encoder) error { return pack(e, p.value) }

func pack(e *msgpack.Encoder, value any) error {
	switch v := value.(type) {
	case string:
		return e.PackString(v)
	case int:
		return e.PackInt(int64(v))
	case bool:
		return e.PackBool(v)
	case map[string]any:
		if v == nil {
			return e.PackNil()
		}
		if err := e.PackMapLen(int64(len(v))); err != nil {
			return err
		}
		for key, item := range v {
			if err := e.PackString(key); err != nil {
				return err
			}
			if err := pack(e, item); err != nil {
				return err
			}
		}
		return nil
	case []any:
		return packList(e, v, pack)
	case []string:
		return packList(e, v, (*msgpack.Encoder).PackString)
	case []int:
		return packList(e, v, func(e *msgpack.Encoder, n int) error { return e.PackInt(int64(n)) })
	}
	return e.Encode(value)
}

func packList[T any](e *msgpack.Encoder, list []T, item func(*msgpack.Encoder, T) error) error {
	if list == nil {
		return e.PackNil()
	}
	if err := e.PackArrayLen(int64(len(list))); err != nil {
		return err
	}
	for _, v := range list {
		if err := item(e, v); err != nil {
			return err
		}
	}
	return nil
}
