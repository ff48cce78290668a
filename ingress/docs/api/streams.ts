/** Example event streams of operations, taken from recorded responses. */
import streams from "../../openapi/examples/streams.json" with { type: "json" };

export interface StreamEvent {
  /** Name in the `event:` line. */
  readonly event?: string;
  readonly id?: string;
  /** JSON of the event, or `[DONE]`. */
  readonly data: unknown;
}

/** Events by operationId. Some events of long streams are left out. */
export const STREAMS: Readonly<Record<string, readonly StreamEvent[]>> = streams;

/** Returns the text of an operation's event stream; undefined for an operation without one. */
export function streamText(operationId: string): string | undefined {
  if (!Object.hasOwn(STREAMS, operationId)) return undefined;
  return STREAMS[operationId]?.map(textOf).join("\n\n");
}

function textOf({ event, id, data }: StreamEvent): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    `data: ${typeof data === "string" ? data : JSON.stringify(data)}`,
  ];
  return lines.join("\n");
}
