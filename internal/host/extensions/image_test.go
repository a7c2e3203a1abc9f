package extensions_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const callPic = `{"if":{"user":"^pic$"},"do":[{"call":"pic","id":"c1","input":{}}],"stop":"tool_use"}`

// picWorld has an extension of a source, in which D is the image of it.
func picWorld(t *testing.T, source, data string) (*hosttest.World, *hosttest.Entry) {
	w := hosttest.New(t, hosttest.Setting{Tables: "images = true\n"}, callPic, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("img", fmt.Sprintf("const D = %q;\n%s", data, source))
	return w, w.Begin(false)
}

func pngOf(t *testing.T, width int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The ways in which an extension gives an image. A command is run where it has one; else a
// person says "pic", and the model calls the tool of this name.
var picWays = []struct{ name, source string }{
	{"tool", piTool(`async () => ({ content: [IMG] })`)},
	{"tool, not async", piTool(`() => ({ content: [{ type: "image", mediaType: "image/png", data: D }] })`)},
	{"tool_result", piTool(`() => "t"`, `pi.on("tool_result", (e: any) => ({ content: [...e.content, IMG] }));`)},
	{"tool_call", piTool(`() => "t"`, `pi.on("tool_call", (e: any) => ({ result: { content: [IMG] } }));`)},
	{"input", piTool(`() => "t"`, `pi.on("input", (e: any) => ({ action: "transform", images: [IMG] }));`)},
	{"before_agent_start", piTool(`() => "t"`, `pi.on("before_agent_start", () => ({ message: { customType: "x", content: [IMG] } }));`)},
	{"context", piTool(`() => "t"`, `pi.on("context", (e: any) => ({ messages: [...e.messages, { role: "user", content: [IMG] }] }));`)},
	{"command sendUserMessage", piTool(`() => "t"`, `pi.registerCommand("go", { handler: async () => { await pi.sendUserMessage([{ type: "text", text: "look" }, IMG]); } });`)},
	{"command sendMessage", piTool(`() => "t"`, `pi.registerCommand("go", { handler: async () => { await pi.sendMessage({ customType: "x", content: [IMG] }, { triggerTurn: true }); } });`)},
	{"command complete", piTool(`() => "t"`, `pi.registerCommand("go", { handler: async (_: any, ctx: any) => { await ctx.modelRegistry.complete(ctx.model, { messages: [{ role: "user", content: [IMG] }] }); } });`)},
	{"tool of Scorel", scorelHooks(`async () => ({ content: [LOG] })`, ``)},
	{"beforeToolCall", scorelHooks(`() => "t"`, `beforeToolCall: () => ({ result: { content: [LOG] } })`)},
	{"afterToolCall", scorelHooks(`() => "t"`, `afterToolCall: (r: any) => ({ content: [...r.content, LOG] })`)},
	{"prompt", scorelHooks(`() => "t"`, `prompt: (p: any) => ({ action: "transform", text: p.text, images: [LOG] })`)},
	{"beforeAgent", scorelHooks(`() => "t"`, `beforeAgent: () => ({ message: { customType: "x", content: [LOG] } })`)},
	{"transformContext", scorelHooks(`() => "t"`, `transformContext: (list: any) => [...list, { role: "user", content: [LOG] }]`)},
	{"convertToLlm", scorelHooks(`() => "t"`, `convertToLlm: (list: any) => [...list, { role: "user", content: [LOG] }]`)},
}

func piTool(execute string, more ...string) string {
	return `const IMG: any = { type: "image", mimeType: "image/png", data: D };
export default function (pi: any) {
  pi.registerTool({ name: "pic", kind: "read", description: "x", parameters: { type: "object", properties: {} }, execute: ` + execute + ` });
  ` + strings.Join(more, "\n") + `
}`
}

func scorelHooks(execute, hooks string) string {
	return `const LOG: any = { type: "image", mediaType: "image/png", data: D };
export default { id: "img", name: "img", version: "1",
  tools: () => [{ name: "pic", kind: "read", description: "x", execute: ` + execute + ` }],
  hooks: () => ({ ` + hooks + ` }) };`
}

// does has the extension give its image, and waits for the end of what comes of it.
func does(t *testing.T, e *hosttest.Entry, name string) error {
	if !strings.HasPrefix(name, "command ") {
		if end := e.Say("pic"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v\n%s", end, e.Trace())
		}
		return nil
	}
	_, err := client.Call[*protocol.CommandResult](t.Context(), e.C, e.ID, &protocol.RunCommand{Name: "go"})
	if err == nil && name != "command complete" {
		e.Until(func(ev protocol.Event) bool {
			m, ok := ev.Message()
			return ok && m.Role == protocol.RoleAssistant
		})
	}
	return err
}

// TestImagesOfExtensionsReachTheModel has an image go each way: it is stored, and the model
// is sent its bytes.
func TestImagesOfExtensionsReachTheModel(t *testing.T) {
	for i, way := range picWays {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			pic := pngOf(t, i+2)
			data := base64.StdEncoding.EncodeToString(pic)
			w, e := picWorld(t, way.source, data)
			if err := does(t, e, way.name); err != nil {
				t.Fatal(err)
			}
			if got := w.LastRequest(); !strings.Contains(got, data) {
				t.Errorf("the model was sent: %s\n%s", got, e.Trace())
			}
			for _, m := range w.Stored(e.ID) {
				for _, b := range m.Content {
					if b.Type == protocol.BlockImage && (!protocol.IsPayload(b.Blob) || e.WholeOf(b) != string(pic)) {
						t.Errorf("stored: %+v", b)
					}
				}
			}
		})
	}
}

// TestUnusableImagesOfExtensionsAreRefused has each way give what is no image: people or the
// model are told, nothing of it is stored, and what the person typed goes on.
func TestUnusableImagesOfExtensionsAreRefused(t *testing.T) {
	for _, bad := range []struct{ name, data, media, want string }{
		{"not base64", "%%%", "image/png", "is not base64"},
		{"no image", base64.StdEncoding.EncodeToString([]byte("hello")), "image/png", "damaged"},
		{"no type of images", base64.StdEncoding.EncodeToString(pngOf(t, 2)), "image/tiff", "image/tiff"},
	} {
		for _, way := range picWays {
			if bad.data != "%%%" && way.name != "input" && way.name != "tool" {
				continue
			}
			t.Run(bad.name+" "+way.name, func(t *testing.T) {
				t.Parallel()
				w, e := picWorld(t, strings.ReplaceAll(way.source, "image/png", bad.media), bad.data)
				told := ""
				if err := does(t, e, way.name); err != nil {
					told = err.Error()
				}
				typed := strings.HasPrefix(way.name, "command ")
				for _, ev := range w.Log(e.ID) {
					m, ok := ev.Message()
					if !ok {
						continue
					}
					typed = typed || m.Role == protocol.RoleUser && m.PlainText() == "pic"
					if m.Role == protocol.RoleToolResult {
						told += m.PlainText() + "\n"
					}
					for _, b := range m.Content {
						if b.Type == protocol.BlockImage {
							t.Errorf("stored: %+v", b)
						}
					}
				}
				for _, ev := range e.Events {
					if n, ok := ev.Body.(*protocol.Notice); ok {
						told += n.Text + "\n"
					}
				}
				if !strings.Contains(told, bad.want) || !typed {
					t.Errorf("told %q, the message is there: %v\n%s", told, typed, e.Trace())
				}
			})
		}
	}
}

// TestImagesThatComeBackStayWhatTheyWere has handlers give back the image of a person, beside
// texts that they change; with other bytes in data it is another image.
func TestImagesThatComeBackStayWhatTheyWere(t *testing.T) {
	first, second := pngOf(t, 40), pngOf(t, 41)
	for _, c := range []struct {
		name, source string
		want         []byte
	}{
		{"pi", `export default function (pi: any) {
  pi.on("input", (e: any) => ({ action: "transform", text: e.text + "!", images: e.images }));
  pi.on("context", (e: any) => ({ messages: e.messages.map(({ message: m }: any) => ({ ...m, content: Array.isArray(m.content) ? [...m.content, { type: "text", text: "xyzzy" }] : m.content })) }));
}`, first},
		{"scorel", scorelHooks(`() => "t"`, `prompt: (p: any) => ({ action: "transform", text: p.text + "!", images: p.images }),
    context: (list: any) => list.map(({ message: m }: any) => ({ ...m, content: Array.isArray(m.content) ? [...m.content, { type: "text", text: "xyzzy" }] : m.content }))`), first},
		{"other bytes", `export default function (pi: any) {
  pi.on("input", (e: any) => ({ action: "transform", text: e.text + "!", images: e.images.map((i: any) => ({ ...i, data: D })) }));
}`, second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, e := picWorld(t, c.source, base64.StdEncoding.EncodeToString(second))
			ref := hosttest.Call[*protocol.BlobRef](t, e.C, "", &protocol.PutBlob{UploadID: "u", Data: first, Last: true})
			hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("look"), {Type: protocol.BlockImage, MediaType: "image/png", Blob: ref.SHA256}}})
			e.End()
			m := w.Stored(e.ID)[0]
			if len(m.Content) != 2 || m.Content[0].Text != "look!" || e.WholeOf(m.Content[1]) != string(c.want) {
				t.Errorf("stored: %+v\n%s", m, e.Trace())
			}
			if got := w.LastRequest(); !strings.Contains(got, base64.StdEncoding.EncodeToString(c.want)) || strings.Contains(got, "xyzzy") != (c.name != "other bytes") {
				t.Errorf("sent: %s", got)
			}
		})
	}
}
