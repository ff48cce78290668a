/**
 * Spans of this process: what callers of ours see of tracing. Until `useTracer` was called nothing is recorded, and a span costs a
 * comparison. Only lists of our own, figures and ids become attributes, never what callers or providers say.
 */

export type SpanKind = "server" | "producer" | "consumer" | "client" | "internal";
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** W3C header that others go on from; undefined where nothing is recorded. */
  readonly traceparent: string | undefined;
  /** The same for a link, which names a span that is not recorded too; undefined where nothing is traced. */
  readonly link: string | undefined;
  set(attributes: Attributes): void;
  /** @param error word of ours for what went wrong */
  end(error?: string): void;
}

/** Span, in another process or another trace, from which one begins: a parent has it in its trace, a link only names it. */
export interface Origin {
  readonly parent?: string | undefined;
  readonly link?: string | undefined;
  /** A client's: a parent where clients are trusted, else a link. */
  readonly client?: string | undefined;
}

export interface Tracer {
  begin(name: string, kind: SpanKind, origin: Origin | Span, attributes: Attributes, startedAtMs?: number): Span;
}

const nothing = (): void => undefined;
export const NO_SPAN: Span = { traceparent: undefined, link: undefined, set: nothing, end: nothing };
const NOTHING: Attributes = {};

let tracer: Tracer | undefined;

/** @param next undefined: nothing is recorded from now on */
export function useTracer(next: Tracer | undefined): void {
  tracer = next;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/**
 * Begins a span that may be the first of its trace.
 * @param startedAtMs Unix milliseconds; absent: now
 */
export function beginSpan(
  name: string,
  kind: SpanKind,
  origin: Origin = {},
  attributes = NOTHING,
  startedAtMs?: number,
): Span {
  return tracer === undefined ? NO_SPAN : tracer.begin(name, kind, origin, attributes, startedAtMs);
}

/** Begins a part of `parent`. Of one that is not recorded no part is. */
export function beginPart(parent: Span | undefined, name: string, kind: SpanKind, attributes = NOTHING): Span {
  if (tracer === undefined || parent?.traceparent === undefined) return NO_SPAN;
  return tracer.begin(name, kind, parent, attributes);
}

/** Runs `work` as a part of `parent`; a part that throws has the name of the error. */
export async function asPart<T>(parent: Span | undefined, name: string, work: () => Promise<T>): Promise<T> {
  const span = beginPart(parent, name, "internal");
  try {
    const value = await work();
    span.end();
    return value;
  } catch (error) {
    span.end(errorName(error));
    throw error;
  }
}

/** Returns a word of ours for an error: its code or kind where it has one, else its class. */
export function errorName(error: unknown): string {
  const { code, kind, name } = (error ?? {}) as {
    readonly code?: unknown;
    readonly kind?: unknown;
    readonly name?: unknown;
  };
  const word = [code, kind, name].find((one) => typeof one === "string" && /^\w{1,40}$/.test(one));
  return typeof word === "string" ? word : "error";
}

const ofJobs = new Map<string, Span>();

/** Makes the span known as that of the job that runs here. @returns a function that ends both */
export function keepJobSpan(jobId: string, span: Span): (error?: string) => void {
  if (span.traceparent === undefined) return nothing;
  ofJobs.set(jobId, span);
  return (error) => {
    if (ofJobs.get(jobId) === span) ofJobs.delete(jobId);
    span.end(error);
  };
}

export function jobSpan(jobId: string): Span {
  return ofJobs.get(jobId) ?? NO_SPAN;
}
