/** Converts the body of a provider's response to a stream. If the connection breaks, the stream fails with a ProviderError. */
import { connectionError } from "./http.ts";

interface AnswerReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** Returns the body as a stream. @param head bytes that were already read, which come first in the stream */
export function answerStream(reader: AnswerReader, signal: AbortSignal, head?: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      if (head) controller.enqueue(head);
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (value) controller.enqueue(value);
        if (done) controller.close();
      } catch (error) {
        controller.error(connectionError(error, signal));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
