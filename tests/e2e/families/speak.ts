/** Says a told turn on a connection of any of the local servers. */
import type { CustomBehaviour } from "#tests/providers/engine/behaviour.ts";
import type { RawRequest } from "#tests/providers/raw-request.ts";

import type { Told } from "./turn.ts";

/** Long enough that a reader which stopped at the finish reason has stopped. */
const SILENCE_MS = 30;
/** Bytes of one write: borders fall inside lines, names and characters. */
const PIECE_BYTES = 61;

/** A stream or a whole answer, as the request asks. */
export function speak(told: Told): CustomBehaviour {
  return {
    kind: "custom",
    async play(request, wire) {
      if (!isStream(request)) {
        const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(told.body)}`;
        await wire.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${told.body}`);
        return;
      }
      await wire.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
      const { events, silenceBefore = events.length } = told;
      for (const part of [events.slice(0, silenceBefore), events.slice(silenceBefore)]) {
        const bytes = Buffer.from(part.join(""));
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          const piece = bytes.subarray(at, at + PIECE_BYTES);
          const size = Buffer.from(`${piece.length.toString(16)}\r\n`);
          if (!(await wire.write(Buffer.concat([size, piece, Buffer.from("\r\n")])))) return;
        }
        if (silenceBefore < events.length && !(await wire.wait(SILENCE_MS))) return;
      }
      await wire.write("0\r\n\r\n");
    },
  };
}

function isStream({ target, body }: RawRequest): boolean {
  if (target.includes(":generateContent")) return false;
  return (
    target.includes(":streamGenerateContent") || (JSON.parse(body.toString()) as { stream?: unknown }).stream === true
  );
}
