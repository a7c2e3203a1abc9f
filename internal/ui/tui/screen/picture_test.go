package screen

import (
	"fmt"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// picture returns a cell with its style; an empty one is " |".
func picture(c *uv.Cell) string {
	if c == nil {
		return " |"
	}
	content := c.Content
	if content == "" {
		content = " "
		if c.Width == 0 && !c.IsZero() {
			content = ""
		}
	}
	style := strings.TrimSuffix(strings.TrimPrefix(c.Style.String(), "\x1b["), "m")
	if c.Link.URL != "" {
		style += "→" + c.Link.URL
	}
	return fmt.Sprintf("%s|%s", content, style)
}
