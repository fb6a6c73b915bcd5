package buffers

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// This file keeps the owner, the permissions and the other attributes of a file that is replaced on the disk.

// accessList is the attribute in which Linux keeps who else may read and write a file; by st_mode alone it would be the
// file's group.
const accessList = "system.posix_acl_access"

// keepAttributes gives f the extended attributes of the file at path. It fails with fs.ErrPermission if f cannot have
// the access list; other attributes are kept if possible.
func keepAttributes(f *os.File, path string) error {
	fd := int(f.Fd())
	had := attributeNames(func(b []byte) (int, error) { return unix.Listxattr(path, b) })
	has := attributeNames(func(b []byte) (int, error) { return unix.Flistxattr(fd, b) })
	for _, name := range has {
		if name == accessList { // inherited from the folder's default
			if err := unix.Fremovexattr(fd, name); err != nil {
				return fs.ErrPermission
			}
		}
	}
	for _, name := range had {
		value, err := attribute(func(b []byte) (int, error) { return unix.Getxattr(path, name, b) })
		if err == nil {
			now, e := attribute(func(b []byte) (int, error) { return unix.Fgetxattr(fd, name, b) })
			if e == nil && bytes.Equal(now, value) {
				continue
			}
			err = unix.Fsetxattr(fd, name, value, 0)
		}
		if err != nil && name == accessList {
			return fs.ErrPermission
		}
	}
	return nil
}

// attributeNames returns nothing if the file system has no attributes.
func attributeNames(list func([]byte) (int, error)) []string {
	names, _ := attribute(list)
	return strings.FieldsFunc(string(names), func(r rune) bool { return r == 0 })
}

// attribute reads a value with get, which returns the size if it is given no room.
func attribute(get func([]byte) (int, error)) ([]byte, error) {
	for {
		n, err := get(nil)
		if err != nil || n == 0 {
			return nil, err
		}
		value := make([]byte, n)
		if n, err = get(value); !errors.Is(err, unix.ERANGE) { // it has grown
			return value[:max(n, 0)], err
		}
	}
}
