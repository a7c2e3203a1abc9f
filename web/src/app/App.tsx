import { useEffect, useState } from "react";
import type { Problem } from "../client/index";
import { type Entrance, enter } from "./host/connect";
import { HostProvider } from "./host/context";
import { Entry } from "./shell/Entry";
import { Shell } from "./shell/Shell";
import { setLanguage, languages } from "./words/index";
import { kept } from "./host/kept";
import { tell } from "./parts/tell";

/** The whole page: how it comes in, and once it is in, the shell. */
export function App() {
  const [entrance, setEntrance] = useState<Entrance>({ state: "starting" });
  useEffect(() => {
    setLanguage(languages.find((l) => l === kept("language")));
    return enter(setEntrance, (p: Problem) => tell(p.message));
  }, []);
  if (entrance.state !== "in") return <Entry entrance={entrance} />;
  return (
    <HostProvider host={entrance}>
      <Shell />
    </HostProvider>
  );
}
