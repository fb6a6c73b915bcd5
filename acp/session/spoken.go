package session

// This file has what sub-agents say: the call that stands for one shows its words, as those of the user's session are
// its agent's own.

// spoken is where a message of a sub-agent's stands in its call's content.
type spoken struct {
	at   int
	text Text // as it is there
}

// mostSpoken bounds a piece of a message in a call's content, in bytes: each chunk copies the piece it belongs to.
const mostSpoken = 64 << 10

// speak has a sub-agent's call show a message, or more of it, or with all nothing else of it. What a sub-agent thinks
// is not shown. It reports false where nobody has told of that call: then the words stand as any other's.
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
		content := append([]ToolCallContent(nil), call.Content...) // what others have of it stays
		content[was.at] = ContentItem{text}
		call.Content, c.spoken[key] = content, spoken{was.at, text}
	}
	c.said(call)
	return true
}
