import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

/**
 * A box that scrolls by itself. The keyboard reaches it only while there is something to scroll to.
 * follow: it stays at its end while that grows, unless somebody has scrolled away from it.
 */
export function Scroller({
  name,
  className,
  follow = false,
  children,
}: {
  name: string;
  className?: string;
  follow?: boolean;
  children: ReactNode;
}) {
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
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (follow && atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  const scrolled = () => {
    const el = box.current;
    if (el) atEnd.current = el.scrollHeight - el.scrollTop - el.clientHeight < 24;
  };
  return (
    <div
      ref={box}
      className={className}
      {...(follow ? { onScroll: scrolled } : {})}
      {...(over ? { tabIndex: 0, role: "group", "aria-label": name } : {})}
    >
      {children}
    </div>
  );
}
