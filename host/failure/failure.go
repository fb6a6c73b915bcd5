// Package failure puts errors into words for the user: those of agents, which come in many shapes, and why an agent
// ended.
package failure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Failure is an error in words for the user: what happened, perhaps why, what to do, and everything that the agent
// said.
type Failure struct {
	Sentence, Reason, Advice, Detail string
}

func (f *Failure) Error() string {
	text := f.Sentence
	if f.Reason != "" {
		text = strings.TrimRight(text, ".") + ": " + strings.TrimRight(f.Reason, ".") + "."
	}
	return between(text, " ", f.Advice)
}

// Brief returns the sentence without the explanation of a code or signal in brackets, which is in the chat: a longer
// message would block Neovim until the user presses a key.
func (f *Failure) Brief(title string) string {
	if at := strings.LastIndex(f.Sentence, " ("); at >= len(title) {
		return f.Sentence[:at] + "."
	}
	return f.Sentence
}

// longestSentence bounds an agent's words in a sentence, in bytes.
const longestSentence = 300

// Explain returns an agent's error as one sentence, and all of it if the sentence leaves something out. Many agents put
// the cause into data, and some put JSON into either.
func Explain(err error) (words, detail string) {
	var e *acp.Error
	if !errors.As(err, &e) {
		words = firstSentence(err.Error())
		if words != strings.TrimSpace(err.Error()) {
			detail = err.Error()
		}
		return words, detail
	}
	words = firstSentence(e.Message)
	if cause := dataText(e.Data); cause != "" && !strings.Contains(words, cause) {
		words = between(words, ": ", cause)
	}
	words = cmp.Or(shortened(words), fmt.Sprintf("error %d", e.Code))
	var all []string
	if message := strings.TrimSpace(e.Message); !strings.Contains(words, message) {
		all = append(all, spread(message))
	}
	var text string
	if json.Unmarshal(e.Data, &text) != nil {
		text = string(e.Data)
	}
	if text = strings.TrimSpace(text); text != "" && !strings.Contains(words, text) {
		all = append(all, spread(text))
	}
	return words, strings.Join(all, "\n")
}

// Text returns the sentence of [Explain], where there is no room for more.
func Text(err error) string {
	words, _ := Explain(err)
	return words
}

// firstSentence returns the first line of a text, with the words of the JSON in it.
func firstSentence(text string) string {
	before, object, after := cutJSON(text)
	if object == nil {
		line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		return shortened(styled.OneLine(line))
	}
	before = strings.TrimRight(strings.TrimSpace(before), ":,. ")
	words := between(firstSentence(before), ": ", dataText(object))
	return shortened(cmp.Or(words, firstSentence(after)))
}

func between(a, separator, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator + b
}

func shortened(text string) string {
	if len(text) <= longestSentence {
		return text
	}
	return strings.ToValidUTF8(text[:longestSentence], "") + " …"
}

// cutJSON finds the first JSON object in a text.
func cutJSON(text string) (before string, object json.RawMessage, after string) {
	const tries = 16
	at := 0
	for range tries {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			break
		}
		at += next
		decoder := json.NewDecoder(strings.NewReader(text[at:]))
		if decoder.Decode(&object) == nil {
			return text[:at], object, text[at+int(decoder.InputOffset()):]
		}
		at++
	}
	return text, nil, ""
}

// spread returns a text with the JSON in it on separate lines.
func spread(text string) string {
	before, object, after := cutJSON(text)
	if object == nil {
		return text
	}
	var lines bytes.Buffer
	if json.Indent(&lines, object, "", "  ") != nil {
		return text
	}
	before, after = strings.TrimSpace(before), strings.TrimSpace(after)
	return between(between(before, "\n", lines.String()), "\n", after)
}

// dataText finds the human words in an error's data.
func dataText(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return firstSentence(text)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return ""
	}
	for _, key := range []string{"details", "message", "error", "reason"} {
		if t := dataText(fields[key]); t != "" {
			return t
		}
	}
	return ""
}

// LastWords returns the last lines of an agent's error output.
func LastWords(stderr string) []string {
	const most = 100
	var words []string
	for line := range strings.Lines(ansi.Strip(stderr)) {
		if line = strings.TrimRight(line, "\r\n\t "); line != "" {
			words = append(words, line)
		}
	}
	return words[max(0, len(words)-most):]
}

var (
	// An error as languages and tools write it, and a log line that mentions one.
	errorLine = regexp.MustCompile(`(?i)^\W*(uncaught )?([\w.$]*(error|exception)|fatal( error)?|panic|thread '.*' panicked at .*)( \[\w+\])?: *\S`)
	errorWord = regexp.MustCompile(`(?i)\b(error|fatal|panic|exception|fail(ed|ure)|cannot|could not|unable|no such|not found|denied|refused|missing|invalid|unknown|unauthorized)\b`)
	frameLine = regexp.MustCompile(`^\s+(at|File) |^Node\.js v`)
)

// ReasonIn returns the line of an agent's last words that says why it ended, or "". If it failed by itself, the last
// line counts; otherwise only an error does.
func ReasonIn(words []string, failed bool) string {
	for _, line := range slices.Backward(words) {
		if errorLine.MatchString(line) && !frameLine.MatchString(line) {
			return firstSentence(line)
		}
	}
	if !failed {
		return ""
	}
	for _, line := range slices.Backward(words) {
		if errorWord.MatchString(line) && !frameLine.MatchString(line) {
			return firstSentence(line)
		}
	}
	if len(words) > 0 && len(words) <= 3 {
		return firstSentence(words[len(words)-1])
	}
	return ""
}
