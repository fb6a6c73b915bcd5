package schema

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Generator makes messages from the schema: valid ones, and such that are damaged somewhere.
type Generator struct {
	V    *V
	Rand *rand.Rand
	// Pools are values of fields by name, so that what is made is about the same few things, and does no harm.
	Pools map[string][]any
}

// maxDepth is where only what is required is made.
const maxDepth = 6

// Message makes the params of a request or notification, or the result of a response; ok is false where the schema is
// too much for the generator.
func (g *Generator) Message(method, kind string, side Side) (v any, ok bool) {
	name := g.V.definition(method, kind, side)
	for range 50 {
		v := g.make(map[string]any{"$ref": "#/$defs/" + name}, "", 0)
		raw, err := json.Marshal(v)
		if err == nil && g.V.CheckDef(name, raw) == nil {
			return v, true
		}
	}
	return nil, false
}

// Methods are those that the schema has for a side, by kind.
func (v *V) Methods(kind string, side Side) (methods []string) {
	for k := range v.byMethod {
		parts := strings.SplitN(k, ":", 3)
		if method, of := parts[1], parts[2]; parts[0] == string(side) && of == kind {
			methods = append(methods, method)
		}
	}
	slices.Sort(methods)
	return methods
}

func (g *Generator) pick(list []any) any { return list[g.Rand.IntN(len(list))] }

// make makes a value of a part of the schema, for the field of a name.
func (g *Generator) make(s map[string]any, name string, depth int) any {
	if ref, ok := s["$ref"].(string); ok {
		def, _ := g.V.raw[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		return g.make(def, name, depth)
	}
	if pool := g.Pools[name]; pool != nil && g.Rand.IntN(12) > 0 {
		return g.pick(pool)
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if list, ok := s["enum"].([]any); ok {
		return g.pick(list)
	}
	var made any
	if g.has(s) {
		made = g.typed(s, name, depth)
	}
	for _, part := range parts(s, "allOf") {
		made = merge(made, g.make(part, name, depth))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if choices := parts(s, key); len(choices) > 0 {
			made = merge(made, g.make(choices[g.Rand.IntN(len(choices))], name, depth))
		}
	}
	return made
}

// has reports whether a part of the schema says itself what its value is.
func (g *Generator) has(s map[string]any) bool {
	if s["type"] != nil || s["properties"] != nil {
		return true
	}
	return s["allOf"] == nil && s["anyOf"] == nil && s["oneOf"] == nil
}

func parts(s map[string]any, key string) (list []map[string]any) {
	all, _ := s[key].([]any)
	for _, part := range all {
		if part, ok := part.(map[string]any); ok {
			list = append(list, part)
		}
	}
	return list
}

// merge is what two parts of the schema say of one value.
func merge(a, b any) any {
	am, ok := a.(map[string]any)
	bm, both := b.(map[string]any)
	switch {
	case ok && both:
		maps.Copy(bm, am) // the constant that tells variants apart is in the outer part
		return bm
	case b == nil:
		return a
	}
	return b
}

func (g *Generator) typed(s map[string]any, name string, depth int) any {
	kind, _ := s["type"].(string)
	if kinds, ok := s["type"].([]any); ok {
		kind, _ = g.pick(kinds).(string)
	}
	switch kind {
	case "null":
		return nil
	case "boolean":
		return g.Rand.IntN(2) == 0
	case "integer", "number":
		return number(s["minimum"]) + g.Rand.IntN(9)
	case "string":
		return g.text(s, name)
	case "array":
		items, _ := s["items"].(map[string]any)
		n := number(s["minItems"])
		if depth < maxDepth {
			n += g.Rand.IntN(3)
		}
		list := []any{}
		for range n {
			list = append(list, g.make(items, name, depth+1))
		}
		return list
	}
	properties, _ := s["properties"].(map[string]any)
	if kind == "" && properties == nil {
		return g.any(depth)
	}
	required, _ := s["required"].([]any)
	object := map[string]any{}
	for _, field := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(field)) || depth < maxDepth && g.Rand.IntN(2) == 0 {
			part, _ := properties[field].(map[string]any)
			object[field] = g.make(part, field, depth+1)
		}
	}
	if more, ok := s["additionalProperties"].(map[string]any); ok {
		for range g.Rand.IntN(3) {
			object[g.word()] = g.make(more, "", depth+1)
		}
	}
	return object
}

// number is a bound of the schema's, 0 where there is none.
func number(v any) int {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return int(i)
}

func (g *Generator) word() string {
	return []string{"one", "two words", "three\nlines\n", "", "日本", "**bold**", "```go\nx\n```", "%s", "\x1b[31mred", "a\x00b", "_own"}[g.Rand.IntN(11)]
}

func (g *Generator) text(s map[string]any, name string) string {
	switch {
	case s["contentEncoding"] == "base64":
		return base64.StdEncoding.EncodeToString([]byte(g.word()))
	case s["format"] == "uri" || name == "url" || name == "uri":
		return []string{"https://example.invalid/a", "file:///nowhere/b.txt", "odd:c"}[g.Rand.IntN(3)]
	}
	return g.word()
}

// any is any JSON.
func (g *Generator) any(depth int) any {
	switch k := g.Rand.IntN(8); {
	case k == 0:
		return nil
	case k == 1:
		return g.Rand.IntN(100)
	case k == 2 && depth < maxDepth:
		return []any{g.any(depth + 1), g.any(depth + 1)}
	case k < 5 && depth < maxDepth:
		return map[string]any{g.word(): g.any(depth + 1), "path": g.word()}
	}
	return g.word()
}

// Damaged is a message with something wrong in it, or with more in it than the schema knows. Fields named in keep stay.
func (g *Generator) Damaged(v any, keep ...string) any {
	for range 1 + g.Rand.IntN(2) {
		v = g.damage(v, keep)
	}
	return v
}

func (g *Generator) damage(v any, keep []string) any {
	inside := g.Rand.IntN(5) > 0
	switch v := v.(type) {
	case map[string]any:
		fields := slices.DeleteFunc(slices.Sorted(maps.Keys(v)), func(f string) bool { return slices.Contains(keep, f) })
		if !inside || len(fields) == 0 {
			break
		}
		v = maps.Clone(v)
		field := fields[g.Rand.IntN(len(fields))]
		switch g.Rand.IntN(8) {
		case 0:
			delete(v, field)
		case 1:
			v[g.word()] = g.any(0)
		default:
			v[field] = g.damage(v[field], keep)
		}
		return v
	case []any:
		if !inside || len(v) == 0 {
			break
		}
		v = slices.Clone(v)
		at := g.Rand.IntN(len(v))
		if g.Rand.IntN(4) == 0 {
			return slices.Insert(v, at, g.any(0))
		}
		v[at] = g.damage(v[at], keep)
		return v
	}
	switch g.Rand.IntN(7) {
	case 0:
		return nil
	case 1:
		return []any{v}
	case 2:
		return map[string]any{"was": v}
	case 3:
		return -1
	case 4:
		return 1e300
	case 5:
		return strings.Repeat(g.word()+" ", 1000)
	}
	return g.any(0)
}
