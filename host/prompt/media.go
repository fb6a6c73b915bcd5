package prompt

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// maxMedia is how large a picture or a sound may be, in bytes, as in lua/acp/prompt/media.lua: models take no more.
const maxMedia = 5 << 20

// mediaTypes are the types of pictures and sounds that models take, by file extension.
var mediaTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".wav": "audio/wav", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".flac": "audio/flac", ".m4a": "audio/mp4",
}

func mediaType(path string) string { return mediaTypes[strings.ToLower(filepath.Ext(path))] }

func isMedia(path string) bool { return mediaType(path) != "" }

// media returns a picture or a sound for an agent that takes it, otherwise the link to it and what the user is told. It
// reads the disk.
func media(c Config, path string, link session.ResourceLink, size int64) (session.Content, string) {
	link.MimeType = mediaType(path)
	if size > maxMedia {
		return link, fmt.Sprintf("%s is %s: it was sent as a link, as at most %s are sent.",
			c.Short(path), styled.Size(int(size)), styled.Size(maxMedia))
	}
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) > maxMedia {
		return link, ""
	}
	data := base64.StdEncoding.EncodeToString(raw)
	kind, content := "audio", session.Content(session.Audio{MimeType: link.MimeType, Data: data})
	if strings.HasPrefix(link.MimeType, "image/") {
		kind, content = "images", session.Image{MimeType: link.MimeType, Data: data, URI: link.URI}
	}
	told := fmt.Sprintf("%s takes no %s: %s was sent as a link.", c.Title, kind, c.Short(path))
	return either{Content: content, otherwise: link, told: told}, ""
}
