/** Limits of a key or a member: credits by period, models, endpoints and addresses. */
import type { JSX } from "preact";

import type { ApiKey, Limits, LimitUsage } from "#schemas/generated/types.ts";
import type { ApiFault } from "../api/client.ts";
import { creditsIn, TextField } from "./form.tsx";
import { plain, zonedText } from "./format.ts";
import { BudgetBar } from "./values.tsx";

const WINDOWS = ["day", "week", "month", "total"] as const;
type Window = (typeof WINDOWS)[number];

const LISTS = ["models", "endpoints", "ips", "warn_at"] as const;
type List = (typeof LISTS)[number];

/** Texts of the fields, by the member that they set. */
export type LimitsDraft = Readonly<Record<Window | List, string>>;

export function draftOf(limits: Limits | null | undefined): LimitsDraft {
  const amounts = Object.fromEntries(
    WINDOWS.map((window) => {
      const amount = limits?.credits?.[window];
      return [window, amount == null ? "" : plain(amount)];
    }),
  );
  const lists = Object.fromEntries(LISTS.map((list) => [list, (limits?.[list] ?? []).join(", ")]));
  return { ...amounts, ...lists } as LimitsDraft;
}

/**
 * Returns the limits of a draft, or null if it sets none. A temporary raise stays until it ends.
 * @throws Error for a text that is not an amount or a percentage
 */
export function limitsOf(draft: LimitsDraft, before: Limits | null | undefined): Limits | null {
  const credits = Object.fromEntries(
    WINDOWS.flatMap((window) => {
      const amount = creditsIn(draft[window]);
      if (Number.isNaN(amount))
        throw new Error(`Expected a number of credits for the ${window}, got “${draft[window]}”.`);
      return amount === undefined ? [] : [[window, amount]];
    }),
  );
  const listOf = (list: List): string[] => draft[list].split(/[\s,]+/).filter((entry) => entry !== "");
  const warnings = listOf("warn_at").map(Number);
  if (warnings.some((percent) => !Number.isInteger(percent))) {
    throw new Error(`Expected whole percentages such as 80, 95, got “${draft.warn_at}”.`);
  }
  const limits: Record<string, unknown> = {
    ...(Object.keys(credits).length === 0 ? {} : { credits }),
    ...Object.fromEntries(
      (["models", "endpoints", "ips"] as const).flatMap((list) =>
        listOf(list).length === 0 ? [] : [[list, listOf(list)]],
      ),
    ),
    ...(warnings.length === 0 ? {} : { warn_at: warnings }),
    ...(before?.raise == null || new Date(before.raise.until) <= new Date() ? {} : { raise: before.raise }),
  };
  return Object.keys(limits).length === 0 ? null : limits;
}

interface LimitsFormProps {
  readonly value: LimitsDraft;
  readonly onInput: (draft: LimitsDraft) => void;
  readonly fault: ApiFault | undefined;
}

type BoundField = Pick<Parameters<typeof TextField>[0], "value" | "onInput" | "fault">;

function bindTo({ value: draft, onInput, fault }: LimitsFormProps): (name: keyof LimitsDraft) => BoundField {
  return (name) => ({
    value: draft[name],
    onInput: (value) => onInput({ ...draft, [name]: value }),
    fault,
  });
}

/**
 * Credit limits by period, and the percentages at which a warning is sent.
 * @param props `prefix`: path of the limits in the request, for the parameters that errors name
 */
export function LimitAmountFields({
  prefix = "",
  ...form
}: LimitsFormProps & { readonly prefix?: string }): JSX.Element {
  const bind = bindTo(form);
  return (
    <>
      <div class="grid2 pair">
        {WINDOWS.map((window) => (
          <TextField
            key={window}
            label={window === "total" ? "In total" : `Per ${window}`}
            unit="credits"
            isOptional
            param={`${prefix}credits.${window}`}
            {...bind(window)}
          />
        ))}
      </div>
      <p class="hint">
        A call is refused if its largest possible cost does not fit. Small limits need chat calls that set Max
        completion tokens.
      </p>
      <TextField
        label="Warn at"
        isOptional
        param={`${prefix}warn_at`}
        placeholder="80, 95"
        hint="Percentages of each credit limit at which a notice is sent."
        {...bind("warn_at")}
      />
    </>
  );
}

/** All limits of a key or a member. */
export function LimitsFields(form: LimitsFormProps): JSX.Element {
  const bind = bindTo(form);
  return (
    <fieldset class="stack">
      <legend>
        <h3>Limits</h3>
      </legend>
      <LimitAmountFields {...form} prefix="limits." />
      <TextField
        label="Models"
        isOptional
        param="limits.models"
        placeholder="gpt-5.5, claude-*"
        hint="Names separated by commas; * matches any characters. Empty: all models."
        {...bind("models")}
      />
      <TextField
        label="Endpoints"
        isOptional
        param="limits.endpoints"
        placeholder="chat, responses, embeddings"
        hint="Empty: all endpoints."
        {...bind("endpoints")}
      />
      <TextField
        label="IP addresses"
        isOptional
        param="limits.ips"
        placeholder="203.0.113.7, 10.0.0.0/8"
        hint="Addresses and ranges from which calls are accepted. Empty: all."
        {...bind("ips")}
      />
    </fieldset>
  );
}

/** Credit limit of a period with its use, in credits. */
interface LimitState {
  readonly window: Window;
  readonly used: number;
  readonly held: number;
  readonly left: number;
  readonly limit: number;
  readonly resetsAt: string | null;
}

/** Returns the credit limits, sorted by the used share. The most used limit is first. */
export function limitsIn(usage: LimitUsage | null): readonly LimitState[] {
  return WINDOWS.flatMap((window) => {
    const state = usage?.[window];
    if (state == null) return [];
    const { credits_used: used, credits_held: held, credits_left: left, resets_at: resetsAt } = state;
    return [{ window, used, held, left, limit: used + held + left, resetsAt }];
  }).toSorted((a, b) => b.used / (b.limit || 1) - a.used / (a.limit || 1));
}

/** Bars of all credit limits; with `isShort` only of the limit that is nearest its end. */
export function LimitBars({
  limits,
  usage,
  isShort,
}: {
  readonly limits: Limits | null;
  readonly usage: LimitUsage | null;
  readonly isShort?: boolean;
}): JSX.Element {
  const bars = limitsIn(usage);
  if (bars.length === 0)
    return <span class="muted">{limits?.credits == null ? "No limit" : "Not visible to your role"}</span>;
  return (
    <div class="stack tight">
      {bars.slice(0, isShort === true ? 1 : bars.length).map(({ window, used, held, limit, resetsAt }) => (
        <div key={window}>
          <BudgetBar used={used} held={held} limit={limit} window={window} />
          {isShort === true || resetsAt === null ? null : <span class="hint">Resets {zonedText(resetsAt)}</span>}
        </div>
      ))}
    </div>
  );
}

/** State of a key: its status, or `reached` and `warned` when a spend limit is at or near its end. */
export function stateOf({ status, limit_usage: usage }: Pick<ApiKey, "status" | "limit_usage">): string {
  if (status !== "active") return status;
  const limits = limitsIn(usage);
  if (limits.some(({ left }) => left <= 0)) return "reached";
  return limits.some(({ used, limit }) => used >= 0.8 * limit) ? "warned" : status;
}
