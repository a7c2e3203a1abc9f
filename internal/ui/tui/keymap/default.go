package keymap

// Infos describes every action, those of a place one after the other. The keys are
// ones that reach a program through tmux and SSH and on terminals of any age, or
// are beside one that does. What begins with ctrl+x is for terminals that keep the
// keys with Alt for themselves.
func Infos() []Info {
	keys := func(k ...string) []string { return k }
	return []Info{
		{Quit, "quit when nothing is typed, else delete the character under the cursor", keys("ctrl+d")},
		{Interrupt, "drop what is typed, else cancel the turn; twice: quit", keys("ctrl+c")},
		{Suspend, "suspend; fg resumes", keys("ctrl+z")},
		{Redraw, "redraw the screen", keys("ctrl+l")},
		{CycleMode, "the next permission mode", keys("shift+tab")},
		{CycleThinking, "the next level of thinking", keys("alt+t", "ctrl+x t")},
		{PickModel, "choose a model", keys("alt+p", "ctrl+x m")},
		{PickSession, "choose a session", keys("alt+s", "ctrl+x s")},
		{OpenTree, "the tree of the session", keys("alt+r", "ctrl+x r")},
		{ToggleScreen, "use the whole screen, or the terminal's scrollback", keys("alt+z", "ctrl+x z")},
		{ToggleThinking, "fold or unfold thinking", keys("ctrl+t")},
		{ToggleTools, "fold or unfold tool calls and long messages", keys("ctrl+o")},
		{ShowTasks, "the background tasks", keys("alt+j", "ctrl+x j", "shift+down")},
		{ShowHelp, "keys and commands", keys("f1", "ctrl+x h")},
		{FocusUp, "into the conversation, to scroll, search, unfold and copy", keys("pgup", "ctrl+x k")},
		{EditQueue, "take queued messages back into the editor", keys("alt+up", "ctrl+x q")},

		{Submit, "send; while a turn runs, as the setting says", keys("enter")},
		{SubmitOther, "while a turn runs, send the other way: steer or queue", keys("ctrl+q", "ctrl+enter")},
		{Cancel, "close what is open, else cancel the turn; twice, while none runs: rewind", keys("esc")},
		{NewLine, "a new line; so does Enter after a backslash", keys("ctrl+j", "shift+enter", "alt+enter")},
		{Left, "a character to the left", keys("left", "ctrl+b")},
		{Right, "a character to the right", keys("right", "ctrl+f")},
		{Up, "a line up; in the first line, what was typed before", keys("up", "ctrl+p")},
		{Down, "a line down; in the last line, what was typed after; then to the agents below", keys("down", "ctrl+n")},
		{WordLeft, "a word to the left", keys("alt+left", "ctrl+left", "alt+b")},
		{WordRight, "a word to the right", keys("alt+right", "ctrl+right", "alt+f")},
		{LineStart, "to the beginning of the line", keys("home", "ctrl+a")},
		{LineEnd, "to the end of the line", keys("end", "ctrl+e")},
		{TextStart, "to the beginning of the text", keys("ctrl+home", "alt+<")},
		{TextEnd, "to the end of the text", keys("ctrl+end", "alt+>")},
		{DeleteBack, "delete the character before the cursor", keys("backspace", "ctrl+h", "shift+backspace")},
		{DeleteForward, "delete the character under the cursor", keys("delete")},
		{DeleteWordBack, "delete the word before the cursor", keys("ctrl+w", "alt+backspace", "ctrl+backspace")},
		{DeleteWord, "delete the word after the cursor", keys("alt+d", "alt+delete", "ctrl+delete")},
		{KillLine, "delete to the end of the line", keys("ctrl+k")},
		{KillLineBack, "delete to the beginning of the line", keys("ctrl+u")},
		{Yank, "put back what was deleted last", keys("ctrl+y")},
		{YankPop, "replace it with what was deleted before", keys("alt+y")},
		{Undo, "undo", keys("ctrl+_", "ctrl+/", "ctrl+-", "ctrl+shift+-", "ctrl+x u")},
		{Redo, "redo", keys("alt+_", "alt+shift+-", "ctrl+shift+z", "ctrl+x ctrl+r")},
		{Transpose, "swap the characters around the cursor", keys("ctrl+x ctrl+t")},
		{HistoryOlder, "what was typed before", keys("ctrl+up", "ctrl+x p")},
		{HistoryNewer, "what was typed after", keys("ctrl+down", "ctrl+x n")},
		{HistorySearch, "search in what was typed", keys("ctrl+r")},
		{Complete, "complete a command or a file", keys("tab")},
		{ExternalEditor, "write in $VISUAL or $EDITOR", keys("ctrl+g", "ctrl+x ctrl+e")},
		{PasteImage, "paste an image from the clipboard", keys("ctrl+v", "alt+v")},
		{ClearInput, "drop what is typed", keys("ctrl+x ctrl+k")},

		{ItemUp, "to the item before", keys("k", "up")},
		{ItemDown, "to the next item", keys("j", "down")},
		{ScrollUp, "a line up", keys("ctrl+y", "K", "alt+up")},
		{ScrollDown, "a line down", keys("ctrl+e", "J", "alt+down")},
		{PageUp, "a page up", keys("pgup", "ctrl+u", "b")},
		{PageDown, "a page down", keys("pgdown", "ctrl+f", "space")},
		{ScrollTop, "to the beginning", keys("g", "home")},
		{ScrollBottom, "to the end", keys("G", "end")},
		{Expand, "unfold or fold the item", keys("enter", "o")},
		{Whole, "read all of an item of which only a part is here", keys("w")},
		{Copy, "copy the item", keys("y", "c")},
		{Search, "search in the conversation", keys("/")},
		{SearchNext, "the next hit", keys("n")},
		{SearchBack, "the hit before", keys("N")},
		{Leave, "back to the editor", keys("esc", "q", "i")},

		{ListUp, "up", keys("up", "ctrl+p")},
		{ListDown, "down", keys("down", "ctrl+n")},
		{ListPageUp, "a page up", keys("pgup")},
		{ListPageDown, "a page down", keys("pgdown")},
		{ListTop, "to the first", keys("home", "alt+<")},
		{ListBottom, "to the last", keys("end", "alt+>")},
		{ListPick, "choose", keys("enter")},
		{ListMark, "mark, where several may be chosen", keys("tab")},
		{ListClose, "close", keys("esc")},
		{ListDelete, "delete", keys("ctrl+d", "delete")},
		{ListRename, "rename", keys("ctrl+r")},
		{ListPreview, "show or hide the preview", keys("ctrl+v")},
		{ListScope, "this project or all", keys("ctrl+s")},
		{ListMoveUp, "move it up", keys("alt+up", "ctrl+up", "shift+up")},
		{ListMoveDown, "move it down", keys("alt+down", "ctrl+down", "shift+down")},
		{ListEdit, "take what waits out of the list and edit it", keys("ctrl+g")},

		{TreeFold, "fold, or to the beginning of the branch", keys("left", "alt+left", "ctrl+left")},
		{TreeUnfold, "unfold, or to the next branch", keys("right", "alt+right", "ctrl+right")},
		{TreeFilter, "the next filter", keys("ctrl+o")},
		{TreeFilterBack, "the filter before", keys("alt+o", "ctrl+b")},
		{TreeLabel, "label it", keys("ctrl+l", "alt+l")},
		{TreeTimes, "show or hide times", keys("ctrl+t", "alt+t")},

		{AgentsUp, "to the row before; from the first, back to the editor", keys("up", "ctrl+p")},
		{AgentsDown, "to the next row", keys("down", "ctrl+n")},
		{AgentsView, "show what the agent does, or the main conversation again", keys("enter")},
		{AgentsLeave, "back to the editor and to the main conversation", keys("esc")},
		{AgentEnd, "twice: stop the agent; clear one that has ended", keys("x")},

		{DialogNext, "the next answer", keys("down", "ctrl+n")},
		{DialogBack, "the answer before", keys("up", "ctrl+p")},
		{DialogTabNext, "the next of several questions", keys("right")},
		{DialogTabBack, "the question before", keys("left")},
		{DialogPick, "give this answer", keys("enter")},
		{DialogClose, "deny, or give no answer", keys("esc")},
		{DialogReason, "say why", keys("tab")},
		{DialogExpand, "show all of it", keys("ctrl+o", "ctrl+e")},
		{DialogUp, "scroll up", keys("pgup", "ctrl+u")},
		{DialogDown, "scroll down", keys("pgdown", "ctrl+d")},
	}
}

// Default returns the keys without a file of the user's.
func Default() *Map {
	m := newMap()
	for _, info := range Infos() {
		for _, k := range info.Keys {
			m.add(info.Action, k)
		}
	}
	return m
}
