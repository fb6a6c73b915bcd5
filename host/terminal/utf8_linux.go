package terminal

import "golang.org/x/sys/unix"

// eraseCharacters has Backspace at a question erase a whole character, not the last byte of one.
func eraseCharacters(tty int) error {
	settings, err := unix.IoctlGetTermios(tty, unix.TCGETS)
	if err != nil {
		return err
	}
	settings.Iflag |= unix.IUTF8
	return unix.IoctlSetTermios(tty, unix.TCSETS, settings)
}
