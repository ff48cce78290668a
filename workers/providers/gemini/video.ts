/**
 * Videos of the Gemini API with a key, in two formats: the Interactions API, or Veo's older operations for sources with `api:
 * predictLongRunning` among their overrides. The override itself is not sent.
 */
import { type Endpoint, post } from "../http.ts";
import { textIn, isMembers, type Members, membersOf, parseObject } from "../json.ts";
import type { Artifact, MediaCall, ProviderJob, QueuedAdapter, VideoInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { postStart } from "../start.ts";

import { classifyOperation, classifyVideo } from "./video-errors.ts";
import { createInteractions } from "./video-interactions.ts";
import { videoAt } from "./video-media.ts";
import { readOperation, veoBody, type VeoVideos } from "./video-veo.ts";

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

// Veo in the Gemini API with a key, which ended on 22 October 2026, for servers that still offer it. Operations cannot be cancelled.
// Source: ai.google.dev/gemini-api/docs/video.

/** `models/veo-…/operations/…`: inserted into a path, so no segment may consist of dots only. */
const NAME = /^(?:[A-Za-z0-9_-][\w.-]{0,127}\/){0,8}operations\/[A-Za-z0-9_-][\w.-]{0,255}$/;

function createVeoOperations(endpoint: Endpoint): QueuedAdapter<VideoInput, readonly Artifact[]> {
  return {
    async start(call) {
      const { instances, parameters } = veoBody(call);
      delete parameters["api"];
      const path = `/models/${encodeURIComponent(call.sourceModel)}:predictLongRunning`;
      const body = JSON.stringify({ instances, parameters });
      return postStart(endpoint, { path, body }, call, null, ({ status, headers, text }) => {
        if (status < 200 || status > 299) throw classifyVideo(status, headers, text);
        const answer = parseObject(text);
        const operation = nameOf({ operation: answer?.["name"] });
        if (operation !== undefined) return { operation };
        if (isMembers(answer?.["error"])) throw classifyOperation(answer["error"]);
        throw new ProviderError("unknown", "the job was taken without a name that can be asked for");
      });
    },

    async poll(job, signal) {
      const operation = nameOf(job);
      if (operation === undefined) return { state: "unknown", detail: "the stored job is none of this family's" };
      const { status, text } = await post(endpoint, { method: "GET", path: `/${operation}` }, signal);
      if (status < 200 || status > 299) return { state: "unknown", detail: `the poll was answered with ${status}` };
      return readOperation(parseObject(text), operation, (response) => videosOf(endpoint, response));
    },
  };
}

function nameOf({ operation }: ProviderJob): string | undefined {
  return typeof operation === "string" && NAME.test(operation) ? operation : undefined;
}

/** Returns the videos of a response. Google's JSON omits empty lists. */
function videosOf(endpoint: Endpoint, response: Members): VeoVideos | undefined {
  const from = response["generateVideoResponse"];
  if (!isMembers(from)) return undefined;
  const videos = membersOf(from["generatedSamples"]).map(({ video }) =>
    videoAt(endpoint, isMembers(video) ? textIn(video["uri"]) : undefined),
  );
  return { videos, from };
}
