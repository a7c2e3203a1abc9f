import { ChevronDown, ChevronUp } from "lucide-react";
import { createContext, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Button, Icon } from "../parts/controls";
import { useWords } from "../words/index";
import { foldAt } from "./fold";
import { conversationWords } from "./words";

/** Called when a message is unfolded: what is read stays where it is, and the end is not followed. */
export const Unfolding = createContext<() => void>(() => {});

/** The text of a message of a person. A long one is folded; the browser's search finds what is folded, and unfolds it. */
export function Folded({ text }: { text: string }) {
  const w = useWords(conversationWords);
  const id = useId();
  const fold = useMemo(() => foldAt(text), [text]);
  const [open, setOpen] = useState(false);
  const rest = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLDivElement>(null);
  const unfolding = useContext(Unfolding);
  // React does not know this value of hidden.
  useLayoutEffect(() => {
    if (open) rest.current?.removeAttribute("hidden");
    else rest.current?.setAttribute("hidden", "until-found");
  }, [open]);
  useEffect(() => {
    const el = rest.current;
    const found = () => {
      unfolding();
      setOpen(true);
    };
    el?.addEventListener("beforematch", found);
    return () => el?.removeEventListener("beforematch", found);
  }, [unfolding]);
  const wasOpen = useRef(false);
  useLayoutEffect(() => {
    if (wasOpen.current && !open) button.current?.scrollIntoView({ block: "nearest" }); // it was far below
    wasOpen.current = open;
  }, [open]);
  if (!fold) return <h2 className="words">{text}</h2>;
  return (
    <>
      <h2 className="words">
        {text.slice(0, fold.at)}
        <span className="further" id={id} ref={rest}>
          {text.slice(fold.at)}
        </span>
      </h2>
      <div className="unfolds" ref={button}>
        <Button
          look="plain"
          small
          className="unfold"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => {
            if (!open) unfolding();
            setOpen(!open);
          }}
        >
          <Icon of={open ? ChevronUp : ChevronDown} small />
          {open ? w.fold : w.moreLines(fold.more)}
        </Button>
      </div>
    </>
  );
}
