/**
 * Server-sent events from bytes, as WHATWG HTML part 9.2.6 reads them: LF, CRLF and CR, comments, several data lines in
 * one event, a byte-order mark, a missing last newline. The same events come out for every split of the bytes.
 */
import { LIMITS } from "#shared/limits.ts";

import { ProviderError } from "./provider.ts";

export interface SseEvent {
  /** Empty when the stream named none. */
  readonly event: string;
  readonly data: string;
}

/** @throws ProviderError `failed` when one line exceeds LIMITS.sseLineBytesMax */
export class SseParser {
  private readonly decoder = new TextDecoder();
  private buffer = "";
  private data: string[] = [];
  private event = "";

  push(bytes: Uint8Array): SseEvent[] {
    return this.read(this.decoder.decode(bytes, { stream: true }), false);
  }

  /** Ends the stream: a last event without its blank line still counts, since some providers cut it there. */
  end(): SseEvent[] {
    const events = this.read(this.decoder.decode(), true);
    if (this.buffer !== "") this.line(this.buffer);
    this.buffer = "";
    const last = this.dispatch();
    return last ? [...events, last] : events;
  }

  private read(text: string, isEnd: boolean): SseEvent[] {
    const events: SseEvent[] = [];
    const buffer = this.buffer === "" ? text : this.buffer + text;
    let start = 0;
    for (;;) {
      const end = lineEnd(buffer, start);
      if (end < 0) break;
      const isReturn = buffer.charCodeAt(end) === 13;
      // A CR at the very end may be half of a CRLF: wait for the next bytes.
      if (isReturn && end === buffer.length - 1 && !isEnd) break;
      if (end === start) {
        const event = this.dispatch();
        if (event) events.push(event);
      } else this.line(buffer.slice(start, end));
      start = isReturn && buffer.charCodeAt(end + 1) === 10 ? end + 2 : end + 1;
    }
    this.buffer = start === 0 ? buffer : buffer.slice(start);
    if (this.buffer.length > LIMITS.sseLineBytesMax) throw new ProviderError("failed", "event line is over the limit");
    return events;
  }

  private line(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.data.push(value);
    else if (field === "event") this.event = value;
  }

  private dispatch(): SseEvent | undefined {
    const event = this.data.length > 0 ? { event: this.event, data: this.data.join("\n") } : undefined;
    if (this.data.length > 0) this.data = [];
    this.event = "";
    return event;
  }
}

function lineEnd(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  const carriage = text.indexOf("\r", from);
  if (carriage < 0) return feed;
  return feed < 0 || carriage < feed ? carriage : feed;
}
