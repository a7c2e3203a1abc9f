package style

// Agent returns the style of the name of an agent of a color; the
// zero style for none and for one that is not known. It is one of the theme's own
// colours, so that it can be read on its background.
func (t *Theme) Agent(color string) Style {
	switch color {
	case "red":
		return t.Error
	case "orange":
		return t.Code
	case "yellow":
		return t.Warning
	case "green":
		return t.Success
	case "cyan":
		return t.Info
	case "blue":
		return t.Accent
	case "purple":
		return t.AssistantMark
	case "pink":
		return t.Chip
	}
	return ""
}
