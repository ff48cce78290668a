/** Sampling parameters: which values of temperature, top_p and top_k the model takes. */
import type { Members } from "../json.ts";
import type { ChatCall } from "../provider.ts";
import type { Reasoning } from "./reasoning.ts";
import { unsupported } from "./rejected.ts";

/** Least `top_p` beside thinking. */
const THINKING_TOP_P_MIN = 0.95;

/** @throws ProviderError `rejected` for a value that the model refuses; one that changes nothing is left out instead */
export function convertSampling(
  { request, traits }: Pick<ChatCall, "request" | "traits">,
  { thinking }: Reasoning,
): Members {
  const temperature = request.temperature ?? undefined;
  const topP = request.top_p ?? undefined;
  const topK = request["top_k"] ?? undefined;
  if (temperature !== undefined && temperature > 1) {
    throw unsupported("temperature", `Expected a temperature from 0 to 1 for this model, got ${temperature}.`);
  }
  if (topK !== undefined && !(typeof topK === "number" && Number.isInteger(topK) && topK > 0)) {
    throw unsupported("top_k", "Expected a whole number above 0.");
  }
  if (traits.has("no_sampling")) {
    const isSet = { temperature: (temperature ?? 1) !== 1, top_p: (topP ?? 1) !== 1, top_k: topK !== undefined };
    refuse(isSet, "This model chooses its tokens by itself; leave this out.");
    return {};
  }
  if (thinking !== undefined && thinking["type"] !== "disabled") {
    const isSet = {
      temperature: (temperature ?? 1) !== 1,
      top_p: (topP ?? 1) < THINKING_TOP_P_MIN,
      top_k: topK !== undefined,
    };
    refuse(isSet, "This model takes no such value while it reasons; leave this or reasoning_effort out.");
  }
  const members: Members = {};
  if (temperature !== undefined) members["temperature"] = temperature;
  if (topP !== undefined) members["top_p"] = topP;
  if (topK !== undefined) members["top_k"] = topK;
  // Of the pair, the one that says something stays; of two that do, the temperature.
  if (traits.has("temperature_or_top_p") && temperature !== undefined && topP !== undefined) {
    delete members[temperature === 1 ? "temperature" : "top_p"];
  }
  return members;
}

function refuse(isSet: Readonly<Record<string, boolean>>, say: string): void {
  for (const [param, is] of Object.entries(isSet)) if (is) throw unsupported(param, say);
}
