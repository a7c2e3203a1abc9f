package main

import (
	"regexp"
	"strings"
	"testing"
)

// referencePages returns the pages of the reference, and the anchors of each.
func referencePages(t *testing.T) (pages map[string]string, anchors map[string]map[string]int) {
	t.Helper()
	m, _ := built(t)
	c, err := contract(m)
	if err != nil {
		t.Fatal(err)
	}
	pages, anchors = map[string]string{}, map[string]map[string]int{}
	heading := regexp.MustCompile(`(?m)^#+ (.+)$`)
	for name, text := range markdown(c) {
		pages[name], anchors[name] = string(text), map[string]int{}
		for _, found := range heading.FindAllStringSubmatch(string(text), -1) {
			anchors[name][strings.ReplaceAll(strings.ToLower(found[1]), " ", "-")]++
		}
	}
	return pages, anchors
}

func TestTheLinksOfTheReferenceLeadToOneHeading(t *testing.T) {
	pages, anchors := referencePages(t)
	link := regexp.MustCompile(`\]\(([a-z]*\.?[a-z]*)#([^)]+)\)`)
	n := 0
	for name, text := range pages {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			page := found[1]
			if page == "" {
				page = name
			}
			if n++; anchors[page][found[2]] != 1 {
				t.Errorf("%s: %s leads to %d headings", name, found[0], anchors[page][found[2]])
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d links were found", n)
	}
}

// TestTheReferenceHasEverything: each request, event, frame and type that goes over the
// wire has a heading and says what its fields are.
func TestTheReferenceHasEverything(t *testing.T) {
	pages, anchors := referencePages(t)
	m, s := built(t)
	for _, p := range m.pairs {
		if anchors[requestsPage][p.name] != 1 {
			t.Errorf("the request %s has %d headings", p.name, anchors[requestsPage][p.name])
		}
	}
	for _, name := range s.order {
		if constant, ok := s.returns[name+".EventType"]; ok && name != "Unknown" {
			if wire, _ := s.constant("EventType", constant); anchors[eventsPage][wire] != 1 {
				t.Errorf("the event %s has %d headings", wire, anchors[eventsPage][wire])
			}
		}
		if wire, ok := s.returns[name+".FrameName"]; ok && anchors[framesPage][wire] != 1 {
			t.Errorf("the frame %s has %d headings", wire, anchors[framesPage][wire])
		}
	}
	c, err := contract(m)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join([]string{pages[requestsPage], pages[eventsPage], pages[framesPage], pages[typesPage]}, "")
	for _, d := range c.decls {
		for _, f := range d.fields {
			if !strings.Contains(all, "| `"+f.name+"` |") {
				t.Errorf("no table has %s.%s", d.name, f.name)
			}
		}
	}
}

func TestCommentsNameWhatStandsOnTheWire(t *testing.T) {
	m := &module{by: map[string]*decl{}, words: map[string]string{"GrantControl": "control"}}
	inner := []field{{name: "workDir", goName: "WorkDir"}}
	for _, d := range []*decl{{name: "Meta", fields: inner}, {name: "ProtocolError"}} {
		if err := m.add(d); err != nil {
			t.Fatal(err)
		}
	}
	fields := []field{{name: "meta", goName: "Meta", typ: ref("Meta")}, {name: "turnId", goName: "TurnID", typ: text}}
	doc := "It works in Meta.WorkDir,\nby [Meta.WorkDir]; TurnID is [Error], [GrantControl]\nor [Event.Seal].\n\nOther words stay, nil does not."
	want := "It works in meta.workDir, by workDir of Meta; turnId is ProtocolError, control or Event.Seal.\n\nOther words stay, null does not."
	if got := m.plainDoc(doc, fields); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
