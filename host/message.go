package host

import (
	"fmt"
	"reflect"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// message is a table from Lua. Fields that are missing or of another type
// read as their zero value; an empty Lua table arrives as a list.
type message map[string]any

func (m message) text(key string) string {
	switch v := m[key].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func (m message) integer(key string) int {
	switch v := m[key].(type) {
	case int64:
		return int(v)
	case uint64:
		return int(v)
	case float64:
		return int(v)
	}
	return 0
}

func (m message) flag(key string) bool {
	v, _ := m[key].(bool)
	return v
}

func (m message) table(key string) message {
	v, _ := m[key].(map[string]any)
	return v
}

func (m message) list(key string) []any {
	v, _ := m[key].([]any)
	return v
}

func (m message) texts(key string) []string {
	var texts []string
	for _, item := range m.list(key) {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func (m message) agentSpec() AgentSpec {
	t := m.table("agent")
	spec := AgentSpec{
		Name: t.text("name"), Title: t.text("title"), Cwd: t.text("cwd"), Install: t.text("install"), Login: t.text("login"),
		Env: map[string]string{}, Quirks: map[string]bool{}, Options: map[string]string{},
	}
	for _, arg := range t.list("command") {
		if s, ok := arg.(string); ok {
			spec.Command = append(spec.Command, s)
		}
	}
	for name, value := range t.table("env") {
		spec.Env[name] = fmt.Sprint(value)
	}
	for id, value := range t.table("options") {
		spec.Options[id] = fmt.Sprint(value)
	}
	for name := range t.table("quirks") {
		spec.Quirks[name] = t.table("quirks").flag(name)
	}
	return spec
}

func (m message) prompt(key string) prompt { return prompted(m[key]) }

// prompted reads a prompt: a list of content blocks in the shape of the wire,
// and of files that stand in the place of some.
func prompted(list any) prompt {
	var blocks []session.Content
	attached := map[int]attachment{}
	items, _ := list.([]any)
	for _, item := range items {
		b, ok := item.(map[string]any)
		if !ok {
			continue
		}
		block := message(b)
		switch block.text("type") {
		case "file":
			attached[len(blocks)] = attachment{block.text("path"), block.integer("first"), block.integer("last")}
			blocks = append(blocks, nil)
		case "unsaved":
			blocks = append(blocks, unsavedRoom(block.integer("room")))
		case "text":
			blocks = append(blocks, session.Text{Text: block.text("text")})
		case "resource_link":
			blocks = append(blocks, session.ResourceLink{
				URI: block.text("uri"), Name: block.text("name"), Title: block.text("title"),
				MimeType: block.text("mimeType"), Description: block.text("description"),
			})
		case "resource":
			r := block.table("resource")
			blocks = append(blocks, session.Resource{
				URI: r.text("uri"), MimeType: r.text("mimeType"), Text: r.text("text"), Blob: r.text("blob"),
			})
		case "image":
			blocks = append(blocks, session.Image{MimeType: block.text("mimeType"), Data: block.text("data"), URI: block.text("uri")})
		case "audio":
			blocks = append(blocks, session.Audio{MimeType: block.text("mimeType"), Data: block.text("data")})
		}
	}
	return prompt{blocks, attached}
}

// fill gives the fields of a struct, by their tags for MessagePack, what Lua
// has answered, without copying texts.
func fill(into reflect.Value, m message) {
	for i := range into.NumField() {
		key, ok := into.Type().Field(i).Tag.Lookup("msgpack")
		if !ok {
			continue
		}
		switch to := into.Field(i); to.Kind() {
		case reflect.String:
			to.SetString(m.text(key))
		case reflect.Int, reflect.Int64:
			to.SetInt(int64(m.integer(key)))
		case reflect.Float64:
			to.SetFloat(m.number(key))
		case reflect.Bool:
			to.SetBool(m.flag(key))
		case reflect.Struct:
			fill(to, m.table(key))
		case reflect.Pointer:
			if table := m.table(key); table != nil {
				to.Set(reflect.New(to.Type().Elem()))
				fill(to.Elem(), table)
			}
		}
	}
}

func (m message) number(key string) float64 {
	if v, ok := m[key].(float64); ok {
		return v
	}
	return float64(m.integer(key))
}
