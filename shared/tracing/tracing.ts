/**
 * Interface for the trace spans of this process. Before `useTracer`, nothing is recorded and a span costs only a comparison. Attributes
 * contain only values of our own lists, numbers and ids, never texts of callers or providers.
 */

export type SpanKind = "server" | "producer" | "consumer" | "client" | "internal";
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** W3C header for child spans; undefined if the span is not recorded. */
  readonly traceparent: string | undefined;
  /** W3C header for a link to this span, even if the span is not recorded; undefined without tracing. */
  readonly link: string | undefined;
  set(attributes: Attributes): void;
  /** Ends the span. @param error our name of the error; absent on success */
  end(error?: string): void;
}

/** Span of another process or trace to which a new span refers. A parent shares its trace with the new span; a link only refers to it. */
export interface Origin {
  readonly parent?: string | undefined;
  readonly link?: string | undefined;
  /** Span of a client: used as parent if clients are trusted, otherwise as link. */
  readonly client?: string | undefined;
}

export interface Tracer {
  begin(name: string, kind: SpanKind, origin: Origin | Span, attributes: Attributes, startedAtMs?: number): Span;
}

const nothing = (): void => undefined;
export const NO_SPAN: Span = { traceparent: undefined, link: undefined, set: nothing, end: nothing };
const NOTHING: Attributes = {};

let tracer: Tracer | undefined;

/** Sets the tracer of the process. @param next undefined stops recording */
export function useTracer(next: Tracer | undefined): void {
  tracer = next;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/**
 * Begins a span that may be the first of its trace.
 * @param startedAtMs start in Unix milliseconds; default: now
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

/** Begins a child span of `parent`. A span that is not recorded has no recorded children. */
export function beginPart(parent: Span | undefined, name: string, kind: SpanKind, attributes = NOTHING): Span {
  if (tracer === undefined || parent?.traceparent === undefined) return NO_SPAN;
  return tracer.begin(name, kind, parent, attributes);
}

/** Runs `work` in a child span of `parent`. A thrown error ends the span with the error's name. */
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

/** Returns our name of an error: its code or kind if it has one, otherwise its class. */
export function errorName(error: unknown): string {
  const { code, kind, name } = (error ?? {}) as {
    readonly code?: unknown;
    readonly kind?: unknown;
    readonly name?: unknown;
  };
  const label = [code, kind, name].find((one) => typeof one === "string" && /^\w{1,40}$/.test(one));
  return typeof label === "string" ? label : "error";
}

const ofJobs = new Map<string, Span>();

/**
 * Registers the span of a job that runs in this process, so that `jobSpan` returns it.
 * @returns a function that ends the span and removes the registration
 */
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
