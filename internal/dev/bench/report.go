package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// report is what bench.json holds.
type report struct {
	Head    head      `json:"head"`
	Peers   string    `json:"peers"` // when and where theirs were measured
	Figures []figure  `json:"figures"`
	Failed  []failure `json:"failed,omitempty"`
}

// failure names a group of figures that could not be measured, or not to its end.
type failure struct {
	Group string `json:"group"`
	Error string `json:"error"`
}

// table prints the figures that have a goal, and the others that have none.
func (r report) table(w io.Writer) error {
	fmt.Fprintln(w, r.Head)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tunit\tours: median (min–max)\tgoal\tpeers\t")
	missed := 0
	for _, f := range r.Figures {
		goal, verdict := "–", ""
		if f.Goal > 0 {
			sign := "≤"
			if f.AtLeast {
				sign = "≥"
			}
			goal, verdict = sign+" "+number(f.Goal), "ok"
			if !f.ok() {
				verdict = "miss"
				missed++
			}
		}
		var theirs []string
		for _, p := range f.Peers {
			theirs = append(theirs, number(p.Value)+" "+p.Peer)
		}
		fmt.Fprintf(t, "%s\t%s\t%s (%s–%s)\t%s\t%s\t%s\n", f.Name, f.Unit, number(f.Median), number(f.Values.min()),
			number(f.Values.max()), goal, strings.Join(theirs, ", "), verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Failed {
		fmt.Fprintf(w, "not measured to the end: %s: %s\n", f.Group, f.Error)
	}
	_, err := fmt.Fprintf(w, "peers: %s, not run here. RSS is VmHWM, PSS and anonymous are read while the model has the last request. %d missed.\n", r.Peers, missed)
	return err
}

// number writes a value with three digits, or whole.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

func (r report) save(name string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o600)
}
