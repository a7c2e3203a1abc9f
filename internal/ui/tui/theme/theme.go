package theme

import "scorel/internal/text/style"

// What a theme is made of. These are the types of package style, which whoever draws
// text knows without the terminal UI.
type (
	Style = style.Style
	Theme = style.Theme
	Box   = style.Box
)
