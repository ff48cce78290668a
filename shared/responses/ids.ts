/** Ids of responses and of their items, which name the call that made them, and of conversations. */

export function responseId(callId: string): string {
  return `resp_${callId.replaceAll("-", "")}`;
}

/** The call of a response; undefined for what is no such id. */
export function callOfResponse(id: string): string | undefined {
  return uuidIn(/^resp_([0-9a-f]{32})$/.exec(id));
}

/** The call of an item, be it of its input or of its output; undefined for what is no such id. */
export function callOfItem(id: string): string | undefined {
  return uuidIn(/^[a-z]{2,5}_([0-9a-f]{32})_i?\d{1,6}$/.exec(id));
}

export function conversationId(id: string): string {
  return `conv_${id.replaceAll("-", "")}`;
}

/** Undefined for what is no such id. */
export function uuidOfConversation(id: string): string | undefined {
  return uuidIn(/^conv_([0-9a-f]{32})$/.exec(id));
}

function uuidIn(match: RegExpExecArray | null): string | undefined {
  return match?.[1]?.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
