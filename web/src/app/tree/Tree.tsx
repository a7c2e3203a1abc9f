/** The tree of branches of a session, in the place of the conversation. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { Search, X } from "lucide-react";
import { type KeyboardEvent, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useLive, useMay, useSession } from "../host/context";
import { fits } from "../palette/match";
import { Icon, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { announce } from "../parts/tell";
import { go } from "../route";
import { useWords } from "../words/index";
import { askMove } from "./asked";
import { Inspector, NameDialog } from "./Inspector";
import { layRows, type TreeRow } from "./layout";
import { lineOf } from "./line";
import { movesOf } from "./moves";
import { maxNodes, type TreeNode } from "./nodes";
import { Row } from "./Row";
import { Score } from "./Score";
import { tracksWidth } from "./Tracks";
import { useTree } from "./useTree";
import { treeWords } from "./words";
import "./tree.css";

type Filter = "all" | "yours" | "named";

export default function Tree() {
  const w = useWords(treeWords);
  const { sessionId } = useSession();
  const may = useMay("control");
  const { builder, version, loading, error, reload } = useTree();
  const { nodes } = builder;
  const [text, setText] = useState("");
  const query = useDeferredValue(text.trim());
  const [filter, setFilter] = useState<Filter>("all");
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [picked, setPicked] = useState<string>();
  const [naming, setNaming] = useState<TreeNode>();
  const running = useLive((l) => l.running);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the builder changes in place with version
  const { active, names, here } = useMemo(
    () => ({ active: builder.active(), names: builder.names(), here: builder.nodeOf(builder.leaf) }),
    [builder, version],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const { rows, rowOf } = useMemo(
    () =>
      layRows({
        nodes,
        active,
        folds,
        unfolded: query !== "",
        shows: (n) =>
          (filter === "all" || (filter === "yours" ? n.kind === "said" : names.has(n))) &&
          (query === "" || fits(query, lineOf(n, w), names.get(n)?.name ?? "")),
      }),
    [nodes, version, active, names, folds, filter, query, w],
  );
  const at = rowAt(rowOf, builder.nodeOf(picked) ?? here);
  const row = at === undefined ? undefined : rows[at];
  const shape = useShape();
  const width = tracksWidth(
    rows.reduce((d, r) => Math.max(d, r.depth), 0),
    shape.most,
  );

  const box = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => shape.height,
    getItemKey: useCallback((i: number) => rows[i]?.node.id ?? i, [rows]),
    overscan: 10,
    paddingStart: 8,
    paddingEnd: 8,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height of the rows is theirs
  useEffect(() => list.measure(), [shape.height]);
  useEffect(() => box.current?.focus(), []);
  // Until somebody moves, the place where the conversation is, is in view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the tree is another
  useEffect(() => {
    if (picked === undefined && at !== undefined) list.scrollToIndex(at, { align: "center" });
  }, [at, rows, picked === undefined]);

  const close = () => {
    go({ at: "session", id: sessionId });
    if (!matchMedia("(pointer: coarse)").matches) setTimeout(() => document.getElementById("composer")?.focus());
  };
  const to = (i: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, i))];
    if (!next) return;
    setPicked(next.node.id);
    list.scrollToIndex(rowOf.get(next.node) ?? 0);
  };
  const fold = useCallback((r: TreeRow) => setFolds((was) => new Map(was).set(r.node.id, !r.folded)), []);
  const open = useCallback(
    (r: TreeRow) => {
      if (!may) return;
      const first = movesOf(builder, r.node, active.has(r.node), w)[0];
      if (first) askMove(first);
      else announce(w.isHere);
    },
    [builder, active, may, w],
  );
  const left = (i: number) => {
    const r = rows[i];
    if (!r) return;
    if (r.more > 0 && !r.folded && query === "") return fold(r);
    for (i--; i > 0 && !rows[i]?.head && (rows[i]?.ways ?? 0) < 2; i--);
    to(i);
  };
  const right = (i: number) => {
    const r = rows[i];
    if (!r) return;
    if (r.folded) return fold(r);
    for (i++; i < rows.length - 1 && !rows[i]?.head && (rows[i]?.ways ?? 0) < 2; i++);
    to(i);
  };
  const keys = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / shape.height) - 1);
    const i = at ?? 0;
    switch (e.key) {
      case "ArrowDown":
        to(at === undefined ? 0 : i + 1);
        break;
      case "ArrowUp":
        to(i - 1);
        break;
      case "PageDown":
        to(i + page);
        break;
      case "PageUp":
        to(i - page);
        break;
      case "Home":
        to(0);
        break;
      case "End":
        to(rows.length - 1);
        break;
      case "ArrowLeft":
        left(i);
        break;
      case "ArrowRight":
        right(i);
        break;
      case "Enter":
        if (row) open(row);
        break;
      case "l":
        if (may && row) setNaming(row.node);
        break;
      case "Escape":
        close();
        break;
      default:
        return;
    }
    e.preventDefault();
  };
  const searchKeys = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") {
      e.preventDefault();
      box.current?.focus();
      to(0);
    } else if (e.key === "Escape") {
      e.preventDefault();
      if (text) setText("");
      else close();
    }
  };
  const hereLine = here ? lineOf(here, w) : "";
  return (
    <section className="treepage" aria-label={w.tree}>
      <Score
        nodes={nodes}
        version={version}
        active={active}
        here={here}
        names={names}
        label={w.score(builder.lanes, hereLine)}
        hereWord={w.here}
      />
      <div className={picked === undefined ? "tree-wrap" : "tree-wrap looks"}>
        <div className="treelist">
          <div className="treefind">
            <label className="find1">
              <Icon of={Search} small />
              <input
                type="search"
                aria-label={w.find}
                placeholder={w.find}
                value={text}
                onChange={(e) => setText(e.target.value)}
                onKeyDown={searchKeys}
              />
            </label>
            <select className="input" aria-label={w.show} value={filter} onChange={(e) => setFilter(e.target.value as Filter)}>
              <option value="all">{w.all}</option>
              <option value="yours">{w.yours}</option>
              <option value="named">{w.named}</option>
            </select>
            <IconButton of={X} name={w.close} keys="Esc" onClick={close} />
          </div>
          <ErrorLine error={error} action={w.again} onAction={reload} />
          {builder.cut && <p className="marker">{w.cut(maxNodes)}</p>}
          {!loading && nodes.length > 0 && builder.leaf === "" && <p className="marker">{w.atBeginning}</p>}
          {rows.length === 0 && !error && <p className="empty">{loading ? w.loading : nodes.length === 0 ? w.nothing : w.nothingFits}</p>}
          <div
            ref={box}
            className="tl2"
            role="tree"
            tabIndex={0}
            aria-label={w.tree}
            aria-busy={loading}
            {...(row ? { "aria-activedescendant": `t-${row.node.id}` } : {})}
            onKeyDown={keys}
          >
            <div className="treerows" role="presentation" style={{ height: list.getTotalSize() }}>
              {list.getVirtualItems().map(({ index, start }) => {
                const r = rows[index];
                if (!r) return null;
                const n = r.node;
                return (
                  <Row
                    key={n.id}
                    row={r}
                    index={index}
                    count={rows.length}
                    top={start}
                    height={shape.height}
                    width={width}
                    most={shape.most}
                    here={n === here}
                    active={active.has(n)}
                    picked={index === at}
                    name={names.get(n)?.name ?? ""}
                    text={n.text}
                    steps={n.steps}
                    onPick={setPicked}
                    onFold={fold}
                    onOpen={open}
                  />
                );
              })}
            </div>
          </div>
        </div>
        {row && (
          <Inspector
            key={`${row.node.id} ${running}`}
            row={row}
            builder={builder}
            active={active.has(row.node)}
            name={names.get(row.node)?.name ?? ""}
            onName={() => setNaming(row.node)}
            onFold={() => fold(row)}
            onHide={() => {
              setPicked(undefined);
              box.current?.focus();
            }}
          />
        )}
      </div>
      {naming && (
        <NameDialog
          event={names.get(naming)?.event ?? naming.point}
          name={names.get(naming)?.name ?? ""}
          onClose={() => setNaming(undefined)}
        />
      )}
    </section>
  );
}

/** The row of a node, or of the nearest one above it that has one. */
function rowAt(rowOf: ReadonlyMap<TreeNode, number>, node: TreeNode | undefined): number | undefined {
  for (let n = node; n; n = n.parent) {
    const i = rowOf.get(n);
    if (i !== undefined) return i;
  }
  return undefined;
}

/** The height of a row in pixels, by what points at it and the size of letters, and how many branches are drawn beside each other. */
function useShape(): { height: number; most: number } {
  const [shape, setShape] = useState(measure);
  useEffect(() => {
    const again = () =>
      setShape((was) => {
        const now = measure();
        return was.height === now.height && was.most === now.most ? was : now;
      });
    addEventListener("resize", again);
    return () => removeEventListener("resize", again);
  }, []);
  return shape;
}

function measure(): { height: number; most: number } {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  return { height: Math.round(rem * (matchMedia("(pointer: coarse)").matches ? 2.75 : 2)), most: innerWidth < 600 ? 2 : 5 };
}
