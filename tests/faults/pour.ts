/** An upstream that writes as fast as it is read and never ends. */
import type { Behaviour } from "../providers/engine/behaviour.ts";

const CONTENT_BYTES = 8_192;

export function pour(): Behaviour {
  const event = `data: ${JSON.stringify({
    id: "chatcmpl-pour",
    object: "chat.completion.chunk",
    created: 1_770_000_000,
    model: "upstream",
    choices: [{ index: 0, delta: { content: "water ".repeat(CONTENT_BYTES / 6) }, finish_reason: null }],
  })}\n\n`;
  const chunk = `${event.length.toString(16)}\r\n${event}\r\n`;
  return {
    kind: "custom",
    async play(_request, wire) {
      await wire.write(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n",
      );
      while (await wire.write(chunk)) await wire.wait(1);
    },
  };
}
