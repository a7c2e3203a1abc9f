package transcript

import (
	"time"

	"scorel/protocol"
)

// kind says what an item is.
type kind uint8

const (
	hidden   kind = iota // an event that is not shown; it holds its place in the path
	user                 // what a person said, or a note of theirs while the model worked
	thinking             // what the model thought
	answer               // what the model said
	piece                // what continues an answer, and is drawn with it
	card                 // a call of a tool with all that belongs to it
	shown                // any other event, as package display has it
	said                 // a notice that is no event
	broken               // what was coming in has ended without being stored
	retry                // the model is called again after a wait
)

// item is one piece of the conversation.
type item struct {
	kind  kind
	id    string           // of the item: the event and the block
	event protocol.EventID // "" for what is no event
	size  int              // of the event's line, in bytes; of its first item
	body  protocol.Event   // of user and shown, and of a hidden result
	text  string           // of what is no event; of thinking and answer when they are stored
	level string           // of said
	blob  string           // the payload with the whole of text, or of the input of a call; "" when it is here
	call  *call            // of a card; of a hidden result: the call it belongs to

	took    time.Duration // to think, where that was seen
	live    *incoming     // what is coming in, nil for what is stored
	loose   bool          // a card of what runs without a call that is held
	final   bool          // it changes no more
	toggled bool          // folded or unfolded by hand, against what it is by default
	version int           // another whenever it looks different

	pieces
	scrollback
	drawn drawing
	shown *feed // an answer that comes in, for full-screen mode
}

// pieces connects the messages of one answer.
type pieces struct {
	more  *item // of an answer, or a piece of it: the next piece
	first *item // of a piece: the answer
}

// scrollback is what of an item is in the scrollback of the terminal.
type scrollback struct {
	begun bool  // Commit has given some of it
	given bool  // and all
	feed  *feed // an answer, as it is given
}

// incoming is a block of a message that is coming in.
type incoming struct {
	message protocol.EventID
	raw     []byte
	began   time.Time
	took    time.Duration // 0 while it goes on
}

// call is a call of a tool, with all that the log and the running turn say of it.
type call struct {
	id, name  string
	input     []byte
	asked     int64 // when its message was stored, Unix milliseconds; 0 when not known
	decided   int64 // when a person allowed it, Unix milliseconds; 0 when nobody was asked
	decisions []*protocol.PermissionDecision
	snapshots []*protocol.FileSnapshot
	result    *protocol.Message
	reading
	shell    *protocol.ShellResult // of a command that a person ran; output is what it printed
	output   string
	resultAt int64
	resultIn protocol.EventID // the event of the result

	wait
	unanswered bool // nothing runs it any more, and there is no result, as after a host that was killed
	running    bool
	began      time.Time // when it was first seen to run
	tail       string
	process    []protocol.ToolProcess
	color      string // of the sub-agent that works, while it runs
}

// reading is what a result says of itself, read once.
type reading struct {
	parsed   *protocol.ToolDetails // of parsedOf
	parsedOf *protocol.Message
	outcome  protocol.ToolOutcome // of the same result
}

// wait is the time for which people were waited for.
type wait struct {
	asking bool          // somebody is asked for it
	since  time.Time     // when that began
	waited time.Duration // for people, while it ran
}

// rank returns the place of an item: after what is stored comes what is coming in, then
// what runs besides, and a retry last.
func (it *item) rank() int {
	switch {
	case it.kind == retry:
		return 3
	case it.loose:
		return 2
	case it.live != nil:
		return 1
	}
	return 0
}

// changed says that the item looks different from now on.
func (it *item) changed() {
	it.version++
	if it.first != nil {
		it.first.version++
	}
}

// whole names the payload with all of an item, where only a part of it is here: of a
// call, of what it gave, or else of its input. It is "" when nothing is left out.
func (it *item) whole() string {
	if it.kind != card {
		return it.blob
	}
	if r := it.call.result; r != nil {
		if sha := it.call.details().FullBlob; sha != "" {
			return sha
		}
		for _, b := range r.Content {
			if b.Type == protocol.BlockText && b.Blob != "" {
				return b.Blob
			}
		}
	}
	if it.call.shell != nil && it.call.shell.FullBlob != "" {
		return it.call.shell.FullBlob
	}
	return it.blob
}
