import { type CSSProperties, type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";

/** A row that is being dragged: where it began, how far it is from there, and between which it would go. */
interface Drag {
  id: string;
  from: number;
  to: number;
  by: number;
  height: number;
}

interface Grabbed {
  y: number;
  list: Element | null;
  scrolled: number;
  /** The middles of the rows of its group, as they lay when it was grabbed. */
  middles: number[];
  height: number;
}

/** How near to an edge of the list a row is dragged until the list scrolls, and how far at a time. */
const edge = 20;

/**
 * Rows of a list that are moved among those of their group, by a handle that is dragged with a
 * mouse, a pen or a finger, or with the arrow keys on it. move is called once, where a row is let
 * go; until order changes the row stays there, so that nothing jumps while the host answers.
 */
export function useReorder(order: readonly string[], move: (id: string, to: number) => Promise<unknown>) {
  const [drag, setDrag] = useState<Drag>();
  const [left, setLeft] = useState(false);
  const grabbed = useRef<Grabbed>(undefined);
  const newest = useRef<Drag>(undefined); // it may be let go before that is drawn
  const names = order.join("\n");
  // Who moves a row while the queue changes would move another one than was meant.
  // biome-ignore lint/correctness/useExhaustiveDependencies: names says that the rows have changed
  useEffect(() => {
    grabbed.current = undefined;
    setDrag(undefined);
    setLeft(false);
  }, [names]);
  const end = () => {
    grabbed.current = undefined;
    setDrag(undefined);
    setLeft(false);
  };
  useEffect(() => {
    if (!drag || left) return;
    const stays = (e: globalThis.KeyboardEvent) => {
      if (e.key !== "Escape") return;
      e.preventDefault();
      e.stopPropagation(); // it does not stop the turn as well
      grabbed.current = undefined;
      setDrag(undefined);
    };
    addEventListener("keydown", stays, true);
    return () => removeEventListener("keydown", stays, true);
  }, [drag, left]);
  const drop = (id: string, to: number) => {
    setLeft(true);
    void move(id, to).then((ok) => ok || end(), end);
  };

  /** What the handle of a row has; index is its place in its group of count rows, and row finds the rows of the group. */
  const handle = (id: string, index: number, count: number, rows: () => readonly Element[]) => ({
    onPointerDown: (e: PointerEvent<HTMLElement>) => {
      if (e.button !== 0 || left) return;
      const boxes = rows().map((r) => r.getBoundingClientRect());
      const list = e.currentTarget.closest("ul");
      e.currentTarget.setPointerCapture(e.pointerId);
      grabbed.current = {
        y: e.clientY,
        list,
        scrolled: list?.scrollTop ?? 0,
        middles: boxes.map((b) => b.top + b.height / 2),
        height: boxes[index]?.height ?? 0,
      };
      newest.current = { id, from: index, to: index, by: 0, height: grabbed.current.height };
      setDrag(newest.current);
    },
    onPointerMove: (e: PointerEvent<HTMLElement>) => {
      const g = grabbed.current;
      if (!g) return;
      const box = g.list?.getBoundingClientRect();
      if (g.list && box) g.list.scrollTop += e.clientY < box.top + edge ? -edge : e.clientY > box.bottom - edge ? edge : 0;
      const moved = e.clientY - g.y + (g.list?.scrollTop ?? 0) - g.scrolled;
      const middle = g.middles[index] ?? 0;
      const by = Math.min(Math.max(moved, (g.middles[0] ?? 0) - middle), (g.middles.at(-1) ?? 0) - middle);
      let to = index;
      while (to + 1 < count && middle + by > ((g.middles[to] ?? 0) + (g.middles[to + 1] ?? 0)) / 2) to++;
      while (to > 0 && middle + by < ((g.middles[to] ?? 0) + (g.middles[to - 1] ?? 0)) / 2) to--;
      newest.current = { id, from: index, to, by, height: g.height };
      setDrag(newest.current);
    },
    onPointerUp: () => {
      const [g, d] = [grabbed.current, newest.current];
      grabbed.current = undefined;
      if (!g || !d || d.to === index) {
        setDrag(undefined);
        return;
      }
      setDrag({ ...d, by: (g.middles[d.to] ?? 0) - (g.middles[index] ?? 0) });
      drop(id, d.to);
    },
    onPointerCancel: end,
    onKeyDown: (e: KeyboardEvent<HTMLElement>) => {
      const to = index + (e.key === "ArrowUp" ? -1 : e.key === "ArrowDown" ? 1 : 0);
      if (to === index) return;
      e.preventDefault();
      if (to >= 0 && to < count && !left) void move(id, to);
    },
  });

  /** Where a row is drawn, while one of its group is dragged or has just been let go. */
  const place = (id: string, index: number, ids: readonly string[]): { className?: string; style?: CSSProperties } => {
    if (!drag || !ids.includes(drag.id)) return {};
    if (id === drag.id) return { className: left ? "moved" : "dragged", style: { transform: `translateY(${drag.by}px)` } };
    const shift = index > drag.from && index <= drag.to ? -1 : index < drag.from && index >= drag.to ? 1 : 0;
    return { className: "yields", ...(shift ? { style: { transform: `translateY(${shift * drag.height}px)` } } : {}) };
  };
  return { handle, place };
}
