package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// An agent gets one answer to a request that the user serves: what the function returned, or why there is nothing.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer rpc.AnswerExtension
		gone   bool // the agent has withdrawn the request
		result string
		code   int64
		err    string
	}{
		"a value":           {answer: rpc.AnswerExtension{Result: `{"a":1}`}, result: `{"a":1}`},
		"an error":          {answer: rpc.AnswerExtension{Error: "it failed"}, code: acp.CodeInternalError, err: "it failed"},
		"no JSON":           {answer: rpc.AnswerExtension{Result: `{"a":`}, code: acp.CodeInternalError, err: "the answer is not JSON"},
		"nothing":           {answer: rpc.AnswerExtension{}, code: acp.CodeInternalError, err: "the answer is not JSON"},
		"no longer served":  {answer: rpc.AnswerExtension{Unknown: true}, code: acp.CodeMethodNotFound, err: "Method not found: _x/ask"},
		"a value, too late": {answer: rpc.AnswerExtension{Result: "1"}, gone: true, err: "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var posted []editor.Op
				rs := New(func(op editor.Op) { posted = append(posted, op) })
				rs.Serve(rpc.ServeRequests{Methods: []string{"_x/ask"}})
				ctx, withdraw := context.WithCancel(context.Background())
				defer withdraw()
				var answers []string
				ask := func(method string) bool {
					return rs.Ask(session.ExtensionRequest{Context: ctx, Method: method, Params: json.RawMessage(`{"q":1}`),
						Reply: func(result json.RawMessage, err error) {
							var coded *acp.Error
							switch {
							case errors.As(err, &coded):
								check.Equal(t, coded.Code, c.code, "the error has the code %d")
								answers = append(answers, coded.Message)
							case err != nil:
								answers = append(answers, err.Error())
							default:
								answers = append(answers, string(result))
							}
						}})
				}
				check.Equal(t, ask("_x/other"), false, "that another method is served is %v")
				check.Equal(t, ask("_x/ask"), true, "that it is served is %v")
				check.Equal(t, fmt.Sprintf("%+v", posted[0].Args), `{ID:1 Method:_x/ask Params:{"q":1}}`, "Lua is asked %s")
				if c.gone {
					withdraw()
					synctest.Wait()
				}
				c.answer.ID = 1
				for range 2 {
					rs.Answer(c.answer)
				}
				check.Slice(t, answers, []string{c.result + c.err}, "the answers are %q")
			})
		})
	}
}
