import { Minus, Plus, X } from "lucide-react";
import { ClosedByBack } from "../parts/back";
import { Dialog as RDialog } from "radix-ui";
import { useCallback, useEffect, useState } from "react";
import { fetchBlob } from "../../client/index";
import { useClient, useSession } from "../host/context";
import { IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { safeText } from "./safe";
import { Scroller } from "./Scroller";
import { textWords } from "./words";
import "./text.css";

/** The largest image that is read, in bytes, and that is drawn, in pixels. */
const maxBytes = 20 << 20;
const maxPixels = 64_000_000;
/** Bytes of images that are kept while they are not shown. */
const maxKept = 32 << 20;

const types = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"]);
const kept = new Map<string, Blob>();

/** An image of the session, which the host has. It is read when it is shown, and its address ends with it. */
export function Picture({ blob, mediaType, alt = "" }: { blob: string; mediaType: string; alt?: string }) {
  const w = useWords(textWords);
  const client = useClient();
  const session = useSession();
  const load = useCallback(
    async (signal: AbortSignal) => {
      const { size } = await client.call("get_blob", { sha256: blob, offset: 0, length: 1 }, { sessionId: session.sessionId, signal });
      if (size > maxBytes) throw new Error(w.bigPicture(maxBytes >> 20));
      return fetchBlob(client, session.sessionId, blob, signal);
    },
    [client, session, blob, w],
  );
  return <PictureOf name={blob} mediaType={mediaType} alt={alt} load={load} />;
}

/** An image whose bytes load reads; name is one for these bytes alone. */
export function PictureOf({
  name,
  mediaType,
  alt,
  load,
}: {
  name: string;
  mediaType: string;
  alt: string;
  load(signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
}) {
  const w = useWords(textWords);
  const text = safeText(alt);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ url: string; width: number; height: number } | { error: string } | undefined>();
  const [open, setOpen] = useState(false);
  const known = types.has(mediaType);
  // biome-ignore lint/correctness/useExhaustiveDependencies: turn is another try
  useEffect(() => {
    if (!known) return;
    const abort = new AbortController();
    let url = "";
    setState(undefined);
    void (async () => {
      try {
        const blob = kept.get(name) ?? new Blob([await load(abort.signal)], { type: mediaType });
        if (abort.signal.aborted) return;
        keepBlob(name, blob);
        url = URL.createObjectURL(blob);
        const size = await sizeOf(url);
        if (abort.signal.aborted) return;
        setState(size.width * size.height > 0 && size.width * size.height <= maxPixels ? { url, ...size } : { error: w.noPicture });
      } catch (e) {
        if (!abort.signal.aborted) setState({ error: e instanceof Error && e.message ? e.message : w.noPicture });
      }
    })();
    return () => {
      abort.abort();
      if (url) URL.revokeObjectURL(url);
    };
  }, [name, mediaType, known, load, turn, w]);
  if (!known) return <p className="t3">{w.otherType(safeText(mediaType).slice(0, 40))}</p>;
  if (!state) {
    return (
      <div className="picture waits t3">
        <span>{w.loadingPicture}</span>
      </div>
    );
  }
  if ("error" in state) return <ErrorLine error={state.error} action={w.tryAgain} onAction={() => setTurn(turn + 1)} />;
  return (
    <>
      <button type="button" className="picture" aria-label={w.zoom(text)} onClick={() => setOpen(true)}>
        <img src={state.url} alt={text} width={state.width} height={state.height} decoding="async" draggable={false} />
      </button>
      {open && <Zoom {...state} alt={text} onClose={() => setOpen(false)} />}
    </>
  );
}

function keepBlob(name: string, blob: Blob): void {
  kept.delete(name);
  kept.set(name, blob);
  let size = [...kept.values()].reduce((n, b) => n + b.size, 0);
  for (const [oldest, b] of kept) {
    if (size <= maxKept) break;
    kept.delete(oldest);
    size -= b.size;
  }
}

/** The size of an image, which the browser reads from its head. It throws for what is no image. */
function sizeOf(url: string): Promise<{ width: number; height: number }> {
  return new Promise((resolve, reject) => {
    const img = new Image();
    img.onload = () => resolve({ width: img.naturalWidth, height: img.naturalHeight });
    img.onerror = () => reject(new Error(""));
    img.src = url;
  });
}

/** An image as large as the page; from there it can be enlarged, and then it scrolls. */
export function Zoom({ url, width, height, alt, onClose }: { url: string; width: number; height: number; alt: string; onClose(): void }) {
  const w = useWords(textWords);
  const fit = Math.min(1, (innerWidth - 32) / width, (innerHeight - 96) / height);
  const [scale, setScale] = useState(fit);
  const zoom = (by: number) => setScale((s) => Math.min(8, Math.max(Math.min(fit, 0.1), s * by)));
  return (
    <RDialog.Root open onOpenChange={(o) => !o && onClose()}>
      <RDialog.Portal>
        <RDialog.Overlay className="scrim" />
        <RDialog.Content
          className="zoom"
          aria-describedby={undefined}
          onOpenAutoFocus={(e) => {
            // not the first button: its tooltip would take the first Escape
            e.preventDefault();
            (e.currentTarget as HTMLElement | null)?.focus();
          }}
          onKeyDown={(e) => {
            if (e.key === "+" || e.key === "=") zoom(1.5);
            else if (e.key === "-") zoom(1 / 1.5);
            else if (e.key === "0") setScale(fit);
          }}
        >
          <ClosedByBack onClose={onClose} />
          <header>
            <RDialog.Title asChild>
              <h2 className="trunc">{alt || w.image("")}</h2>
            </RDialog.Title>
            <span className="t3 num">
              {width} × {height} · {Math.round(scale * 100)}%
            </span>
            <IconButton of={Minus} name={w.zoomOut} keys="−" onClick={() => zoom(1 / 1.5)} />
            <IconButton of={Plus} name={w.zoomIn} keys="+" onClick={() => zoom(1.5)} />
            <IconButton of={X} name={w.close} keys="Esc" onClick={onClose} />
          </header>
          <Scroller name={alt || w.image("")} className="zoombox">
            <img src={url} alt={alt} style={{ width: Math.round(width * scale), height: Math.round(height * scale) }} draggable={false} />
          </Scroller>
        </RDialog.Content>
      </RDialog.Portal>
    </RDialog.Root>
  );
}
