package nvimtest

import (
	"fmt"
	"slices"
)

// Event is one `User Acp*` autocommand.
type Event struct {
	Name string
	// Data is the autocommand's data; whole numbers are int, an empty Lua table inside it is an
	// empty []any. Data that is no table with string keys stands under "value".
	Data map[string]any
}

func (e Event) String() string { return fmt.Sprintf("%s %v", e.Name, e.Data) }

// Events are all events since Neovim started, in their order.
func (n *Nvim) Events() []Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.events)
}

// AwaitEvent waits for the next event of that name and gives its data: each call gives the first
// one that no earlier call gave, whether it has been already or not.
func (n *Nvim) AwaitEvent(name string) map[string]any {
	n.t.Helper()
	var data map[string]any
	n.Await(fmt.Sprintf("event %s", name), func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		skip := n.awaited[name]
		for _, e := range n.events {
			if e.Name != name {
				continue
			}
			if skip == 0 {
				n.awaited[name]++
				data = e.Data
				return true
			}
			skip--
		}
		return false
	})
	return data
}

// event takes the notification of an autocommand: its name and data.
func (n *Nvim) event(args ...any) {
	if len(args) != 2 {
		return
	}
	name, _ := args[0].(string)
	e := Event{Name: name}
	switch data := plain(args[1]).(type) {
	case map[string]any:
		e.Data = data
	case []any:
		if len(data) > 0 {
			e.Data = map[string]any{"value": data}
		}
	case nil:
	default:
		e.Data = map[string]any{"value": data}
	}
	n.update(func() { n.events = append(n.events, e) })
}

// plain makes every whole number in a decoded value an int.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	default:
		if i, ok := integer(v); ok {
			return i
		}
	}
	return v
}
