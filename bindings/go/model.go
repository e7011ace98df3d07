package histcheck

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Model defines the steps of an object. States are JSON values: nil, bool, json.Number, string, []any, map[string]any.
type Model struct {
	// Name is used in messages.
	Name string
	// Ops are the functions of the object, Reads those of them that never change it, and Shows those whose result could be wrong.
	Ops, Reads, Shows []string
	// Initial returns the initial state, from the value of --initial, which is nil without that option.
	Initial func(initial any) (any, error)
	// Step returns the states to which an operation may lead; none if the object could not have returned this result. It must
	// depend only on its arguments.
	Step func(state any, op Op) ([]any, error)
}

// Op is an operation. Type is "ok", with the value of its completion, or "info", with that of its invocation.
type Op struct {
	F     string `json:"f"`
	Type  string `json:"type"`
	Value any    `json:"value"`
}

// Serve reads the requests of histcheck from in and writes the responses to out, until in ends. A program whose main calls
// Serve(os.Stdin, os.Stdout) is a model for histcheck -m linearizable --spec exec:./PROGRAM.
func (m *Model) Serve(in io.Reader, out io.Writer) error {
	questions := json.NewDecoder(bufio.NewReader(in))
	// Numbers keep all their digits.
	questions.UseNumber()
	answers := json.NewEncoder(out)
	for {
		var asked struct {
			Hello *struct{} `json:"hello"`
			Start *struct {
				Initial any `json:"initial"`
			} `json:"start"`
			Step *struct {
				State any  `json:"state"`
				Ops   []Op `json:"ops"`
			} `json:"step"`
		}
		if err := questions.Decode(&asked); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var answer map[string]any
		switch {
		case asked.Hello != nil:
			answer = map[string]any{"hello": map[string]any{
				"protocol": 1, "kind": "model", "name": m.Name,
				"ops": list(m.Ops), "reads": list(m.Reads), "shows": list(m.Shows),
			}}
		case asked.Start != nil:
			answer = m.started(asked.Start.Initial)
		case asked.Step != nil:
			states := make([]any, 0, len(asked.Step.Ops))
			for _, op := range asked.Step.Ops {
				states = append(states, m.states(asked.Step.State, op))
			}
			answer = map[string]any{"states": states}
		default:
			return fmt.Errorf("histcheck: expected hello, start or step")
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}

func (m *Model) started(initial any) map[string]any {
	if m.Initial == nil {
		return map[string]any{"started": map[string]any{"state": initial}}
	}
	state, err := m.Initial(initial)
	if err != nil {
		return map[string]any{"refused": map[string]any{"option": "initial", "message": err.Error()}}
	}
	return map[string]any{"started": map[string]any{"state": state}}
}

func (m *Model) states(state any, op Op) any {
	states, err := m.Step(state, op)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	if states == nil {
		// The result must be an empty list, not null.
		return []any{}
	}
	return states
}

func list(names []string) []string {
	return append([]string{}, names...)
}
