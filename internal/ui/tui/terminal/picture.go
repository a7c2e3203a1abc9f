package terminal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/sixel"
	"golang.org/x/image/draw"
)

// MaxBytes bounds the file of a picture that is drawn.
const MaxBytes = 20 << 20

// Bounds of a picture that is drawn. Beyond it is not decoded.
const (
	maxPixels = 16 << 20 // of the whole picture: 64 MiB when it is decoded
	maxDrawn  = 2 << 20  // pixels after it is made smaller for the terminal
)

// kittyChunk is how much of a picture a sequence of kitty's carries.
const kittyChunk = 4096

// Picture is ready to be drawn.
type Picture struct {
	Sequence      string
	Columns, Rows int // what it takes, in cells
}

// ErrNoGraphics says that the terminal draws no pictures.
var ErrNoGraphics = errors.New("the terminal draws no pictures")

// Picture makes a PNG, JPEG or GIF ready to be drawn in at most so many cells; what is
// larger is made smaller. It fails with [ErrNoGraphics], and for what is no such
// picture or too large to be decoded.
func (t Terminal) Picture(data []byte, columns, rows int) (Picture, error) {
	if t.Graphics == NoGraphics || columns < 1 || rows < 1 {
		return Picture{}, ErrNoGraphics
	}
	img, err := decode(data)
	if err != nil {
		return Picture{}, err
	}
	size, columns, rows := t.fit(img.Bounds().Size(), columns, rows)
	if size != img.Bounds().Size() {
		small := image.NewNRGBA(image.Rectangle{Max: size})
		draw.ApproxBiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
		img = small
	}
	p := Picture{Columns: columns, Rows: rows}
	if t.Graphics == Sixel {
		p.Sequence, err = sixels(img)
		return p, err
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return Picture{}, fmt.Errorf("the picture cannot be made ready: %w", err)
	}
	text := base64.StdEncoding.EncodeToString(b.Bytes())
	if t.Graphics == ITerm {
		p.Sequence = fmt.Sprintf("\x1b]1337;File=inline=1;size=%d;width=%d;height=%d;preserveAspectRatio=1:%s\a", b.Len(), columns, rows, text)
	} else {
		p.Sequence = kitty(text, columns, rows)
	}
	return p, nil
}

// Size returns the width and height in pixels that a PNG, JPEG or GIF says it has, without
// decoding it. It fails for what is no such picture, or is damaged where they are.
func Size(data []byte) (image.Point, error) {
	f, err := formatOf(data)
	if err != nil {
		return image.Point{}, err
	}
	c, err := f.config(bytes.NewReader(data))
	if err != nil {
		return image.Point{}, fmt.Errorf("the picture is damaged: %w", err)
	}
	return image.Pt(c.Width, c.Height), nil
}

// format is how a kind of picture is read. What formats the image package knows is not
// its own: others may register some.
type format struct {
	config func(io.Reader) (image.Config, error)
	whole  func(io.Reader) (image.Image, error) // of a GIF its first picture
}

func formatOf(data []byte) (format, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG")):
		return format{png.DecodeConfig, png.Decode}, nil
	case bytes.HasPrefix(data, []byte("\xff\xd8")):
		return format{jpeg.DecodeConfig, jpeg.Decode}, nil
	case bytes.HasPrefix(data, []byte("GIF8")):
		return format{gif.DecodeConfig, gif.Decode}, nil
	}
	return format{}, errors.New("the file is neither a PNG, a JPEG nor a GIF")
}

// decode reads a picture whose size is within bounds.
func decode(data []byte) (image.Image, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the picture has %d bytes; at most %d are drawn", len(data), MaxBytes)
	}
	f, err := formatOf(data)
	if err != nil {
		return nil, err
	}
	size, err := Size(data)
	if err != nil {
		return nil, err
	}
	if size.X <= 0 || size.Y <= 0 || size.X > maxPixels/size.Y {
		return nil, fmt.Errorf("the picture has %d by %d pixels; at most %d are drawn", size.X, size.Y, maxPixels)
	}
	img, err := f.whole(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the picture is damaged: %w", err)
	}
	if img.Bounds().Empty() {
		return nil, errors.New("the picture is empty")
	}
	return img, nil
}

// fit returns the size of a picture in pixels and cells that is within so many cells. It
// is made smaller, never larger.
func (t Terminal) fit(size image.Point, columns, rows int) (image.Point, int, int) {
	scale := min(1, float64(columns*t.CellWidth)/float64(size.X), float64(rows*t.CellHeight)/float64(size.Y))
	for float64(size.X)*scale*float64(size.Y)*scale > maxDrawn {
		scale *= 0.9
	}
	out := image.Pt(max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale)))
	return out, (out.X + t.CellWidth - 1) / t.CellWidth, (out.Y + t.CellHeight - 1) / t.CellHeight
}

// kitty returns the sequences that carry a picture and draw it without moving the
// cursor; the terminal says nothing about it.
func kitty(text string, columns, rows int) string {
	var b strings.Builder
	for first := true; first || text != ""; first = false {
		part := text[:min(len(text), kittyChunk)]
		text = text[len(part):]
		more := "m=0"
		if text != "" {
			more = "m=1"
		}
		if first {
			b.WriteString(ansi.KittyGraphics([]byte(part), "a=T", "f=100", "q=2", "C=1", fmt.Sprint("c=", columns), fmt.Sprint("r=", rows), more))
		} else {
			b.WriteString(ansi.KittyGraphics([]byte(part), more))
		}
	}
	return b.String()
}

// sixels returns the sequence of a picture. What is transparent stays so.
func sixels(img image.Image) (string, error) {
	var b bytes.Buffer
	b.WriteString("\x1bP0;1;0q")
	if err := (&sixel.Encoder{}).Encode(&b, opaque(img)); err != nil {
		return "", fmt.Errorf("the picture cannot be made ready: %w", err)
	}
	b.WriteString("\x1b\\")
	return b.String(), nil
}

// opaque returns a picture with pixels that are seen in full or not at all: a sixel
// cannot be seen in part.
func opaque(img image.Image) image.Image {
	out := image.NewNRGBA(img.Bounds())
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Src)
	for i := 0; i < len(out.Pix); i += 4 {
		c := color.NRGBA{out.Pix[i], out.Pix[i+1], out.Pix[i+2], 0xff}
		if out.Pix[i+3] < 0x80 {
			c = color.NRGBA{}
		}
		out.Pix[i], out.Pix[i+1], out.Pix[i+2], out.Pix[i+3] = c.R, c.G, c.B, c.A
	}
	return out
}
