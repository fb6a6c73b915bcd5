package buffers

import (
	"errors"
	"io/fs"
)

// What can be wrong with a path, besides fs.ErrNotExist and fs.ErrPermission.
var (
	ErrNotAbsolute   = errors.New("the path is not absolute")
	ErrNotFound      = fs.ErrNotExist
	ErrDirectory     = errors.New("it is a directory")
	ErrNotRegular    = errors.New("it is not a regular file")
	ErrNotText       = errors.New("it is not valid text in its encoding")
	ErrEncoding      = errors.New("the file's encoding cannot represent the new text")
	ErrReadOnly      = errors.New("its buffer is read-only")
	ErrNotModifiable = errors.New("its buffer is not modifiable")
	ErrSpecialBuffer = errors.New("its buffer is not a normal buffer")
	ErrMoved         = errors.New("the path now leads to another file")
	ErrBusy          = errors.New("the file or its buffer kept changing")
	ErrElsewhere     = errors.New("another Neovim has unsaved changes to it")
)

// Error is the failure of a read, a write or the like, one sentence with the path.
type Error struct {
	Verb string // "read", "write", "edit", ...
	Path string // as asked for
	Err  error
}

func (e *Error) Error() string { return e.Verb + " " + e.Path + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Cause returns what is wrong with a file, without its name.
func Cause(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
