import { type FormEvent, useState } from "react";
import type { CommandInfo, SessionID } from "../../protocol/index";
import { useAction, useClient } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { tell } from "../parts/tell";
import { go } from "../route";
import { useWords } from "../words/index";
import { paletteWords } from "./words";

/** Runs a command of the session that is open, and says what came of it. */
export function useRunCommand(sessionId: SessionID | undefined, onDone: () => void) {
  const w = useWords(paletteWords);
  const client = useClient();
  return useAction(async (name: string, args: string) => {
    if (!sessionId) return;
    const got = await client.call("run_command", { name, args, moves: true }, { sessionId });
    onDone();
    const { move } = got;
    if (move?.sessionId) go({ at: "session", id: move.sessionId });
    if (move?.sessionId && move.message)
      await client.call("send_message", { content: [{ type: "text", text: move.message }] }, { sessionId: move.sessionId });
    const said = [got.status, got.text, ...(move?.notices ?? [])].filter(Boolean).join(" ");
    if (!got.sent) tell(said || (got.queued ? w.queued(name) : w.done(name)), { bad: false });
  });
}

/** The text after a command's name. */
export function RunCommand({ command, run, onBack }: { command: CommandInfo; run: ReturnType<typeof useRunCommand>; onBack(): void }) {
  const w = useWords(paletteWords);
  const [args, setArgs] = useState("");
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void run.run(command.name, args);
  };
  return (
    <form className="argument" onSubmit={submit}>
      <p>
        <b className="mono">/{command.name}</b> <span className="t2">{command.description}</span>
      </p>
      <div className="field">
        <label htmlFor="command-args">{w.argument(command.name)}</label>
        {/* The palette was opened to type. */}
        <input
          id="command-args"
          className="input mono"
          ref={focused}
          placeholder={command.argumentHint}
          value={args}
          onChange={(e) => setArgs(e.target.value)}
        />
      </div>
      <ErrorLine error={run.error} />
      <div className="acts">
        <Button onClick={onBack}>{w.back}</Button>
        <Button look="ink" type="submit" disabled={run.busy}>
          {w.run}
        </Button>
      </div>
    </form>
  );
}

function focused(input: HTMLInputElement | null): void {
  input?.focus();
}
