// Package histcheck records histories of concurrent operations and checks them with the command histcheck.
//
// It uses no cgo: a history is written as JSON Lines to the command's standard input. The command is looked for in PATH, or is
// the one that the environment variable HISTCHECK names.
package histcheck

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"
	"time"
	"unicode/utf8"
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
	value    json.RawMessage
	complete bool
}

type op struct {
	Type    string          `json:"type"`
	Process int             `json:"process"`
	F       string          `json:"f"`
	Value   json.RawMessage `json:"value"`
	Time    int64           `json:"time"`
	Error   string          `json:"error,omitempty"`
}

// Invoke records that the client invokes f with a value, which is encoded as encoding/json does it. A value that cannot be encoded,
// or that has a string that is not UTF-8, makes an error of History. Invoke panics if the client has an operation in flight.
func (c *Client) Invoke(f string, value any) *Operation {
	r := c.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.inFlight {
		panic("histcheck: this client has an operation in flight; complete it first")
	}
	written := r.add("invoke", c.process, f, value, nil)
	c.inFlight = true
	return &Operation{client: c, f: f, value: written}
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
	r.add(kind, o.client.process, o.f, value, err)
	o.complete = true
	o.client.inFlight = false
	if kind == "info" {
		o.client.process = r.take()
	}
}

// add writes a line, and returns the value as it is written: changing it later changes nothing.
func (r *Recorder) add(kind string, process int, f string, value any, err error) json.RawMessage {
	written, failed := encode(value)
	if failed == nil && !utf8.ValidString(f) {
		failed = errNotUTF8
	}
	if failed != nil {
		if r.err == nil {
			r.err = fmt.Errorf("histcheck: cannot write the value of %s as JSON: %w", f, failed)
		}
		return nil
	}
	line := op{Type: kind, Process: process, F: f, Value: written, Time: time.Since(r.start).Nanoseconds()}
	if err != nil {
		line.Error = err.Error()
	}
	if failed := json.NewEncoder(&r.history).Encode(line); failed != nil && r.err == nil {
		r.err = fmt.Errorf("histcheck: cannot write %s as JSON: %w", f, failed)
	}
	return written
}

var errNotUTF8 = errors.New("a string is not valid UTF-8")

// encode returns a value as JSON.
func encode(value any) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err == nil && !(utf8.Valid(text) && isUTF8(reflect.ValueOf(&value).Elem())) {
		err = errNotUTF8
	}
	return text, err
}

var marshalers = [...]reflect.Type{reflect.TypeOf((*json.Marshaler)(nil)).Elem(), reflect.TypeOf((*encoding.TextMarshaler)(nil)).Elem()}

// isUTF8 reports whether all strings are valid UTF-8 in a value that encoding/json encodes. For other bytes, it would write U+FFFD,
// which makes distinct values equal.
func isUTF8(v reflect.Value) bool {
	if v.Kind() < reflect.Array {
		return true // A boolean or a number.
	}
	for _, marshaler := range marshalers {
		if reflect.PtrTo(v.Type()).Implements(marshaler) {
			return true
		}
	}
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Interface, reflect.Ptr:
		return v.IsNil() || isUTF8(v.Elem())
	case reflect.Slice, reflect.Array:
		for at := 0; at < v.Len(); at++ {
			if !isUTF8(v.Index(at)) {
				return false
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if !isUTF8(entries.Key()) || !isUTF8(entries.Value()) {
				return false
			}
		}
	case reflect.Struct:
		for at := 0; at < v.NumField(); at++ {
			field := v.Type().Field(at)
			if (field.IsExported() || field.Anonymous) && field.Tag.Get("json") != "-" && !isUTF8(v.Field(at)) {
				return false
			}
		}
	}
	return true
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
