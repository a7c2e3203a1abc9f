package display
import ("io";"encoding/json";"scorel/protocol";"iter")
type Kind string
const Hidden Kind="hidden"
type Item struct{Kind Kind; Title, Text string}
func Of(e protocol.Event) Item { m,_:=e.Message(); return Item{Title:string(e.Type)+" "+string(m.Role),Text:m.PlainText()} }
func Clean(s string) string {return s}
func CallLine(n string,a json.RawMessage) string {return n+" "+string(a)}
func Markdown(w io.Writer,h protocol.Header,m protocol.Meta, ev iter.Seq2[protocol.Event,error]) error {return nil}
