// A register with compare-and-set, as a model for histcheck:
//
//	go build cas_register.go
//	histcheck -m linearizable --spec exec:./cas_register history.edn
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
	"reflect"
)

type op struct {
	F     string `json:"f"`
	Value any    `json:"value"`
}

type message struct {
	Hello *struct{} `json:"hello"`
	Start *struct {
		Initial any `json:"initial"`
	} `json:"start"`
	Step *struct {
		State any  `json:"state"`
		Ops   []op `json:"ops"`
	} `json:"step"`
}

// step returns the states to which an operation may lead, or why it has none.
func step(state any, op op) any {
	switch op.F {
	case "read":
		// A read without a value may have returned any state.
		if op.Value == nil || reflect.DeepEqual(op.Value, state) {
			return []any{state}
		}
		return []any{}
	case "write":
		return []any{op.Value}
	default:
		pair, ok := op.Value.([]any)
		if !ok || len(pair) != 2 {
			return map[string]any{"error": "expected [old new]"}
		}
		if reflect.DeepEqual(pair[0], state) {
			return []any{pair[1]}
		}
		return []any{}
	}
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	// Numbers keep all their digits.
	in.UseNumber()
	out := json.NewEncoder(os.Stdout)
	for in.More() {
		var asked message
		if err := in.Decode(&asked); err != nil {
			log.Fatal(err)
		}
		var answer map[string]any
		switch {
		case asked.Hello != nil:
			answer = map[string]any{"hello": map[string]any{
				"protocol": 1, "kind": "model", "name": "cas-register",
				"ops": []string{"read", "write", "cas"}, "reads": []string{"read"}, "shows": []string{"read", "cas"},
			}}
		case asked.Start != nil:
			answer = map[string]any{"started": map[string]any{"state": asked.Start.Initial}}
		case asked.Step != nil:
			states := make([]any, 0, len(asked.Step.Ops))
			for _, op := range asked.Step.Ops {
				states = append(states, step(asked.Step.State, op))
			}
			answer = map[string]any{"states": states}
		}
		if err := out.Encode(answer); err != nil {
			log.Fatal(err)
		}
	}
}
