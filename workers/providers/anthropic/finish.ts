/** Maps stop reasons of answers to OpenAI's finish reasons. */
import { ProviderError } from "../provider.ts";

const REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

/**
 * Returns OpenAI's finish reason.
 * @param hasCalls true if the answer has tool calls for the client; the tool that contains a JSON answer does not count
 * @throws ProviderError `failed` for an unknown reason, because the answer may be incomplete
 */
export function finishReason(stopReason: string, hasCalls: boolean): string {
  const reason = Object.hasOwn(REASONS, stopReason) ? REASONS[stopReason] : undefined;
  if (reason === undefined) throw new ProviderError("failed", `unknown stop reason ${stopReason}`);
  if (reason !== "stop" && reason !== "tool_calls") return reason;
  return hasCalls ? "tool_calls" : "stop";
}

/**
 * Returns an object with the stop sequence that ended the answer, to spread into the choice; empty if there is none. OpenAI has no such
 * member, so its clients ignore it.
 */
export function stopSequenceOf({ stop_sequence: met }: Readonly<Record<string, unknown>>): { stop_sequence?: string } {
  return typeof met === "string" ? { stop_sequence: met } : {};
}

/** Returns an object with the response's service tier under OpenAI's name; empty if there is none. */
export function serviceTierOf(usage: unknown): { extra?: { service_tier: string } } {
  const tier = (usage as { service_tier?: unknown } | null | undefined)?.service_tier;
  if (typeof tier !== "string") return {};
  return { extra: { service_tier: tier === "standard" ? "default" : tier } };
}
