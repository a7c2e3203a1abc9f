package protocol

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sumByHand is the rule of docs/sessions.md in the plainest words.
func sumByHand(line string) string {
	line = regexp.MustCompile(`,"crc":"[0-9a-f]{8}"}$`).ReplaceAllString(line, "}")
	at := regexp.MustCompile(`"sessionId":("[^"]*")`).FindStringSubmatchIndex(line)
	line = line[:at[2]] + line[at[3]:]
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(line), crc32.MakeTable(crc32.Castagnoli)))
}

func TestTheChecksumIsTheOneThatTheDocsCompute(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "sessions.md"))
	if err != nil {
		t.Fatal(err)
	}
	var line string
	for _, l := range strings.Split(string(page), "\n") {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, `{"type":"message"`) && strings.Contains(l, `"crc":`) {
			line = l
		}
	}
	e, err := ParseEvent([]byte(line))
	if err != nil || e.Sum() != SumRight {
		t.Fatalf("the line of the docs is %v (%v): %s", e.Sum(), err, line)
	}
	if want := sumByHand(line); !strings.HasSuffix(line, `,"crc":"`+want+`"}`) {
		t.Fatalf("the sum by hand is %s", want)
	}
	var k Keys
	if err := ScanKeys([]byte(line), &k); err != nil || !k.HasPrev || k.Prev != 1 {
		t.Fatalf("prev is %d (%t, %v)", k.Prev, k.HasPrev, err)
	}
}

// sealed is an event of a log.
func sealed(t testing.TB, body Body, prev Seq) Event {
	t.Helper()
	e := NewEvent(body)
	e.ID, e.Seq, e.SessionID, e.ClientID, e.TS = "evt_0123456789abcdef", prev+1, "ses_06h0ah7fe0abjai01pc9rs9g5v", HostClient, 1795384733553
	e, err := e.SealAfter(prev)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestWhatIsWrittenHasTheRightChecksumAndKeepsItInAnotherSession(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := sealed(t, &MessageBody{Message: drawMessage(rt)}, Seq(rapid.IntRange(0, 1e6).Draw(rt, "prev")))
		if got := e.Raw(); !bytes.HasPrefix(got, []byte(`{"type":"message","id":"evt_0123456789abcdef","parentId":null,"seq":`)) || !bytes.HasSuffix(got, []byte(`"}`)) {
			rt.Fatalf("%s", got)
		}
		copied, err := WithSession(e.Raw(), "ses_00000000000000000000000000")
		if err != nil {
			rt.Fatal(err)
		}
		for _, line := range [][]byte{e.Raw(), copied} {
			if got, err := ParseEvent(line); err != nil || got.Sum() != SumRight {
				rt.Fatalf("%v, %v: %s", got.Sum(), err, line)
			}
		}
		if !strings.HasSuffix(string(copied), `,"crc":"`+sumByHand(string(copied))+`"}`) {
			rt.Fatalf("by hand %s: %s", sumByHand(string(copied)), copied)
		}
	})
}

func TestEveryChangedByteIsFound(t *testing.T) {
	line := sealed(t, &Rewind{}, 41).Raw()
	session := [2]int{bytes.Index(line, []byte(`"ses_`)), bytes.Index(line, []byte(`,"clientId"`))}
	for i := range line {
		for bit := range 8 {
			bad := bytes.Clone(line)
			bad[i] ^= 1 << bit
			e, err := ParseEvent(bad)
			if err == nil && e.Sum() != SumWrong && (i < session[0] || i >= session[1]) {
				t.Errorf("byte %d, bit %d: %s", i, bit, bad)
			}
		}
	}
}

func TestALineOfAnOlderVersionIsUnknownAndNeverWrong(t *testing.T) {
	e := NewEvent(&Label{TargetEventID: "evt_0123456789abcdef"})
	e.ID, e.Seq, e.SessionID, e.ClientID = "evt_0123456789abcdef", 1, "ses_x", HostClient
	line, err := e.AppendLine(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseEvent(line); err != nil || got.Sum() != SumUnknown {
		t.Fatalf("%v (%v): %s", got.Sum(), err, line)
	}
	transient := NewEvent(&TurnStart{})
	transient.Seq, transient.SessionID, transient.ClientID = 1, "ses_x", HostClient
	if line, err = transient.AppendLine(nil); err != nil || bytes.Contains(line, []byte("crc")) {
		t.Fatalf("%s (%v)", line, err)
	}
}

func TestAHeaderHasAChecksum(t *testing.T) {
	line, err := Header{Version: 1, SessionID: "ses_06h0ah7fe0abjai01pc9rs9g5v", Meta: Meta{Name: "a \u2028 name"}}.AppendLine(nil)
	if err != nil || HeaderSum(line) != SumRight {
		t.Fatalf("%v (%v): %s", HeaderSum(line), err, line)
	}
	if got := HeaderSum(bytes.Replace(line, []byte("name\""), []byte("nane\""), 1)); got != SumWrong {
		t.Errorf("changed: %v", got)
	}
	if got := HeaderSum([]byte(`{"version":1,"sessionId":"ses_06h0ah7fe0abjai01pc9rs9g5v"}`)); got != SumUnknown {
		t.Errorf("of an older version: %v", got)
	}
	if _, err := ParseHeader(line); err != nil {
		t.Error(err)
	}
}
