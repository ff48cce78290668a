/** OpenTelemetry implementation of tracing.ts. It is imported only if a collector is configured, because loading its packages is costly. */
import {
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind as Kind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

import type { Attributes, Origin, Span, Tracer } from "./tracing.ts";

const KINDS = {
  server: Kind.SERVER,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
  client: Kind.CLIENT,
  internal: Kind.INTERNAL,
} as const;

/** OpenTelemetry contexts of this tracer's spans, needed for their children. */
const contexts = new WeakMap<Span, Context>();

/**
 * Creates a tracer.
 * @param sample share of recorded traces, for spans without a parent
 * @param trust true if spans of clients become parents
 */
export function createTracer(options: {
  readonly role: string;
  readonly version: string;
  readonly sample: number;
  readonly trust: boolean;
  readonly processor: SpanProcessor;
}): Tracer {
  const { role, version, sample, trust, processor } = options;
  const resource = resourceFromAttributes({
    "service.name": `sluice-${role}`,
    "service.namespace": "sluice",
    "service.version": version,
    "process.pid": process.pid,
  });
  const provider = new TracerProvider({ sampler: samplerOf(sample), resource, spanProcessors: [processor] });
  const tracer = provider.getTracer("sluice", version);
  return {
    begin(name, kind, origin, attributes, startedAtMs) {
      const [parent, named] = "end" in origin ? [contexts.get(origin)] : placeOf(origin, trust);
      const span = tracer.startSpan(
        name,
        {
          kind: KINDS[kind],
          attributes: { ...attributes },
          ...(named ? { links: [{ context: named }] } : {}),
          ...(startedAtMs === undefined ? {} : { startTime: startedAtMs }),
        },
        parent ?? ROOT_CONTEXT,
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      const isRecorded = span.isRecording();
      const link = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
      const wrappedSpan: Span = {
        traceparent: isRecorded ? link : undefined,
        link,
        set: (more: Attributes) => void span.setAttributes({ ...more }),
        end(error) {
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", error);
          span.end();
        },
      };
      if (isRecorded) contexts.set(wrappedSpan, trace.setSpan(ROOT_CONTEXT, span));
      return wrappedSpan;
    },
  };
}

/**
 * Decides if a span is recorded. A child span follows its parent; for other spans, the trace id decides. A job that is linked to its
 * request uses the request's trace id, so that either both traces are recorded or none. The sampling flag of a link is ignored, because it
 * may come from a client.
 */
function samplerOf(sample: number): Sampler {
  const ratio = new TraceIdRatioBasedSampler(sample);
  return {
    shouldSample(context, traceId, _name, kind, _attributes, links) {
      const parent = trace.getSpanContext(context);
      if (parent) {
        return { decision: parent.traceFlags & 1 ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
      }
      const named = kind === Kind.SERVER ? undefined : links[0]?.context.traceId;
      return ratio.shouldSample(context, named ?? traceId);
    },
    toString: () => `ParentElse${ratio.toString()}`,
  };
}

function placeOf(
  { parent, link, client }: Origin,
  trust: boolean,
): [parent: Context | undefined, link?: SpanContext | undefined] {
  const remote = contextOf(parent ?? (trust ? client : undefined));
  if (remote) return [trace.setSpanContext(ROOT_CONTEXT, remote)];
  return [undefined, contextOf(link ?? client)];
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function contextOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}
