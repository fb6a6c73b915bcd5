package files

import (
	"bufio"
	"cmp"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	maxFiles = 300_000
	maxTime  = 10 * time.Second
)

// list returns the files below dir that belong to a project: those that git knows or does not
// ignore, else those that ripgrep finds, else all. Folders that hold others may be left out. What
// takes too long or is too much is cut: a list that lacks something is of use.
func list(ctx context.Context, dir string) []string {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	for _, from := range []func(context.Context, string) []string{listGit, listRipgrep, listDisk} {
		if paths := from(ctx, dir); len(paths) > 0 {
			return paths
		}
	}
	return nil
}

// listGit asks git, which tells of a file that was deleted a second time, with another tag.
func listGit(ctx context.Context, dir string) []string {
	var paths []string
	deleted := map[string]bool{}
	lines(ctx, dir, func(line string) {
		tag, name, _ := strings.Cut(line, " ")
		if tag == "R" {
			deleted[name] = true
			return
		}
		paths = append(paths, name)
	}, "git", "ls-files", "-z", "-t", "--cached", "--others", "--deleted", "--exclude-standard")
	return slices.DeleteFunc(paths, func(name string) bool { return deleted[name] })
}

func listRipgrep(ctx context.Context, dir string) []string {
	var paths []string
	lines(ctx, dir, func(name string) { paths = append(paths, name) }, "rg", "--files", "--null", "--hidden", "--glob=!.git")
	return paths
}

// listDisk walks through the folders level by level, so that what is cut is what lies deepest.
func listDisk(ctx context.Context, dir string) []string {
	var paths []string
	root := os.DirFS(dir)
	for queue := []string{"."}; len(queue) > 0 && len(paths) < maxFiles && ctx.Err() == nil; queue = queue[1:] {
		entries, err := fs.ReadDir(root, queue[0])
		if err != nil {
			continue // whatever it is, it cannot be listed
		}
		for _, e := range entries {
			name := path.Join(queue[0], e.Name())
			switch {
			case !e.IsDir():
				paths = append(paths, name)
			case e.Name() != ".git" && e.Name() != "node_modules":
				paths = append(paths, name+"/")
				queue = append(queue, name)
			}
		}
	}
	return paths
}

// lines runs a command in dir and gives what it writes to each, cut at NUL. A command that is not
// there or fails gives nothing or less.
func lines(ctx context.Context, dir string, each func(string), argv ...string) {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	in := bufio.NewReader(out)
	for range maxFiles {
		line, err := in.ReadString(0)
		if err != nil {
			break
		}
		each(strings.TrimSuffix(line, "\x00"))
	}
	enough()
	_ = cmd.Wait() // what was written counts
}

// sorted adds the folders that files are in and puts what lies near first, each path once. Names
// that no line of text can have are left out.
func sorted(paths []string) []string {
	all := make(map[string]struct{}, len(paths))
	for _, name := range paths {
		if strings.ContainsFunc(name, unicode.IsControl) {
			continue
		}
		all[name] = struct{}{}
		for i := len(name) - 1; i > 0; i-- {
			if name[i] != '/' {
				continue
			}
			parent := name[:i+1]
			if _, known := all[parent]; known && parent != name {
				break
			}
			all[parent] = struct{}{}
		}
	}
	out := make([]string, 0, len(all))
	for name := range all {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a, b))
	})
	return out
}

// depth is how many folders a path lies in.
func depth(name string) int { return strings.Count(strings.TrimSuffix(name, "/"), "/") }
