package rpc

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/neovim/go-client/msgpack"
)

// Name returns Lua's name of a message or an operation: its type in snake case.
func Name(of any) string { return describe(reflect.TypeOf(of)).name }

// form is how a struct of the contract looks to Lua.
type form struct {
	name   string
	fields []field
}

type field struct {
	name  string
	index []int
	omit  bool // if it has its zero value
}

var forms sync.Map // by reflect.Type

// describe returns the form of a struct; fields of embedded structs count as its own.
func describe(t reflect.Type) *form {
	if known, ok := forms.Load(t); ok {
		return known.(*form)
	}
	f := &form{name: snake(t.Name()), fields: fieldsOf(t, nil)}
	forms.Store(t, f)
	return f
}

func fieldsOf(t reflect.Type, within []int) (fields []field) {
	for i := range t.NumField() {
		sf, index := t.Field(i), append(slices.Clone(within), i)
		switch {
		case sf.Anonymous && sf.Type.Kind() == reflect.Pointer:
			fields = append(fields, fieldsOf(sf.Type.Elem(), index)...)
		case sf.Anonymous:
			fields = append(fields, fieldsOf(sf.Type, index)...)
		}
		if tag, ok := sf.Tag.Lookup("msgpack"); ok {
			name, omit := strings.CutSuffix(tag, ",omitempty")
			fields = append(fields, field{name, index, omit})
		}
	}
	return fields
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Decode decodes a message from Lua: what is missing, or not of the expected type, is the zero value. It keeps no more
// of fields than it returns.
func Decode[M any](fields map[string]any) M {
	var m M
	Into(&m, fields)
	return m
}

// Into sets what a pointer points to from an answer of Lua's, as [Decode] does.
func Into(to any, from any) { set(reflect.ValueOf(to).Elem(), from) }

func set(to reflect.Value, from any) {
	switch to.Kind() {
	case reflect.String:
		to.SetString(text(from))
	case reflect.Bool:
		b, _ := from.(bool)
		to.SetBool(b)
	case reflect.Int, reflect.Int64:
		to.SetInt(int64(number(from)))
	case reflect.Float64:
		to.SetFloat(number(from))
	case reflect.Interface:
		if from != nil {
			to.Set(reflect.ValueOf(from))
		}
	case reflect.Pointer:
		if from == nil {
			return
		}
		if _, table := from.(map[string]any); table || to.Type().Elem().Kind() != reflect.Struct {
			to.Set(reflect.New(to.Type().Elem()))
			set(to.Elem(), from)
		}
	case reflect.Struct:
		if fields, ok := from.(map[string]any); ok {
			for _, f := range describe(to.Type()).fields {
				set(to.FieldByIndex(f.index), fields[f.name])
			}
		}
	case reflect.Slice:
		list, _ := from.([]any) // an empty Lua table also arrives as a list
		to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
		for i, item := range list {
			set(to.Index(i), item)
		}
	case reflect.Map:
		fields, _ := from.(map[string]any)
		to.Set(reflect.MakeMapWithSize(to.Type(), len(fields)))
		for key, item := range fields {
			value := reflect.New(to.Type().Elem()).Elem()
			set(value, item)
			switch item.(type) {
			case bool, int64, float64:
				if value.Kind() == reflect.String { // an option, or a variable of an environment
					value.SetString(fmt.Sprint(item))
				}
			}
			to.SetMapIndex(reflect.ValueOf(key), value)
		}
	}
}

func text(from any) string {
	switch v := from.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func number(from any) float64 {
	switch v := from.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		return v
	case int:
		return float64(v)
	}
	return 0
}

// Packed is a value for Neovim. It is written field by field, as the encoder's own way takes longer than everything
// else in a batch. A nil list is written as an empty one.
type Packed struct{ Value any }

// MarshalMsgPack writes the value.
func (p Packed) MarshalMsgPack(e *msgpack.Encoder) error { return pack(e, p.Value) }

func pack(e *msgpack.Encoder, value any) error {
	switch v := value.(type) {
	case nil:
		return e.PackNil()
	case string:
		return e.PackString(v)
	case int:
		return e.PackInt(int64(v))
	case bool:
		return e.PackBool(v)
	case float64:
		return e.PackFloat(v)
	case []any:
		return packList(e, v, pack)
	case []string:
		return packList(e, v, (*msgpack.Encoder).PackString)
	case []int:
		return packList(e, v, func(e *msgpack.Encoder, n int) error { return e.PackInt(int64(n)) })
	case map[string]any:
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
	}
	return packValue(e, reflect.ValueOf(value))
}

func packList[T any](e *msgpack.Encoder, list []T, item func(*msgpack.Encoder, T) error) error {
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

func packValue(e *msgpack.Encoder, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		return e.PackString(v.String())
	case reflect.Int, reflect.Int64:
		return e.PackInt(v.Int())
	case reflect.Bool:
		return e.PackBool(v.Bool())
	case reflect.Float64:
		return e.PackFloat(v.Float())
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return e.PackNil()
		}
		if v.Kind() == reflect.Interface {
			return pack(e, v.Elem().Interface())
		}
		return packValue(e, v.Elem())
	case reflect.Slice:
		switch list := v.Interface().(type) {
		case []string, []int:
			return pack(e, list)
		}
		if err := e.PackArrayLen(int64(v.Len())); err != nil {
			return err
		}
		for i := range v.Len() {
			if err := packValue(e, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		return packStruct(e, v)
	}
	return e.Encode(v.Interface())
}

func packStruct(e *msgpack.Encoder, v reflect.Value) error {
	form := describe(v.Type())
	values, n := make([]reflect.Value, len(form.fields)), 0
	for i, f := range form.fields {
		if value := f.of(v); value.IsValid() && !(f.omit && value.IsZero()) {
			values[i] = value
			n++
		}
	}
	if err := e.PackMapLen(int64(n)); err != nil {
		return err
	}
	for i, value := range values {
		if !value.IsValid() {
			continue
		}
		if err := e.PackString(form.fields[i].name); err != nil {
			return err
		}
		if err := packValue(e, value); err != nil {
			return err
		}
	}
	return nil
}

// of returns the field of a struct; none if an embedded pointer is nil.
func (f field) of(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}
