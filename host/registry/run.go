package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/host/failure"
)

// maxOutput is how much of an installing program's output is kept, in bytes.
const maxOutput = 16 << 10

// stopGrace is how long an installing program may take to exit when it is cancelled.
const stopGrace = 2 * time.Second

// job is a program that installs something.
type job struct {
	argv     []string
	env      []string // in addition
	dir      string
	what     string // it does, in words
	needs    string // the program's name
	advice   string // if that is missing
	progress func(string)
}

// run runs a program until it ends, and returns the end of its output.
func (r *Registry) run(ctx context.Context, j job) (output string, err error) {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return "", err
	}
	proc, err := acp.Start(acp.Command{Argv: j.argv, Env: slices.Concat(r.config.Env, j.env), Dir: j.dir})
	var missing *acp.NotFoundError
	if errors.As(err, &missing) {
		return "", &failure.Failure{Sentence: "There is no " + j.needs + " on the PATH.", Advice: j.advice}
	}
	if err != nil {
		return "", err
	}
	r.config.Group(proc.PGID(), true)
	defer r.config.Group(proc.PGID(), false)
	_ = proc.Stdin.Close() // it gets no input
	said := make(chan string, 1)
	go func() {
		var t tail
		_, _ = io.Copy(&t, proc.Stdout) // ends with the program
		said <- string(t)
	}()
	began := time.Now()
	j.progress(j.what)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-tick.C:
			j.progress(fmt.Sprintf("%s · %d s", j.what, int(time.Since(began).Seconds())))
		case <-proc.Done():
			running = false
		case <-ctx.Done():
			proc.Shutdown(0, stopGrace)
			<-proc.Done()
			running = false
		}
	}
	proc.Shutdown(0, stopGrace) // and what it left behind
	output = <-said + proc.Stderr()
	if ctx.Err() != nil {
		return output, ctx.Err()
	}
	if exit := proc.Exit(); exit.Code != 0 || exit.Signal != "" {
		return output, fmt.Errorf("%s %s", filepath.Base(j.argv[0]), exit)
	}
	return output, nil
}

// tail keeps the end of what is written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if over := len(*t) - maxOutput; over > 0 {
		*t = append((*t)[:0], (*t)[over:]...)
	}
	return len(p), nil
}
