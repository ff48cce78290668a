/**
 * Videos of the Gemini API with a key, in two shapes. A source is asked over the Interactions API; one with
 * `api: predictLongRunning` among its overrides by Veo's old operations. The override itself is not sent.
 */
import type { Endpoint } from "../http.ts";
import type { Artifact, MediaCall, ProviderJob, QueuedAdapter, VideoInput } from "../media.ts";
import { ProviderError } from "../provider.ts";

import { createInteractions } from "./video-interactions.ts";
import { createVeoOperations } from "./video-operations.ts";

type VideoAdapter = QueuedAdapter<VideoInput, readonly Artifact[]>;

export function createGeminiVideo(endpoint: Endpoint): VideoAdapter {
  const adapters: Readonly<Record<string, VideoAdapter>> = {
    interactions: createInteractions(endpoint),
    predictLongRunning: createVeoOperations(endpoint),
  };
  const adapterOf = (api: unknown): VideoAdapter | undefined =>
    typeof api === "string" && Object.hasOwn(adapters, api) ? adapters[api] : undefined;
  return {
    async start(call) {
      const api = apiOf(call);
      const adapter = adapterOf(api);
      if (!adapter) throw new ProviderError("misconfigured", `the source's api is ${String(api)}`);
      const noteStart: typeof call.noteStart = (mark) => call.noteStart(mark && { api, ...mark });
      return { api, ...(await adapter.start({ ...call, noteStart })) };
    },

    async find(lost, signal) {
      const { api } = lost.mark;
      const found = await adapterOf(api)?.find?.(lost, signal);
      if (!found) return { state: "unknown", detail: "the stored mark is none of this family's" };
      return found.state === "found" ? { state: "found", job: { api, ...found.job } } : found;
    },

    async poll(job, signal) {
      const adapter = adapterOf(job["api"]);
      if (!adapter) return { state: "unknown", detail: "the stored job is none of this family's" };
      try {
        return await adapter.poll(job, signal);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        return { state: "unknown", detail: `the poll failed: ${error.kind}, ${error.detail}` };
      }
    },

    async cancel(job: ProviderJob, signal) {
      await adapterOf(job["api"])?.cancel?.(job, signal);
    },
  };
}

function apiOf({ adapt }: MediaCall<VideoInput>): unknown {
  const own: Record<string, unknown> = {};
  adapt(own);
  return own["api"] ?? "interactions";
}
