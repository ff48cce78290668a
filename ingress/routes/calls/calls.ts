/** Routes of all kinds of calls. They are generated from the kinds that `shared/calls/kinds` describes. */
import type { SpeechRequest } from "#schemas/generated/types.ts";
import type { CallLabels } from "#shared/calls/labels.ts";
import type { Kind, KindRoute, MediaKind } from "#shared/calls/kinds/kind.ts";
import { isMediaKind, isPricedKind, KINDS } from "#shared/calls/kinds/kinds.ts";
import { labelled, readMedia, type ReadMedia } from "#shared/calls/read.ts";

import { prepareTranscription } from "./receive-recording.ts";
import { type ReadBody, readBody } from "../../core/body.ts";
import { MAX_CREDITS_REQUEST, outerMaxOf } from "../../core/max-credits.ts";
import { preparePaidCall, runPaidCall } from "./paid-call.ts";
import type { IngressContext } from "../../context.ts";
import { isForm } from "../files/form-body.ts";
import { inFormTerms, readMediaForm } from "../media/media-form.ts";
import { answerJob, requireJobById } from "../media/jobs.ts";
import { admitMediaJob, waitForJob } from "../media/media-job.ts";
import { respondWithMedia } from "../media/present.ts";
import { answerSpeech } from "../media/speech-response.ts";
import { streamMediaJob } from "../media/state-stream.ts";
import { CACHE_REQUEST, PREFER_REQUEST, prefersJob, SERVED_HEADERS } from "../../core/response-headers.ts";
import { answerChatWithTools, asksTools } from "../../tools/chat.ts";
import { readLabels, TAGS_REQUEST } from "../../core/labels.ts";
import { type Act, errorsOf, MEDIA_CALL } from "../../core/route-errors.ts";
import { drawOf, type RouteCall } from "../../core/call.ts";
import type { KeyRoute, RouteResponse } from "../../core/route.ts";
import { BOOLEAN_QUERY, booleanIn } from "../../core/page.ts";

export function calls(context: IngressContext): readonly KeyRoute[] {
  return Object.values(KINDS).map((kind) => routeOf(context, kind));
}

function routeOf(context: IngressContext, kind: Kind): KeyRoute {
  const { operationId, summary, description, tag, request, statesBy, does = [], codes = [], ...route } = kind.route;
  return {
    method: "POST",
    path: kind.endpoint,
    operationId,
    summary,
    description,
    tags: [tag],
    auth: "key",
    countsItself: true,
    ...(statesBy === "query" ? { query: [STATES_QUERY] } : {}),
    request,
    requestHeaders: [
      MAX_CREDITS_REQUEST,
      ...(route.answer.headers?.includes("x-cache") === true ? [CACHE_REQUEST] : []),
      ...(route.answers === "results" ? [PREFER_REQUEST] : []),
      TAGS_REQUEST,
    ],
    responses: {
      200: responseOf(route),
      ...(route.answers === "results" ? { 202: { description: "The started job", schema: "Job" } as const } : {}),
    },
    errors: errorsOf([...ACTS[route.answers], ...does], ...codes),
    handle: (call) => answer(context, call, kind),
  };
}

const STATES_QUERY = {
  name: "stream",
  description: "True to receive an event stream of states.",
  schema: { ...BOOLEAN_QUERY, default: false },
} as const;

const ACTS: Readonly<Record<KindRoute["answers"], readonly Act[]>> = {
  live: ["reads_json", "resolves_model", "holds", "asks_provider"],
  results: MEDIA_CALL,
  audio: MEDIA_CALL,
  job: ["reads_json", "resolves_model", "holds", "keeps_files"],
};

function responseOf({
  answers,
  answer: { headers = [], ...body },
}: Pick<KindRoute, "answer" | "answers">): RouteResponse {
  if (answers === "job") return body;
  return { ...body, headers: [...SERVED_HEADERS, ...headers] };
}

async function answer(context: IngressContext, call: RouteCall, kind: Kind): Promise<Response> {
  if (isMediaKind(kind)) return answerMedia(context, call, kind);
  // The only kind with media input is transcription.
  if (isPricedKind(kind)) return runPaidCall(context, call, await prepareTranscription(context, call));
  const body = await readBody(context, call, kind.route.bounds);
  if (kind === KINDS.chat && asksTools(body.value)) return answerChatWithTools(context, call, body);
  return runPaidCall(context, call, await preparePaidCall(context, call, kind, body));
}

/** Members that requests of several kinds have in common. */
interface MediaMembers {
  readonly response_format?: string;
  readonly stream?: boolean;
}

async function answerMedia(context: IngressContext, call: RouteCall, kind: MediaKind<MediaMembers>): Promise<Response> {
  const { answers, answersInline, statesBy } = kind.route;
  const inQuery = statesBy === "query" && booleanIn(call, STATES_QUERY.name) === true;
  const { caller } = call;
  const { form } = kind.route.request;
  let labels: CallLabels | undefined;
  const read = async (body: Pick<ReadBody, "value" | "pause">): Promise<ReadMedia<MediaMembers>> => {
    labels = readLabels(call, body.value);
    return readMedia(context, caller, kind, body.value, drawOf(call), { pause: body.pause, max: outerMaxOf(call) });
  };
  const media =
    form && isForm(call.request)
      ? await inFormTerms(form, await readMediaForm(context, call.request, form), read)
      : await read(await readBody(context, call));
  const { request, call: job } = media;
  const isStreamed = inQuery || (statesBy === "member" && request.stream === true);
  const isInline = answersInline === true && request.response_format === "b64_json";
  const isNew = await admitMediaJob(context, call, labelled(job, labels), { isStreamed });
  // Nothing is awaited between the admission and the wait: a report of the job's end would be missed.
  if (answers === "audio") return answerSpeech(context, call, (media as ReadMedia<SpeechRequest>).request, isNew);
  if (isStreamed) return streamMediaJob(context, call, job.model.slug, isInline);
  const isAsync = answers === "results" && prefersJob(call.request);
  if (answers === "results" && !isAsync) {
    return respondWithMedia(context, call, await waitForJob(context, call, { isNew }), isInline);
  }
  const started = await answerJob(context, call, await requireJobById(context, caller.workspaceId, call.requestId));
  return isAsync ? new Response(started.body, { status: 202, headers: started.headers }) : started;
}
