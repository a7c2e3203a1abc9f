package transcript

import (
	"fmt"
	"strings"
	"time"

	"scorel/internal/text/cell"
)

// maxText bounds the text of one item that is shown, in bytes; copying gives all of it.
const maxText = 256 << 10

// clean returns outside text that may be shown, the beginning of it if it is too long.
func clean(text string) string {
	if len(text) > maxText {
		return cell.Clean(cut(text, maxText)) + "\n… cut here; copying takes all of it"
	}
	return cell.Clean(text)
}

func countLines(text string) int {
	text = strings.Trim(text, "\n")
	if text == "" {
		return 0
	}
	return strings.Count(text, "\n") + 1
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// elapsed returns a time as people say it: 0.3s, 12s, 3m 5s.
func elapsed(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh %dm", d/time.Hour, d%time.Hour/time.Minute)
}
