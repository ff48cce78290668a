/** One call with everything that came of it: the answer, whom it was sent to, in which order, and what the books say. */
import { newId } from "#shared/base/ids.ts";

import type { RecordedCall } from "../providers/engine/recorder.ts";
import { ask, type Bed } from "./bed.ts";
import { type Answer, requestId, streamedText, type Target } from "./client.ts";
import { FAMILIES, type Upstreams } from "./families.ts";
import { eventually } from "./wait.ts";

export interface UsageRecord {
  readonly status: "succeeded" | "failed" | "cancelled" | "lost";
  readonly model: string;
  /** `provider/model` that served, or failed last. */
  readonly source: string | null;
  readonly held: bigint;
  readonly settled: bigint;
  readonly units: Readonly<Record<string, number>>;
  readonly is_estimated: boolean;
}

/** The one usage record of a call, as soon as it is there. @throws Error when there are two */
export function usageOf(bed: Pick<Bed, "stack">, call: Answer | string): Promise<UsageRecord> {
  const jobId = typeof call === "string" ? call : requestId(call);
  return eventually(`the usage record of ${jobId}`, async () => {
    const rows = await bed.stack.query<UsageRecord>(
      "select status, model, source, held, settled, units, is_estimated from usage_record where job_id = $1",
      [jobId],
    );
    if (rows.length > 1) throw new Error(`${rows.length} usage records`);
    return rows[0];
  });
}

/** A request that reached one of the upstreams. */
export interface Arrival {
  /** `family/model` asked for. */
  readonly to: string;
  readonly call: RecordedCall;
}

/** Every request whose body has this text in it, as they came. */
export function arrivalsOf(upstreams: Upstreams, marker: string): Arrival[] {
  return FAMILIES.flatMap((family) =>
    upstreams[family].requests
      .filter(({ body }) => JSON.stringify(body).includes(marker))
      .map((call) => ({ to: `${family}/${modelOf(call)}`, call })),
  ).toSorted((a, b) => a.call.receivedAt - b.call.receivedAt);
}

/** Receivers of each call: the text that `marker` finds in a body → `family/model` of each request. */
export function arrivalsByMarker(upstreams: Upstreams, marker: RegExp): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const family of FAMILIES) {
    for (const call of upstreams[family].requests) {
      const [text] = marker.exec(JSON.stringify(call.body)) ?? [];
      if (text !== undefined) found.set(text, [...(found.get(text) ?? []), `${family}/${modelOf(call)}`]);
    }
  }
  return found;
}

function modelOf({ path, body }: RecordedCall): string {
  return /\/models\/([^/:]+):/.exec(path)?.[1] ?? String((body as { model?: unknown } | null)?.model);
}

export type CallKind = "plain" | "streamed" | "embeddings";

export interface Marked {
  readonly target: Target;
  readonly body: Record<string, unknown>;
  /** In the text of this call and of no other. */
  readonly marker: string;
  /** Text that a flawless upstream answers. */
  readonly echo: string;
}

/** A call that can be told from every other by its text, which is also what an upstream answers. */
export function mark(bed: Bed, model: string, kind: CallKind, more: Record<string, unknown> = {}): Marked {
  const marker = newId();
  if (kind === "embeddings") {
    const target = { ...bed.target(), path: "/v1/embeddings" };
    return { target, body: { model, input: `text ${marker}`, ...more }, marker, echo: "" };
  }
  const echo = `hello there ${marker}`;
  const messages = [{ role: "user", content: `say ${echo}` }];
  const body = ask(model, { messages, ...(kind === "streamed" ? { stream: true } : {}), ...more });
  return { target: bed.target(), body, marker, echo };
}

export interface Probed {
  readonly answer: Answer;
  /** Text of the answer; empty for embeddings and for what is no answer. */
  readonly text: string;
  /** Text that a flawless upstream would have answered. */
  readonly echo: string;
  /** `family/model` of each request the upstreams got, in order. */
  readonly tried: readonly string[];
  /** True, for each of them, if we closed its socket before it was answered. */
  readonly closedByUs: readonly boolean[];
  readonly usage: UsageRecord;
  /** Movements of money for this call. */
  readonly entries: number;
}

/** Makes the call and waits until every request it caused is over and its books are closed. */
export async function probe(
  bed: Bed,
  model: string,
  kind: CallKind,
  more: Record<string, unknown> = {},
): Promise<Probed> {
  const { target, body, marker, echo } = mark(bed, model, kind, more);
  const answer = await bed.client.chat(target, body);
  const usage = await usageOf(bed, answer);
  const arrivals = arrivalsOf(bed.upstreams, marker);
  await Promise.all(arrivals.map(({ call }) => call.finished));
  const rows = await bed.stack.query("select 1 from ledger_entry where source_id = $1", [requestId(answer)]);
  return {
    answer,
    text: textOf(answer),
    echo,
    tried: arrivalsOf(bed.upstreams, marker).map(({ to }) => to),
    closedByUs: arrivals.map(({ call }) => call.closedByClientAt !== null),
    usage,
    entries: rows.length,
  };
}

function textOf(answer: Answer): string {
  if (answer.isStream) return streamedText(answer);
  const { choices } = JSON.parse(answer.body) as { choices?: { message: { content: string } }[] };
  return choices?.[0]?.message.content ?? "";
}

/** Cost of these tokens at a bed's model, in nano-credits; `outputPrice` as in BedModel. */
export function costOf({ units }: UsageRecord, outputPrice = 200): bigint {
  const { input_tokens: input = 0, output_tokens: output = 0 } = units;
  return BigInt(input * (outputPrice / 2) * 1_000 + output * outputPrice * 1_000);
}
