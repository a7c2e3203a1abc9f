package httpx

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"scorel/internal/engine/model"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// Payload is a block with its content: Data with its media type, or Text where there
// is none.
type Payload struct {
	Text      string
	Data      []byte
	MediaType string
	Image     bool   // else a document
	Name      string // of a document; "" when it has none
}

// DataURL writes the payload's data as a URL.
func (p Payload) DataURL(to *Body) {
	to.OpenText()
	to.AddText("data:" + p.MediaType + ";base64,")
	to.AddBase64(p.Data)
	to.CloseText()
}

// Schemas checks the tools' schemas: a broken one would break the whole request.
func Schemas(tools []model.ToolSpec) error {
	for _, t := range tools {
		if !json.Valid(t.Schema) {
			return &model.Error{Class: model.ClassInvalid, Message: fmt.Sprintf("the input schema of the tool %s is not valid JSON", t.Name)}
		}
	}
	return nil
}

// Load reads the content of an image or file block that [model.Fit] let through.
// What cannot be sent becomes a text: a lost blob, an image whose bytes are of
// another kind or above the model's limit. Only an end of ctx is an error.
func Load(ctx context.Context, req model.Request, info model.Info, b protocol.Block) (Payload, error) {
	var data []byte
	err := fmt.Errorf("there is nothing to read blobs with")
	if req.Blob != nil {
		data, err = req.Blob(ctx, b.Blob)
	}
	if ctx.Err() != nil {
		return Payload{}, ctx.Err()
	}
	if err != nil {
		return Payload{Text: "[" + what(b) + " is not available any more]"}, nil
	}
	if len(data) == 0 {
		return Payload{Text: "[" + what(b) + " is empty]"}, nil
	}
	size := base64.StdEncoding.EncodedLen(len(data))
	switch {
	case b.Type == protocol.BlockFile && model.TextType(b.MediaType):
		return Payload{Text: promptsafe.Text("file", fmt.Sprintf(" name=%q", b.Name), string(data))}, nil
	case b.Type == protocol.BlockFile:
		return Payload{MediaType: b.MediaType, Data: data, Name: b.Name}, nil
	case info.MaxImageBytes > 0 && size > info.MaxImageBytes:
		return Payload{Text: fmt.Sprintf("[%s is too large for this model: %d bytes, at most %d]", what(b), size, info.MaxImageBytes)}, nil
	}
	// The vendors compare the type with the bytes and refuse the whole request.
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return Payload{MediaType: kind, Data: data, Image: true}, nil
	}
	return Payload{Text: "[" + what(b) + " cannot be read as an image]"}, nil
}

// Parts returns the texts, images and files of a message, each loaded as by [Load].
func Parts(ctx context.Context, req model.Request, info model.Info, content []protocol.Block) ([]Payload, error) {
	out := make([]Payload, 0, len(content))
	for _, b := range content {
		switch b.Type {
		case protocol.BlockText:
			out = append(out, Payload{Text: b.Text})
		case protocol.BlockImage, protocol.BlockFile:
			load, err := Load(ctx, req, info, b)
			if err != nil {
				return nil, err
			}
			out = append(out, load)
		}
	}
	return out, nil
}

// Texts takes the texts apart from images and documents.
func Texts(parts []Payload) (texts []string, rest []Payload) {
	for _, p := range parts {
		if p.Data == nil {
			texts = append(texts, p.Text)
		} else {
			rest = append(rest, p)
		}
	}
	return texts, rest
}

func what(b protocol.Block) string {
	if b.Type == protocol.BlockFile {
		return "file " + b.Name
	}
	return "image " + b.MediaType
}
