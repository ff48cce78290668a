/** Why an answer ended, in OpenAI's words. */
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
 * @param hasCalls the answer has calls the client is to make; the tool that carries a JSON answer is none
 * @throws ProviderError `failed` for a reason nobody knows, which may mean that the answer is not whole
 */
export function finishReason(stopReason: string, hasCalls: boolean): string {
  const reason = Object.hasOwn(REASONS, stopReason) ? REASONS[stopReason] : undefined;
  if (reason === undefined) throw new ProviderError("failed", `unknown stop reason ${stopReason}`);
  if (reason !== "stop" && reason !== "tool_calls") return reason;
  return hasCalls ? "tool_calls" : "stop";
}

/** The caller's stop text that was met, to spread into the choice: OpenAI has no name for it, and clients pass it over. */
export function stopSequenceOf({ stop_sequence: met }: Readonly<Record<string, unknown>>): { stop_sequence?: string } {
  return typeof met === "string" ? { stop_sequence: met } : {};
}

/** The answer's tier as OpenAI names it. */
export function serviceTierOf(usage: unknown): { extra?: { service_tier: string } } {
  const tier = (usage as { service_tier?: unknown } | null | undefined)?.service_tier;
  if (typeof tier !== "string") return {};
  return { extra: { service_tier: tier === "standard" ? "default" : tier } };
}
