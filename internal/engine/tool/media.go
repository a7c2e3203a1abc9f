package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"

	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

// The limits of what a model may be sent. Vendors refuse a whole request, and so
// the whole conversation, for one image beyond theirs; these are below each of
// them (Anthropic: 5 MB as base64, 2,000 pixels an edge when there are many
// images, 32 MB a request).
const (
	maxImage     = 3_600_000 // bytes sent
	maxEdge      = 2000      // pixels sent
	maxPixels    = 25_000_000
	maxImageFile = 64 << 20 // bytes read
	maxPDF       = 20 << 20
)

// mediaType recognises what is shown as a block, by its first bytes.
func mediaType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 16 && string(head[:4]) == "RIFF" && string(head[8:15]) == "WEBPVP8":
		return "image/webp"
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return "application/pdf"
	}
	return ""
}

// binaryType names what a binary file is.
func binaryType(head []byte) string {
	for _, k := range []struct{ magic, name string }{
		{"\x7fELF", "ELF program or library"}, {"PK\x03\x04", "ZIP archive"}, {"\x1f\x8b", "gzip data"},
		{"BZh", "bzip2 data"}, {"\xfd7zXZ\x00", "xz data"}, {"\x28\xb5\x2f\xfd", "Zstandard data"},
		{"SQLite format 3\x00", "SQLite database"}, {"\x00asm", "WebAssembly"}, {"!<arch>\n", "archive of objects"},
		{"\xca\xfe\xba\xbe", "Java class or Mach-O program"}, {"\xcf\xfa\xed\xfe", "Mach-O program"}, {"MZ", "Windows program"},
		{"OggS", "Ogg media"}, {"ID3", "MP3 audio"}, {"BM", "BMP image"}, {"\x00\x00\x01\x00", "icon"},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.name
		}
	}
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return "tar archive"
	}
	return "unknown type"
}

func (c *readCall) runMedia(ctx context.Context, media string, from io.Reader) (Result, error) {
	path := c.target.Path.Abs
	if c.tool.blobs == nil {
		return Result{}, fmt.Errorf("%s is %s, which cannot be shown here", path, media)
	}
	limit := maxImageFile
	if media == "application/pdf" {
		limit = maxPDF
	}
	data, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	if err != nil {
		return Result{}, files.Explain(path, err)
	}
	if len(data) > limit {
		return Result{}, fmt.Errorf("%s (%s) has more than %d MiB, too much to show", path, media, limit>>20)
	}
	sent, sentType, err := fit(data, media)
	if err != nil {
		return Result{}, fmt.Errorf("%s (%s) cannot be shown: %w", path, media, err)
	}
	blob, err := c.tool.blobs.PutBlob(ctx, bytes.NewReader(sent))
	if err != nil {
		return Result{}, fmt.Errorf("store %s: %w", path, err)
	}
	b := protocol.Block{Type: protocol.BlockImage, MediaType: sentType, Blob: blob}
	if media == "application/pdf" {
		b.Type, b.Name = protocol.BlockFile, filepath.Base(path)
	}
	note := fmt.Sprintf("%s (%s, %d bytes)", path, media, len(data))
	if !bytes.Equal(sent, data) {
		note += ", made smaller"
	}
	return Result{Content: []protocol.Block{protocol.Text(note), b}}, nil
}

// FitImage is fit of an image (image/png, image/jpeg, image/gif or image/webp) that comes
// from elsewhere.
func FitImage(data []byte, media string) (fitted []byte, fittedMedia string, err error) {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return nil, "", fmt.Errorf("%.40q is not a type of image that a model takes", media)
	}
	if len(data) > maxImageFile {
		return nil, "", fmt.Errorf("it has more than %d MiB", maxImageFile>>20)
	}
	return fit(data, media)
}

// fit checks that data is what it seems and gives it within the limits: as it
// is, or scaled down.
func fit(data []byte, media string) ([]byte, string, error) {
	switch media {
	case "application/pdf":
		return data, media, checkPDF(data)
	case "image/webp":
		return data, media, checkWebP(data)
	}
	cfg, _, err := config(data, media)
	if err != nil {
		return nil, "", fmt.Errorf("it is damaged: %w", err)
	}
	if cfg.Width < 1 || cfg.Height < 1 || cfg.Width > maxPixels/cfg.Height {
		return nil, "", fmt.Errorf("it has %d×%d pixels", cfg.Width, cfg.Height)
	}
	img, err := decodeImage(data, media)
	if err != nil {
		return nil, "", fmt.Errorf("it is damaged: %w", err)
	}
	if len(data) <= maxImage && max(cfg.Width, cfg.Height) <= maxEdge {
		return data, media, nil
	}
	small := shrink(img, maxEdge)
	var out bytes.Buffer
	if media != "image/jpeg" {
		if err := png.Encode(&out, small); err == nil && out.Len() <= maxImage {
			return out.Bytes(), "image/png", nil
		}
	}
	for _, quality := range []int{85, 60, 30} {
		out.Reset()
		if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}); err != nil {
			return nil, "", err
		}
		if out.Len() <= maxImage {
			return out.Bytes(), "image/jpeg", nil
		}
	}
	return nil, "", errors.New("it is too large")
}

func config(data []byte, media string) (image.Config, string, error) {
	r := bytes.NewReader(data)
	var cfg image.Config
	var err error
	switch media {
	case "image/png":
		cfg, err = png.DecodeConfig(r)
	case "image/jpeg":
		cfg, err = jpeg.DecodeConfig(r)
	default:
		cfg, err = gif.DecodeConfig(r)
	}
	return cfg, media, err
}

func decodeImage(data []byte, media string) (image.Image, error) {
	r := bytes.NewReader(data)
	switch media {
	case "image/png":
		return png.Decode(r)
	case "image/jpeg":
		return jpeg.Decode(r)
	}
	return gif.Decode(r) // its first picture
}

func checkPDF(data []byte) error {
	tail := data[max(0, len(data)-2048):]
	switch {
	case !bytes.Contains(tail, []byte("%%EOF")):
		return errors.New("it is damaged or not complete")
	case bytes.Contains(data, []byte("/Encrypt")):
		return errors.New("it is encrypted")
	}
	return nil
}

// checkWebP checks the container and the size (RFC 9649); there is no decoder
// here, so a picture that is too large is refused.
func checkWebP(data []byte) error {
	if len(data) < 30 || int(le(data[4:8])) > len(data)-8 {
		return errors.New("it is damaged or not complete")
	}
	var w, h int
	switch string(data[12:16]) {
	case "VP8X":
		w, h = int(le(data[24:27]))+1, int(le(data[27:30]))+1
	case "VP8L":
		bits := le(data[21:25])
		if data[20] != 0x2f {
			return errors.New("it is damaged")
		}
		w, h = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	case "VP8 ":
		if string(data[23:26]) != "\x9d\x01\x2a" {
			return errors.New("it is damaged")
		}
		w, h = int(le(data[26:28]))&0x3fff, int(le(data[28:30]))&0x3fff
	default:
		return errors.New("it is damaged")
	}
	if w < 1 || h < 1 || max(w, h) > maxEdge || len(data) > maxImage {
		return fmt.Errorf("it is too large (%d×%d pixels, %d bytes); make it smaller first", w, h, len(data))
	}
	return nil
}

// le reads up to four bytes, the lowest first.
func le(b []byte) uint32 {
	var n uint32
	for i, c := range b {
		n |= uint32(c) << (8 * i)
	}
	return n
}
