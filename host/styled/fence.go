package styled

import "strings"

// Fence is what a text can stand between in markdown, even if it has fences itself.
func Fence(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
