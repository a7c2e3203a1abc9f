/** Calls listeners at most once a frame of the screen, however much has changed. */

/** How long a listener waits where nothing is drawn: in a hidden page, and outside of browsers. */
const hiddenMs = 250;
const frameMs = 16;

/** Calls run once, later; the function that it returns prevents that. */
export type Schedule = (run: () => void) => () => void;

/** With the next frame of the screen, or soon where there is none. */
export const nextFrame: Schedule = (run) => {
  if (typeof requestAnimationFrame === "undefined") {
    const timer = setTimeout(run, frameMs);
    return () => clearTimeout(timer);
  }
  const cancel = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  const once = () => {
    cancel();
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, hiddenMs); // a hidden page draws no frames
  return cancel;
};

/** Listeners that are told together. What one throws becomes a problem and keeps nobody from being told. */
export class Listeners {
  private readonly listeners = new Set<() => void>();
  private cancel: (() => void) | undefined;

  constructor(
    private readonly schedule: Schedule,
    private readonly failed: (error: unknown) => void,
  ) {}

  get size(): number {
    return this.listeners.size;
  }

  add(listener: () => void): () => void {
    const own = () => listener(); // the same function may be added twice
    this.listeners.add(own);
    return () => {
      this.listeners.delete(own);
    };
  }

  /** Tells all with the next frame. */
  changed(): void {
    if (this.cancel || this.listeners.size === 0) return;
    this.cancel = this.schedule(() => this.now());
  }

  /** Tells all at once, when they are to be told. */
  flush(): void {
    if (this.cancel) this.now();
  }

  now(): void {
    this.cancel?.();
    this.cancel = undefined;
    for (const listener of [...this.listeners]) {
      try {
        listener();
      } catch (e) {
        this.failed(e);
      }
    }
  }

  clear(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.listeners.clear();
  }
}
