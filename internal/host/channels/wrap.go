package channels

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/host/channels/senders"
	"scorel/internal/text/promptsafe"
)

// Bounds of one event.
const (
	maxContent = 64 << 10 // bytes of its text; more is cut
	maxMeta    = 16       // texts beside it; those after the first by name are left out
	maxKey     = 64       // bytes of the name of one; one with a longer name is left out
	maxValue   = 256      // characters of one; more is cut
)

// pushed is an event as a server sends it.
type pushed struct {
	Content string            `json:"content"`
	Meta    map[string]string `json:"meta"`

	from   string // who has sent it, to the letter
	faulty bool   // somebody has, by a name that is none
	wrong  error  // why it is no event; nil for one
}

// Why what a server has pushed does not enter.
var (
	errEmpty   = errors.New("its content is empty")
	errNoEvent = errors.New("its content is not text, or its meta is not an object")
)

// parsePushed reads the parameters of an event and takes out what is not for it. It reports
// whether they are one.
func parsePushed(params json.RawMessage) (p pushed, ok bool) {
	var in struct {
		Content *string        `json:"content"`
		Meta    map[string]any `json:"meta"`
	}
	if json.Unmarshal(params, &in) != nil || in.Content == nil {
		return p, false
	}
	p.from, p.faulty = senderOf(in.Meta)
	p.Content = cutBytes(promptsafe.Clean(*in.Content), maxContent)
	if strings.TrimSpace(p.Content) == "" {
		p.wrong = errEmpty
	}
	for key, value := range in.Meta {
		text, ok := value.(string)
		if !ok || frames(key) || !plainKey(key) {
			continue
		}
		if p.Meta == nil {
			p.Meta = map[string]string{}
		}
		p.Meta[key] = cutRunes(promptsafe.Clean(text), maxValue)
	}
	for _, key := range p.keys()[min(maxMeta, len(p.Meta)):] {
		delete(p.Meta, key)
	}
	return p, true
}

// keys returns the names of what is beside the text, sorted, those of a sender first.
func (p pushed) keys() []string {
	keys := make([]string, 0, len(p.Meta))
	for key := range p.Meta {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if x, y := slices.Contains(senderKeys, a), slices.Contains(senderKeys, b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return keys
}

// senderKeys name who has sent an event, the first that is there.
var senderKeys = []string{"sender_id", "user_id", "user"}

// errSender is why an event does not enter whose sender has a name that is none: what is taken
// out of such a name would make it another one, or nobody's.
var errSender = fmt.Errorf("its sender has a name that is not text of 1 to %d bytes, or that has characters which nobody sees", senders.MaxID)

// sender returns who has sent the event, "" where the server names nobody.
func (p pushed) sender() (string, error) {
	if p.faulty {
		return "", errSender
	}
	return p.from, nil
}

// senderOf returns the first name of a sender in what is beside a text, "" for none. What is
// there and is not a name is faulty.
func senderOf(meta map[string]any) (name string, faulty bool) {
	for _, key := range senderKeys {
		switch v := meta[key].(type) {
		case nil:
		case string:
			if v != "" {
				seen := strings.TrimSpace(promptsafe.Clean(v))
				return v, v != seen || len(v) > senders.MaxID || strings.ContainsAny(v, "\n\t")
			}
		default:
			return "", true
		}
	}
	return "", false
}

// frames reports whether a name is one of the frame, in any case: beside the source, which is
// the program's, it would look like it.
func frames(key string) bool {
	return strings.EqualFold(key, "source") || strings.EqualFold(key, "channel")
}

// plainKey reports whether a name has only letters, digits and underscores.
func plainKey(key string) bool {
	return key != "" && len(key) <= maxKey && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

var escapeAttr = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", " ", "\t", " ")

// wrap writes an event for the model. Its source is the name of the server, whatever the
// server says, and nothing in its text ends it.
func wrap(source string, p pushed) string {
	var attrs strings.Builder
	fmt.Fprintf(&attrs, ` source="%s"`, escapeAttr.Replace(source))
	for _, key := range p.keys() {
		fmt.Fprintf(&attrs, ` %s="%s"`, key, escapeAttr.Replace(p.Meta[key]))
	}
	return promptsafe.Text("channel", attrs.String(), p.Content)
}

// cutBytes cuts a text and says so.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s\n[cut here: the first %d of %d bytes]", s[:n], n, len(s))
}

// cutRunes cuts a text.
func cutRunes(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i]
		}
	}
	return s
}

// beginning cuts a text and says how much is left out.
func beginning(s string, most int) string {
	head := cutRunes(s, most)
	if head == s {
		return s
	}
	return fmt.Sprintf("%s… (%d more characters)", head, utf8.RuneCountInString(s[len(head):]))
}
