import { type ReactNode, useEffect, useRef, useState } from "react";
import { fetchBlob } from "../../client/index";
import { sentence, useClient, useSession } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { save } from "../parts/save";
import { Markdown } from "../text/Markdown";
import { safeText } from "../text/safe";
import { Terminal } from "../text/Terminal";
import { bytes } from "../words/format";
import { useWords } from "../words/index";
import { conversationWords } from "./words";

/** The longest text that is drawn, in bytes; a longer one can be saved. */
const maxDrawn = 4 << 20;
/** The most lines of an output that are drawn. */
const maxLines = 100_000;

/** Shows a part of a text, until somebody wants the whole, which the payload has that the log names. */
export function Whole({ blob, as, children }: { blob: string; as: "terminal" | "markdown" | "plain"; children: ReactNode }) {
  const w = useWords(conversationWords);
  const client = useClient();
  const { sessionId } = useSession();
  const [state, setState] = useState<{ busy?: boolean; error?: string; text?: string; big?: number }>({});
  const abort = useRef<AbortController>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const read = async (use: (data: Uint8Array<ArrayBuffer>) => { text?: string; big?: number }) => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    setState({ busy: true });
    try {
      const next = use(await fetchBlob(client, sessionId, blob, mine.signal));
      if (!mine.signal.aborted) setState(next);
    } catch (e) {
      if (!mine.signal.aborted) setState({ error: sentence(e) });
    }
  };
  const show = () => read((d) => (d.length > maxDrawn ? { big: d.length } : { text: new TextDecoder().decode(d) }));
  const keep = () =>
    read((d) => {
      save(new Blob([d], { type: "text/plain" }), `${blob.slice(0, 12)}.txt`);
      return state.text === undefined ? {} : { text: state.text };
    });
  return (
    <div className="whole">
      {state.text === undefined ? (
        children
      ) : as === "terminal" ? (
        <Terminal text={state.text} most={maxLines} />
      ) : as === "markdown" ? (
        <Markdown text={state.text} />
      ) : (
        <div className="words">{safeText(state.text)}</div>
      )}
      <p className="runfoot t3">
        <span className="grow">{state.text !== undefined ? w.wholeShown : state.big ? w.tooBig(bytes(state.big)) : w.part}</span>
        {state.text === undefined && !state.big && (
          <Button look="plain" small disabled={state.busy ?? false} onClick={show}>
            {state.busy ? w.reading : w.all}
          </Button>
        )}
        <Button look="plain" small disabled={state.busy ?? false} onClick={keep}>
          {w.save}
        </Button>
      </p>
      {state.error && <ErrorLine error={state.error} />}
    </div>
  );
}
