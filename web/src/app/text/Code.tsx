import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../parts/controls";
import { tell } from "../parts/tell";
import { useWords } from "../words/index";
import { textWords } from "./words";

/** Code with a button that copies it. */
export function Code({ text, language }: { text: string; language?: string }) {
  const w = useWords(textWords);
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        setTimeout(() => setCopied(false), 1500);
      },
      () => tell(w.notCopied),
    );
  return (
    <div className="code">
      <IconButton className="copy" of={copied ? Check : Copy} name={copied ? w.copied : w.copy} small onClick={copy} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keyboard */}
      <pre tabIndex={0} data-language={language}>
        {text}
      </pre>
    </div>
  );
}
