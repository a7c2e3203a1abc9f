package display

import (
	"strings"

	"scorel/protocol"
)

func customMessage(b *protocol.CustomMessage) Item {
	if r, output, ok := protocol.ShellOf(b); ok {
		return shell(r, output, b.Message.Role)
	}
	return Item{Kind: Custom, Role: b.Message.Role, Title: Line(b.Kind), Text: blocksText(b.Message.Content)}
}

// shell returns how a command of a person went. The role is internal where no model is told
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
	case protocol.ItemSkillListing, protocol.ItemSkillDelta, protocol.ItemServerPrompts:
		return "Skills"
	case protocol.ItemMemory:
		return "Memory"
	case protocol.ItemInstructions:
		return "Instruction files"
	case protocol.ItemDateChange:
		return "Date"
	case protocol.ItemMode:
		return "Permission mode"
	case protocol.ItemToolChange, protocol.ItemToolDiscovery, protocol.ItemServers:
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

func extensionState(b *protocol.Custom) Item {
	if strings.HasPrefix(b.Kind, protocol.OwnKind) {
		return Item{Kind: Hidden}
	}
	return Item{Kind: Custom, Title: Line(b.Kind)}
}
