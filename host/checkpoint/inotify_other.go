//go:build !linux

package checkpoint

import "errors"

// notifier is unused: none of these systems reports each change before its author continues.
type notifier struct{}

var errNoWatch = errors.New("this system does not report changes")

func newNotifier() (*notifier, error) { return nil, errNoWatch }

func (n *notifier) close() {}

func (n *notifier) add(string, int) (int32, error) { return 0, errNoWatch }

func (n *notifier) wait() bool { return false }

func (n *notifier) take(func(event)) error { return errNoWatch }

func mapped([]string) []string { return nil }
