package rpc

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/neovim/go-client/msgpack"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

var update = flag.Bool("update", false, "write lua/acp/rpc/contract.lua")

// Lua's table has the names and fields of the structs.
func TestContractOfLua(t *testing.T) {
	path := filepath.Join("..", "..", "lua", "acp", "rpc", "contract.lua")
	if *update {
		must.Do(t, os.WriteFile(path, []byte(Lua()), 0o644))
	}
	got, err := os.ReadFile(path)
	must.Do(t, err)
	if string(got) != Lua() {
		t.Error("lua/acp/rpc/contract.lua is not what host/rpc says: run go generate ./host/rpc")
	}
}

// A name says one thing, in either direction, and a field one thing in its struct.
func TestNamesAreUnambiguous(t *testing.T) {
	seen := map[string]bool{}
	for _, list := range [][]any{Messages, Operations} {
		for _, of := range list {
			if name := Name(of); seen[name] {
				t.Errorf("%s is there twice", name)
			} else {
				seen[name] = true
			}
			fields := map[string]bool{}
			for _, f := range describe(reflect.TypeOf(of)).fields {
				if fields[f.name] {
					t.Errorf("%s has %s twice", Name(of), f.name)
				}
				fields[f.name] = true
			}
		}
	}
}

func TestName(t *testing.T) {
	for of, want := range map[any]string{Close{}: "close", ReviewNext{}: "review_next", GetToolCall{}: "get_tool_call"} {
		check.Equal(t, Name(of), want, "Name(%T) = %q", of)
	}
}

// What Lua says may be of any type: then it counts as not said.
func TestDecodeOfAnything(t *testing.T) {
	row := 7
	good := map[string]any{
		"session": int64(1), "callback": uint64(2), "row": float64(7), "call": []byte("c"), "anew": true, "unknown": 1,
	}
	want := ShowDiff{In: In{1}, Asks: Asks{2}, Call: "c", Row: &row, Anew: true}
	check.Deep(t, Decode[ShowDiff](good), want, "got %+v")
	if got := Decode[ShowDiff](map[string]any{}); got.Row != nil {
		t.Errorf("a row that was not told is %d", *got.Row)
	}
	bad := []any{nil, true, int64(-1), 1.5, "text", []byte{0xff}, []any{nil, 1, "x"}, map[string]any{"x": nil}}
	for _, of := range Messages {
		for _, value := range bad {
			fields := map[string]any{}
			for _, f := range describe(reflect.TypeOf(of)).fields {
				fields[f.name] = value
			}
			Into(reflect.New(reflect.TypeOf(of)).Interface(), fields) // does not panic
		}
	}
}

func TestDecodeOfNested(t *testing.T) {
	got := Decode[New](map[string]any{
		"agent": map[string]any{
			"command": []any{"a", "b", int64(1)}, "env": map[string]any{"PORT": int64(80), "HOME": "/h"},
			"quirks": map[string]any{"x": true}, "options": []any{},
		},
		"queue": []any{},
	})
	if want := []string{"a", "b", ""}; !reflect.DeepEqual(got.Agent.Command, want) {
		t.Errorf("command: got %q", got.Agent.Command)
	}
	if want := map[string]string{"PORT": "80", "HOME": "/h"}; !reflect.DeepEqual(got.Agent.Env, want) {
		t.Errorf("env: got %q", got.Agent.Env)
	}
	if !got.Agent.Quirks["x"] || len(got.Agent.Options) != 0 {
		t.Errorf("got %+v", got.Agent)
	}
}

// What is packed decodes to the same, empty lists to lists, and what is left out is not there.
func TestPacked(t *testing.T) {
	code := 0
	for _, c := range []struct {
		value any
		want  map[string]any
	}{
		{Fill{Lines: Lines{Lines: []string{"a"}}, Buf: 3, Done: true}, map[string]any{
			"lines": []any{"a"}, "marks": []any{}, "buf": int64(3), "done": true,
		}},
		{Terminal{ID: "t", ExitCode: &code}, map[string]any{
			"session": int64(0), "number": int64(0), "id": "t", "running": false, "takes_keys": false, "exit_code": int64(0),
		}},
		{Changes{In: In{1}, Files: []ChangedFileAt{{At: 2}}}, map[string]any{
			"session": int64(1), "files": []any{map[string]any{"at": int64(2)}},
		}},
		{Callback{ID: 1, Result: []StoredSession{{Cwd: "/"}}}, map[string]any{
			"id": int64(1), "result": []any{map[string]any{"agent_session_id": "", "cwd": "/"}},
		}},
		{Option{Value: true, Choices: []Choice{}}, map[string]any{
			"id": "", "name": "", "description": "", "category": "", "type": "", "value": true, "choices": []any{},
		}},
		{Buffers{Fn: "f", Args: struct {
			In
			*At
			*embedded
			Named  []named          `msgpack:"named"`
			Deep   map[string][]int `msgpack:"deep"`
			Ratio  float64          `msgpack:"ratio"`
			Hidden int
		}{In: In{1}, embedded: &embedded{A: "x"}, Named: []named{"a"}, Deep: map[string][]int{"b": {1}}, Ratio: 0.5}}, map[string]any{
			"fn": "f", "args": map[string]any{"session": int64(1), "a": "x", "named": []any{"a"}, "deep": map[string]any{"b": []any{int64(1)}}, "ratio": 0.5},
		}},
		{LoginTerminal{Env: map[string]string{"A": "b"}}, map[string]any{
			"session": int64(0), "title": "", "command": []any{}, "env": map[string]any{"A": "b"}, "cwd": "",
		}},
	} {
		var got any
		must.Do(t, decoded(c.value, &got))
		if !reflect.DeepEqual(got, any(c.want)) {
			t.Errorf("%T: got %v, want %v", c.value, got, c.want)
		}
	}
}

type (
	named    string
	embedded struct {
		A string `msgpack:"a"`
	}
)

func decoded(value any, to *any) error {
	var b bytes.Buffer
	if err := msgpack.NewEncoder(&b).Encode(Packed{value}); err != nil {
		return err
	}
	return msgpack.NewDecoder(&b).Decode(to)
}

// An environment and an agent's options may have numbers and booleans, which go out as text.
func TestDecodeOfAnEnvironment(t *testing.T) {
	agent := map[string]any{"env": map[string]any{"N": int64(7), "T": []byte("text"), "E": []byte{}, "F": 1.5, "B": true, "L": []any{}}}
	got := Decode[New](map[string]any{"agent": agent}).Agent.Env
	if want := (map[string]string{"N": "7", "T": "text", "E": "", "F": "1.5", "B": "true", "L": ""}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// narrow takes so many bytes, and then no more.
type narrow int

func (n *narrow) Write(b []byte) (int, error) {
	if *n -= narrow(len(b)); *n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// However much of a value Neovim has got when it goes away, packing it fails.
func TestPackingFailsWhenNeovimGoes(t *testing.T) {
	code := 7
	for _, value := range []any{
		"text", 7, true, 0.5, nil, &code, named("a"), []named{"a"}, []any{1, "a"}, []string{"a"}, []int{1}, []float64{1},
		map[string]any{"a": 1}, map[string][]int{"a": {1}}, Fill{Lines: Lines{Lines: []string{"a"}}, Buf: 3, Done: true},
		Changes{In: In{1}, Files: []ChangedFileAt{{At: 2}}}, Option{Value: true}, Terminal{ExitCode: &code},
	} {
		var whole bytes.Buffer
		must.Do(t, msgpack.NewEncoder(&whole).Encode(Packed{value}))
		for n := range whole.Len() {
			room := narrow(n)
			if msgpack.NewEncoder(&room).Encode(Packed{value}) == nil {
				t.Errorf("%T of %d bytes is written in %d", value, whole.Len(), n)
			}
		}
	}
}
