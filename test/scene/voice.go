package scene

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// This file lets a scene be played in either version of the protocol: what the test has its agent say in the words of
// version 1, and what it expects of the client, is translated for an agent that speaks version 2.

// voice is an agent's that speaks version 2.
type voice struct {
	requests map[string]obj    // the client's, in the words of version 1, by id
	prompts  map[string]string // ids of prompts that are not answered, by session
	options  map[string][]any  // in the words of version 1, by session
	modes    map[string]bool   // sessions whose modes are an option
	speaks   map[string]string // who has spoken last in a session
	messages int
}

func newVoice() *voice {
	return &voice{
		requests: map[string]obj{}, prompts: map[string]string{}, options: map[string][]any{}, modes: map[string]bool{}, speaks: map[string]string{},
	}
}

// plain is a value as JSON has it.
func plain(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

func object(v any) obj {
	o, _ := v.(obj)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// hear is a message of the client's in the words of version 1.
func (v *voice) hear(m Message) Message {
	params := object(m.Get())
	session, _ := params["sessionId"].(string)
	switch m.Method {
	case "":
		return m
	case "session/prompt":
		v.prompts[session] = string(m.ID)
	case "session/resume":
		if params["replayFrom"] != nil {
			m.Method = "session/load"
			delete(params, "replayFrom")
		}
	case "auth/login":
		m.Method = "authenticate"
	case "auth/logout":
		m.Method = "logout"
	case "session/set_config_option":
		if params["type"] == "id" {
			delete(params, "type")
		}
		if v.modes[session] && params["configId"] == "mode" {
			m.Method, params = "session/set_mode", obj{"sessionId": session, "modeId": params["value"]}
		}
	}
	if m.ID != nil {
		v.requests[string(m.ID)] = obj{"method": m.Method, "params": params}
	}
	m.Params, _ = json.Marshal(params)
	return m
}

// translate returns what an agent of version 2 says instead of a message in the words of version 1.
func (v *voice) translate(m obj) []obj {
	m = plain(m).(obj)
	method, _ := m["method"].(string)
	params := object(m["params"])
	session, _ := params["sessionId"].(string)
	switch {
	case method == "session/update":
		said := v.takes(session)
		for _, u := range v.update(session, object(params["update"])) {
			said = append(said, told(session, u))
		}
		return said
	case method == "session/request_permission":
		call := v.call(object(params["toolCall"]))
		title, _ := call["title"].(string)
		if title == "" {
			title = "Permission"
		}
		m["params"] = obj{
			"sessionId": session, "title": title, "options": params["options"], "subject": obj{"type": "tool_call", "toolCall": call},
		}
		return append(v.takes(session), m)
	case method != "":
		return append(v.takes(session), m)
	}
	return v.answer(m)
}

func told(session string, update obj) obj {
	return obj{"jsonrpc": "2.0", "method": "session/update", "params": obj{"sessionId": session, "update": update}}
}

func state(session, state string, more obj) obj {
	u := obj{"sessionUpdate": "state_update", "state": state}
	maps.Copy(u, more)
	return told(session, u)
}

// takes has the agent take the prompt that the session waits with.
func (v *voice) takes(session string) []obj {
	id, waits := v.prompts[session]
	if !waits {
		return nil
	}
	delete(v.prompts, session)
	v.speaks[session] = ""
	v.messages++
	message := fmt.Sprint("prompt-", v.messages)
	echo := obj{"sessionUpdate": "user_message", "messageId": message, "content": object(v.requests[id]["params"])["prompt"]}
	return []obj{
		told(session, echo),
		{"jsonrpc": "2.0", "id": json.RawMessage(id), "result": obj{"messageId": message}},
		state(session, "running", nil),
	}
}

// answer is the agent's answer to a request of the client's.
func (v *voice) answer(m obj) []obj {
	id, _ := json.Marshal(m["id"])
	request := v.requests[string(id)]
	params, result := object(request["params"]), object(m["result"])
	session, _ := params["sessionId"].(string)
	switch request["method"] {
	case "session/prompt":
		failure := object(m["error"])
		_, waits := v.prompts[session]
		if failure != nil && waits {
			delete(v.prompts, session)
			return []obj{m}
		}
		more := obj{"stopReason": result["stopReason"]}
		if result["usage"] != nil {
			more["usage"] = result["usage"]
		}
		if failure != nil {
			more = obj{"stopReason": "error", "error": failure}
		}
		return append(v.takes(session), state(session, "idle", more))
	case "initialize":
		if result != nil {
			m["result"] = v.welcome(result)
		}
	case "session/new", "session/fork":
		if opened, ok := result["sessionId"].(string); ok {
			m["result"] = v.opened(opened, result)
		}
	case "session/load", "session/resume":
		if m["error"] != nil {
			break
		}
		if result == nil {
			result = obj{}
		}
		m["result"] = v.opened(session, result)
		return []obj{state(session, "idle", nil), m}
	case "session/set_mode":
		if m["error"] == nil {
			v.setMode(session, params["modeId"])
			m["result"] = obj{"configOptions": optionsV2(v.options[session])}
		}
	case "session/set_config_option":
		if m["error"] == nil {
			v.options[session] = list(result["configOptions"])
			m["result"] = obj{"configOptions": optionsV2(v.options[session])}
		}
	}
	return []obj{m}
}

func (v *voice) welcome(r obj) obj {
	caps := object(r["agentCapabilities"])
	session := obj{}
	can := func(from obj, names ...string) obj {
		can := obj{}
		for _, name := range names {
			if c := from[name]; c == true || object(c) != nil {
				can[name] = obj{}
				if o := object(c); o != nil {
					can[name] = o
				}
			}
		}
		return can
	}
	old := object(caps["sessionCapabilities"])
	maps.Copy(session, can(old, "delete", "additionalDirectories", "fork", "title", "archive", "status", "systemPrompt"))
	session["prompt"] = can(object(caps["promptCapabilities"]), "image", "audio", "embeddedContext")
	session["mcp"] = can(object(caps["mcpCapabilities"]), "http")
	session["mcp"].(obj)["stdio"] = obj{}
	capabilities := obj{"session": session}
	if auth := object(caps["auth"]); auth != nil {
		capabilities["auth"] = can(auth, "status")
	}
	if caps["providers"] != nil {
		capabilities["providers"] = caps["providers"]
	}
	welcome := obj{"protocolVersion": 2, "info": r["agentInfo"], "capabilities": capabilities}
	if meta := r["_meta"]; meta != nil {
		welcome["_meta"] = meta
	}
	var methods []any
	for _, m := range list(r["authMethods"]) {
		method := maps.Clone(object(m))
		method["methodId"] = method["id"]
		delete(method, "id")
		if method["type"] == nil {
			method["type"] = "agent"
		}
		if env := object(method["env"]); env != nil {
			var entries []any
			for k, v := range env {
				entries = append(entries, obj{"name": k, "value": v})
			}
			method["env"] = entries
		}
		methods = append(methods, method)
	}
	if methods != nil {
		welcome["authMethods"] = methods
	}
	return welcome
}

// opened is the answer to a request that opens a session.
func (v *voice) opened(session string, r obj) obj {
	options := list(r["configOptions"])
	if modes := object(r["modes"]); modes != nil {
		var choices []any
		for _, m := range list(modes["availableModes"]) {
			mode := object(m)
			choice := obj{"value": mode["id"], "name": mode["name"]}
			if mode["description"] != nil {
				choice["description"] = mode["description"]
			}
			choices = append(choices, choice)
		}
		options = append([]any{obj{
			"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": modes["currentModeId"], "options": choices,
		}}, options...)
		v.modes[session] = true
	}
	v.options[session] = options
	opened := obj{}
	if id := r["sessionId"]; id != nil {
		opened["sessionId"] = id
	}
	if options != nil {
		opened["configOptions"] = optionsV2(options)
	}
	return opened
}

func (v *voice) setMode(session string, mode any) {
	for _, o := range v.options[session] {
		if object(o)["category"] == "mode" {
			object(o)["currentValue"] = mode
		}
	}
}

func optionsV2(options []any) []any {
	said := []any{}
	for _, o := range options {
		option := maps.Clone(object(o))
		option["configId"] = option["id"]
		delete(option, "id")
		if choices := list(option["options"]); choices != nil {
			var all []any
			for _, c := range choices {
				choice := maps.Clone(object(c))
				if group := choice["group"]; group != nil {
					choice["groupId"] = group
					delete(choice, "group")
				}
				all = append(all, choice)
			}
			option["options"] = all
		}
		said = append(said, option)
	}
	return said
}

// update is an update of a session.
func (v *voice) update(session string, u obj) []obj {
	kind, _ := u["sessionUpdate"].(string)
	speaker := ""
	said := []obj{u}
	switch kind {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
		speaker = kind
		if u["messageId"] == nil {
			if v.speaks[session] != speaker {
				v.messages++
			}
			u["messageId"] = fmt.Sprint("m-", v.messages)
		}
	case "tool_call", "tool_call_update":
		said = []obj{v.call(u)}
		said[0]["sessionUpdate"] = "tool_call_update"
	case "plan":
		said = []obj{{"sessionUpdate": "plan_update", "plan": obj{"type": "items", "planId": "plan", "entries": u["entries"]}}}
	case "available_commands_update":
		for _, c := range list(u["availableCommands"]) {
			command := object(c)
			command["type"] = "command"
			if input := object(command["input"]); input != nil {
				input["type"] = "text"
			} else {
				delete(command, "input")
			}
		}
		return said
	case "config_option_update":
		v.options[session] = list(u["configOptions"])
		u["configOptions"] = optionsV2(v.options[session])
		return said
	case "current_mode_update":
		v.setMode(session, u["currentModeId"])
		return []obj{{"sessionUpdate": "config_option_update", "configOptions": optionsV2(v.options[session])}}
	default:
		return said
	}
	v.speaks[session] = speaker
	return said
}

// call is a tool call, in which null says nothing in version 1.
func (v *voice) call(c obj) obj {
	call := obj{}
	for k, value := range c {
		if value != nil {
			call[k] = value
		}
	}
	content, told := call["content"].([]any)
	if !told {
		return call
	}
	items := []any{}
	for _, item := range content {
		if o := object(item); o["type"] == "diff" {
			items = append(items, diffV2(o))
		} else {
			items = append(items, item)
		}
	}
	call["content"] = items
	return call
}

// diffV2 is a diff of two texts as a change with its patch.
func diffV2(d obj) obj {
	path, _ := d["path"].(string)
	text, _ := d["newText"].(string)
	old, modifies := d["oldText"].(string)
	change, head, from := obj{"operation": "modify", "path": path, "fileType": "text"}, "", path
	if !modifies {
		change["operation"], head, from = "add", "new file mode 100644\n", "/dev/null"
	}
	diff := obj{"type": "diff", "changes": []any{change}}
	if patch := udiff.Unified(from, path, old, text); patch != "" {
		diff["patch"] = obj{"format": "git_patch", "text": "diff --git " + path + " " + path + "\n" + head + strings.TrimSuffix(patch, "\n") + "\n"}
	}
	if meta := d["_meta"]; meta != nil {
		diff["_meta"] = meta
	}
	return diff
}
