import { ChevronDown, ChevronRight } from "lucide-react";
import { memo } from "react";
import { Icon } from "../parts/controls";
import { dateShort, fullTime, time } from "../words/format";
import { useWords } from "../words/index";
import type { TreeRow } from "./layout";
import { lineOf } from "./line";
import { Tracks } from "./Tracks";
import { treeWords } from "./words";

export interface RowProps {
  row: TreeRow;
  index: number;
  count: number;
  top: number;
  height: number;
  width: number;
  most: number;
  here: boolean;
  active: boolean;
  picked: boolean;
  name: string;
  /** What of the node changes in place. */
  text: string;
  steps: number;
  onPick(id: string): void;
  onFold(row: TreeRow): void;
  onOpen(row: TreeRow): void;
}

/** A row of the tree; the box around has the focus and the keys. */
export const Row = memo(function Row({
  row,
  index,
  count,
  top,
  height,
  width,
  most,
  here,
  active,
  picked,
  name,
  onPick,
  onFold,
  onOpen,
}: RowProps) {
  const w = useWords(treeWords);
  const { node } = row;
  const tag = here
    ? w.here
    : row.folded
      ? w.folded(row.more)
      : row.ways > 1
        ? w.ways(row.ways)
        : node.kind === "answer" && node.steps > 0 && node.text
          ? w.steps(node.steps)
          : "";
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the tree
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names the row by aria-activedescendant
    <div
      id={`t-${node.id}`}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-posinset={index + 1}
      aria-setsize={count}
      aria-selected={picked}
      {...(row.more > 0 ? { "aria-expanded": !row.folded } : {})}
      {...(here ? { "aria-current": "location" as const } : {})}
      className={["tr", here && "on", picked && "picked", !active && "off"].filter(Boolean).join(" ")}
      style={{ transform: `translateY(${top}px)`, height, gridTemplateColumns: `${width}px minmax(0, 1fr) auto auto` }}
      onClick={() => onPick(node.id)}
      onDoubleClick={() => onOpen(row)}
    >
      <Tracks row={row} most={most} width={width} height={height} here={here} active={active} />
      <span className={node.kind === "said" ? "line1 you" : node.kind === "mark" ? "line1 t3" : "line1"}>
        {row.more > 0 && (
          // biome-ignore lint/a11y/noStaticElementInteractions: → and ← do the same
          // biome-ignore lint/a11y/useKeyWithClickEvents: see above
          <span
            className="turn"
            onClick={(e) => {
              e.stopPropagation();
              onPick(node.id);
              onFold(row);
            }}
          >
            <Icon of={row.folded ? ChevronRight : ChevronDown} small />
          </span>
        )}
        <span className="trunc">
          {node.kind === "said" && <span className="sr">{w.you}: </span>}
          {node.failed && <span className="err">{w.failed} </span>}
          {lineOf(node, w)}
        </span>
      </span>
      <span className="tags">
        {name && <span className="named trunc">{name}</span>}
        {tag && <span className={here ? "herenow" : ""}>{tag}</span>}
      </span>
      <span className="when" title={fullTime(node.at)}>
        {when(node.at)}
      </span>
    </div>
  );
});

/** Of today the hour, else the day. */
function when(at: number): string {
  return new Date(at).toDateString() === new Date().toDateString() ? time(at) : dateShort(at);
}
