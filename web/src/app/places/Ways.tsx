import { Check, Circle, KeyRound, type LucideIcon, Play, Server, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { ModelInfo } from "../../protocol/index";
import { useAnswer } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { providersOf } from "./models";
import { startWords } from "./startwords";
import { lazy } from "../parts/lazy";

const AddKey = lazy(() => import("./AddKey"));
const LocalServers = lazy(() => import("./LocalServers"));

/** The first run: no model is set up yet, and these are the ways to one. */
export default function Ways({
  models,
  folder,
  onFolder,
  onModel,
  onDemo,
}: {
  models: readonly ModelInfo[];
  folder: string;
  onFolder(): void;
  onModel(ref: string): void;
  onDemo(): void;
}) {
  const w = useWords(startWords);
  const doctor = useAnswer("doctor", {});
  const [way, setWay] = useState<"key" | "local">();
  const close = () => setWay(undefined);
  const providers = providersOf(models);
  const check = (id: string) => doctor.data?.checks?.find((c) => c.id === id)?.state;
  return (
    <>
      <svg className="bigmark" viewBox="0 0 720 92" aria-hidden="true">
        <path className="sl" d="M0 20.5H720M0 44.5H720M0 68.5H720M0 92.5H720" />
        <path className="br" d="M64 68.5C84 68.5 84 20.5 118 20.5H286" />
        <ellipse className="nt" cx="60" cy="68.5" rx="10" ry="8" transform="rotate(-18 60 68.5)" />
      </svg>
      <h1>{w.start}</h1>
      <p className="lead">{w.startAbout}</p>
      <ul className="ways">
        <Way of={Server} title={w.local} about={w.localAbout}>
          <Button look="ink" onClick={() => setWay("local")}>
            {w.localButton}
          </Button>
        </Way>
        <Way of={KeyRound} title={w.key} about={w.keyAbout(providers.slice(0, 4).join(", "), providers.length - 4)}>
          <Button onClick={() => setWay("key")}>{w.keyButton}</Button>
        </Way>
        <Way of={Play} title={w.demo} about={w.demoAbout}>
          <Button onClick={onDemo}>{w.demoButton}</Button>
        </Way>
      </ul>
      <div className="checks">
        <span>
          <Icon of={folder ? Check : Circle} small className={folder ? "ok" : ""} />
          {w.folder}: {folder ? <span className="mono">{folder}</span> : w.noFolder}{" "}
          <button type="button" className="link" onClick={onFolder}>
            {w.chooseFolder}
          </button>
        </span>
        {doctor.loading && <span>{w.checking}</span>}
        {doctor.data && (
          <>
            <Finding state={check("git")} good={w.git} bad={w.noGit} />
            <Finding state={check("sandbox")} good={w.sandbox} bad={w.noSandbox} />
          </>
        )}
        <span>
          <Icon of={Circle} small />
          {w.model}
        </span>
      </div>
      <ErrorLine error={doctor.error} />

      {way === "key" && <AddKey models={models} onDone={onModel} onClose={close} />}
      {way === "local" && <LocalServers onDone={onModel} onClose={close} />}
    </>
  );
}

function Way({ of, title, about, children }: { of: LucideIcon; title: string; about: string; children: ReactNode }) {
  return (
    <li>
      <Icon of={of} />
      <div>
        <b>{title}</b>
        <span className="d">{about}</span>
      </div>
      {children}
    </li>
  );
}

function Finding({ state, good, bad }: { state: string | undefined; good: string; bad: string }) {
  if (state === undefined) return null;
  const ok = state === "ok";
  return (
    <span>
      <Icon of={ok ? Check : TriangleAlert} small className={ok ? "ok" : "warn"} />
      {ok ? good : bad}
    </span>
  );
}
