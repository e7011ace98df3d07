// Package histcheck records histories of concurrent operations and checks them with the command histcheck.
//
// It uses no cgo: a history is written as JSON Lines to the command's standard input. The command is the one that the environment
// variable HISTCHECK names, or histcheck in PATH.
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
	"strings"
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

// Invoke records that the client invokes f with a value, which encoding/json encodes. History returns an error for a value that
// encoding/json cannot encode, or cannot encode without loss: a string that is not UTF-8, a nil slice or map, a struct whose fields
// are not exported or share a name. Invoke panics if the client has an operation in flight.
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

// Info records that the outcome is unknown, as after a time-out or a lost connection: the operation may take effect at any time,
// or never. The client continues as another process.
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

// add writes a line, and returns the value as it is written: later changes of the value have no effect.
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

var (
	errNotUTF8 = errors.New("a string is not valid UTF-8")
	errNilList = errors.New("a nil slice or map would be null, as if the value were unknown; pass an empty one, or nil itself")
)

// encode returns a value as JSON.
func encode(value any) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err == nil {
		err = lost(reflect.ValueOf(&value).Elem())
	}
	if err == nil && !utf8.Valid(text) {
		err = errNotUTF8
	}
	return text, err
}

var marshalers = [...]reflect.Type{reflect.TypeOf((*json.Marshaler)(nil)).Elem(), reflect.TypeOf((*encoding.TextMarshaler)(nil)).Elem()}

// lost returns the data that encoding/json would lose from a value: different values would become equal, or a value
// null.
func lost(v reflect.Value) error {
	if v.Kind() < reflect.Array {
		return nil // A boolean or a number.
	}
	for _, marshaler := range marshalers {
		// encoding/json calls a method of a pointer only if the value is addressable.
		if v.Type().Implements(marshaler) || v.CanAddr() && reflect.PtrTo(v.Type()).Implements(marshaler) {
			return nil
		}
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return errNotUTF8 // Other bytes would become U+FFFD.
		}
	case reflect.Interface, reflect.Ptr:
		if !v.IsNil() {
			return lost(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return errNilList
		}
		for at := 0; at < v.Len(); at++ {
			if err := lost(v.Index(at)); err != nil {
				return err
			}
		}
	case reflect.Map:
		if v.IsNil() {
			return errNilList
		}
		for entries := v.MapRange(); entries.Next(); {
			for _, of := range [...]reflect.Value{entries.Key(), entries.Value()} {
				if err := lost(of); err != nil {
					return err
				}
			}
		}
	case reflect.Struct:
		names := map[string]bool{}
		if err := lostOfFields(v, names); err != nil {
			return err
		}
		if v.NumField() > 0 && len(names) == 0 {
			return fmt.Errorf("%v has no field that is encoded", v.Type())
		}
	}
	return nil
}

// lostOfFields adds the JSON names of the fields of a struct.
func lostOfFields(v reflect.Value, names map[string]bool) error {
	for at := 0; at < v.NumField(); at++ {
		field, value := v.Type().Field(at), v.Field(at)
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if tag == "-" || !field.IsExported() && !field.Anonymous {
			continue
		}
		if field.Anonymous && name == "" {
			inner := value
			if inner.Kind() == reflect.Ptr {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				if err := lostOfFields(inner, names); err != nil {
					return err
				}
				continue
			}
		}
		if !field.IsExported() {
			continue
		}
		if name == "" {
			name = field.Name
		}
		if names[name] {
			return fmt.Errorf("%v has two fields with the name %s in JSON, and only one or none would be encoded", v.Type(), name)
		}
		names[name] = true
		isOmitted := strings.Contains(options, "omitempty") && (value.Kind() == reflect.Slice || value.Kind() == reflect.Map) && value.Len() == 0
		if isOmitted {
			continue
		}
		if err := lost(value); err != nil {
			return err
		}
	}
	return nil
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
