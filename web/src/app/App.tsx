import { useEntrance } from "./host/begin";
import { HostProvider } from "./host/context";
import { Entry } from "./shell/Entry";
import { Shell } from "./shell/Shell";

/** The whole page: how it comes in, and once it is in, the shell. */
export function App() {
  const entrance = useEntrance();
  if (entrance.state !== "in") return <Entry entrance={entrance} />;
  return (
    <HostProvider host={entrance}>
      <Shell />
    </HostProvider>
  );
}
