package styled

// Cut shortens a text to limit bytes, between characters; 0 is no limit.
func Cut(s string, limit int) string {
	if limit == 0 || len(s) <= limit {
		return s
	}
	for limit > 0 && s[limit]&0xC0 == 0x80 {
		limit--
	}
	return s[:limit]
}

// Flatten returns lines for Lua: the texts, and the highlights as row, column, end column, group.
func Flatten(lines []Line) (texts []string, marks []int) {
	texts, marks = make([]string, len(lines)), []int{}
	for row, l := range lines {
		texts[row] = l.Text
		for _, m := range l.Marks {
			marks = append(marks, row, m.Col, m.EndCol, int(m.Group))
		}
	}
	return texts, marks
}
