package protocol

// StoredClass says how the persistent events of a type behave, and whether this version
// knows the type.
func StoredClass(t []byte) (class Class, known bool) {
	switch EventType(t) {
	case TypeMessage, TypeCompact, TypeCustomMessage, TypeHarnessItem, TypeBranchSummary:
		return Conversation, true
	case TypeRewind, TypeBranch, TypeChannelInject, TypeSessionInfo, TypeCustom, TypeLabel, TypeInstructionSnapshot, TypeQueueUpdate,
		TypeSkillIndexSnapshot, TypeSkillIndexDelta, TypePermissionDecision, TypeFileSnapshot, TypeContextCut, TypeRepair:
		return Control, true
	}
	return Conversation, false
}

// newBody makes an empty body of a known type, nil for an unknown one. A switch
// and not a map, so that starting the program allocates nothing.
func newBody(t EventType) Body {
	switch t {
	case TypeMessage:
		return &MessageBody{}
	case TypeCompact:
		return &Compact{}
	case TypeCustomMessage:
		return &CustomMessage{}
	case TypeHarnessItem:
		return &HarnessItem{}
	case TypeBranchSummary:
		return &BranchSummary{}
	case TypeRewind:
		return &Rewind{}
	case TypeBranch:
		return &Branch{}
	case TypeChannelInject:
		return &ChannelInject{}
	case TypeSessionInfo:
		return &SessionInfo{}
	case TypeCustom:
		return &Custom{}
	case TypeLabel:
		return &Label{}
	case TypeInstructionSnapshot:
		return &InstructionSnapshot{}
	case TypeQueueUpdate:
		return &QueueUpdate{}
	case TypeSkillIndexSnapshot:
		return &SkillIndexSnapshot{}
	case TypeSkillIndexDelta:
		return &SkillIndexDelta{}
	case TypePermissionDecision:
		return &PermissionDecision{}
	case TypeFileSnapshot:
		return &FileSnapshot{}
	case TypeContextCut:
		return &ContextCut{}
	case TypeRepair:
		return &Repair{}
	case TypeMessageStart:
		return &MessageStart{}
	case TypeTextDelta:
		return &TextDelta{}
	case TypeThinkingDelta:
		return &ThinkingDelta{}
	case TypeToolCallDelta:
		return &ToolCallDelta{}
	case TypeToolExecutionStart:
		return &ToolExecutionStart{}
	case TypeToolExecutionUpdate:
		return &ToolExecutionUpdate{}
	case TypeToolExecutionEnd:
		return &ToolExecutionEnd{}
	case TypeTurnStart:
		return &TurnStart{}
	case TypeTurnEnd:
		return &TurnEnd{}
	case TypeRuntimeStart:
		return &RuntimeStart{}
	case TypeRuntimeEnd:
		return &RuntimeEnd{}
	case TypeMessageCancelled:
		return &MessageCancelled{}
	case TypeToolProcess:
		return &ToolProcess{}
	case TypeNotice:
		return &Notice{}
	case TypeUIState:
		return &UIState{}
	case TypePermissionRequest:
		return &PermissionRequest{}
	case TypePermissionResolved:
		return &PermissionResolved{}
	case TypeRetry:
		return &Retry{}
	case TypeUIRequest:
		return &UIRequest{}
	case TypeUIResolved:
		return &UIResolved{}
	case TypeTodos:
		return &Todos{}
	case TypeTaskUpdate:
		return &TaskUpdate{}
	}
	return nil
}

// internType gives the constant for a known type, so that an index of many
// events does not hold many copies of "message".
func internType(s []byte) EventType {
	switch EventType(s) {
	case TypeMessage:
		return TypeMessage
	case TypeCompact:
		return TypeCompact
	case TypeHarnessItem:
		return TypeHarnessItem
	case TypePermissionDecision:
		return TypePermissionDecision
	case TypeFileSnapshot:
		return TypeFileSnapshot
	}
	return EventType(s)
}
