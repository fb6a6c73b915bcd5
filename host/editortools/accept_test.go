package editortools

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// failing is a listener that first fails, as where no more files can be opened, and then has a client.
type failing struct {
	fails   int
	clients chan net.Conn
	closed  chan struct{}
}

func (l *failing) Accept() (net.Conn, error) {
	if l.fails > 0 {
		l.fails--
		return nil, errors.New("too many open files")
	}
	select {
	case conn := <-l.clients:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *failing) Close() error   { close(l.closed); return nil }
func (l *failing) Addr() net.Addr { return &net.UnixAddr{} }

// A listener that fails is asked again, until it is closed.
func TestAcceptAgain(t *testing.T) {
	served := make(chan func(), 1)
	s := New(Config{Log: slog.New(slog.DiscardHandler), Background: func(f func()) { served <- f }})
	l := &failing{fails: 3, clients: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.clients <- &net.UnixConn{}
	over := make(chan struct{})
	go func() {
		s.accept(l)
		close(over)
	}()
	<-served
	select {
	case <-over:
		t.Error("it has ended")
	default:
	}
	l.Close()
	<-over
}

// Whoever has said nothing yet does not keep the host from its end.
func TestCloseSendsTheSilentAway(t *testing.T) {
	var background sync.WaitGroup
	s := New(Config{Log: slog.New(slog.DiscardHandler), Background: background.Go, Hide: func(string, []string) {}, Unhide: func(string, []string) {}})
	s.Offer(rpc.EditorTools{Tools: []string{"read"}, Folder: t.TempDir()})
	if _, err := s.Grant("agent"); err != nil {
		t.Fatal(err)
	}
	var silent []net.Conn
	for range maxUnknown + 3 { // some of whom wait to be heard
		conn, err := net.Dial("unix", s.socket())
		must.Do(t, err)
		defer conn.Close()
		silent = append(silent, conn)
	}
	s.Close()
	background.Wait()
	for _, conn := range silent { // one that is waited for is told that it gave no token
		if said, _ := io.ReadAll(conn); len(said) > 0 {
			t.Fatalf("it is told %q", said)
		}
	}
}
