/**
 * Video adapter of the Gemini API with a key. It uses the Interactions API by default, and Veo's older operations for sources with the
 * override `api: predictLongRunning`. The override itself is not sent.
 */
import { type Fields, isMedia, place, setField } from "../fields.ts";
import { type Endpoint, post } from "../http.ts";
import { isMembers, type Members, membersOf, parseObject, textIn } from "../json.ts";
import { videoValues } from "../media-fields.ts";
import type { Artifact, MediaCall, Polled, ProviderJob, QueuedAdapter, VideoInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { postStart } from "../start.ts";
import { bytesOf, checkPlaced, VIDEO_TYPE } from "../video-media.ts";
import { classifyInteraction, classifyOperation, classifyVideo } from "./video-errors.ts";
import { base64Of, ownPath, videoAt } from "./video-media.ts";
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

/**
 * Format of an operation name, `models/veo-…/operations/…`. The name is inserted into a URL path, so no segment may consist of dots only.
 */
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

/** Returns the videos of a response. A missing list is empty, because Google's JSON omits empty lists. */
function videosOf(endpoint: Endpoint, response: Members): VeoVideos | undefined {
  const from = response["generateVideoResponse"];
  if (!isMembers(from)) return undefined;
  const videos = membersOf(from["generatedSamples"]).map(({ video }) =>
    videoAt(endpoint, isMembers(video) ? textIn(video["uri"]) : undefined),
  );
  return { videos, from };
}

// Gemini Omni over the Interactions API: started in the background, polled by id; Google keeps the video for two days. A refusal is a
// completed interaction with text instead of a video. Sources: ai.google.dev/gemini-api/docs/omni, …/gemini-api/docs/interactions.

/**
 * Default fields for inputs. Media become parts of the input under any field name. Negative prompts and person generation are not
 * supported.
 */
const USUAL: Fields = {
  image: "input",
  video: "input",
  duration: "response_format.duration:s",
  resolution: "response_format.resolution",
  aspect_ratio: "response_format.aspect_ratio",
  seed: "generation_config.seed",
};

const ID = /^[A-Za-z0-9_-]{1,512}$/;

function createInteractions(endpoint: Endpoint): QueuedAdapter<VideoInput, readonly Artifact[]> {
  return {
    async start(call) {
      const request = { path: "/interactions", body: JSON.stringify(bodyOf(call)) };
      // Interactions cannot be listed, so only a callback finds an interaction whose response was lost.
      return postStart(endpoint, request, call, canRing(call) ? {} : null, ({ status, headers, text }) => {
        if (status < 200 || status > 299) throw classifyVideo(status, headers, text);
        const answer = parseObject(text);
        const id = idOf(answer ?? {});
        if (id !== undefined) return { id };
        if (isMembers(answer?.["error"])) throw classifyInteraction(answer["error"]);
        throw new ProviderError("unknown", "the job was taken without an id that can be asked for");
      });
    },

    async poll(job, signal) {
      const id = idOf(job);
      if (id === undefined) return unknown("the stored job is none of this family's");
      const { status, text } = await post(endpoint, { method: "GET", path: `/interactions/${id}` }, signal);
      if (status < 200 || status > 299) return unknown(`the poll was answered with ${status}`);
      const interaction = parseObject(text) ?? {};
      const { id: reportedId = id } = interaction;
      if (reportedId !== id) return unknown("the answer is of another interaction");
      return readInteraction(endpoint, interaction, signal);
    },

    find: async ({ callbackJobName }) => {
      const id = idOf({ id: callbackJobName });
      return id === undefined ? unknown("the provider has not rung for it yet") : { state: "found", job: { id } };
    },

    async cancel(job, signal) {
      const id = idOf(job);
      // The response is ignored, because the next poll returns the outcome.
      if (id !== undefined) await post(endpoint, { path: `/interactions/${id}/cancel` }, signal);
    },
  };
}

function idOf({ id }: ProviderJob): string | undefined {
  return typeof id === "string" && ID.test(id) ? id : undefined;
}

function bodyOf(call: MediaCall<VideoInput>): Members {
  const { input, sourceModel } = call;
  const placed = place(videoValues(input), call.fields ?? USUAL);
  checkPlaced(input, placed);
  // Requests the video by address: an inline video is limited to 4 MB, a second of 1080p.
  const body: Members = {
    model: sourceModel,
    background: true,
    response_format: { type: "video", delivery: "uri" },
  };
  const parts: Members[] = [];
  for (const { ours, theirs, value } of placed) {
    if (isMedia(value)) {
      const media = bytesOf(value);
      parts.push({ type: ours, data: base64Of(media), mime_type: media.contentType });
    } else if (ours !== "prompt") {
      // Converts a seed to a signed 32-bit integer.
      setField(body, theirs, ours === "seed" ? Number(value) | 0 : value);
    }
  }
  body["input"] = parts.length === 0 ? input.prompt : [...parts, { type: "text", text: input.prompt }];
  // Without the task, the model may treat the image as a reference only.
  if (input.image && !input.video) setField(body, "generation_config.video_config.task", "image_to_video");
  if (canRing(call)) body["webhook_config"] = { uris: [call.callbackUrl] };
  call.adapt(body);
  delete body["api"];
  return body;
}

/**
 * Returns true if Google can call the callback URL; only HTTPS is supported. Source: ai.google.dev/gemini-api/docs/webhooks, "Dynamic
 * webhooks".
 */
function canRing({ callbackUrl }: Pick<MediaCall<unknown>, "callbackUrl">): boolean {
  return callbackUrl?.startsWith("https://") === true;
}

async function readInteraction(
  endpoint: Endpoint,
  interaction: Members,
  signal: AbortSignal,
): Promise<Polled<readonly Artifact[]>> {
  const { status } = interaction;
  switch (status) {
    case "queued":
    case "in_progress":
      return { state: "pending" };
    case "completed":
    case "incomplete":
      return readVideo(endpoint, interaction, signal);
    case "failed":
      return { state: "failed", error: classifyInteraction(errorOf(interaction)) };
    // The interaction waits forever for input that it cannot receive.
    case "requires_action":
    case "cancelled":
    case "budget_exceeded":
      return { state: "failed", error: new ProviderError("failed", `the interaction ended as ${status}`) };
    default:
      return unknown(`the status is ${JSON.stringify(status)?.slice(0, 100) ?? "absent"}`);
  }
}

async function readVideo(
  endpoint: Endpoint,
  interaction: Members,
  signal: AbortSignal,
): Promise<Polled<readonly Artifact[]>> {
  const said = errorOf(interaction);
  if (said) return { state: "failed", error: classifyInteraction(said) };
  const parts = outputsOf(interaction).flatMap(({ content }) => membersOf(content));
  // Drafts come before the result.
  const video = parts.findLast(({ type }) => type === "video");
  if (video) {
    const state = await fileState(endpoint, video["uri"], signal);
    if (state === "PROCESSING") return { state: "pending" };
    if (state === "FAILED") return { state: "failed", error: new ProviderError("failed", "the video's file failed") };
    const artifact = artifactOf(endpoint, video);
    return artifact ? { state: "done", output: [artifact], usage: {} } : unknown("the video cannot be read");
  }
  // The video was generated and paid for, but is not at the expected place.
  if (hasVideoTokens(interaction)) return unknown("a video was made and is not where it should be");
  const answerText = parts.map(({ text }) => textIn(text) ?? "").join("");
  const error =
    answerText === ""
      ? new ProviderError("failed", `the interaction is ${String(interaction["status"])} without a video`)
      : new ProviderError("refused", `words in place of a video: ${answerText}`);
  return { state: "failed", error };
}

function artifactOf(endpoint: Endpoint, { uri, data }: Members): Artifact | undefined {
  if (uri !== undefined) return videoAt(endpoint, uri);
  try {
    return typeof data === "string" && data !== ""
      ? { bytes: Uint8Array.fromBase64(data), contentType: VIDEO_TYPE }
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the state of a video file, which may be incomplete when its interaction is completed. Undefined if the state is unknown; the
 * download then reports the error. Source: ai.google.dev/gemini-api/docs/omni, "delivery".
 */
async function fileState(endpoint: Endpoint, uri: unknown, signal: AbortSignal): Promise<unknown> {
  if (typeof uri !== "string" || !URL.canParse(uri)) return undefined;
  const there = new URL(uri);
  const file =
    ownPath(endpoint, there) === undefined ? undefined : /^(.*\/files\/[\w-]+):download$/.exec(there.pathname)?.[1];
  if (file === undefined) return undefined;
  const { status, text } = await post({ ...endpoint, baseUrl: there.origin }, { method: "GET", path: file }, signal);
  return status === 200 ? parseObject(text)?.["state"] : undefined;
}

function outputsOf(interaction: Members): Members[] {
  return membersOf(interaction["steps"]).filter(({ type }) => type === "model_output");
}

/** Returns the error of an interaction or of one of its steps. */
function errorOf(interaction: Members): Members | undefined {
  const errors = [
    ...outputsOf(interaction).map(({ error }) => error),
    interaction["error"],
    ...membersOf(interaction["errors"]),
  ];
  return errors.find(isMembers);
}

function hasVideoTokens({ usage }: Members): boolean {
  const counts = membersOf(isMembers(usage) ? usage["output_tokens_by_modality"] : undefined);
  return counts.some(({ modality, tokens }) => modality === "video" && typeof tokens === "number" && tokens > 0);
}

function unknown(detail: string): { readonly state: "unknown"; readonly detail: string } {
  return { state: "unknown", detail };
}
