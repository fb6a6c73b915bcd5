package session

// This file has what sub-agents say: the call that stands for a sub-agent shows its words.

// spoken is where a sub-agent's message is in its call's content.
type spoken struct {
	at   int
	text Text // as it is there
}

// mostSpoken bounds a piece of a message in a call's content, in bytes: each chunk copies the piece it belongs to.
const mostSpoken = 64 << 10

// speak makes a sub-agent's call show a message, or more of it, or with all the message anew. What a sub-agent thinks
// is not shown. It reports false if that call is unknown: then the words are shown like any other's.
func (c *Conversation) speak(of string, role Role, id string, blocks []Content, all bool) bool {
	if _, known := c.calls[of]; of == "" || !known {
		return false
	}
	if role != RoleAgent {
		return true
	}
	call, key := c.call(of), messageKey(role, of+" "+id)
	for i, b := range blocks {
		text, isText := b.(Text)
		was, known := c.spoken[key]
		known = known && was.at < len(call.Content) && call.Content[was.at] == ToolCallContent(ContentItem{was.text})
		if !isText || !known || !all && len(was.text.Text) > mostSpoken {
			c.spoken[key] = spoken{len(call.Content), text}
			call.Content = append(call.Content, ContentItem{b})
			continue
		}
		if !all || i > 0 {
			text.Text = was.text.Text + text.Text
		}
		content := append([]ToolCallContent(nil), call.Content...) // a copy, as others keep the old one
		content[was.at] = ContentItem{text}
		call.Content, c.spoken[key] = content, spoken{was.at, text}
	}
	c.said(call)
	return true
}
