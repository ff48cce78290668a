import { ApiError } from "#shared/errors.ts";

/** Paths of other services' APIs that clients ask for, and what serves here. The README names them too. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "/v1/completions":
    "Text models take conversations here: send the prompt as one message to POST /v1/chat/completions.",
  "/v1/complete": "Text models take conversations here: send the prompt as one message to POST /v1/messages.",
  "/v1/moderations": "No moderation model is offered: ask a text model for its verdict by POST /v1/chat/completions.",
  "/v1/uploads": "Uploads in parts are not offered: POST /v1/files takes a file of any allowed size in one request.",
  "/v1/assistants": "Assistants are not offered: POST /v1/responses keeps conversations.",
  "/v1/threads": "Threads are not offered: POST /v1/responses keeps conversations.",
  "/v1/audio/translations": "Translations are not offered: use POST /v1/audio/transcriptions, and then a text model.",
  "/v1/images/variations": "Variations are not offered: use POST /v1/images/edits.",
  "/v1/messages/batches":
    "Batches of messages are not offered: POST /v1/batches runs a file of calls of /v1/chat/completions, for the same models.",
};

/** Returns the error for a path that does not exist, or not for this caller. @param asked URL or path as the caller wrote it */
export function unknownPath(asked = ""): ApiError {
  const [path = ""] = asked.replace(/^https?:\/\/[^/]*/, "").split("?");
  const [, known = ""] = /^((?:\/[^/]+){2,3})/.exec(path) ?? [];
  const sentence = sentenceOf(known) ?? sentenceOf(known.slice(0, known.lastIndexOf("/")));
  return new ApiError("not_found", sentence ?? "There is no such path; GET /openapi.json lists those there are.");
}

function sentenceOf(path: string): string | undefined {
  return Object.hasOwn(ELSEWHERE, path) ? ELSEWHERE[path] : undefined;
}
