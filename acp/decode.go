package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// Decode reads one JSON value into the wire type that v points to, as tolerantly as the protocol's schema allows. It
// differs from [json.Unmarshal] as follows:
//
//   - Unions, fields of a registered interface type, are read by their discriminator; see
//     [Union]. A union field tagged `wire:"inline"` is read from the object it stands in.
//   - `wire:"required"`: without this property the object is malformed.
//   - `wire:"lenient"`: when this property is malformed, the field keeps its zero value.
//   - `wire:"skip"`: items of this list that are malformed are left out.
//   - `wire:"object"`: a [json.RawMessage] that must be an object.
//   - Otherwise a malformed property makes its object malformed. null is malformed only for a
//     required property that is neither a list, a map, an [Opt], a pointer nor raw.
//   - Integers may be written as 1.0; names of properties match exactly.
//   - No data, or null, is read as the empty object if v is a struct: many agents answer so.
//
// Nothing in *v refers to data afterwards. An error names the path of the malformed value and
// leaves *v in an unspecified state. Decode may be called from any goroutine.
func Decode(data []byte, v any) error {
	target := reflect.ValueOf(v)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("decode: %T is not a pointer to a value", v)
	}
	target = target.Elem()
	if target.Kind() == reflect.Struct && !selfDecoding(target.Type()) {
		if text := bytes.TrimSpace(data); len(text) == 0 || string(text) == "null" {
			data = []byte("{}")
		}
	}
	if !valid(data) {
		return errors.New("decode: not valid JSON")
	}
	return decodeValid(data, target, nil)
}

// DecodeMessage is Decode for params and results delivered by a Conn, which are valid JSON.
func DecodeMessage(data []byte, v any) error { return decodeMessage(data, v, nil) }

func decodeMessage(data []byte, v any, texts *Texts) error {
	target := reflect.ValueOf(v).Elem()
	if text := bytes.TrimSpace(data); len(text) == 0 || string(text) == "null" {
		data = []byte("{}")
	}
	return decodeValid(data, target, texts)
}

func decodeValid(data []byte, target reflect.Value, texts *Texts) error {
	s := &scanner{data: data, texts: texts}
	s.space()
	if err := decoderOf(target.Type(), fieldRules{})(s, target); err != nil {
		return fmt.Errorf("decode %w", err)
	}
	return nil
}

// malformed is a value that does not fit its type.
type malformed struct {
	path   string // from the outermost value: ".update.content[2].text"
	reason string
}

func (m *malformed) Error() string {
	if m.path == "" {
		return "value: " + m.reason
	}
	return strings.TrimPrefix(m.path, ".") + ": " + m.reason
}

func wrong(format string, args ...any) error {
	return &malformed{reason: fmt.Sprintf(format, args...)}
}

// within prefixes the path of err with step.
func within(step string, err error) error {
	m, ok := err.(*malformed)
	if !ok {
		return &malformed{path: step, reason: err.Error()}
	}
	m.path = step + m.path
	return m
}

// decodeFunc reads the value at the scanner's position into v, which is settable, and moves past it. After an error the
// position is undefined.
type decodeFunc func(s *scanner, v reflect.Value) error

// fieldRules are the rules of a field that affect its value rather than its object.
type fieldRules struct {
	skip   bool
	object bool
}

type decoderKey struct {
	typ   reflect.Type
	rules fieldRules
}

var decoders sync.Map // decoderKey → decodeFunc

func decoderOf(t reflect.Type, rules fieldRules) decodeFunc {
	key := decoderKey{t, rules}
	if known, ok := decoders.Load(key); ok {
		return known.(decodeFunc)
	}
	made, _ := decoders.LoadOrStore(key, newDecoder(t, rules))
	return made.(decodeFunc)
}

var (
	rawType         = reflect.TypeFor[json.RawMessage]()
	optionalType    = reflect.TypeFor[optional]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
)

func selfDecoding(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(optionalType) || pointer.Implements(unmarshalerType)
}

func newDecoder(t reflect.Type, rules fieldRules) decodeFunc {
	switch {
	case t == rawType:
		return decodeRaw(rules.object)
	case reflect.PointerTo(t).Implements(optionalType):
		return decodeOptional(t, rules)
	case reflect.PointerTo(t).Implements(unmarshalerType):
		return decodeSelf
	}
	switch t.Kind() {
	case reflect.String:
		return decodeString
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int32, reflect.Int64:
		return decodeInt
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return decodeUint
	case reflect.Float64:
		return decodeFloat
	case reflect.Pointer:
		return decodePointer(t, rules)
	case reflect.Slice:
		return decodeList(t, rules)
	case reflect.Map:
		return decodeMap(t)
	case reflect.Struct:
		return (&structPlan{typ: t}).decode
	case reflect.Interface:
		return decodeUnion(t)
	}
	return func(*scanner, reflect.Value) error { return wrong("no decoder for Go type %s", t) }
}

func decodeString(s *scanner, v reflect.Value) error {
	if s.peek() != '"' {
		return wrong("expected a string, got %s", s.kind())
	}
	v.SetString(s.text())
	return nil
}

func decodeBool(s *scanner, v reflect.Value) error {
	switch s.peek() {
	case 't', 'f':
		v.SetBool(s.peek() == 't')
		s.skip()
		return nil
	}
	return wrong("expected a boolean, got %s", s.kind())
}

func decodeInt(s *scanner, v reflect.Value) error {
	n, err := s.integer()
	if err != nil {
		return err
	}
	if v.OverflowInt(n) {
		return wrong("%d is out of range", n)
	}
	v.SetInt(n)
	return nil
}

func decodeUint(s *scanner, v reflect.Value) error {
	n, err := s.unsigned()
	if err != nil {
		return err
	}
	if v.OverflowUint(n) {
		return wrong("%d is out of range", n)
	}
	v.SetUint(n)
	return nil
}

func decodeFloat(s *scanner, v reflect.Value) error {
	f, err := s.float()
	if err != nil {
		return err
	}
	v.SetFloat(f)
	return nil
}

func decodeRaw(object bool) decodeFunc {
	return func(s *scanner, v reflect.Value) error {
		if object && s.null() {
			v.SetZero()
			return nil
		}
		if object && s.peek() != '{' {
			return wrong("expected an object, got %s", s.kind())
		}
		v.SetBytes([]byte(string(s.raw())))
		return nil
	}
}

func decodeOptional(t reflect.Type, rules fieldRules) decodeFunc {
	slot := reflect.New(t).Interface().(optional).slot()
	inner := decoderOf(reflect.TypeOf(slot).Elem(), rules)
	return func(s *scanner, v reflect.Value) error {
		o := v.Addr().Interface().(optional)
		if s.null() {
			o.mark(null)
			return nil
		}
		if err := inner(s, reflect.ValueOf(o.slot()).Elem()); err != nil {
			return err
		}
		o.mark(set)
		return nil
	}
}

func decodeSelf(s *scanner, v reflect.Value) error {
	if err := v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(s.raw()); err != nil {
		return wrong("%s", strings.TrimPrefix(err.Error(), "decode "))
	}
	return nil
}

func decodePointer(t reflect.Type, rules fieldRules) decodeFunc {
	inner := decoderOf(t.Elem(), rules)
	return func(s *scanner, v reflect.Value) error {
		if s.null() {
			v.SetZero()
			return nil
		}
		value := reflect.New(t.Elem())
		if err := inner(s, value.Elem()); err != nil {
			return err
		}
		v.Set(value)
		return nil
	}
}

func decodeList(t reflect.Type, rules fieldRules) decodeFunc {
	inner := decoderOf(t.Elem(), fieldRules{})
	return func(s *scanner, v reflect.Value) error {
		v.Set(reflect.MakeSlice(t, 0, 0))
		if s.null() {
			return nil
		}
		if s.peek() != '[' {
			return wrong("expected a list, got %s", s.kind())
		}
		n := 0
		for i := 0; s.nextItem(i == 0); i++ {
			start := s.pos
			if n == v.Cap() {
				v.Grow(1)
			}
			v.SetLen(n + 1)
			item := v.Index(n)
			item.SetZero()
			if err := inner(s, item); err != nil {
				if !rules.skip {
					return within(fmt.Sprintf("[%d]", i), err)
				}
				s.pos = start
				s.skip()
				v.SetLen(n)
				continue
			}
			n++
		}
		return nil
	}
}

func decodeMap(t reflect.Type) decodeFunc {
	inner := decoderOf(t.Elem(), fieldRules{})
	return func(s *scanner, v reflect.Value) error {
		v.Set(reflect.MakeMap(t))
		if s.null() {
			return nil
		}
		if s.peek() != '{' {
			return wrong("expected an object, got %s", s.kind())
		}
		for first := true; s.nextItem(first); first = false {
			name := s.text()
			s.colon()
			value := reflect.New(t.Elem()).Elem()
			if err := inner(s, value); err != nil {
				return within("."+name, err)
			}
			v.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), value)
		}
		return nil
	}
}

func decodeUnion(t reflect.Type) decodeFunc {
	registered, ok := unions.Load(t)
	if !ok {
		return func(*scanner, reflect.Value) error { return wrong("%s is not a registered union", t) }
	}
	u := registered.(*union)
	// Computed at first use, so that unions may contain themselves.
	bodies := sync.OnceValue(func() map[string]decodeFunc {
		decoders := make(map[string]decodeFunc, len(u.variants))
		for tag, empty := range u.variants {
			decoders[tag] = decoderOf(reflect.TypeOf(empty()).Elem(), fieldRules{})
		}
		return decoders
	})
	return func(s *scanner, v reflect.Value) error {
		if s.peek() != '{' {
			return wrong("expected an object, got %s", s.kind())
		}
		start := s.pos
		tag, tagged := s.tag(u.tag)
		s.pos = start
		empty := u.byDefault
		if tagged {
			empty = u.variants[tag]
		}
		if empty == nil {
			raw := json.RawMessage(string(s.raw()))
			v.Set(reflect.ValueOf(u.unknown(tag, raw)))
			return nil
		}
		variant := reflect.ValueOf(empty())
		body := variant.Elem()
		decode := bodies()[tag]
		if !tagged {
			decode = decoderOf(body.Type(), fieldRules{})
		}
		if err := decode(s, body); err != nil {
			return err
		}
		v.Set(variant)
		return nil
	}
}

// structPlan is what decoding a struct type needs, computed at first use so that types may contain themselves.
type structPlan struct {
	typ      reflect.Type
	once     sync.Once
	err      error
	fields   map[string]*fieldPlan
	required []*fieldPlan // bit i of the seen mask is required[i]
	inline   []*fieldPlan
}

type fieldPlan struct {
	name    string
	index   []int
	decode  decodeFunc
	lenient bool
	nullOK  bool   // null is passed to decode; otherwise it leaves the zero value
	bit     uint64 // 0 unless required and not lenient
}

func (p *structPlan) build() {
	p.fields = make(map[string]*fieldPlan)
	p.add(p.typ, nil)
	if len(p.required) > 64 {
		p.err = fmt.Errorf("%s has more than 64 required properties", p.typ)
	}
}

func (p *structPlan) add(t reflect.Type, index []int) {
	for i := range t.NumField() {
		field := t.Field(i)
		at := append(index[:len(index):len(index)], i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct && field.Tag.Get("json") == "" {
			p.add(field.Type, at)
			continue
		}
		f := &fieldPlan{index: at}
		f.name, _, _ = strings.Cut(field.Tag.Get("json"), ",")
		var rules fieldRules
		var required, inline bool
		for rule := range strings.SplitSeq(field.Tag.Get("wire"), ",") {
			switch rule {
			case "":
			case "required":
				required = true
			case "lenient":
				f.lenient = true
			case "skip":
				rules.skip = true
			case "object":
				rules.object = true
			case "inline":
				inline = true
			default:
				p.err = fmt.Errorf("%s.%s: no such rule: %s", t, field.Name, rule)
			}
		}
		f.decode = decoderOf(field.Type, rules)
		f.nullOK = required || takesNull(field.Type)
		if required && !f.lenient {
			f.bit = 1 << len(p.required)
			p.required = append(p.required, f)
		}
		switch {
		case inline:
			p.inline = append(p.inline, f)
		case f.name == "" || !field.IsExported():
			p.err = fmt.Errorf("%s.%s has no name on the wire", t, field.Name)
		default:
			p.fields[f.name] = f
		}
	}
}

// takesNull reports whether null is a value of its own for t.
func takesNull(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer:
		return true
	}
	return selfDecoding(t)
}

func (p *structPlan) decode(s *scanner, v reflect.Value) error {
	p.once.Do(p.build)
	if p.err != nil {
		return p.err
	}
	if s.peek() != '{' {
		return wrong("expected an object, got %s", s.kind())
	}
	start := s.pos
	var seen uint64
	for first := true; s.nextItem(first); first = false {
		f := p.fields[string(s.name())]
		s.colon()
		if f == nil {
			s.skip()
			continue
		}
		if err := f.read(s, fieldOf(v, f.index)); err != nil {
			return err
		}
		seen |= f.bit
	}
	end := s.pos
	for _, f := range p.inline {
		s.pos = start
		if err := f.decode(s, fieldOf(v, f.index)); err != nil {
			return err
		}
		s.pos = end
	}
	for _, f := range p.required {
		if seen&f.bit == 0 {
			return within("."+f.name, wrong("required but missing"))
		}
	}
	return nil
}

// read decodes the value of a property. A property given twice has its last value.
func (f *fieldPlan) read(s *scanner, v reflect.Value) error {
	v.SetZero()
	if !f.nullOK && s.null() {
		return nil
	}
	start := s.pos
	err := f.decode(s, v)
	if err == nil {
		return nil
	}
	if !f.lenient {
		return within("."+f.name, err)
	}
	v.SetZero()
	s.pos = start
	s.skip()
	return nil
}

func fieldOf(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		v = v.Field(i)
	}
	return v
}
