/** Values in tables and sheets: amounts, times, ids, statuses, key-value lists and bars. */
import type { ComponentChildren, JSX } from "preact";

import { copyText } from "./copy.ts";
import type { Choice } from "./form.tsx";
import { amountText, figureText, percentText, plain, relativeText, timeText } from "./format.ts";
import { Icon, type IconName } from "./icon.tsx";

/** Amount in credits with five aligned decimals. The exact amount is the tooltip. */
export function Amount({
  credits,
  isMovement = false,
}: {
  readonly credits: number;
  /** True for a movement of the balance, which has its sign. */
  readonly isMovement?: boolean;
}): JSX.Element {
  const { digits, zeros, exact } = amountText(credits);
  return (
    <span class="nw" title={exact}>
      {isMovement && credits > 0 ? "+" : ""}
      {digits}
      {zeros === "" ? null : <span class="zero">{zeros}</span>}
    </span>
  );
}

/** Time of day; the tooltip has the date and the exact time. */
export function Time({
  at,
  style = "time",
}: {
  readonly at: string;
  readonly style?: "time" | "minute" | "day";
}): JSX.Element {
  return (
    <time dateTime={at} title={`${timeText(at, "day")}, ${timeText(at, "exact")}`}>
      {timeText(at, style)}
    </time>
  );
}

/** Relative time, such as the last use of a key, with the absolute time as tooltip. */
export function Ago({ at, none = "never" }: { readonly at: string | null; readonly none?: string }): JSX.Element {
  if (at === null) return <span class="muted">{none}</span>;
  return (
    <time dateTime={at} title={`${timeText(at, "day")}, ${timeText(at, "exact")}`}>
      {relativeText(at)}
    </time>
  );
}

/** Text of the API, in which backticks enclose code. */
export function CodeText({ text = "" }: { readonly text: string | undefined }): JSX.Element {
  return <>{text.split("`").map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}</>;
}

/** Id in full with a copy button. */
export function Id({ value, label = "id" }: { readonly value: string; readonly label?: string }): JSX.Element {
  return (
    <span class="id">
      <span class="cut" title={value}>
        {value}
      </span>
      <button
        type="button"
        class="btn quiet only small"
        aria-label={`Copy ${label}`}
        onClick={() => void copyText(value)}
      >
        <Icon name="copy" small />
      </button>
    </span>
  );
}

type Tone = "ok" | "run" | "warn" | "bad" | "";

const STATUSES: Readonly<Record<string, readonly [tone: Tone, icon: IconName, word: string]>> = {
  succeeded: ["ok", "check", "OK"],
  completed: ["ok", "check", "Completed"],
  delivered: ["ok", "check", "Delivered"],
  active: ["ok", "check", "Active"],
  available: ["ok", "check", "Available"],
  processed: ["ok", "check", "Processed"],
  running: ["run", "spin", "Running"],
  in_progress: ["run", "spin", "Running"],
  processing: ["run", "spin", "Running"],
  validating: ["run", "spin", "Checking"],
  finalizing: ["run", "spin", "Finishing"],
  queued: ["", "ring", "Queued"],
  pending: ["", "ring", "Queued"],
  retrying: ["warn", "warn", "Retrying"],
  failing: ["warn", "warn", "Failing"],
  warned: ["warn", "warn", "Near its limit"],
  reached: ["bad", "block", "Limit reached"],
  refused: ["warn", "block", "Refused"],
  suspended: ["warn", "block", "Disabled"],
  failed: ["bad", "cross", "Failed"],
  lost: ["bad", "cross", "Lost"],
  cancelled: ["", "stop", "Cancelled"],
  canceled: ["", "stop", "Cancelled"],
  cancelling: ["", "stop", "Cancelling"],
  skipped: ["", "dash", "Skipped"],
  revoked: ["", "block", "Revoked"],
  expired: ["", "block", "Expired"],
  disabled: ["", "block", "Disabled"],
};

/** Returns the word of a status, so that filters and sums use the words of the badges. */
export function statusText(name: string): string {
  return STATUSES[name]?.[2] ?? name;
}

/** Returns the choices of a filter by status. */
export function statusChoices(...names: readonly string[]): readonly Choice[] {
  return names.map((value) => ({ value, text: statusText(value) }));
}

/** Words for the kinds of ledger entries. */
export const ENTRY_KINDS = { settle: "Charge", top_up: "Top-up", correction: "Correction" } as const;

/** Status as shape, word and colour. An unknown status is shown by its own name. */
export function Status({
  of,
  code,
}: {
  readonly of: string;
  readonly code?: string | number | null | undefined;
}): JSX.Element {
  const [tone, icon, word] = STATUSES[of] ?? (["", "ring", of] as const);
  return (
    <span class={`badge ${tone}`}>
      <Icon name={icon} />
      {word}
      {code == null ? null : <span>{code}</span>}
    </span>
  );
}

/** Terms with their values. Entries whose value is null or undefined are omitted. */
export function KeyValues({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="kv">
      {of.flatMap(([term, value]) =>
        value == null ? [] : [<dt key={term}>{term}</dt>, <dd key={`${term}-value`}>{value}</dd>],
      )}
    </dl>
  );
}

/** Bar of the progress of work. @param props `share`: done part, from 0 to 1 */
export function ProgressBar({ share }: { readonly share: number }): JSX.Element {
  const percent = Math.round(share * 100);
  return (
    <div class="row">
      <span
        class="bar run grow"
        style={{ "--v": `${percent}%` }}
        role="progressbar"
        aria-label="Progress"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i />
      </span>
      <span class="hint">{percent} %</span>
    </div>
  );
}

/** Bar of a limit: used part filled, held part hatched. It warns from 80 %. @param props `format`: text of a value; default: credits */
export function BudgetBar({
  used,
  held = 0,
  limit,
  window,
  format,
}: {
  readonly used: number;
  readonly held?: number;
  readonly limit: number;
  readonly window: string;
  readonly format?: (value: number) => string;
}): JSX.Element {
  const share = shareOf(used, limit);
  const tone = share >= 100 ? "bad" : share >= 80 ? "warn" : "";
  return (
    <div class="budget">
      <span class="row">
        <span>
          {tone === "" ? null : <Icon name={tone === "bad" ? "block" : "warn"} small tone={tone} />}
          <b title={format === undefined ? `${plain(used)} credits` : undefined}>
            {(format ?? figureText)(used)}
          </b> of{" "}
          {format === undefined ? (
            <span title={`${plain(limit)} credits`}>{amountText(limit).digits}</span>
          ) : (
            format(limit)
          )}
          {format === undefined ? <span class="unit muted"> credits</span> : null}
        </span>
        <span class="muted">{window}</span>
      </span>
      <LimitBar {...{ used, held, limit, tone }} label={`${percentText(used, limit)} of the ${window} limit used`} />
    </div>
  );
}

/** Bar of the used and the held part of a limit, without figures. */
export function LimitBar({
  used,
  held,
  limit,
  tone = "",
  label,
}: {
  readonly used: number;
  readonly held: number;
  readonly limit: number;
  readonly tone?: Tone;
  /** Figures for a reader that sees no bar. */
  readonly label: string;
}): JSX.Element {
  const share = shareOf(used, limit);
  const heldShare = Math.min(100 - share, limit === 0 ? 0 : (held / limit) * 100);
  return (
    <span class={`bar ${tone}`} style={{ "--v": `${share}%` }} role="img" aria-label={label}>
      <i />
      {heldShare > 0 ? <i class="held" style={{ "--from": `${share}%`, "--v": `${heldShare}%` }} /> : null}
    </span>
  );
}

/** Returns the used part of a limit, in percent, at most 100. A limit of 0 is used up. */
function shareOf(used: number, limit: number): number {
  return limit === 0 ? 100 : Math.min(100, (used / limit) * 100);
}
