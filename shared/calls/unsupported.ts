/** Response formats of HTTP calls that jobs of batch messages and of steps do not support. */
import { ApiError } from "#shared/errors.ts";

/** The response of a job is complete JSON, and its results are files. */
const UNSUPPORTED: readonly (readonly [member: string, values: readonly unknown[], expected: string])[] = [
  ["stream", [true], "no stream, since a job is answered as a whole"],
  ["stream_format", ["sse"], "no stream_format sse, since a job is answered as a whole"],
  ["response_format", ["b64_json"], "no response_format b64_json, since what a job makes is a file"],
  ["response_format", ["text", "srt", "vtt"], "response_format json or verbose_json, since a job is answered in JSON"],
];

/** @throws ApiError `unsupported_value` for a response format that a job does not support */
export function refuseUnsupported(body: Readonly<Record<string, unknown>>): void {
  const [member, , expected] = UNSUPPORTED.find(([name, values]) => values.includes(body[name])) ?? [];
  if (member === undefined) return;
  throw new ApiError("unsupported_value", `Expected ${expected}.`, { param: member });
}
