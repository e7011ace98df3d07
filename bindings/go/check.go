package histcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strings"
)

// Verdict is the verdict of a check.
type Verdict string

// The verdicts. Unknown means that the search reached a limit, or that the history had nothing to check.
const (
	Valid   Verdict = "true"
	Invalid Verdict = "false"
	Unknown Verdict = "unknown"
)

// Report is the result of a check.
type Report struct {
	Verdict   Verdict
	Anomalies map[string]Anomaly
	Notes     []string
	// JSON is the whole report, as the command wrote it.
	JSON json.RawMessage
}

// Anomaly describes the anomalies of one type: their number, and witnesses.
type Anomaly struct {
	Count     int       `json:"count"`
	Witnesses []Witness `json:"witnesses"`
}

// Witness explains one anomaly.
type Witness struct {
	Explanation string `json:"explanation"`
}

// String returns the verdict, the first explanation of each type of anomaly in the order of names, and the notes.
func (r *Report) String() string {
	text := "verdict: " + string(r.Verdict)
	names := make([]string, 0, len(r.Anomalies))
	for name := range r.Anomalies {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		anomaly := r.Anomalies[name]
		text += fmt.Sprintf("\n%s (%d)", name, anomaly.Count)
		if len(anomaly.Witnesses) > 0 {
			text += "\n" + anomaly.Witnesses[0].Explanation
		}
	}
	for _, note := range r.Notes {
		text += "\n" + note
	}
	return text
}

// Run checks a history in any format. The arguments are those of the command, such as "-m", "cas-register". An error means that
// the command failed, or that the history cannot be checked; a violation is in the report.
func Run(history []byte, arguments ...string) (*Report, error) {
	command := os.Getenv("HISTCHECK")
	if command == "" {
		command = "histcheck"
	}
	run := exec.Command(command, append(append([]string{}, arguments...), "--output", "json", "-")...)
	run.Stdin = bytes.NewReader(history)
	var out, errs bytes.Buffer
	run.Stdout, run.Stderr = &out, &errs
	err := run.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 2 || exit.ExitCode() < 0) {
		return nil, fmt.Errorf("histcheck: %w: %s", err, strings.TrimSpace(errs.String()))
	}
	var line struct {
		Valid     json.RawMessage    `json:"valid"`
		Anomalies map[string]Anomaly `json:"anomalies"`
		Notes     []string           `json:"notes"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		return nil, fmt.Errorf("histcheck: cannot read the report: %w: %s", err, strings.TrimSpace(errs.String()))
	}
	report := &Report{Anomalies: line.Anomalies, Notes: line.Notes, JSON: out.Bytes()}
	switch verdict := strings.Trim(string(line.Valid), `"`); Verdict(verdict) {
	case Valid, Invalid, Unknown:
		report.Verdict = Verdict(verdict)
	default:
		return nil, fmt.Errorf("histcheck: the report has no verdict: %s", out.String())
	}
	return report, nil
}

// T is the part of *testing.T that Check uses.
type T interface {
	Helper()
	Fatalf(format string, arguments ...any)
}

// Check fails the test unless the history of the recorder is valid. The arguments are those of the command: "-m", "cas-register".
// The test also fails if the verdict is unknown: a test that checks nothing should not pass.
func Check(t T, recorder *Recorder, arguments ...string) *Report {
	t.Helper()
	history, err := recorder.History()
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	report, err := Run(history, arguments...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	if report.Verdict != Valid {
		t.Fatalf("%v", report)
	}
	return report
}
