import { exactText, literalText } from "./safe";
import { Scroller } from "./Scroller";
import "./text.css";

/**
 * What somebody decides about, as it is: every line, every character, nothing cut.
 * prose: it is no command, and may have what prose needs and nobody sees.
 */
export function Exact({ text, name, prose = false }: { text: string; name: string; prose?: boolean }) {
  return (
    <Scroller name={name} className="exact">
      <pre>{prose ? exactText(text) : literalText(text)}</pre>
    </Scroller>
  );
}
