/**
 * Parses server-sent events from bytes, by WHATWG HTML section 9.2.6. Supports LF, CRLF and CR, comments, several data lines in one event,
 * a byte-order mark, and a missing last newline. The events do not depend on how the bytes are split.
 */

import { ProviderError } from "./provider.ts";

/** Maximum length of a line in a provider's event stream, in characters. */
export const SSE_LINE_BYTES_MAX = 4 * 1_048_576;

export interface SseEvent {
  /** Name of the event; empty if the stream set none. */
  readonly event: string;
  readonly data: string;
}

/**
 * Parser of one event stream.
 * @throws ProviderError `failed` when one line, or the data of one event, exceeds SSE_LINE_BYTES_MAX characters
 */
export class SseParser {
  private readonly decoder = new TextDecoder();
  /** Received beginning of a line that is still incomplete. */
  private partialLine = "";
  /** True if the last character was a CR. A following LF then belongs to the same line break. */
  private isAfterReturn = false;
  private data: string[] = [];
  private dataLength = 0;
  private event = "";

  push(bytes: Uint8Array): SseEvent[] {
    return this.read(this.decoder.decode(bytes, { stream: true }));
  }

  /** Ends the stream and returns the remaining events. A last event without a blank line counts, because some providers omit that line. */
  end(): SseEvent[] {
    const events = this.read(this.decoder.decode());
    if (this.partialLine !== "") this.line(this.partialLine);
    this.partialLine = "";
    const last = this.dispatch();
    return last ? [...events, last] : events;
  }

  /** Returns the events that end in this text. Each character is read only once, however the text is split. */
  private read(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    if (text === "") return events;
    let start = this.isAfterReturn && text.startsWith("\n") ? 1 : 0;
    this.isAfterReturn = text.endsWith("\r");
    let feed = text.indexOf("\n", start);
    let carriage = text.indexOf("\r", start);
    while (feed >= 0 || carriage >= 0) {
      const isReturn = carriage >= 0 && (feed < 0 || carriage < feed);
      const end = isReturn ? carriage : feed;
      const line = this.partialLine + text.slice(start, end);
      this.partialLine = "";
      if (line !== "") this.line(line);
      else {
        const event = this.dispatch();
        if (event) events.push(event);
      }
      start = isReturn && feed === end + 1 ? end + 2 : end + 1;
      if (feed >= 0 && feed < start) feed = text.indexOf("\n", start);
      if (carriage >= 0 && carriage < start) carriage = text.indexOf("\r", start);
    }
    this.partialLine += text.slice(start);
    checkLength(this.partialLine.length);
    return events;
  }

  private line(line: string): void {
    checkLength(line.length);
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "event") this.event = value;
    if (field !== "data") return;
    this.dataLength += value.length + 1;
    checkLength(this.dataLength);
    this.data.push(value);
  }

  private dispatch(): SseEvent | undefined {
    const event = this.data.length > 0 ? { event: this.event, data: this.data.join("\n") } : undefined;
    if (event) this.data = [];
    this.dataLength = 0;
    this.event = "";
    return event;
  }
}

function checkLength(characters: number): void {
  if (characters > SSE_LINE_BYTES_MAX) throw new ProviderError("failed", "event line is over the limit");
}
