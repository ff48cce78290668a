/** JSON texts of chunks → the bytes of server-sent events, in any dialect a provider might speak. */
import type { StreamPlay } from "./behaviour.ts";
import { errorBody } from "./errors.ts";

const BOM = "\uFEFF";

/** The frames of a whole stream in sending order, `[DONE]` included unless it is left out. */
export function encodeFrames(play: StreamPlay, chunks: readonly string[]): string[] {
  const eol = play.eol ?? "\n";
  const texts =
    play.errorFrame === undefined ? [...chunks] : [...chunks.slice(0, play.errorFrame), errorBody("server-error")];
  const frames = texts.flatMap((text, index) => {
    const padded = index === 1 && play.longLineBytes !== undefined ? padTo(text, play.longLineBytes) : text;
    const frame = encodeFrame(play, padded);
    const malformed = index === play.malformedFrame ? [`data: {"id":"chatcmpl-broken","choices":[{${eol}${eol}`] : [];
    return [...malformed, ...(index === play.repeatFrame ? [frame, frame] : [frame])];
  });
  if (play.errorFrame === undefined && play.omitDone !== true) frames.push(`data: [DONE]${eol}${eol}`);
  if (play.bom) frames[0] = BOM + (frames[0] ?? "");
  const last = frames.at(-1);
  if (play.omitLastNewline && last !== undefined) frames[frames.length - 1] = last.trimEnd();
  return frames;
}

/** One event with everything the dialect puts around it. */
export function encodeFrame(play: StreamPlay, json: string): string {
  const eol = play.eol ?? "\n";
  // A line break between members is legal JSON, so the object may be spread over lines.
  const lines = play.multiLine ? json.split(/(?<=,)(?=")/u) : [json];
  return [
    ...(play.comments ? [`: keep-alive${eol}${eol}`] : []),
    ...(play.foreignEvents ? [`event: ping${eol}id: 7${eol}retry: 3000${eol}data: {"type":"ping"}${eol}${eol}`] : []),
    ...(play.eventName === undefined ? [] : [`event: ${play.eventName}${eol}`]),
    ...lines.map((line) => `data: ${line}${eol}`),
    eol,
  ].join("");
}

function padTo(json: string, bytes: number): string {
  return `${json.slice(0, -1)},"obfuscation":"${"x".repeat(Math.max(0, bytes - json.length - 18))}"}`;
}
