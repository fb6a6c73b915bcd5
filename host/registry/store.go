package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/acp-nvim/acp-nvim/host/failure"
)

// Config is what the registry needs from the host. It is called on any goroutine.
type Config struct {
	Folder    string                                                     // where all is kept; "" for nowhere
	Env       []string                                                   // of the programs that install
	Handshake func(ctx context.Context, agent Installed) (string, error) // starts an agent, and returns what it says of itself
	Running   func() []string                                            // the programs of the running agents
	Group     func(pgid int, alive bool)                                 // is told about process groups
	Now       func() time.Time
}

// Registry is what can be installed, and what is installed. Any goroutine may use it.
type Registry struct {
	config Config

	mu         sync.Mutex
	installing map[string]context.CancelFunc // by id
}

// New returns the registry of a data folder.
func New(config Config) *Registry {
	if config.Folder == "" {
		config.Folder = nowhere
	}
	return &Registry{config: config, installing: map[string]context.CancelFunc{}}
}

// nowhere is a folder that cannot exist.
const nowhere = os.DevNull + "/agents"

// missing reports whether an error means that there is no such file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Launch is how an installed version is started; it is kept in the version's folder.
type Launch struct {
	Title   string            `json:"title"`
	Command []string          `json:"command"` // the first is in the version's folder
	Env     map[string]string `json:"env,omitempty"`
	Via     string            `json:"via"`  // "npm", "uv" or "archive"
	Said    string            `json:"said"` // what the agent said of itself
}

// current says which version of an agent is used; it is kept in the agent's folder.
type current struct {
	Version  string `json:"version"`
	Previous string `json:"previous,omitempty"`
	Pinned   bool   `json:"pinned,omitempty"`
}

// Installed is an agent that is installed.
type Installed struct {
	Launch            // with the whole path of the program
	ID, Version       string
	Previous, Running string // versions, "" for none
	Pinned            bool
}

const (
	currentFile = "current.json"
	launchFile  = "acp-launch.json"
)

func (r *Registry) folder(id string) string { return filepath.Join(r.config.Folder, id) }

// Installed returns what is installed under an id; false for nothing.
func (r *Registry) Installed(id string) (Installed, bool, error) {
	var c current
	if !rightID.MatchString(id) {
		return Installed{}, false, nil
	}
	if err := readJSON(filepath.Join(r.folder(id), currentFile), &c); missing(err) {
		return Installed{}, false, nil
	} else if err != nil {
		return Installed{}, false, fmt.Errorf("read what is installed of %s: %w", id, err)
	}
	agent, err := r.version(id, c.Version)
	agent.Previous, agent.Pinned = c.Previous, c.Pinned
	return agent, err == nil, err
}

// IDs returns the ids of the installed agents.
func (r *Registry) IDs() (ids []string) {
	found, _ := filepath.Glob(filepath.Join(r.config.Folder, "*", currentFile)) // the pattern is a good one
	for _, path := range found {
		ids = append(ids, filepath.Base(filepath.Dir(path)))
	}
	return ids
}

// version returns an installed version of an agent, whether that is used or not.
func (r *Registry) version(id, version string) (Installed, error) {
	agent := Installed{ID: id, Version: version}
	if !rightVersion.MatchString(version) {
		return agent, fmt.Errorf("read what is installed of %s: there is no version %q", id, version)
	}
	dir := filepath.Join(r.folder(id), version)
	if err := readJSON(filepath.Join(dir, launchFile), &agent.Launch); err != nil {
		return agent, fmt.Errorf("read what is installed of %s: %w", id, err)
	}
	if len(agent.Command) == 0 || !filepath.IsLocal(agent.Command[0]) {
		return agent, fmt.Errorf("read what is installed of %s: it has no program", id)
	}
	agent.Command[0] = filepath.Join(dir, agent.Command[0])
	for _, program := range r.config.Running() {
		rest, within := strings.CutPrefix(program, r.folder(id)+string(filepath.Separator))
		if running, _, nested := strings.Cut(rest, string(filepath.Separator)); within && nested {
			agent.Running = running
		}
	}
	return agent, nil
}

func readJSON(path string, value any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

var errNotOurs = errors.New("it was not installed by :Acp agents")

// Uninstall removes all versions of an agent. A running one is no longer used, and removed when it ends.
func (r *Registry) Uninstall(id string) error {
	if _, there, err := r.Installed(id); !there && err == nil {
		return &failure.Failure{Sentence: fmt.Sprintf("%s cannot be removed: %v.", id, errNotOurs), Advice: "Remove it as you installed it."}
	}
	unlock, err := r.lock(id)
	if err != nil {
		return err
	}
	defer unlock()
	err = os.Remove(filepath.Join(r.folder(id), currentFile))
	if err == nil {
		err = r.prune(id)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", id, err)
	}
	_ = os.Remove(r.folder(id)) // unless a version is running
	r.sweep()
	return nil
}

// Rollback goes back to the version used before.
func (r *Registry) Rollback(id string) (Installed, error) {
	return r.change(id, func(c *current) error {
		if c.Previous == "" {
			return &failure.Failure{Sentence: "There is no earlier version of " + id + ".", Advice: "Only the one before an update is kept."}
		}
		if _, err := r.version(id, c.Previous); err != nil {
			return err
		}
		c.Version, c.Previous = c.Previous, c.Version
		return nil
	})
}

// Pin keeps the present version until it is unpinned.
func (r *Registry) Pin(id string, pinned bool) (Installed, error) {
	return r.change(id, func(c *current) error {
		c.Pinned = pinned
		return nil
	})
}

// change changes which version of an agent is used.
func (r *Registry) change(id string, f func(*current) error) (Installed, error) {
	unlock, err := r.lock(id)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	agent, there, err := r.Installed(id)
	if err == nil && !there {
		err = &failure.Failure{Sentence: id + " is not installed by :Acp agents.", Advice: "Install it there first."}
	}
	if err != nil {
		return Installed{}, err
	}
	c := current{agent.Version, agent.Previous, agent.Pinned}
	if err := f(&c); err != nil {
		return Installed{}, err
	}
	if err := writeJSON(filepath.Join(r.folder(id), currentFile), c); err != nil {
		return Installed{}, fmt.Errorf("keep which version of %s is used: %w", id, err)
	}
	agent, _, err = r.Installed(id)
	return agent, err
}

// prune removes what an agent no longer needs: what a killed install left, and versions that are neither used, nor kept
// for going back, nor running.
func (r *Registry) prune(id string) error {
	agent, _, err := r.Installed(id)
	broken := err != nil // which version is used is not known
	list, err := os.ReadDir(r.folder(id))
	if err != nil {
		return err
	}
	var failed error
	for _, e := range list {
		keep := []string{agent.Version, agent.Previous, currentFile}
		switch {
		case slices.Contains(keep, e.Name()):
		case strings.HasPrefix(e.Name(), "."):
			failed = errors.Join(failed, os.RemoveAll(filepath.Join(r.folder(id), e.Name())))
		case !broken && rightVersion.MatchString(e.Name()):
			_, err := r.remove(id, e.Name())
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
