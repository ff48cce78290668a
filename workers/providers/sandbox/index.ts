import type { ChatProvider } from "../provider.ts";
import { NO_USAGE } from "#shared/pricing/usage.ts";
export function createSandbox(_o: { now: () => number; delay: (ms: number, signal: AbortSignal) => Promise<void> }): ChatProvider {
  const usage = { ...NO_USAGE, input: 10, output: 2 };
  return {
    async complete() { return { choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }], usage }; },
    async *stream() { yield { choices: [{ index: 0, delta: { role: "assistant", content: "hel" } }] }; yield { choices: [{ index: 0, delta: { content: "lo" } }] }; yield { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }; yield { choices: [], usage }; },
  };
}
