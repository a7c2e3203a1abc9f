/** The controls that all rooms use: buttons with their names, menus, dialogs, tooltips. */
import type { LucideIcon } from "lucide-react";
import { Dialog as RDialog, DropdownMenu, Tooltip as RTooltip } from "radix-ui";
import { type ButtonHTMLAttributes, type ReactNode, type Ref, useState } from "react";
import { ClosedByBack } from "./back";

/** An icon of Lucide in the size of the page; small is 14 px. It is decoration: name what it stands for beside it. */
export function Icon({ of: Of, small, className }: { of: LucideIcon; small?: boolean; className?: string }) {
  return <Of className={["i", small && "s", className].filter(Boolean).join(" ")} aria-hidden="true" />;
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** plain, edge: beside others; ink: the one that goes on; lamp: what a person is waited for. */
  look?: "plain" | "edge" | "ink" | "lamp";
  small?: boolean;
  /** Refuses or removes. */
  no?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = "edge", small, no, className, ...rest }: ButtonProps) {
  return <button type="button" className={["btn", look, small && "sm", no && "no", className].filter(Boolean).join(" ")} {...rest} />;
}

/** A button of one icon; its name is read and shown as a tooltip. */
export function IconButton({
  of,
  name,
  keys,
  on,
  small,
  className,
  ...rest
}: Omit<ButtonProps, "look" | "no" | "name"> & { of: LucideIcon; name: string; keys?: string; on?: boolean }) {
  return (
    <Tip text={name} {...(keys ? { keys } : {})}>
      <button
        type="button"
        aria-label={name}
        {...(on === undefined ? {} : { "aria-pressed": on })}
        className={["iconbtn", on && "on", className].filter(Boolean).join(" ")}
        {...rest}
      >
        <Icon of={of} small={small ?? false} />
      </button>
    </Tip>
  );
}

/** A tooltip; what it says must also be the name of what it is about. */
export function Tip({ text, keys, children }: { text: string; keys?: string; children: ReactNode }) {
  return (
    <RTooltip.Root>
      <RTooltip.Trigger asChild>{children}</RTooltip.Trigger>
      <RTooltip.Portal>
        <RTooltip.Content className="tip" sideOffset={4} collisionPadding={8}>
          {text} {keys && <kbd>{keys}</kbd>}
        </RTooltip.Content>
      </RTooltip.Portal>
    </RTooltip.Root>
  );
}

/** Around everything that has tooltips. */
export function Tips({ children }: { children: ReactNode }) {
  return <RTooltip.Provider delayDuration={500}>{children}</RTooltip.Provider>;
}

/** A menu at a trigger; its items are MenuItem and Divider. With open and onOpen something else opens it, too. */
export function Menu({
  trigger,
  children,
  label,
  open,
  onOpen,
}: {
  trigger: ReactNode;
  children: ReactNode;
  label: string;
  open?: boolean;
  onOpen?(on: boolean): void;
}) {
  const [own, setOwn] = useState(false);
  const change = (on: boolean) => {
    setOwn(on);
    onOpen?.(on);
  };
  return (
    <DropdownMenu.Root modal={false} open={open ?? own} onOpenChange={change}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start" sideOffset={4} collisionPadding={8} aria-label={label}>
          <ClosedByBack onClose={() => change(false)} />
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function MenuItem({
  of,
  keys,
  no,
  disabled,
  onSelect,
  children,
}: {
  of?: LucideIcon;
  keys?: string;
  no?: boolean;
  disabled?: boolean;
  onSelect(): void;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Item className={no ? "mi no" : "mi"} disabled={disabled ?? false} onSelect={onSelect}>
      {of && <Icon of={of} />}
      {children}
      {keys && <kbd>{keys}</kbd>}
    </DropdownMenu.Item>
  );
}

export function Divider() {
  return <DropdownMenu.Separator asChild>{<hr />}</DropdownMenu.Separator>;
}

/** Where the focus goes when a dialog has closed: where it came from, and to the message box if that is gone, such as an item of a menu. */
function toMessage(): void {
  queueMicrotask(() => {
    if (document.activeElement === document.body && matchMedia("(pointer: fine)").matches) document.getElementById("composer")?.focus();
  });
}

/** A dialog of the page's own; questions of a session are sheets (questions/). */
export function Dialog({
  open,
  onClose,
  title,
  about,
  children,
}: {
  open: boolean;
  onClose(): void;
  title: string;
  about?: string;
  children: ReactNode;
}) {
  return (
    <RDialog.Root open={open} onOpenChange={(o) => !o && onClose()}>
      <RDialog.Portal>
        <RDialog.Overlay className="scrim" />
        <RDialog.Content className="dialog" onCloseAutoFocus={toMessage} {...(about ? {} : { "aria-describedby": undefined })}>
          <ClosedByBack onClose={onClose} />
          <RDialog.Title asChild>
            <h2>{title}</h2>
          </RDialog.Title>
          {about && (
            <RDialog.Description asChild>
              <p className="t2">{about}</p>
            </RDialog.Description>
          )}
          {children}
        </RDialog.Content>
      </RDialog.Portal>
    </RDialog.Root>
  );
}
