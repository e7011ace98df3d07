package histcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// register is a register with compare-and-set, and a number of operations that get no answer.
type register struct {
	mu    sync.Mutex
	value any
}

func (r *register) do(f string, value any) (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch f {
	case "read":
		return r.value, nil
	case "write":
		r.value = value
	default:
		pair := value.([]int)
		if r.value != pair[0] {
			return nil, errors.New("another value")
		}
		r.value = pair[1]
	}
	return value, nil
}

func record(clients, ops int) *Recorder {
	recorder, store := NewRecorder(), &register{}
	var all sync.WaitGroup
	for number := 0; number < clients; number++ {
		all.Add(1)
		go func(number int, client *Client) {
			defer all.Done()
			for at := 0; at < ops; at++ {
				f, value := "read", any(nil)
				switch (number + at) % 3 {
				case 1:
					f, value = "write", at%5
				case 2:
					f, value = "cas", []int{at % 5, (at + 1) % 5}
				}
				op := client.Invoke(f, value)
				result, err := store.do(f, value)
				switch {
				case err != nil:
					op.Fail(err)
				case at%17 == 16:
					op.Info(errors.New("no answer"))
				default:
					op.Ok(result)
				}
			}
		}(number, recorder.Client())
	}
	all.Wait()
	return recorder
}

func TestConcurrentClientsAreLinearizable(t *testing.T) {
	recorder := record(4, 60)
	report := Check(t, recorder, "-m", "cas-register")
	if len(report.Anomalies) != 0 {
		t.Fatal(report)
	}
	history, err := recorder.History()
	if err != nil {
		t.Fatal(err)
	}
	validate := exec.Command(os.Getenv("HISTCHECK"), "validate", "-")
	validate.Stdin = bytes.NewReader(history)
	if out, err := validate.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := recorder.Save(path); err != nil {
		t.Fatal(err)
	}
	if saved, err := os.ReadFile(path); err != nil || !bytes.Equal(saved, history) {
		t.Fatal(err)
	}
}

// failures records how a test fails, instead of failing.
type failures struct{ text string }

func (f *failures) Helper() {}
func (f *failures) Fatalf(format string, arguments ...any) {
	f.text += fmt.Sprintf(format, arguments...)
}

func TestAViolationFailsTheTestWithItsExplanation(t *testing.T) {
	recorder := NewRecorder()
	client := recorder.Client()
	client.Invoke("write", 1).Ok(1)
	client.Invoke("read", nil).Ok(2)
	failed := &failures{}
	report := Check(failed, recorder, "-m", "register")
	if report.Verdict != Invalid || !strings.Contains(failed.text, "nonlinearizable (1)\nLet:") {
		t.Fatal(failed.text)
	}
	failed = &failures{}
	unanswered := NewRecorder()
	unanswered.Client().Invoke("write", 1).Info(nil)
	if Check(failed, unanswered, "-m", "register").Verdict != Unknown || !strings.Contains(failed.text, "verdict: unknown") {
		t.Fatal("nothing was checked, and the test passed")
	}
}

func TestErrorsOfTheCommandAreErrors(t *testing.T) {
	if _, err := Run([]byte("{"), "-m", "register"); err == nil || !strings.Contains(err.Error(), "<stdin>") {
		t.Fatal(err)
	}
	if _, err := Run(nil, "-m", "no-such-checker"); err == nil || !strings.Contains(err.Error(), "no-such-checker") {
		t.Fatal(err)
	}
	recorder := NewRecorder()
	recorder.Client().Invoke("write", func() {}).Ok(nil)
	if _, err := recorder.History(); err == nil || !strings.Contains(err.Error(), "value of write") {
		t.Fatal(err)
	}
}

// node has fields that encoding/json does not encode.
type node struct {
	Name   string
	Parent *node `json:"-"`
	next   *node
}

func TestStringsThatAreNotUTF8AreErrors(t *testing.T) {
	bad := "a\xff"
	for _, value := range []any{bad, "\xed\xa0\x80", []any{1, bad}, [1]string{bad}, map[string]int{bad: 1}, map[int]any{1: &bad},
		struct{ A *string }{&bad}, &node{Name: bad}, struct{ node }{node{Name: bad}}} {
		recorder := NewRecorder()
		recorder.Client().Invoke("write", value)
		if _, err := recorder.History(); err == nil || !strings.Contains(err.Error(), "not valid UTF-8") {
			t.Fatal(value, err)
		}
	}
	recorder := NewRecorder()
	recorder.Client().Invoke(bad, nil)
	if _, err := recorder.History(); err == nil {
		t.Fatal("a name that is not UTF-8")
	}
	circle := &node{Name: "\ufffd\U0001f600<"}
	circle.Parent, circle.next = circle, circle
	for _, value := range []any{circle, []byte{0xff}, (*node)(nil), time.Unix(0, 0), json.RawMessage("[1]")} {
		recorder := NewRecorder()
		recorder.Client().Invoke("write", value).Fail(errors.New(bad))
		if _, err := recorder.History(); err != nil {
			t.Fatal(value, err)
		}
	}
}

// hidden has no field that encoding/json encodes.
type hidden struct{ value int }

// twice has two fields with the same name in JSON: encoding/json omits one of them.
type twice struct {
	A int `json:"B"`
	B int
}

// lists has a field that is omitted if it is empty.
type lists struct {
	A []int `json:"a,omitempty"`
	B int
}

func TestValuesThatWouldLoseSomethingAreErrors(t *testing.T) {
	for _, row := range []struct {
		value any
		why   string
	}{
		{hidden{1}, "no field that is encoded"}, {[]any{&hidden{1}}, "no field that is encoded"}, {errors.New("x"), "no field that is encoded"},
		{*big.NewInt(7), "no field that is encoded"}, {struct{ hidden }{hidden{1}}, "no field that is encoded"},
		{twice{1, 2}, "two fields with the name B"}, {map[string]any{"a": twice{1, 2}}, "two fields with the name B"},
		{struct {
			twice
			C int
		}{}, "two fields with the name B"},
		{[]int(nil), "a nil slice or map"}, {map[string]any(nil), "a nil slice or map"}, {[]any{[]byte(nil)}, "a nil slice or map"},
		{struct{ A []int }{}, "a nil slice or map"},
	} {
		recorder := NewRecorder()
		recorder.Client().Invoke("write", row.value)
		if _, err := recorder.History(); err == nil || !strings.Contains(err.Error(), row.why) {
			t.Fatalf("%#v: %v", row.value, err)
		}
	}
	for _, row := range []struct {
		value any
		json  string
	}{
		{nil, "null"}, {[]int{}, "[]"}, {map[string]int{}, "{}"}, {struct{}{}, "{}"}, {big.NewInt(7), "7"}, {lists{B: 1}, `{"B":1}`},
		{struct{ lists }{lists{A: []int{2}}}, `{"a":[2],"B":0}`},
	} {
		recorder := NewRecorder()
		recorder.Client().Invoke("write", row.value)
		history, err := recorder.History()
		if err != nil || !strings.Contains(string(history), `"value":`+row.json+`,"time"`) {
			t.Fatalf("%#v: %v: %s", row.value, err, history)
		}
	}
}

func TestTheInvocationIsKept(t *testing.T) {
	recorder := NewRecorder()
	client := recorder.Client()
	value := []int{1}
	write := client.Invoke("write", value)
	value[0] = 2
	write.Info(nil)
	write = client.Invoke("write", value)
	value[0] = 3
	write.Fail(nil)
	history, err := recorder.History()
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, line := range strings.Split(strings.TrimSpace(string(history)), "\n") {
		var op struct{ Value []int }
		if err := json.Unmarshal([]byte(line), &op); err != nil {
			t.Fatal(err)
		}
		values = append(values, fmt.Sprint(op.Value))
	}
	if strings.Join(values, " ") != "[1] [1] [2] [2]" {
		t.Fatal(values)
	}
}

// panics returns the value with which a function panicked, or nil.
func panics(does func()) (said any) {
	defer func() { said = recover() }()
	does()
	return nil
}

// bomb panics when it is encoded.
type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic("no JSON") }

func TestAClientGoesOnAfterAValueThatPanics(t *testing.T) {
	recorder := NewRecorder()
	client := recorder.Client()
	if panics(func() { client.Invoke("write", bomb{}) }) == nil {
		t.Fatal("an invocation was written")
	}
	op := client.Invoke("read", nil)
	if panics(func() { op.Ok(bomb{}) }) == nil {
		t.Fatal("a completion was written")
	}
	op.Info(nil)
	client.Invoke("read", nil).Ok(1)
	history, err := recorder.History()
	if err != nil || strings.Count(string(history), "\n") != 4 {
		t.Fatalf("%v: %s", err, history)
	}
}

func TestMisuseOfAClientPanics(t *testing.T) {
	client := NewRecorder().Client()
	op := client.Invoke("read", nil)
	if panics(func() { client.Invoke("read", nil) }) == nil {
		t.Fatal("two operations in flight")
	}
	op.Ok(1)
	if panics(func() { op.Ok(1) }) == nil {
		t.Fatal("completed twice")
	}
}

// casRegister is the model that TestMain serves when histcheck starts this program.
var casRegister = Model{
	Name: "cas-register", Ops: []string{"read", "write", "cas"}, Reads: []string{"read"}, Shows: []string{"read", "cas"},
	Step: func(state any, op Op) ([]any, error) {
		switch op.F {
		case "read":
			if op.Value == nil || reflect.DeepEqual(op.Value, state) {
				return []any{state}, nil
			}
			return nil, nil
		case "write":
			return []any{op.Value}, nil
		}
		pair, ok := op.Value.([]any)
		if !ok || len(pair) != 2 {
			return nil, errors.New("expected [old new]")
		}
		if reflect.DeepEqual(pair[0], state) {
			return []any{pair[1]}, nil
		}
		return nil, nil
	},
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		if err := casRegister.Serve(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func TestAModelInGoChecksWhatTheBuiltInOneChecks(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec := "exec:" + program + " serve"
	Check(t, record(3, 20), "-m", "linearizable", "--spec", spec, "--trust")
	recorder := NewRecorder()
	client := recorder.Client()
	client.Invoke("write", 1).Ok(1)
	client.Invoke("cas", []int{1, 2}).Ok([]int{1, 2})
	client.Invoke("read", nil).Ok(1)
	history, _ := recorder.History()
	report, err := Run(history, "-m", "linearizable", "--spec", spec, "--trust")
	if err != nil || report.Verdict != Invalid {
		t.Fatal(report, err)
	}
}
