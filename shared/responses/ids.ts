/** Ids of responses, items and conversations. Ids of responses and items contain the id of their call. */

export function responseId(callId: string): string {
  return `resp_${callId.replaceAll("-", "")}`;
}

/** Returns the call id in a response id; undefined for an invalid id. */
export function callOfResponse(id: string): string | undefined {
  return uuidIn(/^resp_([0-9a-f]{32})$/.exec(id));
}

/** Returns the call id in the id of an input or output item; undefined for an invalid id. */
export function callOfItem(id: string): string | undefined {
  return uuidIn(/^[a-z]{2,5}_([0-9a-f]{32})_i?\d{1,6}$/.exec(id));
}

export function conversationId(id: string): string {
  return `conv_${id.replaceAll("-", "")}`;
}

/** Returns the UUID in a conversation id; undefined for an invalid id. */
export function uuidOfConversation(id: string): string | undefined {
  return uuidIn(/^conv_([0-9a-f]{32})$/.exec(id));
}

function uuidIn(match: RegExpExecArray | null): string | undefined {
  return match?.[1]?.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
