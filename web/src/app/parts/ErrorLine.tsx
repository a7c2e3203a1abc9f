import { CircleAlert } from "lucide-react";
import { Button, Icon } from "./controls";

/** Why something did not work, where it did not: the sentence, and what to do. */
export function ErrorLine({ error, action, onAction }: { error: Error | string | undefined; action?: string; onAction?(): void }) {
  if (!error) return null;
  return (
    <p className="errline" role="alert">
      <Icon of={CircleAlert} small />
      <span className="grow">{typeof error === "string" ? error : error.message}</span>
      {action && onAction && (
        <Button look="plain" small onClick={onAction}>
          {action}
        </Button>
      )}
    </p>
  );
}
