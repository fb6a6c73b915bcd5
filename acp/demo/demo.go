// Package demo is a scripted agent for trying out a client and for testing it. It has no model and uses no network: its
// words are written in this package, and it says so. Everything else is real: it reads and writes files, asks for
// permission and runs commands through the client, by the protocol.
//
// The environment variable ACP_DEMO_DELAY_MS sets the pause between two pieces of text in
// milliseconds; 0 is none. With ACP_DEMO_LOGGED_IN set, the user counts as logged in.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Serve is the agent on stdin and stdout, until stdin ends or ctx does; it closes stdout. Protocol is the newest
// version that it speaks, 1 or 2; if the client asks for an older one, it speaks that.
func Serve(ctx context.Context, stdin io.Reader, stdout io.WriteCloser, version string, protocol int) error {
	pace, err := paceOf(os.Getenv("ACP_DEMO_DELAY_MS"))
	if err != nil {
		return err
	}
	a := newAgent(version, protocol, pace, os.Getenv("ACP_DEMO_LOGGED_IN") != "")
	return a.serve(ctx, stdin, stdout)
}

// A pace is the shortest and the longest pause between two pieces of text.
type pace struct{ least, most time.Duration }

// humanPace is the pace of a fast model.
var humanPace = pace{15 * time.Millisecond, 30 * time.Millisecond}

// paceOf reads a number of milliseconds; "" is the human pace.
func paceOf(ms string) (pace, error) {
	if ms == "" {
		return humanPace, nil
	}
	n, err := strconv.ParseUint(ms, 10, 16)
	if err != nil {
		return pace{}, fmt.Errorf("read ACP_DEMO_DELAY_MS: %w", err)
	}
	d := time.Duration(n) * time.Millisecond
	return pace{d, d}, nil
}

// pause waits a moment, or until ctx ends.
func (p pace) pause(ctx context.Context) error {
	d := p.least
	if p.most > p.least {
		d += rand.N(p.most - p.least)
	}
	if d == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serve runs the connection to its end, and waits for the turns to end with it.
func (a *agent) serve(ctx context.Context, stdin io.Reader, stdout io.WriteCloser) error {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	a.conn, a.life = acp.NewConn(stdin, stdout, a), life
	close(a.connected)
	select {
	case <-a.conn.Done():
	case <-ctx.Done():
		_ = a.conn.Close()
		<-a.conn.Done()
	}
	end()
	a.stop()
	if err := a.conn.Err(); ctx.Err() == nil && !errors.Is(err, acp.ErrPeerClosed) {
		return fmt.Errorf("speak with the client: %w", err)
	}
	return nil
}
