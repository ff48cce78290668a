/** A local upstream that speaks OpenAI's video API: create by multipart, status, content. Source: openai/openai-openapi, VideoResource. */
import { type Members, ok, type Reply, type ReplyBehaviour } from "../engine/behaviour.ts";
import {
  faultIn,
  isText,
  type Check,
  type JobServer,
  jobBook,
  oneOf,
  type Script as JobScript,
  startJobServer,
} from "../engine/jobs.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import type { FormFile } from "../multipart.ts";
import { mp4Of, videoReply } from "../video-calls.ts";
import { ERRORS, openAiError } from "./errors.ts";

type Word = "queued" | "in_progress" | "completed" | "failed";

export type Script = JobScript<Word>;

const isImage: Check = (value) => {
  const { bytes, contentType = "" } = (value ?? {}) as Partial<FormFile>;
  return Buffer.isBuffer(bytes) && /^image\/(png|jpeg|webp)$/.test(contentType);
};

/** Fields that the description of the API names, and those that servers like it add. */
const FIELDS: Readonly<Record<string, Check>> = {
  model: isText,
  prompt: isText,
  seconds: oneOf("4", "8", "12"),
  size: (value) => /^\d{3,4}x\d{3,4}$/.test(String(value)),
  input_reference: isImage,
  seed: isText,
  negative_prompt: isText,
  extra: isText,
};
const PROGRESS: Readonly<Record<Word, number>> = { queued: 0, in_progress: 45, completed: 100, failed: 60 };

export function startVideosServer({ apiKey }: { readonly apiKey: string }): JobServer<Members, Word, Script> {
  const book = jobBook<Members, Word>({
    plain: ["queued", "in_progress", "completed"],
    newId: () => `video_${crypto.randomUUID().replaceAll("-", "")}`,
  });
  const answer = ({ method, path, headers, body }: RecordedCall): Reply => {
    if (headers["authorization"] !== `Bearer ${apiKey}`) return ERRORS.unauthorized;
    if (path === "/v1/videos" && method === "POST") {
      return book.start(
        () => check(headers["content-type"], (body ?? {}) as Members),
        ({ id, facts, script }) => ok({ ...resourceOf(id, facts, "queued"), ...script.receipt }),
      );
    }
    const [, id = "", content] = /^\/v1\/videos\/([^/?]+)(\/content)?$/.exec(path) ?? [];
    const job = book.jobs.get(decodeURIComponent(id));
    if (!job || method !== "GET") return openAiError(404, "Not found");
    if (content === undefined) {
      return book.poll(job, (word, more) => ok({ ...resourceOf(id, job.facts, word), ...more }));
    }
    return job.script.file ?? videoReply(mp4Of(Number(job.facts["seconds"] ?? 4)));
  };
  return startJobServer(book, { base: "/v1", answer });
}

function check(contentType: string | undefined, form: Members): ReplyBehaviour | { readonly facts: Members } {
  if (!contentType?.startsWith("multipart/form-data")) return openAiError(400, "unsupported content type");
  const fault = faultIn(form, FIELDS, ["model", "prompt"]);
  return fault ? openAiError(400, `Invalid value: '${fault.name}'.`, { param: fault.name }) : { facts: form };
}

function resourceOf(id: string, form: Members, status: Word): Members {
  const { model, prompt, seconds = "4", size = "720x1280" } = form;
  const isDone = status === "completed";
  return {
    id,
    object: "video",
    model,
    prompt,
    status,
    progress: PROGRESS[status],
    created_at: 1_770_935_200,
    completed_at: isDone ? 1_770_935_260 : null,
    expires_at: isDone ? 1_770_938_800 : null,
    seconds,
    size,
    remixed_from_video_id: null,
    error: null,
  };
}
