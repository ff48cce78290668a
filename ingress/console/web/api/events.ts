/** Reads server-sent events of a response. */
import { noteChange } from "./client.ts";

/** Returns the data of each event. `[DONE]` ends the events. The response's connection is closed when the reader stops. */
export async function* readEvents(response: Response): AsyncGenerator<string> {
  try {
    yield* eventsOf(response);
  } finally {
    noteChange();
  }
}

async function* eventsOf(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
    const blocks = (rest + text).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n");
      if (data === "[DONE]") return;
      if (data !== "") yield data;
    }
  }
}
