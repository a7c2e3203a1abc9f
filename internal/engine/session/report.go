package session

import (
	"fmt"
	"slices"
	"strings"

	"scorel/protocol"
)

// FindingKind names a kind of damage.
type FindingKind string

// The kinds of findings.
const (
	FindTailCut        FindingKind = "tail_cut"       // bytes after the last whole event were set aside
	FindTail           FindingKind = "tail"           // such bytes stand there still
	FindMissingParent  FindingKind = "missing_parent" // an event's parent is not before it
	FindRepeatedID     FindingKind = "repeated_id"
	FindRepeatedSeq    FindingKind = "repeated_seq"
	FindDisorder       FindingKind = "disorder" // a seq is lower than one before it
	FindDamagedLine    FindingKind = "damaged_line"
	FindDamagedHeader  FindingKind = "damaged_header"
	FindChangedHeader  FindingKind = "changed_header"  // its checksum is wrong
	FindChanged        FindingKind = "changed"         // a conversation event's checksum is wrong
	FindChangedControl FindingKind = "changed_control" // a control event's is, or NULs stand in it
	FindUnreadable     FindingKind = "unreadable"      // a conversation event cannot be decoded
	FindMissingLines   FindingKind = "missing_lines"   // an event follows on one that is not there
	FindUnknownTarget  FindingKind = "unknown_target"  // a move goes to an event that is not there
	FindOddType        FindingKind = "odd_type"        // an old control event of no known type names a place to go on from
	FindLeafProved     FindingKind = "leaf_proved"     // the event shows where the leaf was behind damage
	FindNewerVersion   FindingKind = "newer_version"
	FindNULRun         FindingKind = "nul_run"
	FindNoNewline      FindingKind = "no_newline"
	FindJoinedLines    FindingKind = "joined_lines"
	FindCRLF           FindingKind = "crlf"
	FindBOM            FindingKind = "bom"
	FindBlobMissing    FindingKind = "blob_missing"    // only by Verify
	FindBlobDamaged    FindingKind = "blob_damaged"    // only by Verify
	FindBlobUnread     FindingKind = "blob_unreadable" // only by Verify
	FindBlobUnnamed    FindingKind = "blob_unnamed"    // only by Import
)

// Finding is one piece of damage. Offset is in bytes from the start of the file.
// Line counts from 1, the header; it is 0 where lines were not counted.
type Finding struct {
	Kind    FindingKind
	Offset  int64
	Line    int
	EventID protocol.EventID // the event concerned, if there is one
	Detail  string
}

// Sentence says it for people.
func (f Finding) Sentence() string {
	where := fmt.Sprintf("at byte %d: ", f.Offset)
	switch {
	case f.Line > 0:
		where = fmt.Sprintf("line %d: ", f.Line)
	case f.Offset == 0 && (f.Kind == FindBlobMissing || f.Kind == FindBlobUnnamed): // of an import
		where = ""
	}
	var what string
	switch f.Kind {
	case FindTailCut:
		what = "the end of the log was damaged and has been set aside"
	case FindTail:
		what = "the end of the log is damaged or unfinished"
	case FindMissingParent:
		what = "the event before this one is missing"
	case FindMissingLines:
		what = "lines before this one are missing"
	case FindChanged:
		what = "an event was changed after it was written; it is shown and sent with a mark"
	case FindChangedControl:
		what = "an event was changed after it was written and does not count"
	case FindUnreadable:
		what = "an event is damaged inside and cannot be read"
	case FindUnknownTarget:
		what = "the conversation was moved to an event that is missing"
	case FindOddType:
		what = "an event of an unknown type names a place to go on from, and may be a damaged move"
	case FindLeafProved:
		what = "the message here shows where the conversation goes on behind the damage"
	case FindChangedHeader:
		what = "the header was changed after it was written; name, folder or model of the session may be wrong"
	case FindNewerVersion:
		what = "the log was written by a later version of Scorel"
	case FindRepeatedID:
		what = "an event stands there twice; the second is ignored"
	case FindRepeatedSeq:
		what = "an event has the number of another and is ignored"
	case FindDisorder:
		what = "an event stands out of order"
	case FindDamagedLine:
		what = "a line is damaged"
	case FindDamagedHeader:
		what = "the header is damaged; name and model of the session are lost, its events are not"
	case FindNULRun:
		what = "a run of NUL bytes stands there"
	case FindNoNewline:
		what = "the last line had no line end"
	case FindJoinedLines:
		what = "several lines are joined in one; whole events in it are used"
	case FindCRLF:
		what = "lines end as on Windows"
	case FindBOM:
		what = "the file begins with a byte order mark"
	case FindBlobMissing:
		what = "a file that an event names is missing"
	case FindBlobDamaged:
		what = "a file that an event names has other content"
	case FindBlobUnread:
		what = "a file that an event names cannot be read"
	case FindBlobUnnamed:
		what = "files that no event names stand in the bundle"
	default:
		what = string(f.Kind)
	}
	if f.Detail != "" {
		what += " (" + f.Detail + ")"
	}
	return where + what
}

// repairable says whether the finding is a gap that a repair names, so that it counts
// as known.
func (f Finding) repairable() bool {
	switch f.Kind {
	case FindMissingParent, FindMissingLines, FindUnknownTarget, FindOddType, FindLeafProved:
		return true
	}
	return false
}

// stays says whether a repair leaves what was found as it is.
func (f Finding) stays() bool {
	switch f.Kind {
	case FindChanged, FindBlobMissing, FindBlobDamaged, FindBlobUnread:
		return true
	}
	return false
}

// maxFindings bounds a report: a log of a million bad lines is as well described
// by the first thousand and a count.
const maxFindings = 1000

// Report is what was found wrong with a log. The zero value is a sound log.
type Report struct {
	Findings []Finding
	More     int    // findings beyond the first thousand
	SetAside string // the file that keeps the damaged end, if one was cut off
	ReadOnly string // why the log takes no events; empty if it does
	// NeedsLeaf says that ReadOnly ends when the leaf is picked: where the conversation
	// goes on is not known.
	NeedsLeaf bool
}

// Clean says that nothing was found.
func (r Report) Clean() bool { return len(r.Findings) == 0 && r.ReadOnly == "" }

// Has says whether there is a finding of the kind.
func (r Report) Has(kind FindingKind) bool {
	for _, f := range r.Findings {
		if f.Kind == kind {
			return true
		}
	}
	return false
}

// maxSummary is how many findings a summary spells out.
const maxSummary = 3

// Summary says in one sentence what was lost or changed, for a model and for people; it
// is empty when nothing was.
func (r Report) Summary() string {
	var parts []string
	more := r.More
	for _, f := range r.Findings {
		switch {
		case f.harmless():
		case len(parts) == maxSummary:
			more++
		default:
			parts = append(parts, f.Sentence())
		}
	}
	if len(parts) == 0 {
		return ""
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more places", more))
	}
	return "The log of this conversation was found damaged when it was opened, so parts of the conversation may be missing or wrong: " + strings.Join(parts, "; ") + "."
}

// Passing says whether what was found is found only once: opening the log has set it
// right.
func (r Report) Passing() bool {
	return r.SetAside != "" || slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == FindDamagedHeader && f.Line == 0 })
}

// harmless says whether nothing is lost by what was found.
func (f Finding) harmless() bool {
	switch f.Kind {
	case FindNoNewline, FindJoinedLines, FindCRLF, FindBOM, FindRepeatedID, FindLeafProved:
		return true
	}
	return false
}

// names says whether there is a finding of the kind about an event.
func (r Report) names(kind FindingKind, id protocol.EventID) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == kind && f.EventID == id })
}

// Sentences says all of it for people, one sentence a finding.
func (r Report) Sentences() []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Sentence())
	}
	if r.More > 0 {
		out = append(out, fmt.Sprintf("and %d more findings", r.More))
	}
	if r.SetAside != "" {
		out = append(out, "the bytes that were cut off are kept in "+r.SetAside)
	}
	if r.ReadOnly != "" {
		out = append(out, "the session is read-only: "+r.ReadOnly)
	}
	return out
}

func (r *Report) add(f Finding) {
	if len(r.Findings) >= maxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}
