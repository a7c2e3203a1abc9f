package terminal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/sixel"
)

// env returns an environment of NAME=VALUE words.
func env(words string) func(string) string {
	return func(name string) string {
		for w := range strings.FieldsSeq(words) {
			if n, v, _ := strings.Cut(w, "="); n == name {
				return v
			}
		}
		return ""
	}
}

func TestTerminalsAreKnownByTheirEnvironment(t *testing.T) {
	for words, want := range map[string]struct {
		graphics Graphics
		notice   notice
	}{
		"TERM=xterm-256color":                              {NoGraphics, noNotice},
		"TERM=xterm-kitty KITTY_WINDOW_ID=1":               {Kitty, osc99},
		"TERM=xterm-ghostty TERM_PROGRAM=ghostty":          {Kitty, osc777},
		"TERM=xterm-256color TERM_PROGRAM=iTerm.app":       {ITerm, osc9},
		"TERM=xterm-256color LC_TERMINAL=iTerm2 SSH_TTY=x": {ITerm, osc9},
		"TERM=xterm-256color TERM_PROGRAM=WezTerm":         {ITerm, osc777},
		"TERM=foot": {NoGraphics, osc777},
		"TERM=xterm-256color TERM_PROGRAM=Apple_Terminal":  {NoGraphics, noNotice},
		"TERM=tmux-256color TMUX=/tmp/s KITTY_WINDOW_ID=1": {NoGraphics, osc99},
		"TERM=screen.xterm-256color LC_TERMINAL=iTerm2":    {NoGraphics, osc9},
		"TERM=xterm-256color TERM_PROGRAM=vscode":          {NoGraphics, noNotice},
		"TERM=xterm-256color VTE_VERSION=7600":             {NoGraphics, osc777},
		"TERM=xterm-256color KONSOLE_VERSION=230804":       {Kitty, osc777},
		"TERM=linux":                 {NoGraphics, noNotice},
		"TERM=rxvt-unicode-256color": {NoGraphics, osc777},
		"TERM=xterm-256color TERM_PROGRAM=mintty SSH_TTY=/x": {ITerm, osc9},
	} {
		got := Detect(env(words))
		if got.Graphics != want.graphics || got.notice != want.notice || got.SSH != strings.Contains(words, "SSH") || got.Tmux != strings.Contains(words, "TMUX") {
			t.Errorf("%s: %+v, want %+v", words, got, want)
		}
	}
}

func TestATerminalThatSaysSoDrawsSixels(t *testing.T) {
	plain := Detect(env("TERM=xterm-256color"))
	if got := plain.Attributes([]int{62, 4, 22}).Graphics; got != Sixel {
		t.Errorf("%q", got)
	}
	if got := plain.Attributes([]int{62, 22}).Graphics; got != NoGraphics {
		t.Errorf("%q", got)
	}
	if got := Detect(env("TERM=xterm-kitty")).Attributes([]int{4}).Graphics; got != Kitty {
		t.Errorf("%q", got)
	}
	if got := Detect(env("TERM=screen")).Attributes([]int{4}).Graphics; got != NoGraphics {
		t.Errorf("%q", got)
	}
}

func TestCellSizesThatNoFontHasAreNotBelieved(t *testing.T) {
	usual := Detect(env("TERM=xterm"))
	if got := usual.Cells(800, 480, 80, 24); got.CellWidth != 10 || got.CellHeight != 20 {
		t.Errorf("%+v", got)
	}
	for _, c := range [][4]int{{0, 0, 80, 24}, {80000, 480, 80, 24}, {800, 480, 0, 24}} {
		if got := usual.Cells(c[0], c[1], c[2], c[3]); got != usual {
			t.Errorf("%v: %+v", c, got)
		}
	}
}

func TestTextIsCopiedByTheTerminalItself(t *testing.T) {
	const text = "a\x1b\\b\n世界"
	want := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
	for words, sequence := range map[string]string{
		"TERM=xterm":            want,
		"TERM=tmux TMUX=/tmp/s": want + "\x1bPtmux;" + strings.ReplaceAll(want, "\x1b", "\x1b\x1b") + "\x1b\\",
		"TERM=screen":           "\x1bP" + want + "\x1b\\",
	} {
		if got, err := Detect(env(words)).Copy(text); err != nil || got != sequence {
			t.Errorf("%s: %q, want %q (%v)", words, got, sequence, err)
		}
	}
	if _, err := Detect(env("TERM=xterm")).Copy(strings.Repeat("x", MaxCopied+1)); err == nil || !strings.Contains(err.Error(), "/export") {
		t.Errorf("the error is %v", err)
	}
}

func TestNoTextEndsTheSequenceOfANotification(t *testing.T) {
	const title, body = "Scorel;\x1b]0;title\a", "done\x1b\\\x1b[2J\u009c; " + "line\nline"
	for words, want := range map[string]string{
		"TERM=xterm":                        "",
		"TERM=foot":                         "\x1b]777;notify;",
		"TERM=xterm TERM_PROGRAM=iTerm.app": "\x1b]9;",
		"TERM=xterm-kitty":                  "\x1b]99;",
	} {
		got := Detect(env(words)).Notify(title, body+strings.Repeat("x", 1000))
		if !strings.HasPrefix(got, want) || len(got) > 1200 {
			t.Errorf("%s: %q", words, got)
		}
		// What is left when the sequences are taken out is text that got out of one.
		rest := got
		for rest != "" {
			seq, _, n, _ := ansi.DecodeSequence(rest, ansi.NormalState, nil)
			if !strings.HasPrefix(seq, "\x1b]") {
				t.Errorf("%s: %q is outside of the sequence %q", words, seq, got)
				break
			}
			rest = rest[n:]
		}
		if strings.Contains(got, "[2J") && strings.Contains(got, "\x1b[2J") {
			t.Errorf("%s: %q", words, got)
		}
	}
	if got := Detect(env("TERM=tmux TMUX=x KITTY_WINDOW_ID=1")).Notify("a", "b"); !strings.HasPrefix(got, "\x1bPtmux;\x1b\x1b]99;") {
		t.Errorf("%q", got)
	}
}

func sample(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			img.Set(x, y, color.NRGBA{uint8(x), uint8(y), 200, 255})
		}
	}
	return img
}

func encoded(t *testing.T, img image.Image, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPicturesAreMadeSmallerToFitTheCells(t *testing.T) {
	kitty := Terminal{Graphics: Kitty, CellWidth: 10, CellHeight: 20}
	for _, c := range []struct{ width, height, columns, rows, wantColumns, wantRows int }{
		{100, 100, 80, 24, 10, 5},
		{1600, 100, 80, 24, 80, 3},
		{100, 1000, 80, 10, 2, 10},
		{1, 1, 80, 24, 1, 1},
		{3000, 2, 80, 24, 80, 1},
	} {
		for _, format := range []string{"png", "jpeg", "gif"} {
			p, err := kitty.Picture(encoded(t, sample(c.width, c.height), format), c.columns, c.rows)
			if err != nil || p.Columns != c.wantColumns || p.Rows != c.wantRows {
				t.Errorf("%+v %s: %d by %d, %v", c, format, p.Columns, p.Rows, err)
			}
		}
	}
}

func TestAPictureReachesATerminalInItsOwnWay(t *testing.T) {
	data := encoded(t, sample(200, 100), "png")
	term := Terminal{CellWidth: 10, CellHeight: 20}

	term.Graphics = Kitty
	p, err := term.Picture(data, 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i, part := range strings.Split(strings.TrimSuffix(p.Sequence, "\x1b\\"), "\x1b\\") {
		options, payload, ok := strings.Cut(strings.TrimPrefix(part, "\x1b_G"), ";")
		if !ok || len(payload) > kittyChunk || i == 0 && !strings.HasPrefix(options, "a=T,f=100,q=2,C=1,c=20,r=5,m=") {
			t.Fatalf("part %d: %q", i, part)
		}
		text.WriteString(payload)
	}
	check := func(payload string) {
		t.Helper()
		raw, err := base64.StdEncoding.DecodeString(payload)
		if err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(bytes.NewReader(raw)); err != nil || img.Bounds().Size() != image.Pt(200, 100) || img.At(50, 60) != (color.NRGBA{50, 60, 200, 255}) && img.At(50, 60) != (color.RGBA{50, 60, 200, 255}) {
			t.Errorf("%v, %v", img, err)
		}
	}
	check(text.String())

	term.Graphics = ITerm
	if p, err = term.Picture(data, 80, 24); err != nil {
		t.Fatal(err)
	}
	options, payload, _ := strings.Cut(strings.TrimSuffix(p.Sequence, "\a"), ":")
	if !strings.HasPrefix(options, "\x1b]1337;File=inline=1;size=") || !strings.Contains(options, ";width=20;height=5;") {
		t.Errorf("%q", options)
	}
	check(payload)

	term.Graphics = Sixel
	if p, err = term.Picture(data, 80, 24); err != nil {
		t.Fatal(err)
	}
	body, ok := strings.CutSuffix(strings.TrimPrefix(p.Sequence, "\x1bP0;1;0q"), "\x1b\\")
	img, err := (&sixel.Decoder{}).Decode(strings.NewReader(body))
	if !ok || err != nil || img.Bounds().Dx() != 200 || img.Bounds().Dy() < 100 {
		t.Errorf("%v, %v", img.Bounds(), err)
	}
	for _, s := range []string{p.Sequence} {
		if ansi.StringWidth(s) != 0 {
			t.Errorf("the sequence takes %d cells", ansi.StringWidth(s))
		}
	}
}

func TestWhatIsNoPictureOrTooLargeIsNotDecoded(t *testing.T) {
	term := Terminal{Graphics: Kitty, CellWidth: 10, CellHeight: 20}
	whole := encoded(t, sample(20, 20), "png")
	huge := bytes.Clone(encoded(t, image.NewGray(image.Rect(0, 0, 1, 1)), "png"))
	copy(huge[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65,536 by 65,536; the sum over it is wrong
	bomb := encoded(t, image.NewPaletted(image.Rect(0, 0, 5000, 5000), color.Palette{color.Black, color.White}), "png")
	for want, data := range map[string][]byte{
		"neither a PNG, a JPEG nor a GIF": []byte("text"),
		"damaged":                         whole[:len(whole)/2],
		"the picture is damaged":          huge,
		"5000 by 5000 pixels":             bomb,
		"the picture has 20971521 bytes":  append(bytes.Clone(whole), make([]byte, MaxBytes+1-len(whole))...),
	} {
		if _, err := term.Picture(data, 80, 24); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	if _, err := (Terminal{}).Picture(whole, 80, 24); !errors.Is(err, ErrNoGraphics) {
		t.Errorf("the error is %v", err)
	}
}

func FuzzPicture(f *testing.F) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		var b bytes.Buffer
		switch format {
		case "png":
			_ = png.Encode(&b, sample(5, 7))
		case "jpeg":
			_ = jpeg.Encode(&b, sample(5, 7), nil)
		case "gif":
			_ = gif.Encode(&b, sample(5, 7), nil)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, g := range []Graphics{Kitty, ITerm, Sixel} {
			p, err := Terminal{Graphics: g, CellWidth: 10, CellHeight: 20}.Picture(data, 8, 3)
			if err == nil && (p.Columns < 1 || p.Columns > 8 || p.Rows < 1 || p.Rows > 3 || p.Sequence == "") {
				t.Errorf("%s: %d by %d", g, p.Columns, p.Rows)
			}
		}
	})
}

func TestPicturesAreDrawnInTheWayThatIsSet(t *testing.T) {
	for _, c := range []struct {
		words, setting string
		want           Graphics
	}{
		{"TERM=xterm-kitty", "auto", Kitty},
		{"TERM=xterm-kitty", "off", NoGraphics},
		{"TERM=xterm-kitty", "iterm", ITerm},
		{"TERM=xterm", "auto", NoGraphics},
		{"TERM=xterm", "sixel", Sixel},
		{"TERM=tmux TMUX=/tmp/s", "kitty", NoGraphics},
		{"TERM=tmux TMUX=/tmp/s", "sixel", Sixel},
		{"TERM=screen", "iterm", NoGraphics},
		{"TERM=dumb", "auto", NoGraphics},
	} {
		if got := Detect(env(c.words)).Draws(c.setting).Graphics; got != c.want {
			t.Errorf("%s, images = %s: %q, want %q", c.words, c.setting, got, c.want)
		}
	}
}

func TestTheSizeOfAPictureIsKnownWithoutDecodingIt(t *testing.T) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		data := encoded(t, sample(30, 20), format)
		if size, err := Size(data[:len(data)-5]); err != nil || size != image.Pt(30, 20) {
			t.Errorf("%s: %v, %v", format, size, err)
		}
	}
	if _, err := Size([]byte("RIFF....WEBP")); err == nil {
		t.Error("there is a size of what is not a picture")
	}
}
