package anthropic

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"scorel/internal/model"
	"scorel/internal/model/wire"
	"scorel/protocol"
)

func (m *Model) params(ctx context.Context, req model.Request) (sdk.MessageNewParams, []option.RequestOption, error) {
	if err := wire.Schemas(req.Tools); err != nil {
		return sdk.MessageNewParams{}, nil, err
	}
	messages, err := m.convert(ctx, req)
	if err != nil {
		return sdk.MessageNewParams{}, nil, err
	}
	p := sdk.MessageNewParams{Model: m.info.ID, Messages: messages, MaxTokens: int64(m.maxTokens(req))}
	if strings.TrimSpace(req.System) != "" {
		p.System = []sdk.TextBlockParam{{Text: req.System}}
	}
	for _, t := range req.Tools {
		tool := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](t.Schema)}
		if t.Description != "" {
			tool.Description = sdk.String(t.Description)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: tool})
	}
	betas := m.think(req, &p)
	if m.info.Cache {
		mark(&p, !m.info.Compat.NoToolMarks)
	}
	return p, m.betas(betas), nil
}

// Output limits of a request that names none.
const (
	defaultMaxTokens = 32_000
	unknownMaxTokens = 8_192 // for a model whose limit is not known
	leastMaxTokens   = 1_024
)

// maxTokens is the output limit: what the request says, kept within the model's
// own and within what the window leaves, because newer models refuse a request
// whose input and limit exceed the window together.
func (m *Model) maxTokens(req model.Request) int {
	limit := m.info.MaxTokens
	if limit <= 0 {
		limit = unknownMaxTokens
	}
	n := min(defaultMaxTokens, limit)
	if req.MaxTokens > 0 {
		n = req.MaxTokens
		if m.info.MaxTokens > 0 {
			n = min(n, m.info.MaxTokens)
		}
	}
	if m.info.ContextWindow > 0 {
		n = min(n, max(leastMaxTokens, m.info.ContextWindow-model.EstimateRequest(req)))
	}
	return n
}

// convert makes the API's messages. Results of one assistant message and the
// user's text behind them become one user message, results first.
func (m *Model) convert(ctx context.Context, req model.Request) ([]sdk.MessageParam, error) {
	var out []sdk.MessageParam
	var late []sdk.ContentBlockParamUnion // what stands behind the results of the message
	flush := func() {
		if len(late) > 0 {
			out[len(out)-1].Content = append(out[len(out)-1].Content, late...)
			late = nil
		}
	}
	user := func() *sdk.MessageParam {
		if n := len(out); n == 0 || out[n-1].Role != sdk.MessageParamRoleUser {
			out = append(out, sdk.MessageParam{Role: sdk.MessageParamRoleUser})
		}
		return &out[len(out)-1]
	}
	for _, msg := range model.Fit(req.Messages, m.info) {
		if msg.Role != protocol.RoleToolResult {
			flush()
		}
		blocks, err := m.blocks(ctx, req, msg.Content)
		if err != nil {
			return nil, err
		}
		switch msg.Role {
		case protocol.RoleAssistant:
			out = append(out, sdk.MessageParam{Role: sdk.MessageParamRoleAssistant, Content: blocks})
		case protocol.RoleUser:
			u := user()
			u.Content = append(u.Content, blocks...)
		case protocol.RoleToolResult:
			result, rest := toolResult(msg, blocks)
			u := user()
			u.Content = append(u.Content, result)
			late = append(late, rest...)
		}
	}
	flush()
	return out, nil
}

// toolResult makes a result block. The API takes no images in error results:
// those are given back to stand behind the results.
func toolResult(msg protocol.Message, blocks []sdk.ContentBlockParamUnion) (result sdk.ContentBlockParamUnion, late []sdk.ContentBlockParamUnion) {
	r := &sdk.ToolResultBlockParam{ToolUseID: msg.ToolCallID}
	if msg.IsError {
		r.IsError = sdk.Bool(true)
	}
	for _, b := range blocks {
		switch {
		case b.OfText != nil:
			r.Content = append(r.Content, sdk.ToolResultBlockParamContentUnion{OfText: b.OfText})
		case msg.IsError:
			late = append(late, b)
		case b.OfImage != nil:
			r.Content = append(r.Content, sdk.ToolResultBlockParamContentUnion{OfImage: b.OfImage})
		case b.OfDocument != nil:
			r.Content = append(r.Content, sdk.ToolResultBlockParamContentUnion{OfDocument: b.OfDocument})
		}
	}
	if len(late) > 0 {
		note := sdk.NewTextBlock("[what the failed call " + msg.ToolCallID + " gave besides text:]")
		late = append([]sdk.ContentBlockParamUnion{note}, late...)
		if len(r.Content) == 0 {
			r.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: "(see behind the results)"}}}
		}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: r}, late
}

func (m *Model) blocks(ctx context.Context, req model.Request, content []protocol.Block) ([]sdk.ContentBlockParamUnion, error) {
	out := make([]sdk.ContentBlockParamUnion, 0, len(content))
	for _, b := range content {
		switch b.Type {
		case protocol.BlockText:
			out = append(out, sdk.NewTextBlock(b.Text))
		case protocol.BlockThinking:
			out = append(out, thinkingBlock(b))
		case protocol.BlockToolUse:
			out = append(out, sdk.ContentBlockParamUnion{OfToolUse: &sdk.ToolUseBlockParam{ID: b.ID, Name: b.Name, Input: b.Input}})
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

func thinkingBlock(b protocol.Block) sdk.ContentBlockParamUnion {
	if !b.Redacted {
		return sdk.NewThinkingBlock(b.Signature, b.Thinking)
	}
	var data string
	if json.Unmarshal(b.Provider.Data, &data) != nil {
		data = string(b.Provider.Data)
	}
	return sdk.NewRedactedThinkingBlock(data)
}

func payload(b protocol.Block, load wire.Payload) sdk.ContentBlockParamUnion {
	switch {
	case load.Base64 == "":
		return sdk.NewTextBlock(load.Text)
	case b.Type == protocol.BlockImage:
		return sdk.NewImageBlockBase64(load.MediaType, load.Base64)
	}
	doc := &sdk.DocumentBlockParam{Source: sdk.DocumentBlockParamSourceUnion{OfBase64: &sdk.Base64PDFSourceParam{Data: load.Base64}}}
	if load.Name != "" {
		doc.Title = sdk.String(load.Name)
	}
	return sdk.ContentBlockParamUnion{OfDocument: doc}
}
