package prompt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// workingDiff is what has changed in the session's folder since the last commit, including untracked files that git
// does not ignore.
type workingDiff struct{}

const (
	// previewLines is how many lines of a diff Lua may show.
	previewLines = 40
	// maxNew bounds the untracked files in a diff, and maxNewSize the size of each in bytes.
	maxNew, maxNewSize = 100, 1 << 20
)

func (workingDiff) read(c Config, done func(session.Content, string)) {
	text, left, large, err := diffOf(c)
	var told []string
	if err != nil {
		told = append(told, fmt.Sprintf("@diff was not sent: %s.", err))
	}
	if len(left) > 0 {
		told = append(told, fmt.Sprintf("@diff was sent without private files: %s.", strings.Join(left, ", ")))
	}
	if len(large) > 0 {
		told = append(told, fmt.Sprintf("@diff was sent without new files that are too large, or too many: %s.", strings.Join(large, ", ")))
	}
	e := excerpt{what: "diff", heading: "What has changed since the last commit", lang: "diff"}
	content, cut := e.content(text)
	if cut != "" {
		told = append(told, cut)
	}
	done(content, strings.Join(told, " "))
}

// PreviewDiff sends Lua what a diff would send.
func (p *Prompts) PreviewDiff(m rpc.PreviewDiff) {
	p.config.Background(func() {
		text, _, _, err := diffOf(p.config)
		preview := rpc.DiffPreview{Text: text}
		if err != nil {
			text, preview = "", rpc.DiffPreview{Empty: err.Error()}
		}
		if lines := strings.SplitAfterN(text, "\n", previewLines+1); len(lines) > previewLines {
			preview.Text = strings.Join(lines[:previewLines], "") + "…"
		}
		p.config.Editor.Answer(m.Callback, preview, "")
	})
}

// diffOf returns what has changed in the session's folder, except private files and new ones that are too large, which
// are named separately. If there is nothing, that is an error. It runs git.
func diffOf(c Config) (text string, private, large []string, err error) {
	since := "HEAD"
	if _, err := git(c.Cwd, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		if _, err := git(c.Cwd, "rev-parse", "--git-dir"); err != nil {
			return "", nil, nil, err
		}
		since = "--cached" // there is no commit yet
	}
	names, err := git(c.Cwd, "diff", since, "--relative", "--no-renames", "--no-ext-diff", "--name-only", "-z")
	if err != nil {
		return "", nil, nil, err
	}
	added, err := git(c.Cwd, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return "", nil, nil, err
	}
	args := []string{"diff", since, "--relative", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--", "."}
	changed := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		switch {
		case name == "":
		case isPrivate(c, filepath.Join(c.Cwd, name)):
			private = append(private, name)
			args = append(args, ":(exclude,literal)"+name)
		default:
			changed++
		}
	}
	if changed > 0 {
		if text, err = git(c.Cwd, args...); err != nil {
			return "", private, nil, err
		}
	}
	found := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(added, "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(c.Cwd, name))
		switch {
		case name == "", err != nil: // it has gone since
		case isPrivate(c, filepath.Join(c.Cwd, name)):
			private = append(private, name)
		case info.IsDir(): // a repository of its own
		case info.Size() > maxNewSize, found == maxNew:
			large = append(large, name)
		default:
			found++
			diff, err := git(c.Cwd, "diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--", "/dev/null", name)
			if err != nil {
				return "", private, nil, err
			}
			text += diff
		}
	}
	if changed+found == 0 {
		if len(private)+len(large) > 0 {
			return "", private, large, errors.New("nothing else has changed since the last commit")
		}
		return "", nil, nil, errors.New("nothing has changed since the last commit")
	}
	return text, private, large, nil
}

// git runs git in a folder, and returns its output; the error has its complaint.
func git(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	out, err := cmd.Output()
	var failed *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("git took more than %s", maxWait)
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed")
	case errors.As(err, &failed) && strings.Contains(string(failed.Stderr), "not a git repository"):
		return "", errors.New("the folder is not in a git repository")
	case errors.As(err, &failed) && failed.ExitCode() == 1 && slices.Contains(args, "--no-index"): // they differ
		return string(out), nil
	case errors.As(err, &failed):
		first, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n")
		return "", fmt.Errorf("git said: %s", strings.TrimPrefix(first, "fatal: "))
	}
	return string(out), err
}
