import { exactText } from "./safe";
import { Scroller } from "./Scroller";
import "./text.css";

/** What somebody decides about, as it is: every line, every character, nothing cut. */
export function Exact({ text, name }: { text: string; name: string }) {
  return (
    <Scroller name={name} className="exact">
      <pre>{exactText(text)}</pre>
    </Scroller>
  );
}
