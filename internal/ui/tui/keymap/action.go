package keymap

// Place says where an action counts. What has the focus has a place of its own, and
// Global counts everywhere else.
type Place string

// The places.
const (
	Global     Place = "global"
	Editor     Place = "editor"     // text that is typed
	Transcript Place = "transcript" // the conversation has the focus
	List       Place = "list"       // something is picked from a list or a tree
	Tree       Place = "tree"       // in addition to List
	Dialog     Place = "dialog"     // a question is open
	Agents     Place = "agents"     // the strip of agents in the background has the focus
	Agent      Place = "agent"      // in addition to Agents, and to Editor while an agent is shown and nothing is typed
)

// Action is what a key does. Its name is place.what.
type Action string

// The actions.
const (
	Quit           Action = "global.quit"
	Interrupt      Action = "global.interrupt"      // drop what is typed, else cancel the turn, else (twice) quit
	Suspend        Action = "global.suspend"        // to the shell, as other programs on Ctrl-Z
	Redraw         Action = "global.redraw"         //
	CycleMode      Action = "global.cycleMode"      // the permission mode
	CycleThinking  Action = "global.cycleThinking"  //
	PickModel      Action = "global.pickModel"      //
	PickSession    Action = "global.pickSession"    //
	OpenTree       Action = "global.openTree"       //
	ToggleScreen   Action = "global.toggleScreen"   // inline or the whole screen
	ToggleThinking Action = "global.toggleThinking" // fold or unfold thinking
	ToggleTools    Action = "global.toggleTools"    // fold or unfold tool calls and long messages
	ShowTasks      Action = "global.showTasks"      // the panel of background tasks
	ShowHelp       Action = "global.showHelp"       //
	FocusUp        Action = "global.focusTranscript"
	EditQueue      Action = "global.editQueue" // take queued messages back into the editor

	Submit         Action = "editor.submit"   // send; while a turn runs, as the setting says
	SubmitOther    Action = "editor.followUp" // while a turn runs, the other way
	Cancel         Action = "editor.cancel"   // close what is open, else cancel the turn; twice, while none runs: rewind
	NewLine        Action = "editor.newLine"
	Left           Action = "editor.left"
	Right          Action = "editor.right"
	Up             Action = "editor.up" // a line up, or the older input at the top
	Down           Action = "editor.down"
	WordLeft       Action = "editor.wordLeft"
	WordRight      Action = "editor.wordRight"
	LineStart      Action = "editor.lineStart"
	LineEnd        Action = "editor.lineEnd"
	TextStart      Action = "editor.textStart"
	TextEnd        Action = "editor.textEnd"
	DeleteBack     Action = "editor.deleteBack"
	DeleteForward  Action = "editor.deleteForward"
	DeleteWordBack Action = "editor.deleteWordBack"
	DeleteWord     Action = "editor.deleteWord"
	KillLine       Action = "editor.killLine"     // to the end of the line
	KillLineBack   Action = "editor.killLineBack" // to its beginning
	Yank           Action = "editor.yank"
	YankPop        Action = "editor.yankPop"
	Undo           Action = "editor.undo"
	Redo           Action = "editor.redo"
	Transpose      Action = "editor.transpose"
	HistoryOlder   Action = "editor.historyOlder"
	HistoryNewer   Action = "editor.historyNewer"
	HistorySearch  Action = "editor.historySearch"
	Complete       Action = "editor.complete"
	ExternalEditor Action = "editor.external"
	PasteImage     Action = "editor.pasteImage"
	ClearInput     Action = "editor.clear"

	ItemUp       Action = "transcript.itemUp"
	ItemDown     Action = "transcript.itemDown"
	ScrollUp     Action = "transcript.lineUp"
	ScrollDown   Action = "transcript.lineDown"
	PageUp       Action = "transcript.pageUp"
	PageDown     Action = "transcript.pageDown"
	ScrollTop    Action = "transcript.top"
	ScrollBottom Action = "transcript.bottom"
	Expand       Action = "transcript.expand"
	Whole        Action = "transcript.whole" // of what is cut
	Copy         Action = "transcript.copy"
	Search       Action = "transcript.search"
	SearchNext   Action = "transcript.searchNext"
	SearchBack   Action = "transcript.searchBack"
	Leave        Action = "transcript.leave" // back to the editor

	ListUp       Action = "list.up"
	ListDown     Action = "list.down"
	ListPageUp   Action = "list.pageUp"
	ListPageDown Action = "list.pageDown"
	ListTop      Action = "list.top"
	ListBottom   Action = "list.bottom"
	ListPick     Action = "list.pick"
	ListMark     Action = "list.mark" // where several may be picked
	ListClose    Action = "list.close"
	ListDelete   Action = "list.delete"
	ListRename   Action = "list.rename"
	ListPreview  Action = "list.preview"
	ListScope    Action = "list.scope" // this project or all
	ListMoveUp   Action = "list.moveUp"
	ListMoveDown Action = "list.moveDown"
	ListEdit     Action = "list.edit" // take what waits out of the list into the editor

	TreeFold       Action = "tree.fold"
	TreeUnfold     Action = "tree.unfold"
	TreeFilter     Action = "tree.filter"
	TreeFilterBack Action = "tree.filterBack"
	TreeLabel      Action = "tree.label"
	TreeTimes      Action = "tree.times"

	AgentsUp    Action = "agents.up"
	AgentsDown  Action = "agents.down"
	AgentsView  Action = "agents.view"
	AgentsLeave Action = "agents.leave"
	AgentEnd    Action = "agent.end" // stop one that works (twice), clear one that has ended

	DialogNext    Action = "dialog.next"
	DialogBack    Action = "dialog.back"
	DialogTabNext Action = "dialog.tabNext" // the next of several questions
	DialogTabBack Action = "dialog.tabBack" // the one before
	DialogPick    Action = "dialog.pick"
	DialogClose   Action = "dialog.close" // deny, or give no answer
	DialogReason  Action = "dialog.reason"
	DialogExpand  Action = "dialog.expand" // the whole of what is asked about
	DialogUp      Action = "dialog.scrollUp"
	DialogDown    Action = "dialog.scrollDown"
)

// Info describes an action.
type Info struct {
	Action Action
	Doc    string   // what it does, in a few words
	Keys   []string // by default: names of Bubble Tea, those of a sequence with a blank between
}
