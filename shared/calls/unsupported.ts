/** Rejects response formats that HTTP calls support but jobs of batch messages and of workflow steps do not support. */
import { ApiError } from "#shared/base/errors.ts";

/** Members and values that jobs do not support. The response of a job is complete JSON, and its results are files. */
const UNSUPPORTED: readonly (readonly [member: string, values: readonly unknown[], expected: string])[] = [
  ["stream", [true], "stream to be false, since a job returns its whole response at once"],
  ["stream_format", ["sse"], "no stream_format sse, since a job returns its whole response at once"],
  ["response_format", ["b64_json"], "response_format url, since a job stores its results as files"],
  ["response_format", ["text", "srt", "vtt"], "response_format json or verbose_json, since a job returns JSON"],
];

/** Rejects a response format that a job does not support. @throws ApiError `unsupported_value` */
export function refuseUnsupported(body: Readonly<Record<string, unknown>>): void {
  const [member, , expected] = UNSUPPORTED.find(([name, values]) => values.includes(body[name])) ?? [];
  if (member === undefined) return;
  throw new ApiError("unsupported_value", `Expected ${expected}.`, { param: member });
}
