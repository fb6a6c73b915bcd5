package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// resolve returns the path of the program and its arguments, from the name on. Some agents put a whole shell line into
// the command: when there are no args and the command is no program itself but has blanks or shell syntax, sh runs it.
func resolve(c Config, env []string) (program string, args []string, err error) {
	if strings.TrimSpace(c.Command) == "" {
		return "", nil, errors.New("start terminal: the command is empty")
	}
	program, err = lookPath(c.Command, c.Dir, env)
	if err == nil {
		return program, append([]string{c.Command}, c.Args...), nil
	}
	if len(c.Args) > 0 || !strings.ContainsAny(c.Command, " \t\n|&;<>()$`\\\"'*?[]#~=%!{}") {
		return "", nil, err
	}
	shell, err := lookPath("sh", c.Dir, env)
	return shell, []string{"sh", "-c", c.Command}, err
}

// lookPath finds a program as the child would: on the PATH of env, or from dir when it has a slash.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		switch err := executable(path); {
		case err == nil:
			return path, nil
		case errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("start terminal: command %q does not exist", name)
		default:
			return "", fmt.Errorf("start terminal: command %q cannot be executed: %w", name, err)
		}
	}
	for _, folder := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if path := filepath.Join(folder, name); executable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("start terminal: command %q was not found on the PATH", name)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a folder")
	case info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}

// checkDir tells in a sentence why dir cannot be a working folder.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case !filepath.IsAbs(dir):
		return fmt.Errorf("start terminal: folder %q is not an absolute path", dir)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("start terminal: folder %q does not exist", dir)
	case err != nil:
		return fmt.Errorf("start terminal: folder %q: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("start terminal: %q is not a folder", dir)
	}
	return nil
}

// environment returns the child's environment: the host's without what belongs to Neovim and to the
// terminal Neovim runs in, then what keeps programs from waiting for a user, then extra.
func environment(host []string, dir string, extra []string) []string {
	env := slices.DeleteFunc(slices.Clone(host), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "VIM", "VIMRUNTIME", "MYVIMRC", "TMUX", "TMUX_PANE", "STY", "COLUMNS", "LINES", "TERMCAP",
			"TERM_PROGRAM", "TERM_PROGRAM_VERSION":
			return true
		}
		// A pager of one program (GH_PAGER, MANPAGER) would win over PAGER.
		return strings.HasPrefix(name, "NVIM") || strings.HasSuffix(name, "PAGER")
	})
	env = append(env,
		"TERM=xterm-256color",
		"COLORTERM=truecolor",
		"PAGER=cat",
		"GIT_PAGER=cat",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_EDITOR=true",
		"EDITOR=true",
		"VISUAL=true",
		"DEBIAN_FRONTEND=noninteractive",
	)
	if dir != "" {
		env = append(env, "PWD="+dir)
	}
	return append(env, extra...)
}

// lookup returns the value of a variable; of several entries the last counts, as for the child.
func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
