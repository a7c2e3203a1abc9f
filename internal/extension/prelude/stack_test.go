package prelude

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"scorel/internal/extension/rpc"
)

const (
	seedStack = "testdata/stack-seed.ts"
	ownStack  = "../../../examples/extensions/stack.ts"
)

// bothStacks runs a test with the hook that the design of hooks v2 prints and with
// the example that was written after its description.
func bothStacks(t *testing.T, test func(t *testing.T, file string)) {
	for _, file := range []string{seedStack, ownStack} {
		t.Run(file[strings.LastIndex(file, "/")+1:], func(t *testing.T) { test(t, file) })
	}
}

func TestThePrintedHookIsUnchangedButForItsIndentation(t *testing.T) {
	data, err := os.ReadFile(seedStack)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(string(data)), "")))
	if got := hex.EncodeToString(sum[:]); got != "07665fbefb61a3d4e47fae51539b27c42006f20d947f019c4954a092ed8f5624" {
		t.Errorf("the listing without white space has the SHA-256 %s", got)
	}
}

// scenario is the conversation of the worked example of hooks v2, with the indexes
// that it uses: 0 holds an entry that is not a message, 1 to 5 are the messages 1 to 5.
// Messages with even numbers are the user's.
func scenario(d *double) {
	d.add(rpc.Entry{Type: "opened", Custom: true, Data: marshal(map[string]string{"by": "a test"})})
	for n := 1; n <= 5; n++ {
		d.msg(n)
	}
}

func (d *double) msg(n int) {
	if n%2 == 0 {
		d.user(fmt.Sprintf("msg%d", n))
	} else {
		d.assistant(fmt.Sprintf("msg%d", n))
	}
}

// summaries answers the questions for summaries by name, in order, and keeps what was
// to be summarised.
func (d *double) summaries(names ...string) *[]string {
	var asked []string
	d.complete = func(c rpc.Complete) (string, error) {
		if len(names) == 0 {
			return "", fmt.Errorf("no more summaries")
		}
		var texts []string
		for _, m := range c.Messages[:len(c.Messages)-1] {
			texts = append(texts, m.PlainText())
		}
		asked = append(asked, strings.Join(texts, " "))
		name := names[0]
		names = names[1:]
		return name, nil
	}
	return &asked
}

func TestTheWorkedScenarioGivesItsListedContexts(t *testing.T) {
	bothStacks(t, func(t *testing.T, file string) {
		d := newDouble(t)
		scenario(d)
		stack := d.load(file)
		equal(t, "at the beginning", d.context(stack), []string{"msg1", "msg2", "msg3", "msg4", "msg5"})

		d.compaction("C1", 4)
		equal(t, "behind the first compaction", d.context(stack), []string{"C1", "msg4", "msg5"})

		d.msg(6) // entry 7
		d.msg(7) // entry 8
		equal(t, "while it goes on", d.context(stack), []string{"C1", "msg4", "msg5", "msg6", "msg7"})

		asked := d.summaries("P1", "S1")
		if status := stack.run("pop 2"); status == "" {
			t.Error("/pop says nothing")
		}
		equal(t, "what was summarised", *asked, []string{"msg1", "msg2 msg3 msg4 msg5 msg6 msg7"})
		equal(t, "what was stored", d.called(rpc.CallAppend), []string{`{"data":{"backToIndex":2,"prePopSummary":"P1","summary":"S1"},"kind":"stack_pop"}`})
		if n := len(d.entries) - 1; n != 9 {
			t.Fatalf("the pop has the index %d", n)
		}
		equal(t, "behind the pop", d.context(stack), []string{"P1", "S1"})

		d.msg(10)
		d.msg(11)
		d.msg(12)
		equal(t, "while it goes on behind the pop", d.context(stack), []string{"P1", "S1", "msg10", "msg11", "msg12"})

		d.compaction("C2", 11)
		equal(t, "behind the second compaction", d.context(stack), []string{"C2", "msg11", "msg12"})
	})
}

func TestKeptMessagesStayTheSameMessagesBehindAPop(t *testing.T) {
	bothStacks(t, func(t *testing.T, file string) {
		d := newDouble(t)
		scenario(d)
		stack := d.load(file)
		d.summaries("S")
		stack.run("pop 2")
		d.msg(6)
		d.msg(7)
		var answer rpc.ContextData
		stack.hook("context", d.defaultList(), &answer)
		if n := len(answer.List); n < 2 || answer.List[0].Run == nil || answer.List[n-1].Run == nil || answer.List[1].Run != nil {
			t.Errorf("the list is %s; only the summary is a new message", marshal(answer))
		}
	})
}

func TestAPopThatDoesNotCrossACompactionMakesOneSummary(t *testing.T) {
	bothStacks(t, func(t *testing.T, file string) {
		d := newDouble(t)
		scenario(d)
		d.compaction("C1", 2)
		d.msg(6)
		d.msg(7)
		d.msg(8)
		stack := d.load(file)
		asked := d.summaries("S1")
		d.dialog = func(q rpc.Dialog) any { return q.Options[1].Label }
		stack.run("pop")
		equal(t, "what was summarised", *asked, []string{"msg4 msg5 msg6 msg7 msg8"})
		equal(t, "behind the pop", d.context(stack), []string{"C1", "msg2", "msg3", "S1"})
	})
}

func TestAPopThatNobodyAnswersOrThatFailsStoresNothing(t *testing.T) {
	bothStacks(t, func(t *testing.T, file string) {
		d := newDouble(t)
		scenario(d)
		stack := d.load(file)
		if status, err := stack.command("pop"); err != nil || status != "" {
			t.Errorf("without an answer: %q, %v", status, err)
		}
		d.complete = func(rpc.Complete) (string, error) { return "", fmt.Errorf("The model is overloaded.") }
		if _, err := stack.command("pop 2"); err == nil || !strings.Contains(err.Error(), "overloaded") {
			t.Errorf("a model that fails gives %v", err)
		}
		if calls := d.called(rpc.CallAppend); len(calls) > 0 {
			t.Errorf("stored: %q", calls)
		}
		equal(t, "the context", d.context(stack), []string{"msg1", "msg2", "msg3", "msg4", "msg5"})
	})
}

func TestWithoutItsHookAPopIsUndoneAndWithItAgainItIsBack(t *testing.T) {
	bothStacks(t, func(t *testing.T, file string) {
		d := newDouble(t)
		scenario(d)
		stack := d.load(file)
		d.summaries("S1")
		stack.run("pop 2")
		d.msg(6)
		equal(t, "with the hook", d.context(stack), []string{"msg1", "S1", "msg6"})
		equal(t, "without it", d.context(), []string{"msg1", "msg2", "msg3", "msg4", "msg5", "msg6"})
		equal(t, "with it again", d.context(d.load(file)), []string{"msg1", "S1", "msg6"})
	})
}

func TestAHookThatIsAddedLaterWorksOnAnOldSession(t *testing.T) {
	bothStacks(t, func(t *testing.T, file string) {
		d := newDouble(t)
		scenario(d)
		d.compaction("C1", 4)
		d.msg(6)
		equal(t, "before", d.context(), []string{"C1", "msg4", "msg5", "msg6"})
		stack := d.load(file)
		d.summaries("P1", "S1")
		stack.run("pop 2")
		equal(t, "behind the pop", d.context(stack), []string{"P1", "S1"})
	})
}

const droppingHook = `
export default function (pi) {
  pi.command("drop", { handler: async (ctx) => ctx.saveEntry({ type: "drop_mark", text: ctx.args[0] }) });
  pi.on("context", ({ entries, messages }) => {
    const marks = entries.filter((e) => e.type === "drop_mark").map((e) => e.text);
    if (marks.length === 0) return;
    return { messages: messages.filter((m) => !marks.includes(m.content[0].text ?? m.content)) };
  });
}`

func TestTwoHooksWithTypesOfTheirOwnChainInLoadOrder(t *testing.T) {
	bothStacks(t, func(t *testing.T, file string) {
		d := newDouble(t)
		scenario(d)
		stack, drop := d.load(file), d.loadSource(droppingHook)
		d.summaries("S1")
		drop.run("drop msg1")
		equal(t, "only the second has entries", d.context(stack, drop), []string{"msg2", "msg3", "msg4", "msg5"})
		stack.run("pop 2")
		d.msg(6)
		equal(t, "both have entries", d.context(stack, drop), []string{"S1", "msg6"})
	})
}

func TestEntriesThatNoHookUnderstandsChangeNothing(t *testing.T) {
	bothStacks(t, func(t *testing.T, file string) {
		d := newDouble(t)
		scenario(d)
		d.add(rpc.Entry{Type: "of_a_newer_version", Custom: true, Data: marshal(map[string]int{"backToIndex": 2})})
		d.msg(6)
		var answer any
		d.load(file).hook("context", d.defaultList(), &answer)
		if answer != nil {
			t.Errorf("the list was changed: %v", answer)
		}
	})
}

func TestOfTwoHooksThatFightTheLaterOneWins(t *testing.T) {
	const whole = `export default (pi) => pi.on("context", ({ entries }) => ({
		messages: entries.flatMap((e, i) => e.type === "message" ? [{ message: e.message, entryIndex: i }] : []),
	}))`
	bothStacks(t, func(t *testing.T, file string) {
		d := newDouble(t)
		scenario(d)
		stack, other := d.load(file), d.loadSource(whole)
		d.summaries("S1")
		stack.run("pop 2")
		equal(t, "the other later", d.context(stack, other), []string{"msg1", "msg2", "msg3", "msg4", "msg5"})
		equal(t, "the other earlier", d.context(other, stack), []string{"msg1", "S1"})
	})
}

func TestTwoHandlersOfOneExtensionSeeTheListAsTheOneBeforeLeftIt(t *testing.T) {
	d := newDouble(t)
	scenario(d)
	ext := d.loadSource(`
export default function (pi) {
  pi.on("context", ({ messages }) => ({ messages: [...messages.slice(1), { message: { role: "user", content: "added" }, entryIndex: null }] }));
  pi.on("context", () => { throw new Error("the second is broken"); });
  pi.on("context", ({ messages }) => {
    const last = messages.at(-1);
    if (last.entryIndex !== null || last.message.content === undefined || Object.keys(last).includes("entryIndex")) throw new Error("the list is not as it should be");
    if (messages[0].entryIndex !== 2) throw new Error("entryIndex is " + messages[0].entryIndex);
    return { messages: messages.filter((m) => m.role === "user") };
  });
}`)
	equal(t, "the context", d.context(ext), []string{"msg2", "msg4", "added"})
	failed := d.notified(rpc.NoteHandlerFailed)
	if len(failed) != 1 || !strings.Contains(failed[0], "the second is broken") {
		t.Errorf("failed: %q", failed)
	}
}
