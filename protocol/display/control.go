package display

import (
	"fmt"
	"strconv"
	"strings"

	"scorel/protocol"
)

func compact(b *protocol.Compact) Item {
	return Item{Kind: Folded, Title: fmt.Sprintf("Earlier conversation summarised (%s to %s tokens)", thousands(b.TokensBefore), thousands(b.TokensAfter)), Text: Text(b.Summary)}
}

func branchSummary(b *protocol.BranchSummary) Item {
	return Item{Kind: Folded, Title: "Summary of the branch that was left", Text: Text(b.Summary), Ref: b.FromEventID}
}

func customMessage(b *protocol.CustomMessage) Item {
	if r, output, ok := protocol.ShellOf(b); ok {
		return shell(r, output, b.Message.Role)
	}
	return Item{Kind: Custom, Role: b.Message.Role, Title: Line(b.Kind), Text: blocksText(b.Message.Content)}
}

// shell says how a command of a person went. The role is internal where no model is told
// of it.
func shell(r protocol.ShellResult, output string, role protocol.Role) Item {
	item := Item{Kind: Shell, Role: role, Title: Line(r.Command), Text: Text(output), Status: OK}
	switch {
	case r.Cancelled:
		item.Status = Cancelled
	case r.Lost || r.TimedOut || r.Failed != "" || r.ExitCode == nil || *r.ExitCode != 0:
		item.Status = Failed
	}
	return item
}

func harnessItem(b *protocol.HarnessItem) Item {
	if n, ok := protocol.ProtectedOf(b.Item); ok {
		return protected(n)
	}
	item := Item{Title: itemTitle(b.Item.Kind), Text: Text(b.Item.Content)}
	if title, ok := taskTitle(b.Item); ok {
		item.Title = title
	}
	switch b.Item.Visibility {
	case protocol.VisibilityDisplay:
		item.Kind = Notice
	case protocol.VisibilityCompact:
		item.Kind = Folded
	default:
		item.Kind = Hidden
	}
	return item
}

func itemTitle(k protocol.ItemKind) string {
	switch k {
	case protocol.ItemAttachment:
		return "Attachment"
	case protocol.ItemSkillListing, protocol.ItemSkillDelta:
		return "Skills"
	case protocol.ItemMemory:
		return "Memory"
	case protocol.ItemDateChange:
		return "Date"
	case protocol.ItemMode:
		return "Permission mode"
	case protocol.ItemToolChange, protocol.ItemToolDiscovery:
		return "Tools"
	case protocol.ItemHookContext:
		return "Hook"
	case protocol.ItemChannelContext:
		return "Channel"
	case protocol.ItemRuntimeNotice:
		return "Note to the model"
	case protocol.ItemLogDamage:
		return "The log of this session is damaged"
	}
	return Line(string(k))
}

func rewind(b *protocol.Rewind) Item {
	if b.TargetEventID == nil {
		return Item{Kind: Marker, Title: "Rewound to the beginning"}
	}
	return Item{Kind: Marker, Title: "Rewound", Ref: *b.TargetEventID}
}

func sessionInfo(b *protocol.SessionInfo) Item {
	var parts []string
	add := func(what string, value *string) {
		if value != nil {
			parts = append(parts, what+" "+Line(*value))
		}
	}
	add("Name:", b.Changes.Name)
	add("Model:", b.Changes.Model)
	add("Thinking:", b.Changes.ThinkingLevel)
	add("Working directory:", b.Changes.WorkDir)
	if b.Mode != "" {
		add("Permission mode:", &b.Mode)
	}
	if len(parts) == 0 {
		return Item{Kind: Hidden}
	}
	return Item{Kind: Notice, Text: strings.Join(parts, "\n")}
}

func label(b *protocol.Label) Item {
	item := Item{Kind: Label, Ref: b.TargetEventID}
	if b.Label != nil {
		item.Title = Line(*b.Label)
	}
	return item
}

func instructions(b *protocol.InstructionSnapshot) Item {
	item := Item{Kind: Detail, Title: "System prompt", Text: Text(b.Snapshot.Text)}
	if len(b.Snapshot.Cut) > 0 {
		item.Status = Partial
		item.Title = "System prompt (cut: " + Line(strings.Join(b.Snapshot.Cut, ", ")) + ")"
	}
	return item
}

func queue(b *protocol.QueueUpdate) Item {
	item := Item{Kind: Queue, Title: Line(string(b.Queue))}
	if b.Paused {
		item.Status = Paused
	}
	for _, q := range b.Items {
		item.Parts = append(item.Parts, Item{Kind: Bubble, Role: protocol.RoleUser, Text: blocksText(q.Content)})
	}
	return item
}

func permissionDecision(b *protocol.PermissionDecision) Item {
	item := Item{Kind: Audit, ToolCallID: Line(b.ToolCallID), Text: Text(b.Reason), Status: Denied}
	verb := "Denied"
	if b.Decision == protocol.DecisionAllow {
		verb, item.Status = "Allowed", Allowed
	}
	switch {
	case b.Scope == "rule" && b.Rule != "":
		item.Title = verb + " by the rule " + Line(b.Rule)
	case b.Rule != "":
		item.Title = verb + " (" + Line(b.Scope) + "): " + Line(b.Rule)
	case b.Scope != "":
		item.Title = verb + " (" + Line(b.Scope) + ")"
	default:
		item.Title = verb
	}
	return item
}

func fileSnapshot(b *protocol.FileSnapshot) Item {
	item := Item{Kind: Checkpoint, ToolCallID: Line(b.ToolCallID), Title: Line(b.Path), Status: OK}
	if !b.Restorable {
		item.Status, item.Text = Failed, "cannot be restored"
	}
	return item
}

func repair(b *protocol.Repair) Item {
	places := "1 place"
	if n := len(b.Gaps); n != 1 {
		places = thousands(n) + " places"
	}
	return Item{Kind: Notice, Text: "The log of this session was repaired: what was damaged in " + places + " is missing from here on."}
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
