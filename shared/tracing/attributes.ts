/**
 * Names of all trace attributes. They are in one file, because OpenTelemetry's GenAI conventions are in development and change. Messages,
 * outputs, tools and addresses have no attribute.
 */
import type { Attributes } from "./tracing.ts";

/** Names of providers in OpenTelemetry's GenAI conventions, by slug. Contains only providers whose name differs from the slug. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  mistral: "mistral_ai",
  xai: "x_ai",
};

const OPERATIONS: Readonly<Record<string, string>> = {
  chat: "chat",
  embeddings: "embeddings",
  transcription: "transcription",
  capability: "execute_tool",
};
const OUTPUTS: Readonly<Record<string, string>> = {
  image: "image",
  speech: "speech",
  chat: "text",
  transcription: "text",
};

export function operationOf(kind: string): string {
  return OPERATIONS[kind] ?? "generate_content";
}

export function requestFacts(of: {
  readonly method: string;
  readonly route: string;
  readonly requestId: string;
}): Attributes {
  return { "http.request.method": of.method, "http.route": of.route, "sluice.request_id": of.requestId };
}

export function answerFacts(status: number): Attributes {
  return { "http.response.status_code": status };
}

export function messagingFacts(pool: string, lane: string): Attributes {
  return { "messaging.system": "nats", "messaging.destination.name": `work.${pool}`, "sluice.lane": lane };
}

export function jobFacts(of: {
  readonly jobId: string;
  readonly workspaceId: string;
  readonly requestId?: string;
}): Attributes {
  return {
    "sluice.job_id": of.jobId,
    "sluice.workspace_id": of.workspaceId,
    ...(of.requestId === undefined ? {} : { "sluice.request_id": of.requestId }),
  };
}

/** OpenTelemetry attribute names of the numeric request parameters, by parameter. Parameters with texts are omitted. */
const FIGURES: Readonly<Record<string, string>> = {
  max_tokens: "gen_ai.request.max_tokens",
  max_completion_tokens: "gen_ai.request.max_tokens",
  temperature: "gen_ai.request.temperature",
  top_p: "gen_ai.request.top_p",
  seed: "gen_ai.request.seed",
  n: "gen_ai.request.choice.count",
};

/** Returns the trace attributes of an attempt at a provider. @param request request of the call */
export function attemptFacts(of: {
  readonly kind: string;
  readonly provider: string;
  readonly model: string;
  readonly sourceModel: string;
  readonly attempt: number;
  readonly fallbackDepth: number;
  readonly request: Readonly<Record<string, unknown>> | undefined;
}): Attributes {
  const request = of.request ?? {};
  const figures = Object.entries(FIGURES).flatMap(([name, attribute]) =>
    typeof request[name] === "number" ? [[attribute, request[name]] as const] : [],
  );
  const output = OUTPUTS[of.kind];
  return {
    "gen_ai.operation.name": operationOf(of.kind),
    "gen_ai.provider.name": PROVIDERS[of.provider] ?? of.provider,
    "gen_ai.request.model": of.model,
    "sluice.source": `${of.provider}/${of.sourceModel}`,
    "sluice.attempt": of.attempt,
    "sluice.fallback_depth": of.fallbackDepth,
    ...(request["stream"] === true ? { "gen_ai.request.stream": true } : {}),
    ...(output === undefined ? {} : { "gen_ai.output.type": output }),
    ...Object.fromEntries(figures),
  };
}

/** OpenTelemetry attribute names of the units of a usage record, by unit. */
const USAGE: Readonly<Record<string, string>> = {
  input_tokens: "gen_ai.usage.input_tokens",
  output_tokens: "gen_ai.usage.output_tokens",
  cached_input_tokens: "gen_ai.usage.cache_read.input_tokens",
  cache_write_5m_tokens: "gen_ai.usage.cache_write.input_tokens",
  reasoning_tokens: "gen_ai.usage.reasoning.output_tokens",
};

/** Returns the trace attributes of a call's usage. @param credits charged credits */
export function usageFacts(units: Readonly<Record<string, number>>, credits: number): Attributes {
  const used = Object.entries(USAGE).flatMap(([unit, name]) =>
    units[unit] === undefined ? [] : [[name, units[unit]] as const],
  );
  return { ...Object.fromEntries(used), "sluice.credits": credits };
}

export function runFacts(of: {
  readonly runId: string;
  readonly workspaceId: string;
  readonly status: string;
  readonly attempt: number;
}): Attributes {
  return {
    "gen_ai.operation.name": "invoke_workflow",
    "sluice.run_id": of.runId,
    "sluice.workspace_id": of.workspaceId,
    "sluice.attempt": of.attempt,
    "sluice.status": of.status,
  };
}

export function toolFacts(capability: string): Attributes {
  return { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": capability };
}
