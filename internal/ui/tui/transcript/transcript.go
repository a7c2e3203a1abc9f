package transcript

import (
	"image"
	"time"
)

// Images draws the images that a terminal can show.
type Images interface {
	// Image says how an image is drawn in at most width by height cells. blob is the
	// payload's name (hex SHA-256). It must not block.
	Image(blob, mediaType string, width, height int) Picture
}

// Picture is how an image is drawn, as far as that is known.
type Picture struct {
	Sequence string // of the terminal (see package terminal); "" where a line says what it is
	Rows     int    // that the sequence takes
	Pixels   image.Point
	// Coming says that there may be a sequence soon: what is final is not given by Commit
	// until there is, or never will be, and ImageReady says so.
	Coming bool
}

// Config is what a transcript is told once. All of it may be left out.
type Config struct {
	Images Images
	Drawer Drawer
	// Dir is the project's folder: paths below it are shown without it.
	Dir string
	// Earlier is a line before what Commit gives first when there are older events: how
	// they are seen.
	Earlier      string
	ShowThinking bool             // what the model thought is shown unfolded
	ExpandTools  bool             // cards are shown unfolded
	Now          func() time.Time // for how long something runs; time.Now when nil
}

// Outcome is what came of an action.
type Outcome struct {
	Handled bool
	Copy    string // text for the clipboard, "" for none
	Whole   string // the payload with all of the item, of which only a part is here; "" for none
	Leave   bool   // back to the editor
}
