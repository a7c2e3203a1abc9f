package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"scorel/internal/model"
	"scorel/internal/model/wire"
	"scorel/protocol"
)

func (m *Model) params(ctx context.Context, req model.Request) (sdk.ChatCompletionNewParams, []option.RequestOption, error) {
	p := sdk.ChatCompletionNewParams{
		Model:         m.info.ID,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	err := wire.Schemas(req.Tools)
	if err != nil {
		return p, nil, err
	}
	if p.Messages, err = m.convert(ctx, req); err != nil {
		return p, nil, err
	}
	for _, t := range req.Tools {
		f := sdk.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		// FunctionParameters is a map, which would lose the order that the schema
		// was written in; the raw bytes keep it.
		f.SetExtraFields(map[string]any{"parameters": t.Schema})
		p.Tools = append(p.Tools, sdk.ChatCompletionToolUnionParam{OfFunction: &sdk.ChatCompletionFunctionToolParam{Function: f}})
	}
	if n := wire.MaxTokens(m.info, req); n > 0 {
		if m.info.Compat.MaxTokensField == "max_tokens" {
			p.MaxTokens = param.NewOpt(int64(n))
		} else {
			p.MaxCompletionTokens = param.NewOpt(int64(n))
		}
	}
	if m.info.Provider == "openai" && req.SessionID != "" {
		p.PromptCacheKey = param.NewOpt(string(req.SessionID))
	}
	return p, m.think(req, &p), nil
}

// convert makes the API's messages. A tool message holds text only; images and
// files of results follow all results of the message in a user message, joined
// with the user's own where one follows.
func (m *Model) convert(ctx context.Context, req model.Request) ([]sdk.ChatCompletionMessageParamUnion, error) {
	var out []sdk.ChatCompletionMessageParamUnion
	if strings.TrimSpace(req.System) != "" {
		out = append(out, sdk.SystemMessage(req.System))
	}
	var late []sdk.ChatCompletionContentPartUnionParam
	for _, msg := range model.Fit(req.Messages, m.info) {
		switch msg.Role {
		case protocol.RoleAssistant:
			if len(late) > 0 {
				out, late = append(out, userMessage(late)), nil
			}
			out = append(out, m.assistant(msg))
		case protocol.RoleUser:
			parts, err := m.parts(ctx, req, msg.Content)
			if err != nil {
				return nil, err
			}
			out, late = append(out, userMessage(append(late, parts...))), nil
		case protocol.RoleToolResult:
			text, rest, err := m.result(ctx, req, msg)
			if err != nil {
				return nil, err
			}
			out = append(out, sdk.ToolMessage(text, msg.ToolCallID))
			late = append(late, rest...)
		}
	}
	if len(late) > 0 {
		out = append(out, userMessage(late))
	}
	return out, nil
}

// userMessage makes a message of parts; one text is sent as a string, which is
// the form that every compatible server takes.
func userMessage(parts []sdk.ChatCompletionContentPartUnionParam) sdk.ChatCompletionMessageParamUnion {
	if len(parts) == 1 && parts[0].OfText != nil {
		return sdk.UserMessage(parts[0].OfText.Text)
	}
	return sdk.UserMessage(parts)
}

func (m *Model) assistant(msg protocol.Message) sdk.ChatCompletionMessageParamUnion {
	a := &sdk.ChatCompletionAssistantMessageParam{}
	var thinking []string
	for _, b := range msg.Content {
		switch b.Type {
		case protocol.BlockThinking:
			thinking = append(thinking, b.Thinking)
		case protocol.BlockToolUse:
			a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
					ID:       b.ID,
					Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: b.Name, Arguments: compact(b.Input)},
				},
			})
		}
	}
	if text := msg.PlainText(); text != "" {
		a.Content.OfString = param.NewOpt(text)
	}
	if m.info.Compat.ReasoningContent && len(m.info.Thinking) > 0 {
		// These servers want the field in every message while they think.
		a.SetExtraFields(map[string]any{"reasoning_content": strings.Join(thinking, "\n")})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: a}
}

// compact writes the input without white space and with every character as it
// was: an escaped '<' would be seen, and imitated, by the model.
func compact(input json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, input); err != nil {
		return "{}"
	}
	return b.String()
}

func (m *Model) result(ctx context.Context, req model.Request, msg protocol.Message) (string, []sdk.ChatCompletionContentPartUnionParam, error) {
	parts, err := m.parts(ctx, req, msg.Content)
	if err != nil {
		return "", nil, err
	}
	var text []string
	var rest []sdk.ChatCompletionContentPartUnionParam
	for _, p := range parts {
		if p.OfText != nil {
			text = append(text, p.OfText.Text)
		} else {
			rest = append(rest, p)
		}
	}
	if len(rest) > 0 {
		note := "[what the call " + msg.ToolCallID + " gave besides text:]"
		rest = append([]sdk.ChatCompletionContentPartUnionParam{sdk.TextContentPart(note)}, rest...)
		if len(text) == 0 {
			text = []string{"(see the message behind the results)"}
		}
	}
	return strings.Join(text, "\n"), rest, nil
}

func (m *Model) parts(ctx context.Context, req model.Request, content []protocol.Block) ([]sdk.ChatCompletionContentPartUnionParam, error) {
	out := make([]sdk.ChatCompletionContentPartUnionParam, 0, len(content))
	for _, b := range content {
		switch b.Type {
		case protocol.BlockText:
			out = append(out, sdk.TextContentPart(b.Text))
		case protocol.BlockImage, protocol.BlockFile:
			load, err := wire.Load(ctx, req, m.info, b)
			if err != nil {
				return nil, err
			}
			out = append(out, payload(b, load))
		}
	}
	return out, nil
}

func payload(b protocol.Block, load wire.Payload) sdk.ChatCompletionContentPartUnionParam {
	url := "data:" + load.MediaType + ";base64," + load.Base64
	switch {
	case load.Base64 == "":
		return sdk.TextContentPart(load.Text)
	case b.Type == protocol.BlockImage:
		return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: url})
	}
	name := load.Name
	if name == "" {
		name = "document.pdf"
	}
	return sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{FileData: param.NewOpt(url), Filename: param.NewOpt(name)})
}
