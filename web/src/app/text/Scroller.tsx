import { type ReactNode, useEffect, useRef, useState } from "react";

/** A box that scrolls sideways by itself. The keyboard reaches it only while there is something to scroll to. */
export function Scroller({ name, className, children }: { name: string; className?: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState(false);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const look = () => setOver(el.scrollWidth > el.clientWidth + 1 || el.scrollHeight > el.clientHeight + 1);
    const seen = new ResizeObserver(look);
    seen.observe(el);
    if (el.firstElementChild) seen.observe(el.firstElementChild);
    look();
    return () => seen.disconnect();
  }, []);
  return (
    <div ref={box} className={className} {...(over ? { tabIndex: 0, role: "group", "aria-label": name } : {})}>
      {children}
    </div>
  );
}
