package health

import (
	"fmt"
	"slices"
	"strings"

	"scorel/protocol"
)

// Kind names a kind of damage.
type Kind string

// The kinds of findings.
const (
	TailCut        Kind = "tail_cut"       // bytes after the last whole event were set aside
	Tail           Kind = "tail"           // such bytes stand there still
	CutWhileOpen   Kind = "cut_while_open" // bytes at the end are gone; only of a log that a host has open
	MissingParent  Kind = "missing_parent" // an event's parent is not before it
	RepeatedID     Kind = "repeated_id"
	RepeatedHeader Kind = "repeated_header"
	RepeatedSeq    Kind = "repeated_seq"
	Disorder       Kind = "disorder" // a seq is lower than one before it
	DamagedLine    Kind = "damaged_line"
	DamagedHeader  Kind = "damaged_header"
	ChangedHeader  Kind = "changed_header"  // its checksum is wrong
	Changed        Kind = "changed"         // a conversation event's checksum is wrong
	ChangedControl Kind = "changed_control" // a control event's is, or NULs stand in it
	Unreadable     Kind = "unreadable"      // a conversation event cannot be decoded
	MissingLines   Kind = "missing_lines"   // an event follows on one that is not there
	UnknownTarget  Kind = "unknown_target"  // a move goes to an event that is not there
	OddType        Kind = "odd_type"        // an old control event of no known type names a place to go on from
	LeafProved     Kind = "leaf_proved"     // the event shows where the leaf was after damage
	NewerVersion   Kind = "newer_version"
	NULRun         Kind = "nul_run"
	NoNewline      Kind = "no_newline"
	JoinedLines    Kind = "joined_lines"
	CRLF           Kind = "crlf"
	BOM            Kind = "bom"
	BlobMissing    Kind = "blob_missing"    // only by Verify and Import
	BlobDamaged    Kind = "blob_damaged"    // only by Verify and Import
	BlobUnread     Kind = "blob_unreadable" // only by Verify
	BlobUnnamed    Kind = "blob_unnamed"    // only by Import
)

// Finding is one piece of damage. Offset is in bytes from the start of the file.
// Line counts from 1, the header; it is 0 where lines were not counted.
type Finding struct {
	Kind    Kind
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
	case f.Offset == 0 && (f.Kind == BlobMissing || f.Kind == BlobDamaged || f.Kind == BlobUnnamed): // of an import
		where = ""
	}
	var what string
	switch f.Kind {
	case TailCut:
		what = "the end of the log was damaged and has been set aside"
	case Tail:
		what = "the end of the log is damaged or unfinished"
	case CutWhileOpen:
		what = "another program has cut the log while it was open; what stood behind is lost"
	case MissingParent:
		what = "the event before this one is missing"
	case MissingLines:
		what = "lines before this one are missing"
	case Changed:
		what = "an event was changed after it was written; it is shown and sent with a mark"
	case ChangedControl:
		what = "an event was changed after it was written and does not count"
	case Unreadable:
		what = "an event is damaged inside and cannot be read"
	case UnknownTarget:
		what = "the conversation was moved to an event that is missing"
	case OddType:
		what = "an event of an unknown type names a place to continue from, and may be a damaged move"
	case LeafProved:
		what = "the message here shows where the conversation continues after the damage"
	case ChangedHeader:
		what = "the header was changed after it was written; name, folder or model of the session may be wrong"
	case NewerVersion:
		what = "the log was written by a later version of Scorel"
	case RepeatedHeader:
		what = "the header is there twice; the second is ignored"
	case RepeatedID:
		what = "an event is there twice; the second is ignored"
	case RepeatedSeq:
		what = "an event has the number of another and is ignored"
	case Disorder:
		what = "an event is out of order"
	case DamagedLine:
		what = "a line is damaged"
	case DamagedHeader:
		what = "the header is damaged; name and model of the session are lost, its events are not"
	case NULRun:
		what = "there is a run of NUL bytes"
	case NoNewline:
		what = "the last line had no line end"
	case JoinedLines:
		what = "several lines are joined in one; whole events in it are used"
	case CRLF:
		what = "lines end as on Windows"
	case BOM:
		what = "the file begins with a byte order mark"
	case BlobMissing:
		what = "a file that an event names is missing"
	case BlobDamaged:
		what = "a file that an event names has other content"
	case BlobUnread:
		what = "a file that an event names cannot be read"
	case BlobUnnamed:
		what = "files that no event names are in the bundle"
	default:
		what = string(f.Kind)
	}
	if f.Detail != "" {
		what += " (" + f.Detail + ")"
	}
	return where + what
}

// Repairable reports whether the finding is a gap that a repair names, so that it counts
// as known.
func (f Finding) Repairable() bool {
	switch f.Kind {
	case MissingParent, MissingLines, UnknownTarget, OddType, LeafProved:
		return true
	}
	return false
}

// Stays reports whether a repair leaves what was found as it is.
func (f Finding) Stays() bool {
	switch f.Kind {
	case Changed, BlobMissing, BlobDamaged, BlobUnread:
		return true
	}
	return false
}

// Max bounds a report: a log of a million bad lines is as well described
// by the first thousand and a count.
const Max = 1000

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

// Has reports whether there is a finding of the kind.
func (r Report) Has(kind Kind) bool {
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

// Passing reports whether what was found is found only once: opening the log has set it
// right.
func (r Report) Passing() bool {
	return r.SetAside != "" || slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == DamagedHeader && f.Line == 0 })
}

// harmless reports whether nothing is lost by what was found.
func (f Finding) harmless() bool {
	switch f.Kind {
	case NoNewline, JoinedLines, CRLF, BOM, RepeatedID, RepeatedHeader, LeafProved:
		return true
	}
	return false
}

// Names reports whether there is a finding of the kind about an event.
func (r Report) Names(kind Kind, id protocol.EventID) bool {
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

func (r *Report) Add(f Finding) {
	if len(r.Findings) >= Max {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}
