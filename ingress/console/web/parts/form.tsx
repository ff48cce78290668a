/** Buttons and form fields. A field shows the error that the API returned for its parameter. */
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

import type { ApiFault } from "../api/client.ts";
import { Icon, type IconName } from "./icon.tsx";
import { toast } from "./toast.tsx";
import { CodeText } from "./values.tsx";

interface ButtonProps {
  readonly kind?: "primary" | "quiet" | "danger" | "danger sure";
  readonly small?: boolean;
  /** True for a button that shows only its icon. */
  readonly only?: boolean;
  readonly icon?: IconName;
  readonly label?: string;
  readonly submit?: boolean;
  readonly isRunning?: boolean;
  /** Reason why the button is disabled, shown as its tooltip. */
  readonly blocked?: string | undefined;
  readonly onClick?: () => unknown;
  readonly children?: ComponentChildren;
}

export function Button({
  kind,
  small,
  only,
  icon,
  label,
  submit,
  isRunning,
  blocked,
  onClick,
  children,
}: ButtonProps): JSX.Element {
  const isOff = isRunning === true || blocked !== undefined;
  const classes = ["btn", kind ?? "", small === true ? "small" : "", only === true ? "only" : ""].filter(Boolean);
  return (
    <button
      type={submit === true ? "submit" : "button"}
      class={classes.join(" ")}
      aria-label={label}
      aria-disabled={isOff}
      title={blocked}
      onClick={(event) => {
        if (!isOff) return onClick?.();
        event.preventDefault();
        // A phone shows no title.
        if (blocked !== undefined) toast(blocked, "bad");
        return undefined;
      }}
    >
      {isRunning === true ? <Icon name="spin" /> : icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  );
}

/**
 * Error of a form that concerns none of its fields. It scrolls into view, because a long form may hide it. While a field before it shows
 * the error, it is hidden (`.fault` in parts.css).
 */
export function FaultText({ fault }: { readonly fault: ApiFault | undefined }): JSX.Element | null {
  if (fault === undefined) return null;
  return (
    <p key={fault.message} ref={showElement} class="hint error fault" role="alert">
      <Icon name="warn" small />
      {fault.message}
    </p>
  );
}

function showElement(element: Element | null): void {
  element?.scrollIntoView({ block: "nearest" });
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly isOptional?: boolean;
  /** Parameter of the API that the field sets. Errors may name an entry of it, such as `limits.models[0]`. */
  readonly param?: string;
  readonly fault?: ApiFault | undefined;
}

interface ControlProps {
  readonly id: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

/** Label, control, and hint or error. */
export function Field({
  label,
  hint,
  isOptional,
  param,
  fault,
  children,
}: FieldProps & { readonly children: (control: ControlProps) => ComponentChildren }): JSX.Element {
  const id = useId();
  const isOwn = param !== undefined && (fault?.param === param || fault?.param?.replace(/\[.*/s, "") === param);
  const error = isOwn ? fault?.message : undefined;
  const note = error ?? hint;
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isOptional === true ? <span class="opt"> optional</span> : null}
      </label>
      {children({
        id,
        "aria-invalid": error !== undefined,
        "aria-describedby": note === undefined ? undefined : `${id}-note`,
      })}
      {note === undefined ? null : (
        <span class={error === undefined ? "hint" : "hint error"} id={`${id}-note`}>
          {error === undefined ? null : <Icon name="warn" small />}
          {error === undefined && typeof hint === "string" ? <CodeText text={hint} /> : note}
        </span>
      )}
    </div>
  );
}

interface TextProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "password" | "email" | "url" | "datetime-local" | "search";
  readonly placeholder?: string;
  /** Unit after the value, such as `credits`. Digits are then right-aligned. */
  readonly unit?: string;
  /** Suggestions. Any other text is accepted too. */
  readonly suggestions?: readonly string[];
  readonly rows?: number;
  readonly isRequired?: boolean;
}

export function TextField(props: TextProps): JSX.Element {
  const { value, onInput, type = "text", placeholder, unit, suggestions, rows, isRequired } = props;
  const listId = useId();
  const onText = (event: { readonly currentTarget: { readonly value: string } }): void =>
    onInput(event.currentTarget.value);
  return (
    <Field {...props}>
      {(control) => {
        if (rows !== undefined) {
          return (
            <textarea
              {...control}
              class="area"
              rows={rows}
              value={value}
              placeholder={placeholder}
              required={isRequired}
              onInput={onText}
            />
          );
        }
        const input = (
          <input
            {...control}
            class={unit === undefined ? "input" : "input num"}
            {...({ type } as { readonly type: "text" })}
            value={value}
            placeholder={placeholder}
            required={isRequired}
            autocomplete="off"
            spellcheck={false}
            inputMode={unit === undefined ? undefined : "decimal"}
            list={suggestions === undefined ? undefined : listId}
            onInput={onText}
          />
        );
        return (
          <>
            {unit === undefined ? (
              input
            ) : (
              <span class="affix">
                {input}
                <span>{unit}</span>
              </span>
            )}
            {suggestions === undefined ? null : (
              <datalist id={listId}>
                {suggestions.map((one) => (
                  <option key={one} value={one} />
                ))}
              </datalist>
            )}
          </>
        );
      }}
    </Field>
  );
}

export interface Choice {
  readonly value: string;
  readonly text: string;
}

/** Returns the choices for texts by their values. Values that are whole numbers would come first, in the order of their size. */
export function choicesOf(texts: Readonly<Record<string, string>>): readonly Choice[] {
  return Object.entries(texts).map(([value, text]) => ({ value, text }));
}

export function SelectField<Value extends string>({
  value,
  onInput,
  choices,
  ...field
}: FieldProps & {
  readonly value: Value;
  readonly onInput: (value: Value) => void;
  readonly choices: readonly Choice[];
}): JSX.Element {
  return (
    <Field {...field}>
      {(control) => (
        <select
          {...control}
          class="select"
          value={value}
          onChange={(event) => onInput(event.currentTarget.value as Value)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value} selected={choice.value === value}>
              {choice.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  isChecked,
  onInput,
}: {
  readonly label: ComponentChildren;
  readonly isChecked: boolean;
  readonly onInput: (isChecked: boolean) => void;
}): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" checked={isChecked} onChange={(event) => onInput(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

/** Choice of up to four short values. */
export function Segments({
  label,
  value,
  choices,
  onInput,
}: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onInput: (value: string) => void;
}): JSX.Element {
  const name = useId();
  return (
    <div class="field">
      <span class="label">{label}</span>
      <div class="seg" role="radiogroup" aria-label={label}>
        {choices.map((choice) => (
          <label key={choice.value}>
            <input type="radio" name={name} checked={choice.value === value} onChange={() => onInput(choice.value)} />
            {choice.text}
          </label>
        ))}
      </div>
    </div>
  );
}

/**
 * Reads an amount of credits. A comma separates groups of three digits only: `0,5` is no amount.
 * @returns undefined for an empty text, NaN for a text that is no amount
 */
export function creditsIn(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return /^(\d+|\d{1,3}(,\d{3})+)(\.\d{1,9})?$/.test(trimmed) ? Number(trimmed.replaceAll(",", "")) : Number.NaN;
}
