/**
 * Layers above a page: dialogs, side sheets and menus. Escape closes the top layer, and the focus returns to the opener. Layout effects do
 * this, because other effects run after the next frame: keys pressed until then would be ignored or would reach the page.
 */
import type { ComponentChildren, JSX } from "preact";
import { createPortal } from "preact/compat";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { ApiFault } from "../api/client.ts";
import { type Action, useAction } from "../api/query.ts";
import { leaving, useDraft } from "./draft.ts";
import { Button, FaultText } from "./form.tsx";
import { Icon } from "./icon.tsx";

/** Modal dialog for creating and confirming. */
export function Dialog({
  title,
  hint,
  kept,
  onClose,
  onInput,
  children,
  footer,
}: {
  readonly title: string;
  readonly hint?: ComponentChildren;
  /** Reason why the dialog cannot be closed yet. */
  readonly kept?: string | undefined;
  readonly onClose: () => void;
  /** Called when a person has changed a field. */
  readonly onInput?: () => void;
  readonly children: ComponentChildren;
  readonly footer: ComponentChildren;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // A phone would show its keyboard over the dialog.
    if (matchMedia("(pointer: fine)").matches) {
      dialog.current?.querySelector<HTMLElement>(".body :is(input, select, textarea)")?.focus();
    }
    return () => {
      // The page takes no focus until the dialog, and one above it, are gone. A sheet that opened meanwhile keeps the focus.
      queueMicrotask(() => {
        if (opener instanceof HTMLElement && document.activeElement === document.body) opener.focus();
      });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onInput={onInput}
      onKeyDown={({ key, target, currentTarget }) => {
        if (key !== "Enter" || !(target instanceof HTMLElement) || !target.matches("input:not([type=checkbox])"))
          return;
        currentTarget.querySelector<HTMLElement>("footer > .btn.primary")?.click();
      }}
      onCancel={(event) => {
        // The browser would close the element, but the page decides whether the dialog exists.
        event.preventDefault();
        onClose();
      }}
      onClose={({ currentTarget }) => {
        // The browser closes it in spite of that when Escape is pressed twice.
        if (currentTarget.isConnected) currentTarget.showModal();
      }}
    >
      <header>
        <div>
          <h2 id={id}>{title}</h2>
          {hint === undefined ? null : <p>{hint}</p>}
        </div>
        <Button kind="quiet" only label="Close" icon="x" blocked={kept} onClick={onClose} />
      </header>
      <div class="body">{children}</div>
      <footer>{footer}</footer>
    </dialog>
  );
}

/** Dialog with a form, which its primary button submits. It asks before it closes with changed fields. */
export function FormDialog({
  action,
  submit,
  blocked,
  onClose,
  children,
  ...dialog
}: Omit<Parameters<typeof Dialog>[0], "footer"> & {
  /** Label of the primary button. */
  readonly action: string;
  readonly submit: Action<void>;
  /** Reason why the form cannot be submitted yet. */
  readonly blocked?: string | undefined;
}): JSX.Element {
  const [isChanged, setChanged] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { fault } = submit;
  // A long dialog may hide the field that shows the error.
  useLayoutEffect(() => {
    if (fault !== undefined) document.querySelector<HTMLElement>("dialog [aria-invalid=true]")?.focus();
  }, [fault]);
  // The page behind a stored form may navigate.
  useDraft(isChanged && !submit.isRunning);
  const close = (): void => (isChanged ? setAsking(true) : onClose());
  return (
    <>
      <Dialog
        {...dialog}
        onClose={close}
        onInput={() => setChanged(true)}
        footer={
          <>
            <span class="hint grow">{blocked}</span>
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary" isRunning={submit.isRunning} blocked={blocked} onClick={() => submit.run()}>
              {action}
            </Button>
          </>
        }
      >
        {children}
        <FaultText fault={fault} />
      </Dialog>
      {isAsking ? (
        <ConfirmDialog
          title="Discard the changes?"
          effect={`The changes in “${dialog.title}” are not stored.`}
          action="Discard changes"
          onClose={() => setAsking(false)}
          run={async () => onClose()}
        />
      ) : null}
    </>
  );
}

/** Question before a page with unsaved changes is left. */
export function LeaveDialog(): JSX.Element | null {
  const leave = leaving.value;
  if (leave === undefined) return null;
  const close = (): void => {
    leaving.value = undefined;
  };
  return (
    <ConfirmDialog
      title="Leave the page?"
      effect="The changes on this page are not stored, and will be lost."
      action="Leave page"
      onClose={close}
      run={leave}
    />
  );
}

/** Question before a dangerous action. */
export interface Confirmation {
  readonly title: string;
  /** Consequence of the action in whole sentences. */
  readonly effect: ComponentChildren;
  /** Label of the button, with the name of the object. */
  readonly action: string;
  /** Label of the button that closes the dialog. An action that cancels something needs one of its own. */
  readonly dismiss?: string;
  readonly run: () => Promise<unknown>;
}

/** Dialog that names a dangerous action and its effect, and runs it. */
export function ConfirmDialog({
  title,
  effect,
  action,
  dismiss = "Cancel",
  run,
  onClose,
}: Confirmation & { readonly onClose: () => void }): JSX.Element {
  const act = useAction(async () => {
    await run();
    onClose();
  });
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{dismiss}</Button>
          <Button kind="danger sure" isRunning={act.isRunning} onClick={() => act.run()}>
            {action}
          </Button>
        </>
      }
    >
      <p class="soft">{effect}</p>
      <FaultText fault={act.fault} />
    </Dialog>
  );
}

/** Button that asks before it runs its action. @param props `children`: text of the button. Default: the one of the dialog's button */
export function ConfirmButton({
  title,
  effect,
  action,
  dismiss = "Cancel",
  run,
  children,
  ...button
}: Confirmation & Omit<Parameters<typeof Button>[0], "onClick">): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setAsked(true)}>
        {button.only === true ? null : (children ?? action)}
      </Button>
      <Question of={isAsked ? { title, effect, action, dismiss, run } : undefined} onClose={() => setAsked(false)} />
    </>
  );
}

/** Confirmation in the document's body, where the styles of a table or a menu around its button do not apply. */
function Question({
  of,
  onClose,
}: {
  readonly of: Confirmation | undefined;
  readonly onClose: () => void;
}): JSX.Element | null {
  return of === undefined ? null : createPortal(<ConfirmDialog {...of} onClose={onClose} />, document.body);
}

/** Properties that a side sheet receives from its list, see `useOpenRow`. */
export interface SheetControls {
  readonly onClose: () => void;
  /** Selects a neighbour of the row. */
  readonly onMove: (step: 1 | -1) => void;
}

/** Side sheet with the details of a row. It stays beside the list on wide screens. `j` and `k` select the next and previous row. */
export function Sheet({
  title,
  onClose,
  onMove,
  actions,
  children,
}: SheetControls & {
  readonly title: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  const sheet = useRef<HTMLElement>(null);
  const id = useId();
  const keys = useRef<(event: KeyboardEvent) => void>(() => undefined);
  keys.current = (event) => {
    if (isTyping(event) || document.querySelector("dialog[open]") !== null) return;
    if (event.key === "Escape") onClose();
    else if (event.key === "j") onMove(1);
    else if (event.key === "k") onMove(-1);
  };
  useLayoutEffect(() => {
    const opener = document.activeElement;
    sheet.current?.focus();
    const listener = (event: KeyboardEvent): void => keys.current(event);
    document.addEventListener("keydown", listener);
    return () => {
      document.removeEventListener("keydown", listener);
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <aside class="sheet" ref={sheet} tabIndex={-1} aria-labelledby={id}>
      <header>
        <h2 id={id} class="cut grow">
          {title}
        </h2>
        {actions}
        <Button kind="quiet" only label="Previous row" icon="up" onClick={() => onMove(-1)} />
        <Button kind="quiet" only label="Next row" icon="down" onClick={() => onMove(1)} />
        <Button kind="quiet" only label="Close" icon="x" onClick={onClose} />
      </header>
      {children}
    </aside>
  );
}

function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey || (target instanceof HTMLElement && target.matches("input, textarea, select"));
}

interface MenuEntry {
  readonly text: string;
  readonly onClick?: () => void;
  readonly isDangerous?: boolean;
  /** Question before a dangerous action, which replaces `onClick`. */
  readonly confirm?: Confirmation;
}

/** Button that opens a menu. Each entry closes it. */
export function Menu({
  label,
  text,
  entries,
}: {
  readonly label: string;
  /** Text of the button. Absent: the button shows three dots. */
  readonly text?: string;
  readonly entries: readonly MenuEntry[];
}): JSX.Element {
  const id = useId();
  const [asked, setAsked] = useState<Confirmation>();
  const menu = useRef<HTMLDivElement>(null);
  const place = (event: { readonly newState: string }): void => {
    const [box, opener] = [menu.current, document.querySelector(`[popovertarget="${id}"]`)];
    if (event.newState !== "open" || box === null || opener === null) return;
    const { top, bottom, right } = opener.getBoundingClientRect();
    // Above the button where it would leave the window below it.
    const fitsBelow = bottom + 4 + box.offsetHeight <= innerHeight;
    const y = fitsBelow ? bottom + 4 : Math.max(8, top - 4 - box.offsetHeight);
    box.style.setProperty("position", "fixed");
    box.style.setProperty("inset", `${y}px auto auto ${Math.max(8, right - box.offsetWidth)}px`);
  };
  return (
    <>
      {text === undefined ? (
        <button type="button" class="btn quiet only small" popovertarget={id} aria-label={label}>
          <Icon name="more" />
        </button>
      ) : (
        <button type="button" class="btn" popovertarget={id}>
          {text}
          <Icon name="down" small />
        </button>
      )}
      <div class="menu" id={id} popover="auto" ref={menu} onToggle={place}>
        {entries.map(({ text, onClick, confirm, isDangerous = confirm !== undefined }) => (
          <button
            key={text}
            type="button"
            class={isDangerous ? "danger" : ""}
            onClick={() => {
              menu.current?.hidePopover();
              onClick?.();
              setAsked(confirm);
            }}
          >
            {text}
          </button>
        ))}
      </div>
      <Question of={asked} onClose={() => setAsked(undefined)} />
    </>
  );
}

/** Fact with a consequence, above the part of the page that it concerns. */
export function Callout({
  tone = "",
  children,
}: {
  readonly tone?: "" | "ok" | "warn" | "bad";
  readonly children: ComponentChildren;
}): JSX.Element {
  const icon = { "": "info", ok: "check", warn: "warn", bad: "cross" } as const;
  return (
    <div class={`callout ${tone}`}>
      <Icon name={icon[tone]} />
      <div>{children}</div>
    </div>
  );
}

/** Error of a page part, if there is one, with a way to try again. */
export function FaultCallout({
  fault,
  retry,
}: {
  readonly fault: ApiFault | undefined;
  readonly retry: () => unknown;
}): JSX.Element | null {
  if (fault === undefined) return null;
  return (
    <Callout tone="bad">
      {fault.message}{" "}
      <button type="button" class="link" onClick={retry}>
        Try again
      </button>
    </Callout>
  );
}
