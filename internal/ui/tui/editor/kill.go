package editor

// Bounds of what was killed; the oldest goes.
const (
	maxKills     = 32
	maxKillBytes = 8 << 20
)

// kills is what can be yanked, the newest last.
type kills struct {
	texts  []string
	bytes  int
	chain  bool // the last action killed: the next one adds to that
	yanked bool // the last action yanked: the next one may take an older text
	at     int  // which one that was
	from   int  // where it was put
}

func (k *kills) each(f func(raw string)) {
	for _, t := range k.texts {
		f(t)
	}
}

func (k *kills) add(raw string) {
	k.texts, k.bytes = append(k.texts, raw), k.bytes+len(raw)
	for len(k.texts) > 1 && (len(k.texts) > maxKills || k.bytes > maxKillBytes) {
		k.bytes -= len(k.texts[0])
		k.texts = k.texts[1:]
	}
}

// kill removes text so that it can be yanked. With chain set the action before did
// so too, and it is one text.
func (e *Editor) kill(from, to int, chain bool) bool {
	if from == to {
		e.kills.chain = chain
		return false
	}
	raw, back := string(e.text[from:to]), to == e.pos
	e.try(e.replace(from, to, "", kindOther))
	n := len(e.kills.texts)
	switch {
	case !chain || n == 0:
		e.kills.add(raw)
	case back:
		e.kills.texts[n-1], e.kills.bytes = raw+e.kills.texts[n-1], e.kills.bytes+len(raw)
	default:
		e.kills.texts[n-1], e.kills.bytes = e.kills.texts[n-1]+raw, e.kills.bytes+len(raw)
	}
	e.kills.chain = true
	return true
}

func (e *Editor) yank() bool {
	n := len(e.kills.texts)
	if n == 0 {
		return false
	}
	from := e.pos
	if err := e.insert(e.kills.texts[n-1], kindOther); err != nil {
		e.try(err)
		return true
	}
	e.kills.yanked, e.kills.at, e.kills.from = true, n-1, from
	return true
}

// yankPop puts the text that was killed before in the place of what was yanked.
func (e *Editor) yankPop() bool {
	if !e.kills.yanked {
		return false
	}
	k := &e.kills
	old := k.texts[k.at]
	at := (k.at + len(k.texts) - 1) % len(k.texts)
	if err := e.replace(k.from, k.from+len(old), k.texts[at], kindOther); err != nil {
		e.try(err)
		return true
	}
	k.at = at
	return true
}
