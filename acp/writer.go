package acp

import (
	"bufio"
	"fmt"
	"io"
	"sync"
	"time"
)

// frame is one line to write, in three parts so that a large body is never copied.
type frame struct{ head, body, tail []byte }

func (f frame) size() int { return len(f.head) + len(f.body) + len(f.tail) }

// writer is a bounded queue in front of the peer's input, and the goroutine that empties it: a sender never waits for a
// peer that does not read.
type writer struct {
	w          io.WriteCloser
	limit      int // bytes that may wait
	stallAfter time.Duration
	flushGrace time.Duration
	traffic    *Traffic
	onError    func(error) // writing has failed; called once, on any goroutine

	stalled chan struct{} // closed when one write has been stuck for stallAfter
	done    chan struct{} // closed when the goroutine has ended and w is closed
	wake    chan struct{} // there is something new to look at

	mu     sync.Mutex
	frames []frame // guarded by mu
	queued int     // guarded by mu: bytes in frames and in what is being written
	closed bool    // guarded by mu: nothing more is accepted
	failed bool    // guarded by mu: writing has failed; frames are dropped
}

// writeChunk bounds one write to the peer, in bytes: otherwise a slow write looks like a stuck one.
const writeChunk = 64 << 10

func (w *writer) start() {
	w.stalled = make(chan struct{})
	w.done = make(chan struct{})
	w.wake = make(chan struct{}, 1)
	go w.run()
}

// enqueue accepts f, or fails with a *QueueFullError if too much is already waiting. A frame may be larger than the
// limit. It never blocks.
func (w *writer) enqueue(f frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return ErrClosed
	case w.failed:
		return nil // the connection is already ending
	case w.queued >= w.limit:
		err := &QueueFullError{Queued: w.queued, Limit: w.limit}
		go w.onError(err)
		return err
	}
	// Recorded here, so that the record has wire order, and a request always precedes its answer.
	w.traffic.record(ClientToAgent, f.head, f.body, f.tail[:len(f.tail)-1])
	w.frames = append(w.frames, f)
	w.queued += f.size()
	w.signal()
	return nil
}

// close lets the goroutine write what is queued and close the peer's input; a stuck write is cut off after flushGrace.
// It does not wait: see done.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	w.signal()
	cut := time.AfterFunc(w.flushGrace, func() { _ = w.w.Close() })
	go func() {
		<-w.done
		cut.Stop()
	}()
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *writer) run() {
	defer close(w.done)
	defer func() { _ = w.w.Close() }()
	chunks := &chunkWriter{w: w.w, stallAfter: w.stallAfter}
	chunks.timer = time.AfterFunc(w.stallAfter, func() { chunks.once.Do(func() { close(w.stalled) }) })
	chunks.timer.Stop()
	defer chunks.timer.Stop()
	buf := bufio.NewWriterSize(chunks, writeChunk)
	for {
		w.mu.Lock()
		frames, closed := w.frames, w.closed
		w.frames = nil
		w.mu.Unlock()
		if len(frames) == 0 {
			if closed {
				return
			}
			<-w.wake
			continue
		}
		if err := w.write(buf, frames); err != nil {
			w.mu.Lock()
			w.failed, w.frames = true, nil
			closed := w.closed
			w.mu.Unlock()
			if !closed {
				w.onError(fmt.Errorf("write to the agent: %w", err))
			}
			return
		}
	}
}

// write writes frames and flushes.
func (w *writer) write(buf *bufio.Writer, frames []frame) error {
	for _, f := range frames {
		for _, part := range [][]byte{f.head, f.body, f.tail} {
			if _, err := buf.Write(part); err != nil {
				return err
			}
		}
		w.mu.Lock()
		w.queued -= f.size()
		w.mu.Unlock()
	}
	return buf.Flush()
}

// chunkWriter writes in pieces and watches each.
type chunkWriter struct {
	w          io.Writer
	stallAfter time.Duration
	timer      *time.Timer // fires when a piece is stuck
	once       sync.Once
}

func (c *chunkWriter) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		c.timer.Reset(c.stallAfter)
		n, err := c.w.Write(p[written:min(len(p), written+writeChunk)])
		c.timer.Stop()
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
