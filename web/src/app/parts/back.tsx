import { useEffect, useRef } from "react";

/** What a browser has for it; not in the types of all versions of the DOM. */
interface Watcher {
  onclose: (() => void) | null;
  destroy(): void;
}

/**
 * Stands in what lies over the page, and closes it where a person goes back on a phone: with the
 * button or gesture of Android, which would else leave the place below. On a desk Escape does that,
 * and Back means the place.
 */
export function ClosedByBack({ onClose }: { onClose(): void }) {
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const { CloseWatcher } = window as { CloseWatcher?: new () => Watcher };
    if (!CloseWatcher || !matchMedia("(pointer: coarse)").matches) return;
    const watcher = new CloseWatcher();
    watcher.onclose = () => close.current();
    return () => watcher.destroy();
  }, []);
  return null;
}
