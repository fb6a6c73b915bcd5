package acp

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// shape is a union to test with.
type shape interface{ shape() }

type circle struct {
	Radius float64 `json:"radius" wire:"required"`
}

type group struct {
	Shapes []shape `json:"shapes" wire:"skip"`
}

type plain struct {
	Name string `json:"name" wire:"required"`
}

type oddity struct {
	tag string
	raw json.RawMessage
}

func (*circle) shape() {}
func (*group) shape()  {}
func (*plain) shape()  {}
func (*oddity) shape() {}

func init() {
	RegisterUnion(Union[shape]{
		Tag: "type",
		Variants: map[string]func() shape{
			"circle": func() shape { return new(circle) },
			"group":  func() shape { return new(group) },
		},
		Unknown: func(tag string, raw json.RawMessage) shape { return &oddity{tag, raw} },
	})
	RegisterUnion(Union[named]{
		Tag:      "type",
		Variants: map[string]func() named{"circle": func() named { return new(circle) }},
		Default:  func() named { return new(plain) },
		Unknown:  func(tag string, raw json.RawMessage) named { return &oddity{tag, raw} },
	})
}

// named is a union one of whose variants has no tag.
type named interface{ shape() }

type pair struct {
	A string `json:"a"`
	B string `json:"b"`
}

type colour string

type base struct {
	ID string `json:"id" wire:"required"`
}

// everything has a field of each kind and rule.
type everything struct {
	base
	Colour   colour               `json:"colour"`
	Soft     string               `json:"soft" wire:"lenient"`
	SoftReq  string               `json:"softReq" wire:"required,lenient"`
	Yes      bool                 `json:"yes"`
	Int      int64                `json:"int"`
	Small    uint16               `json:"small"`
	Large    uint64               `json:"large"`
	Float    float64              `json:"float"`
	Pointer  *base                `json:"pointer"`
	SoftPtr  *base                `json:"softPtr" wire:"lenient"`
	List     []base               `json:"list"`
	SkipList []base               `json:"skipList" wire:"lenient,skip"`
	Map      map[colour]int       `json:"map"`
	Raw      json.RawMessage      `json:"raw"`
	Meta     json.RawMessage      `json:"_meta" wire:"lenient,object"`
	Opt      Opt[uint32]          `json:"opt"`
	SoftOpt  Opt[uint32]          `json:"softOpt" wire:"lenient"`
	OptList  Opt[[]base]          `json:"optList" wire:"lenient,skip"`
	OptMeta  Opt[json.RawMessage] `json:"optMeta" wire:"lenient,object"`
	Shape    shape                `json:"shape"`
	Shapes   []shape              `json:"shapes" wire:"skip"`
	Named    named                `json:"named"`
	Self     upper                `json:"self"`
	Pair     pair                 `json:"pair"`
	Pairs    []pair               `json:"pairs" wire:"skip"`
}

// upper decodes itself.
type upper string

func (u *upper) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*u = upper(strings.ToUpper(s))
	return nil
}

func TestDecode(t *testing.T) {
	one := []base{{"1"}}
	for _, c := range []struct {
		name string
		json string // after "id":"x"
		want everything
		err  string // a part of it
	}{
		{name: "nothing more"},
		{name: "unknown properties", json: `"new":[{"a":"]}\"\\"},1.5e3,null,true],"ID":5`},
		{name: "space", json: " \t\n\"colour\" : \r\"red\" , \"yes\" : true ", want: everything{Colour: "red", Yes: true}},
		{name: "last of two", json: `"colour":"red","colour":"blue"`, want: everything{Colour: "blue"}},
		{name: "last of two objects", json: `"pair":{"a":"x","b":"x"},"pair":{"b":"y"}`, want: everything{Pair: pair{"", "y"}}},
		{name: "escaped name", json: `"\u0063olour":"red"`, want: everything{Colour: "red"}},
		{name: "unknown enum", json: `"colour":"ultraviolet"`, want: everything{Colour: "ultraviolet"}},
		{name: "null is absent", json: `"colour":null,"int":null,"yes":null,"shape":null`},

		{name: "required null", json: `"id":null`, err: "id: expected a string, got null"},
		{name: "required malformed", json: `"id":{}`, err: "id: expected a string, got an object"},
		{name: "malformed", json: `"colour":[]`, err: "colour: expected a string, got a list"},
		{name: "malformed boolean", json: `"yes":"true"`, err: "yes: expected a boolean, got a string"},
		{name: "malformed number", json: `"int":"1"`, err: "int: expected a number, got a string"},
		{name: "malformed object", json: `"pointer":true`, err: "pointer: expected an object, got a boolean"},
		{name: "malformed list", json: `"list":{}`, err: "list: expected a list, got an object"},
		{name: "malformed union", json: `"shape":1`, err: "shape: expected an object, got a number"},
		{name: "lenient", json: `"soft":5,"softReq":[],"softPtr":{},"softOpt":-1,"yes":true`, want: everything{Yes: true}},
		{name: "lenient null", json: `"soft":null,"softReq":null`},
		{name: "lenient after a good one", json: `"soft":"a","soft":{"deep":["}"]},"yes":true`, want: everything{Yes: true}},

		{name: "integer", json: `"int":-9223372036854775808,"small":65535,"large":18446744073709551615`,
			want: everything{Int: math.MinInt64, Small: math.MaxUint16, Large: math.MaxUint64}},
		{name: "integer as fraction", json: `"int":-1.0,"small":1e3,"large":2.50e1`, want: everything{Int: -1, Small: 1000, Large: 25}},
		{name: "fraction", json: `"int":1.5`, err: "int: 1.5 is not an integer"},
		{name: "too large", json: `"int":9223372036854775808`, err: "int: 9223372036854775808 is out of range"},
		{name: "too large as fraction", json: `"int":9.3e18`, err: "int: 9.3e18 is out of range"},
		{name: "unsigned too large as fraction", json: `"large":1e30`, err: "large: 1e30 is out of range"},
		{name: "unsigned just too large as fraction", json: `"large":18446744073709551616.0`, err: "large: 18446744073709551616.0 is out of range"},
		{name: "just too large as fraction", json: `"int":9223372036854775808.0`, err: "int: 9223372036854775808.0 is out of range"},
		{name: "beyond floats", json: `"large":1e999`, err: "large: 1e999 is not an integer"},
		{name: "too large for 16 bits", json: `"small":65536`, err: "small: 65536 is out of range"},
		{name: "negative", json: `"large":-1`, err: "large: -1 is out of range"},
		{name: "negative as fraction", json: `"small":-1.0`, err: "small: -1.0 is out of range"},
		{name: "float", json: `"float":-1.5e-3`, want: everything{Float: -1.5e-3}},
		{name: "float too large", json: `"float":1e400`, err: "float: 1e400 is out of range"},

		{name: "pointer", json: `"pointer":{"id":"1"}`, want: everything{Pointer: &one[0]}},
		{name: "pointer null", json: `"pointer":null`},
		{name: "missing within", json: `"pointer":{}`, err: "pointer.id: required but missing"},

		{name: "list", json: `"list":[{"id":"1"}]`, want: everything{List: one}},
		{name: "empty list", json: `"list":[ ]`, want: everything{List: []base{}}},
		{name: "null list", json: `"list":null`, want: everything{List: []base{}}},
		{name: "bad item", json: `"list":[{"id":"1"},{"id":2}]`, err: "list[1].id: expected a string, got a number"},
		{name: "null item", json: `"list":[null]`, err: "list[0]: expected an object, got null"},
		{name: "skip", json: `"skipList":[null,{"id":2,"x":[{}]},{"id":"1"},{},"id"]`, want: everything{SkipList: one}},
		{name: "nothing of a skipped item stays", json: `"pairs":[{"a":"x","b":1},{"b":"y"}]`, want: everything{Pairs: []pair{{"", "y"}}}},
		{name: "skip all", json: `"skipList":[1]`, want: everything{SkipList: []base{}}},
		{name: "skip and no list", json: `"skipList":{"id":"1"},"yes":true`, want: everything{Yes: true}},
		{name: "map", json: `"map":{"red":1,"a\"b":2}`, want: everything{Map: map[colour]int{"red": 1, `a"b`: 2}}},
		{name: "empty map", json: `"map":{}`, want: everything{Map: map[colour]int{}}},
		{name: "null map", json: `"map":null`, want: everything{Map: map[colour]int{}}},
		{name: "bad value in map", json: `"map":{"red":"1"}`, err: "map.red: expected a number"},

		{name: "raw", json: `"raw": {"a" : [1]} `, want: everything{Raw: json.RawMessage(`{"a" : [1]}`)}},
		{name: "raw null", json: `"raw":null`, want: everything{Raw: json.RawMessage(`null`)}},
		{name: "meta", json: `"_meta":{"a":1}`, want: everything{Meta: json.RawMessage(`{"a":1}`)}},
		{name: "meta null", json: `"_meta":null`},
		{name: "meta malformed", json: `"_meta":[1]`},

		{name: "opt", json: `"opt":0`, want: everything{Opt: Set[uint32](0)}},
		{name: "opt null", json: `"opt":null`, want: everything{Opt: Null[uint32]()}},
		{name: "opt malformed", json: `"opt":"0"`, err: "opt: expected a number, got a string"},
		{name: "opt list", json: `"optList":[{},{"id":"1"}]`, want: everything{OptList: Set(one)}},
		{name: "opt list empty", json: `"optList":[]`, want: everything{OptList: Set([]base{})}},
		{name: "opt list null", json: `"optList":null`, want: everything{OptList: Null[[]base]()}},
		{name: "opt list malformed", json: `"optList":0`},
		{name: "opt meta malformed", json: `"optMeta":0`},
		{name: "opt meta null", json: `"optMeta":null`, want: everything{OptMeta: Null[json.RawMessage]()}},

		{name: "union", json: `"shape":{"radius":1,"type":"circle"}`, want: everything{Shape: &circle{1}}},
		{name: "union in union", json: `"shape":{"type":"group","shapes":[{"type":"circle"},{"type":"circle","radius":2},7]}`,
			want: everything{Shape: &group{[]shape{&circle{2}}}}},
		{name: "unknown variant", json: `"shape":{"type":"star","n":[5]}`,
			want: everything{Shape: &oddity{"star", json.RawMessage(`{"type":"star","n":[5]}`)}}},
		{name: "no tag", json: `"shape":{"a":"type"}`, want: everything{Shape: &oddity{"", json.RawMessage(`{"a":"type"}`)}}},
		{name: "tag no string", json: `"shape":{"type":{}}`, want: everything{Shape: &oddity{"", json.RawMessage(`{"type":{}}`)}}},
		{name: "tag of a variant within", json: `"shape":{"x":{"type":"circle"},"type":"star"}`,
			want: everything{Shape: &oddity{"star", json.RawMessage(`{"x":{"type":"circle"},"type":"star"}`)}}},
		{name: "malformed variant", json: `"shape":{"type":"circle","radius":"1"}`, err: "shape.radius: expected a number, got a string"},
		{name: "missing in variant", json: `"shape":{"type":"circle"}`, err: "shape.radius: required but missing"},
		{name: "skip variants", json: `"shapes":[{"type":"circle"},null,{"type":"star"}]`,
			want: everything{Shapes: []shape{&oddity{"star", json.RawMessage(`{"type":"star"}`)}}}},
		{name: "default variant", json: `"named":{"name":"a"}`, want: everything{Named: &plain{"a"}}},
		{name: "default variant malformed", json: `"named":{}`, err: "named.name: required but missing"},
		{name: "tag no string beside default", json: `"named":{"type":5,"name":"a"}`,
			want: everything{Named: &oddity{"", json.RawMessage(`{"type":5,"name":"a"}`)}}},
		{name: "unknown beside default", json: `"named":{"type":"x","name":"a"}`,
			want: everything{Named: &oddity{"x", json.RawMessage(`{"type":"x","name":"a"}`)}}},
		{name: "self", json: `"self":"a"`, want: everything{Self: "A"}},
		{name: "self malformed", json: `"self":1`, err: "self: json: cannot unmarshal number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := []byte(`{"id":"x"}`)
			if c.json != "" {
				data = []byte(`{"id":"x",` + c.json + `}`)
			}
			var got everything
			err := Decode(data, &got)
			clear(data) // nothing decoded may live in it
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), "decode "+c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			c.want.ID = "x"
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestDecodeWhole(t *testing.T) {
	type answer struct {
		Name string `json:"name"`
	}
	for _, nothing := range []string{"", " ", "null", " null\n", "{}"} {
		if err := Decode([]byte(nothing), new(answer)); err != nil {
			t.Errorf("Decode(%q) = %v", nothing, err)
		}
		err := Decode([]byte(nothing), new(base))
		if want := "decode id: required but missing"; err == nil || err.Error() != want {
			t.Errorf("Decode(%q) = %v, want %s", nothing, err, want)
		}
	}
	for _, c := range []struct {
		data   string
		target any
		err    string
	}{
		{`{"a":`, new(answer), "decode: not valid JSON"},
		{`{} {}`, new(answer), "decode: not valid JSON"},
		{`[]`, new(answer), "decode value: expected an object, got a list"},
		{``, new(string), "decode: not valid JSON"},
		{`null`, new(string), "decode value: expected a string, got null"},
		{`{}`, nil, "decode: <nil> is not a pointer to a value"},
		{`{}`, (*answer)(nil), "decode: *acp.answer is not a pointer to a value"},
		{`{}`, answer{}, "decode: acp.answer is not a pointer to a value"},
		{`[]`, new(map[string]int), "decode value: expected an object, got a list"},
		{`-2147483649`, new(int32), "decode value: -2147483649 is out of range"},
		{`1`, new(complex64), "decode value: no decoder for Go type complex64"},
		{`{}`, new(interface{ nobody() }), "decode value: interface { acp.nobody() } is not a registered union"},
		{`{}`, new(struct{ A int }), "struct { A int }.A has no name on the wire"},
		{`{}`, new(struct {
			A int `json:"a" wire:"soft"`
		}), "no such rule: soft"},
		{`[{}]`, new([]struct{ A int }), "decode [0]: struct { A int }.A has no name on the wire"},
		{`{}`, reflect.New(demanding(64)).Interface(), "decode p0: required but missing"},
		{`{}`, reflect.New(demanding(65)).Interface(), " has more than 64 required properties"},
	} {
		err := Decode([]byte(c.data), c.target)
		if err == nil || !strings.HasSuffix(err.Error(), c.err) {
			t.Errorf("Decode(%q, %T) = %v, want %s", c.data, c.target, err, c.err)
		}
	}
}

// demanding is a struct with so many properties, all required.
func demanding(n int) reflect.Type {
	var fields []reflect.StructField
	for i := range n {
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("P", i), Type: reflect.TypeFor[int](),
			Tag: reflect.StructTag(fmt.Sprintf(`json:"p%d" wire:"required"`, i))})
	}
	return reflect.StructOf(fields)
}

func TestDecodeInline(t *testing.T) {
	type option struct {
		ID   string `json:"id" wire:"required"`
		Kind shape  `json:"-" wire:"inline"`
	}
	var got option
	must.Do(t, Decode([]byte(`[{"radius":3,"id":"a","type":"circle"}]`), &[]option{}))
	err := Decode([]byte(`{"radius":3,"id":"a","type":"circle"}`), &got)
	if want := (option{"a", &circle{3}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	err = Decode([]byte(`{"id":"a","type":"circle"}`), &got)
	if want := "decode radius: required but missing"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// FuzzDecodeString compares strings and numbers with what encoding/json makes of them.
func FuzzDecodeString(f *testing.F) {
	for _, seed := range []string{
		``, `a`, `\n\t\r\b\f\/\\\"`, `\u0041\u00e9\u2028`, `\ud83d\ude00`, `\ud83d`, `\ud83dx`, `\ude00\ud83d`,
		`\ud83d\u0041`, "\xff", "a\xc3", `\\\\"`, `\u0000`, "\ufffd", `\ud83d\ud83d\ude00`, `\ud83d\n`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, inner string) {
		data := []byte(`"` + inner + `"`)
		var want string
		valid := json.Unmarshal(data, &want) == nil
		var got string
		if err := Decode(data, &got); (err == nil) != valid || got != want {
			t.Errorf("Decode(%q) = %q, %v, want %q, valid %v", data, got, err, want, valid)
		}
		if !valid {
			return
		}
		var texts Texts
		for _, more := range []string{inner, inner + inner, inner + inner, inner, inner + "x"} {
			data := []byte(`"` + strings.Repeat("x", longText) + more + `"`)
			_ = json.Unmarshal(data, &want) // valid, as inner is
			if err := texts.DecodeMessage(data, &got); err != nil || got != want {
				t.Errorf("after another text DecodeMessage(%q) = %q, %v", more, got[longText:], err)
			}
		}
		var raw []json.RawMessage
		err := Decode([]byte(" [ "+string(data)+" , {"+string(data)+" : 1} ] "), &raw)
		if err != nil || string(raw[0]) != string(data) {
			t.Errorf("Decode(%q) raw = %q, %v", data, raw, err)
		}
	})
}
