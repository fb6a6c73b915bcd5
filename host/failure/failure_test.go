package failure

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// An agent's error is one sentence, whatever it is made of; what that leaves out is the detail.
func TestExplainedErrors(t *testing.T) {
	for name, c := range map[string]struct {
		message, data string
		words         string
		detail        []string // parts of it; none where there is to be no detail
	}{
		"words":              {"The model is overloaded", "", "The model is overloaded", nil},
		"words twice":        {"It is full", `"It is full"`, "It is full", nil},
		"a cause":            {"Internal error", `"No API key"`, "Internal error: No API key", nil},
		"a cause in a field": {"Internal error", `{"details":"No API key","code":7}`, "Internal error: No API key", []string{`"code": 7`}},
		"data alone":         {"Internal error", `{"errorKind":"unknown"}`, "Internal error", []string{`"errorKind"`}},
		"nothing":            {"", "", "error 400", nil},
		"gemini": {
			`{"type":"error","error":{"type":"invalid","message":"boom","code":400,"status":"INVALID"}}`, "",
			"boom", []string{`"status": "INVALID"`},
		},
		"gemini, JSON in JSON": {
			`{"error":{"message":"{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"You exceeded your quota.\"}}","code":429}}`, "",
			"You exceeded your quota.", []string{`"code": 429`},
		},
		"JSON behind words": {
			`unexpected status 401: {"error":{"message":"No key","param":null}}, url: http://x`, "",
			"unexpected status 401: No key", []string{"unexpected status 401:", `"param": null`, "url: http://x"},
		},
		"codex-zed, JSON in data": {
			"Internal error", `{"message":"stream error: {\"error\":{\"message\":\"No key\"}}","codex_error_info":"other"}`,
			"Internal error: stream error: No key", []string{"codex_error_info"},
		},
		"JSON as text in data": {"Failed", `"{\"reason\":\"No key\",\"n\":1}"`, "Failed: No key", []string{`"n": 1`}},
		"JSON without words":   {`Invalid params: {"_errors":[]}`, "", "Invalid params", []string{`"_errors": []`}},
		"lines":                {"It failed\n  at a\n  at b", "", "It failed", []string{"at b"}},
		"braces":               {"use {x} or {{y}}", "", "use {x} or {{y}}", nil},
	} {
		words, detail := Explain(&acp.Error{Code: 400, Message: c.message, Data: json.RawMessage(c.data)})
		check.Equal(t, words, c.words, "%s: %q", name)
		if (detail != "") != (c.detail != nil) {
			t.Errorf("%s: the detail is %q", name, detail)
		}
		for _, part := range c.detail {
			check.Contains(t, detail, part, "%s: the detail is\n%s", name)
		}
	}
	long := strings.Repeat("word ", 1000)
	if words, detail := Explain(&acp.Error{Message: long}); len(words) > 2*longestSentence || detail != strings.TrimSpace(long) {
		t.Errorf("of a long one %d bytes are told, and %d are behind", len(words), len(detail))
	}
	if words, detail := Explain(errors.New("it is gone\nfor good")); words != "it is gone" || detail != "it is gone\nfor good" {
		t.Errorf("of another error %q and %q", words, detail)
	}
	many := strings.Repeat("{", 1<<20)
	if words, _ := Explain(&acp.Error{Message: many}); !strings.HasPrefix(words, "{{{") {
		t.Error("many braces are not told")
	}
}

// Of an agent's last words the one that says why it ended is told.
func TestReasonInLastWords(t *testing.T) {
	const startup = "[session/create] phase=settings durationMs=7\n[session/create] phase=models\n\n[session/create] could not find a cache\n[session/create] phase=agents\n"
	for name, c := range map[string]struct {
		stderr string
		failed bool
		want   string
	}{
		"killed":         {startup, false, ""},
		"only a log":     {"one\ntwo\nthree\nfour\n", true, ""},
		"a line":         {"no such option: --acp\n", true, "no such option: --acp"},
		"words of a log": {startup, true, "[session/create] could not find a cache"},
		"node":           {startup + "file:///x.js:12\n  throw new Error('x')\n        ^\n\nTypeError: x is undefined\n    at f (x.js:1)\n    at Error: no\n\nNode.js v22\n", true, "TypeError: x is undefined"},
		"node, a code":   {"Error [ERR_MODULE]: Cannot find it\n    at x\n{\n  code: 'ERR_MODULE'\n}\n", true, "Error [ERR_MODULE]: Cannot find it"},
		"python":         {"Traceback (most recent call last):\n  File \"a.py\", line 1\n    raise\njson.decoder.JSONDecodeError: Expecting value\n", true, "json.decoder.JSONDecodeError: Expecting value"},
		"go":             {"panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n", true, "panic: boom"},
		"out of memory":  {startup + "FATAL ERROR: Reached heap limit\n 1: 0xb8 node\n", false, "FATAL ERROR: Reached heap limit"},
		"colours":        {"\x1b[31merror\x1b[0m: no key\n", true, "error: no key"},
		"JSON":           {`Error: {"message":"no key","code":1}` + "\n", true, "Error: no key"},
		"nothing":        {"", true, ""},
	} {
		check.Equal(t, ReasonIn(LastWords(c.stderr), c.failed), c.want, "%s: %q", name)
	}
}

// A failure is told as one text, and briefly without what stands in brackets behind an agent's name.
func TestWordsOfAFailure(t *testing.T) {
	for _, c := range []struct {
		failure      Failure
		whole, brief string
	}{
		{Failure{Sentence: "It has ended."}, "It has ended.", "It has ended."},
		{Failure{Sentence: "It has ended.", Reason: "no key."}, "It has ended: no key.", "It has ended."},
		{Failure{Sentence: "It has ended", Reason: "no key", Advice: "Get one."}, "It has ended: no key. Get one.", "It has ended"},
		{Failure{Sentence: "It has ended.", Advice: "Start it."}, "It has ended. Start it.", "It has ended."},
		{Failure{Advice: "Start it."}, "Start it.", ""},
		{Failure{Sentence: "Puppet (2) has ended (exit code 3)."}, "Puppet (2) has ended (exit code 3).", "Puppet (2) has ended."},
		{Failure{Sentence: "Puppet (2) has ended."}, "Puppet (2) has ended.", "Puppet (2) has ended."},
		{Failure{Sentence: "Puppet (2) (killed by SIGKILL)."}, "Puppet (2) (killed by SIGKILL).", "Puppet (2)."},
	} {
		check.Equal(t, c.failure.Error(), c.whole, "%+v is %q", c.failure)
		check.Equal(t, c.failure.Brief("Puppet (2)"), c.brief, "%+v is briefly %q", c.failure)
	}
}
