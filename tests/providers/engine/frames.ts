/** JSON texts of events → server-sent events, in any dress that a provider might give them. */
import type { StreamPlay } from "./behaviour.ts";

/** Parts that a dialect puts around the data of an event. */
export interface Framing {
  readonly eol?: "\r\n";
  /** The `event:` name of an event. */
  eventName?(json: string): string;
  /** Body of the error that stands in a stream. */
  readonly streamError: string;
}

const BOM = "\uFEFF";

/** The frames of a whole stream in sending order. */
export function encodeFrames(play: StreamPlay, events: readonly string[], framing: Framing): string[] {
  const { errorFrame } = play;
  const eol = play.eol ?? framing.eol ?? "\n";
  const texts = errorFrame === undefined ? events : [...events.slice(0, errorFrame), framing.streamError];
  const frames = texts.flatMap((text, index) => {
    const padded = index === 1 && play.longLineBytes !== undefined ? padTo(text, play.longLineBytes) : text;
    const frame = encodeFrame(play, padded, eol, play.eventName ?? framing.eventName?.(text));
    const malformed = index === play.malformedFrame ? [`data: {"broken":[{${eol}${eol}`] : [];
    return [...malformed, ...(index === play.repeatFrame ? [frame, frame] : [frame])];
  });
  if (play.bom) frames[0] = BOM + (frames[0] ?? "");
  const last = frames.at(-1);
  if (play.omitLastNewline && last !== undefined) frames[frames.length - 1] = last.trimEnd();
  return frames;
}

function encodeFrame(play: StreamPlay, json: string, eol: string, name: string | undefined): string {
  // A line break between members is legal JSON, so the object may be spread over lines.
  const lines = play.multiLine ? json.split(/(?<=,)(?=")/u) : [json];
  return [
    ...(play.comments ? [`: keep-alive${eol}${eol}`] : []),
    ...(play.foreignEvents
      ? [`event: novelty${eol}id: 7${eol}retry: 3000${eol}data: {"type":"novelty"}${eol}${eol}`]
      : []),
    ...(name === undefined ? [] : [`event: ${name}${eol}`]),
    ...lines.map((line) => `data: ${line}${eol}`),
    eol,
  ].join("");
}

function padTo(json: string, bytes: number): string {
  return `${json.slice(0, -1)},"obfuscation":"${"x".repeat(Math.max(0, bytes - json.length - 18))}"}`;
}
