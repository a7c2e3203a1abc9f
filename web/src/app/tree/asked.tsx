/** Where other places ask for a move of the conversation: the question outlives the message or row that it is about. */
import { useEffect, useState } from "react";
import { useSession } from "../host/context";
import { go, parseRoute } from "../route";
import type { Move } from "./MoveDialog";
import { lazy } from "../parts/lazy";

const MoveDialog = lazy(() => import("./MoveDialog"));

const opens = new Set<(m: Move) => void>();

/** Asks how to move the conversation of the session that is shown, and moves it. */
export function askMove(m: Move): void {
  for (const open of opens) open(m);
}

/** Draws the question. After the move the conversation is shown. */
export function AskedMove() {
  const { sessionId } = useSession();
  const [move, setMove] = useState<Move>();
  useEffect(() => {
    opens.add(setMove);
    return () => void opens.delete(setMove);
  }, []);
  if (!move) return null;
  const moved = () => {
    const route = parseRoute(location.hash);
    if (route.at === "session" && route.panel === "tree") go({ at: "session", id: sessionId });
  };
  return <MoveDialog move={move} onClose={() => setMove(undefined)} onMoved={moved} />;
}
