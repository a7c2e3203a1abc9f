import { Mic } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { keep, kept } from "../host/kept";
import { Button, Dialog, IconButton } from "../parts/controls";
import { tell } from "../parts/tell";
import { useLanguage, useWords } from "../words/index";
import { voiceWords } from "./voicewords";

/** What browsers have for it; the types of the language do not know it. */
interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  start(): void;
  stop(): void;
  abort(): void;
  onresult: ((e: { resultIndex: number; results: ArrayLike<ArrayLike<{ transcript: string }> & { isFinal: boolean }> }) => void) | null;
  onerror: ((e: { error: string }) => void) | null;
  onend: (() => void) | null;
}

type Recognize = new () => Recognition;

function recognition(): Recognize | undefined {
  const w = window as unknown as { SpeechRecognition?: Recognize; webkitSpeechRecognition?: Recognize };
  return w.SpeechRecognition ?? w.webkitSpeechRecognition;
}

const agreedKept = "voice";

/** Has the browser write down what is said, where it can. onText is called with each piece that is certain. */
export function Voice({ onText }: { onText(text: string): void }) {
  const w = useWords(voiceWords);
  const language = useLanguage();
  const [asks, setAsks] = useState(false);
  const running = useRef<Recognition>(undefined);
  const [listens, setListens] = useState(false);
  const newest = useRef(onText);
  newest.current = onText;
  useEffect(() => () => running.current?.abort(), []);
  const Recognize = recognition();
  if (!Recognize) return null;
  const start = () => {
    const r = new Recognize();
    r.lang = language === "zh" ? "zh-CN" : (navigator.languages.find((l) => l.startsWith("en")) ?? "en");
    r.continuous = true;
    r.interimResults = false;
    r.onresult = (e) => {
      let said = "";
      for (let i = e.resultIndex; i < e.results.length; i++) if (e.results[i]?.isFinal) said += e.results[i]?.[0]?.transcript ?? "";
      if (said.trim() !== "") newest.current(said.trim());
    };
    r.onerror = (e) => {
      if (e.error !== "aborted" && e.error !== "no-speech") tell(w.failed(e.error));
    };
    r.onend = () => {
      if (running.current !== r) return;
      running.current = undefined;
      setListens(false);
    };
    running.current = r;
    setListens(true);
    try {
      r.start();
    } catch (e) {
      running.current = undefined;
      setListens(false);
      tell(w.failed(e instanceof Error ? e.message : String(e)));
    }
  };
  const press = () => {
    if (running.current) running.current.stop();
    else if (kept(agreedKept) === "yes") start();
    else setAsks(true);
  };
  return (
    <>
      <IconButton of={Mic} name={listens ? w.stop : w.speak} on={listens} onClick={press} />
      <Dialog open={asks} onClose={() => setAsks(false)} title={w.title} about={w.about}>
        <div className="acts">
          <Button onClick={() => setAsks(false)}>{w.no}</Button>
          <Button
            look="ink"
            onClick={() => {
              keep(agreedKept, "yes");
              setAsks(false);
              start();
            }}
          >
            {w.yes}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
