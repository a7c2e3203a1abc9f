/**
 * Parts of the page that are loaded when they are first shown. React's own lazy needs Suspense,
 * which holds what was loaded back for up to 300 ms once its fallback was drawn.
 */
import { type ComponentType, type ReactNode, useSyncExternalStore } from "react";
import { loaded } from "./loaded";

/** A component that load brings; until then it is what instead says, or nothing. A failure to load is thrown when it is drawn, and tried again when it is shown again. */
export function lazy<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
  instead?: (props: P) => ReactNode,
): ComponentType<P> {
  let state: { is?: ComponentType<P>; failed?: Error } = {};
  let loading: Promise<void> | undefined;
  const listeners = new Set<() => void>();
  const changed = (next: typeof state) => {
    state = next;
    for (const l of listeners) l();
  };
  const subscribe = (l: () => void) => {
    listeners.add(l);
    if (!state.is && !loading) {
      loading = loaded(load).then(
        (m) => changed({ is: m.default }),
        (e) => {
          loading = undefined;
          changed({ failed: e instanceof Error ? e : new Error(String(e)) });
        },
      );
    }
    return () => {
      listeners.delete(l);
      if (state.failed) state = {};
    };
  };
  // biome-ignore lint/correctness/noComponentHookFactories: it is called once for each part, where modules begin
  return function Lazy(props: P) {
    const { is: Loaded, failed } = useSyncExternalStore(subscribe, () => state);
    if (failed) throw failed;
    return Loaded ? <Loaded {...props} /> : (instead?.(props) ?? null);
  };
}
