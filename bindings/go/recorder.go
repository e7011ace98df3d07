// Package histcheck records histories of concurrent operations and checks them with the command histcheck.
//
// It uses no cgo: a history is written as JSON Lines to the command's standard input. The command is looked for in PATH, or is
// the one that the environment variable HISTCHECK names.
package histcheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Recorder records operations of any number of clients. The order of the calls is the order of the history.
type Recorder struct {
	mu      sync.Mutex
	start   time.Time
	next    int
	history bytes.Buffer
	err     error
}

// NewRecorder returns a recorder with an empty history.
func NewRecorder() *Recorder {
	return &Recorder{start: time.Now()}
}

// Client invokes operations one at a time: use one for each goroutine.
type Client struct {
	recorder *Recorder
	process  int
	inFlight bool
}

// Client returns a new client.
func (r *Recorder) Client() *Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Client{recorder: r, process: r.take()}
}

func (r *Recorder) take() int {
	r.next++
	return r.next - 1
}

// Operation is an operation in flight. It completes once: by Ok, Fail or Info.
type Operation struct {
	client   *Client
	f        string
	value    any
	complete bool
}

type op struct {
	Type    string `json:"type"`
	Process int    `json:"process"`
	F       string `json:"f"`
	Value   any    `json:"value"`
	Time    int64  `json:"time"`
	Error   string `json:"error,omitempty"`
}

// Invoke records that the client invokes f with a value, which is encoded as encoding/json does it. It panics if the client has an
// operation in flight.
func (c *Client) Invoke(f string, value any) *Operation {
	r := c.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.inFlight {
		panic("histcheck: this client has an operation in flight; complete it first")
	}
	c.inFlight = true
	r.add("invoke", c.process, f, value, nil)
	return &Operation{client: c, f: f, value: value}
}

// Ok records that the operation took effect, and its value: that of the invocation, or what it returned.
func (o *Operation) Ok(value any) { o.end("ok", value, nil) }

// Fail records that the operation certainly did not take effect.
func (o *Operation) Fail(err error) { o.end("fail", o.value, err) }

// Info records that the operation may or may not have taken effect, now or later: a time-out, a lost connection. The client goes
// on as another process.
func (o *Operation) Info(err error) { o.end("info", o.value, err) }

func (o *Operation) end(kind string, value any, err error) {
	r := o.client.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.complete {
		panic("histcheck: an operation completes once")
	}
	o.complete = true
	r.add(kind, o.client.process, o.f, value, err)
	o.client.inFlight = false
	if kind == "info" {
		o.client.process = r.take()
	}
}

// add writes a line; the value is encoded now, so that changing it later changes nothing.
func (r *Recorder) add(kind string, process int, f string, value any, err error) {
	line := op{Type: kind, Process: process, F: f, Value: value, Time: time.Since(r.start).Nanoseconds()}
	if err != nil {
		line.Error = err.Error()
	}
	if failed := json.NewEncoder(&r.history).Encode(line); failed != nil && r.err == nil {
		r.err = fmt.Errorf("histcheck: cannot write the value of %s as JSON: %w", f, failed)
	}
}

// History returns the history so far as JSON Lines, or the first value that could not be written.
func (r *Recorder) History() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]byte(nil), r.history.Bytes()...), r.err
}

// WriteTo writes the history so far as JSON Lines.
func (r *Recorder) WriteTo(w io.Writer) (int64, error) {
	history, err := r.History()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(history)
	return int64(n), err
}

// Save writes the history so far into a file, for the command: histcheck -m CHECKER FILE.
func (r *Recorder) Save(path string) error {
	history, err := r.History()
	if err != nil {
		return err
	}
	return os.WriteFile(path, history, 0o644)
}
