package files

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	maxFiles = 300_000
	maxTime  = 10 * time.Second
)

// Listing is the files below a folder that belong to a project.
type Listing struct {
	// Paths are relative to the folder, with "/" as separator, in no order. A name may occur twice. Folders may be
	// among them, with "/" at the end, but not submodules.
	Paths []string
	// Git says that the list is git's, which has a repository inside this one, or a submodule, as one name without its
	// files.
	Git bool
	// Cut says that there are more files, it took too long, or ctx ended.
	Cut bool
}

// List returns the files below dir: those that git knows or does not ignore, else those that ripgrep finds, else all.
// If it takes too long or there are too many, the list is cut: an incomplete list is useful. It writes nothing, not
// even in git's folder, and starts no program that the repository names.
func List(ctx context.Context, dir string) Listing { return list(ctx, dir, listGit) }

// Known is List for callers that check each of the files anyway: deleted files that git knows may be among them.
func Known(ctx context.Context, dir string) Listing {
	return list(ctx, dir, func(ctx context.Context, dir string) (paths []string, err error) {
		err = lines(ctx, dir, func(name string) { paths = append(paths, name) }, "git", "-c", "core.fsmonitor=false",
			"ls-files", "-z", "--cached", "--others", "--exclude-standard")
		return paths, err
	})
}

// KnownAmong returns what [Known] has at or below some absolute paths of a repository in dir; with others set, only
// what is not in git's index. The result is absolute, and has a repository inside this one as its folder.
func KnownAmong(ctx context.Context, dir string, paths []string, others bool) (found []string, err error) {
	argv := []string{"git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "ls-files", "-z", "--others", "--exclude-standard"}
	if !others {
		argv = append(argv, "--cached")
	}
	err = lines(ctx, dir, func(name string) { found = append(found, filepath.Join(dir, name)) }, append(append(argv, "--"), paths...)...)
	return found, err
}

// KnownAnyway are the files, absolute, of a repository in dir that git knows although it ignores them.
func KnownAnyway(ctx context.Context, dir string) (found []string, err error) {
	err = lines(ctx, dir, func(name string) { found = append(found, filepath.Join(dir, name)) }, "git", "-c", "core.fsmonitor=false",
		"ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
	return found, err
}

// Rules returns the files, existing or not, that determine what [Known] lists for a repository in dir: its index, and
// all others except those below dir.
func Rules(ctx context.Context, dir string) (index string, others []string, err error) {
	var paths []string
	err = lines(ctx, dir, func(all string) { paths = strings.Split(strings.TrimSpace(all), "\n") }, "git", "rev-parse",
		"--path-format=absolute", "--git-path", "index", "--git-path", "info/exclude", "--git-path", "config",
		"--git-path", "config.worktree", "--show-toplevel")
	if err != nil || len(paths) != 5 {
		return "", nil, cmp.Or(err, errors.New("git does not say where its files are"))
	}
	others = append(paths[1:4:4], "/etc/gitconfig")
	if home, err := os.UserHomeDir(); err == nil {
		config := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		others = append(others, filepath.Join(home, ".gitconfig"), filepath.Join(config, "git/config"), filepath.Join(config, "git/ignore"))
	}
	// An error means that there is none.
	_ = lines(ctx, dir, func(name string) { others = append(others, name) }, "git", "config", "-z", "--type=path", "core.excludesFile")
	for at := dir; at != paths[4] && at != filepath.Dir(at); {
		at = filepath.Dir(at)
		others = append(others, filepath.Join(at, ".gitignore"))
	}
	return paths[0], others, nil
}

// NotIgnored leaves out the folders, absolute, of a repository in dir that git ignores.
func NotIgnored(ctx context.Context, dir string, folders []string) ([]string, error) {
	if len(folders) == 0 {
		return nil, nil
	}
	ignored := map[string]bool{}
	var fields []string // the rule's file, its line, the rule, the path
	err := linesOf(ctx, dir, strings.NewReader(strings.Join(folders, "\x00")+"\x00"), func(field string) {
		if fields = append(fields, field); len(fields) == 4 {
			ignored[fields[3]] = !strings.HasPrefix(fields[2], "!")
			fields = fields[:0]
		}
	}, "git", "check-ignore", "-z", "-v", "--no-index", "--stdin")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil // none is ignored
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(folders), func(folder string) bool { return ignored[folder] }), nil
}

func list(ctx context.Context, dir string, listGit func(context.Context, string) ([]string, error)) Listing {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	paths, err := listGit(ctx, dir)
	switch {
	case slices.Equal(paths, []string{"./"}): // a submodule without its repository, which git does not list
	case len(paths) > 0, err == nil && !ignored(ctx, dir):
		return Listing{Paths: paths, Git: true, Cut: err != nil}
	}
	if paths, err := listRipgrep(ctx, dir); len(paths) > 0 {
		return Listing{Paths: paths, Cut: err != nil}
	}
	paths = listDisk(ctx, dir)
	return Listing{Paths: paths, Cut: ctx.Err() != nil || len(paths) >= maxFiles}
}

// listGit asks git, which lists a deleted file a second time, with another tag.
func listGit(ctx context.Context, dir string) ([]string, error) {
	var paths []string
	deleted := map[string]bool{}
	err := lines(ctx, dir, func(line string) {
		tag, name, _ := strings.Cut(line, " ")
		if tag == "R" {
			deleted[name] = true
			return
		}
		paths = append(paths, name)
	}, "git", "-c", "core.fsmonitor=false", "ls-files", "-z", "-t", "--cached", "--others", "--deleted", "--exclude-standard")
	return slices.DeleteFunc(paths, func(name string) bool { return deleted[name] }), err
}

// ignored reports whether a folder is in a repository that ignores all of it.
func ignored(ctx context.Context, dir string) bool {
	return lines(ctx, dir, func(string) {}, "git", "check-ignore", "-q", ".") == nil
}

// Ignored reports whether git ignores a file, given as an absolute path.
func Ignored(ctx context.Context, path string) bool {
	dir := filepath.Dir(path)
	for dir != filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return lines(ctx, dir, func(string) {}, "git", "check-ignore", "-q", "--", path) == nil
}

func listRipgrep(ctx context.Context, dir string) ([]string, error) {
	var paths []string
	err := lines(ctx, dir, func(name string) { paths = append(paths, name) }, "rg", "--files", "--null", "--hidden", "--glob=!.git")
	return paths, err
}

// listDisk walks the folders level by level, so that a cut drops the deepest.
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

// errMore says that a command wrote too much.
var errMore = errors.New("too many lines")

// lines runs a command in dir and passes its output to each, split at NUL. A command that is missing or fails yields
// less or nothing, and an error.
func lines(ctx context.Context, dir string, each func(string), argv ...string) error {
	return linesOf(ctx, dir, nil, each, argv...)
}

// linesOf is lines of a command that reads something.
func linesOf(ctx context.Context, dir string, in io.Reader, each func(string), argv ...string) error {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin = dir, in
	cmd.Env = append(slices.DeleteFunc(os.Environ(), elsewhere), "GIT_OPTIONAL_LOCKS=0")
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	text := bufio.NewReader(out)
	for range maxFiles {
		line, err := text.ReadString(0)
		if err != nil {
			if line != "" {
				each(line)
			}
			return cmd.Wait()
		}
		each(strings.TrimSuffix(line, "\x00"))
	}
	enough()
	_ = cmd.Wait() // it was killed
	return errMore
}

// elsewhere reports whether a variable makes git look at another repository than the folder's: a Neovim that git
// started, as the editor of a commit, has such.
func elsewhere(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
}

// sorted adds the folders of files and puts shallow paths first, each once. Names that do not fit in a line of text are
// left out.
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

// depth returns how many folders deep a path is.
func depth(name string) int { return strings.Count(strings.TrimSuffix(name, "/"), "/") }
