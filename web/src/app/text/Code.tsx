import { Check, Copy } from "lucide-react";
import { memo, useEffect, useMemo, useState } from "react";
import { IconButton } from "../parts/controls";
import { announce, tell } from "../parts/tell";
import { useWords } from "../words/index";
import { Cursor } from "./prose";
import { safeText } from "./safe";
import { Scroller } from "./Scroller";
import { type Piece, useHighlight } from "./useHighlight";
import { textWords } from "./words";
import "./text.css";

/** Code as it is. live: it still comes in. What is copied is what is seen. caption says something below it. */
export const Code = memo(function Code({
  text,
  language = "",
  live = false,
  copy,
  caption,
}: {
  text: string;
  language?: string;
  live?: boolean;
  copy?: boolean;
  caption?: string;
}) {
  const w = useWords(textWords);
  const shown = useMemo(() => safeText(text), [text]);
  const pieces = useHighlight(shown, language, !live);
  const name = language.slice(0, 24);
  return (
    <figure className="code" aria-label={name ? w.codeIn(safeText(name)) : w.code}>
      {copy && <CopyButton text={shown} />}
      <Scroller name={name ? w.codeIn(safeText(name)) : w.code} className="codebox">
        <pre>
          <code>
            <Coloured text={shown} pieces={pieces} />
            {live && <Cursor />}
          </code>
        </pre>
      </Scroller>
      {caption && <figcaption className="t3">{caption}</figcaption>}
    </figure>
  );
});

/** Text whose first lines have colours. */
export function Coloured({ text, pieces }: { text: string; pieces: readonly Piece[] }) {
  return (
    <>
      {pieces.map((p) => (
        <PieceView key={p.end} piece={p} last={p.end >= text.length} />
      ))}
      {text.slice(pieces.at(-1)?.end ?? 0)}
    </>
  );
}

const PieceView = memo(function PieceView({ piece, last }: { piece: Piece; last: boolean }) {
  return (
    <>
      {piece.lines.map((line, i) => (
        <span key={i}>
          {line.map(([text, className], n) =>
            className ? (
              <span key={n} className={className}>
                {text}
              </span>
            ) : (
              text
            ),
          )}
          {!(last && i === piece.lines.length - 1) && "\n"}
        </span>
      ))}
    </>
  );
});

/** Copies a text, and says so. */
export function CopyButton({ text }: { text: string }) {
  const w = useWords(textWords);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce(w.copied);
    } catch {
      tell(w.copyFailed);
    }
  };
  return <IconButton className="copy" of={copied ? Check : Copy} name={copied ? w.copied : w.copy} small onClick={() => void copy()} />;
}
