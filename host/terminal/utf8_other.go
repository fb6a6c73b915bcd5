//go:build !linux && !darwin

package terminal

// eraseCharacters does nothing: there is no such setting.
func eraseCharacters(int) error { return nil }
