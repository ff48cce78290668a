/**
 * Video adapter for Veo on Google Cloud. An operation is polled by its full name and contains the video in its response. Cancellation is
 * not supported. Source: docs.cloud.google.com, "Veo video generation API".
 */
import type { FairLimit, Lease } from "#shared/limits/fair-limit.ts";

import { openByteBudget } from "../byte-budget.ts";
import { tryAddress } from "../connect-limit.ts";
import { type Endpoint, fetchBytes, type ReserveBytes, type ProviderAnswer, type ProviderRequest } from "../http.ts";
import { classifyOperation, classifyVideo } from "../gemini/video-errors.ts";
import { VIDEO_TYPE } from "../video-media.ts";
import { readOperation, veoBody, type VeoVideos } from "../gemini/video-veo.ts";
import { textIn, isMembers, type Members, membersOf, parseObject } from "../json.ts";
import type { Artifact, Polled, ProviderJob, QueuedAdapter, VideoInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { started } from "../start.ts";

import type { Tokens } from "./tokens.ts";

/**
 * Maximum size of a poll response, in bytes. Eight seconds of 4K video are about 60 MB as base64, a third of this limit. Reading a response
 * may use three times its size in memory.
 */
const ANSWER_BYTES_MAX = 192 * 1_048_576;

/** Memory budget for all polls of a process: two responses of unknown size, or many ordinary ones. */
const answers = openByteBudget(2 * ANSWER_BYTES_MAX);

const POLL_MS = 120_000;

/**
 * Stored job with the names by which Veo finds it again. The model is escaped and inserted into URL paths; the operation is sent in the
 * body.
 */
interface VeoJob extends ProviderJob {
  readonly model: string;
  readonly operation: string;
}

const NAME = /^[A-Za-z0-9][\w./:@-]{0,499}$/;

type TextAnswer = ProviderAnswer & { readonly text: string };

/**
 * Creates the video adapter.
 * @param endpoint without credentials, because each call uses an access token
 * @param budget memory for large responses while they are read; at least ANSWER_BYTES_MAX
 */
export function createVeo(
  endpoint: Endpoint,
  tokens: Tokens,
  budget: FairLimit = answers,
): QueuedAdapter<VideoInput, readonly Artifact[]> {
  const call = async (
    request: ProviderRequest,
    signal: AbortSignal,
    reserveBytes?: ReserveBytes,
  ): Promise<TextAnswer> => {
    const token = await tokens.take(signal);
    const authorized = { ...endpoint, headers: { ...endpoint.headers, authorization: `Bearer ${token}` } };
    const { bytes, ...answer } = await fetchBytes(authorized, request, signal, ANSWER_BYTES_MAX, reserveBytes);
    if (answer.status === 401) tokens.forget(token);
    return { ...answer, text: new TextDecoder().decode(bytes) };
  };
  /**
   * Sends a request. If its token was revoked, sends it once more with a new token. This is safe, because Google did not accept a request
   * that it rejected as unauthorized.
   */
  const callTwice = async (request: ProviderRequest, signal: AbortSignal): Promise<TextAnswer> => {
    const answer = await call(request, signal);
    return answer.status === 401 ? call(request, signal) : answer;
  };
  return {
    // The last response contains the video.
    pollMs: POLL_MS,

    async start({ sourceModel, ...rest }) {
      const body = veoBody({ sourceModel, ...rest });
      // This service cannot read that bucket, so the video would be paid for and lost.
      if (body.parameters["storageUri"] !== undefined) {
        throw new ProviderError("misconfigured", "the source puts its videos into a bucket: storageUri");
      }
      const request = { path: `${pathOf(sourceModel)}:predictLongRunning`, body: JSON.stringify(body) };
      return started(
        async () => {
          await tryAddress(endpoint.baseUrl, rest.signal);
          await rest.noteStart(null);
          return callTwice(request, rest.signal);
        },
        ({ status, headers, text }) => {
          if (status < 200 || status > 299) throw classifyVideo(status, headers, text);
          return readStarted(sourceModel, text);
        },
      );
    },

    async poll(stored, signal) {
      const job = readJob(stored);
      if (!job) return unknown("the stored job is none of this family's");
      const body = JSON.stringify({ operationName: job.operation });
      let lease: Lease | undefined;
      try {
        const request = { path: `${pathOf(job.model)}:fetchPredictOperation`, body };
        const { status, text } = await call(request, signal, async (_more, most) => {
          lease ??= await budget.take({ amount: most }, signal);
        });
        if (status < 200 || status > 299) return unknown(`the poll was answered with ${status}`);
        return readOperation(parseObject(text), job.operation, videosOf);
      } catch (error) {
        if (error instanceof ProviderError) return unknown(`the poll failed: ${error.kind}, ${error.detail}`);
        throw error;
      } finally {
        lease?.release();
      }
    },
  };
}

function pathOf(model: string): string {
  return `/models/${encodeURIComponent(model)}`;
}

function readJob({ model, operation }: ProviderJob): VeoJob | undefined {
  const isJob = typeof model === "string" && model !== "" && typeof operation === "string" && NAME.test(operation);
  return isJob ? { model, operation } : undefined;
}

function readStarted(model: string, text: string): VeoJob {
  const answer = parseObject(text);
  const job = readJob({ model, operation: answer?.["name"] });
  if (job) return job;
  if (isMembers(answer?.["error"])) throw classifyOperation(answer["error"]);
  throw new ProviderError("unknown", "the job was taken without a name that can be asked for");
}

/**
 * Known members of a Veo response. A response without `videos` and with other members counts as unknown; without other members, it contains
 * no videos.
 */
const KNOWN: ReadonlySet<string> = new Set(["@type", "videos", "raiMediaFilteredCount", "raiMediaFilteredReasons"]);

/**
 * Returns the videos of a response; undefined for an unknown response.
 * @throws ProviderError `misconfigured` for a video in a bucket, which we cannot download because the account's token is sent only to Veo
 */
function videosOf(response: Members): VeoVideos | undefined {
  if (Object.keys(response).some((name) => !KNOWN.has(name)) && response["videos"] === undefined) return undefined;
  const videos = membersOf(response["videos"]).map(({ bytesBase64Encoded: data, gcsUri, mimeType }) => {
    if (textIn(data) === undefined && textIn(gcsUri) !== undefined) {
      throw new ProviderError("misconfigured", "the video was put into a bucket");
    }
    return videoOf(data, mimeType);
  });
  return { videos, from: response };
}

function videoOf(data: unknown, mimeType: unknown): Artifact | undefined {
  const contentType = typeof mimeType === "string" && /^video\/[a-z0-9.+-]+$/.test(mimeType) ? mimeType : VIDEO_TYPE;
  try {
    return typeof data === "string" && data !== "" ? { bytes: Uint8Array.fromBase64(data), contentType } : undefined;
  } catch {
    return undefined;
  }
}

function unknown(detail: string): Polled<readonly Artifact[]> {
  return { state: "unknown", detail };
}
