/** Bytes of a file as the body of an answer, read no faster than the client takes them. */
import { LIMITS } from "#shared/limits.ts";

/** The server underneath prints the reason of every failed body to stderr, with an excerpt of our source. */
const NO_REASON = undefined;

/**
 * Small pieces, so that a stuck reader shows itself. Whatever goes wrong cuts the connection: a body that ended well would
 * pass for the whole file. A reader that takes nothing for LIMITS.readerStuckMs is cut too.
 * @param onLeft told at once when the reader has left or was cut, whatever `rest` is waiting for
 */
export function streamOf(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, void>,
  onFault: (error: unknown) => void,
  onLeft: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  let waiting = first;
  let stuck: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    clearTimeout(stuck);
    onLeft();
    rest.return().catch(() => undefined);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stuck);
        try {
          if (waiting.length === 0) {
            const next = await rest.next();
            if (next.done === true) {
              controller.close();
              return;
            }
            waiting = next.value;
          }
        } catch (error) {
          onFault(error);
          await Bun.sleep(LIMITS.cutDelayMs);
          controller.error(NO_REASON);
          return;
        }
        controller.enqueue(waiting.subarray(0, LIMITS.filePieceBytes));
        waiting = waiting.subarray(LIMITS.filePieceBytes);
        stuck = setTimeout(() => {
          controller.error(NO_REASON);
          end();
        }, LIMITS.readerStuckMs);
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
