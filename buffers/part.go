package buffers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// This file reads lines of files that are too large to read whole.

const (
	// maxRead is the most bytes of text that one read returns; a larger file is only read by lines.
	maxRead = 64 << 20
	// maxFile is the size in bytes above which a file is not read whole for any other purpose, such as writing it.
	maxFile = 256 << 20
	// streamed is how many bytes of a larger file are read at a time.
	streamed = 256 << 10
)

// tooLarge is the error for a file that is too large to read whole.
type tooLarge struct {
	size, limit int64 // bytes
}

func (e tooLarge) Error() string {
	return fmt.Sprintf("it has %s, and at most %s are read or written as a whole", megabytes(e.size), megabytes(e.limit))
}

// asRead returns the error of a read for an agent.
func (e tooLarge) asRead() error {
	return fmt.Errorf("it has %s, and at most %s are read at once: read it by lines, with line and limit", megabytes(e.size), megabytes(e.limit))
}

var (
	errLongLines = fmt.Errorf("these lines have more than %s, which are read at once at most: read fewer, with line and limit", megabytes(maxRead))
	errLargeWide = fmt.Errorf("it is UTF-16 and larger than %s, and so cannot be read by lines", megabytes(maxRead))
)

// megabytes returns a size in words.
func megabytes(size int64) string {
	if size < 10<<30 {
		return fmt.Sprintf("%d MB", size>>20)
	}
	return fmt.Sprintf("%d GB", size>>30)
}

// readPart returns lines first to last of a file that is too large to read whole; last < 0 means to the end. Other
// lines are not kept, so only these tell the encoding and the line ends. It ends with ctx.
func readPart(ctx context.Context, path string, first, last int) (string, error) {
	file, info, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var part []byte
	chunk := make([]byte, streamed)
	for at, row := int64(0), 0; last < 0 || row < last; {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := file.ReadAt(chunk, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", cause(err)
		}
		data := chunk[:n]
		if at == 0 && (bytes.HasPrefix(data, []byte(boms["utf-16"])) || bytes.HasPrefix(data, []byte(boms["utf-16le"]))) {
			return "", errLargeWide
		}
		if row < first {
			skipped, lines := pass(data, first-row)
			data, row = data[skipped:], row+lines
		}
		if row >= first && len(data) > 0 {
			taken, lines := len(data), 0
			if last >= 0 {
				taken, lines = pass(data, last-row)
			}
			part, row = append(part, data[:taken]...), row+lines
		}
		switch {
		case len(part) > maxRead:
			return "", errLongLines
		case err != nil:
			return decodePart(part), nil
		}
		if at += int64(n); row < first {
			at = afterHole(file, at, info.Size())
		}
	}
	return decodePart(part), nil
}

// pass returns how many bytes the first n lines of data have, and how many of them end in it.
func pass(data []byte, n int) (size, lines int) {
	for ; lines < n; lines++ {
		i := bytes.IndexByte(data[size:], '\n')
		if i < 0 {
			return len(data), lines
		}
		size += i + 1
	}
	return size, lines
}

// afterHole returns where a file continues after at: a hole has no lines, and may be huge.
func afterHole(file *os.File, at, size int64) int64 {
	next, err := unix.Seek(int(file.Fd()), at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return max(at, size)
	case err != nil: // the file system cannot tell
		return at
	}
	return next
}

func decodePart(data []byte) string {
	text, _, ok := decode(data, "utf-8")
	if !ok {
		text, _, _ = decode(data, "latin1")
	}
	return text
}
