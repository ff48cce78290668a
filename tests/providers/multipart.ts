/** Reads forms as servers of vendors get them. RFC 7578, what a client of ours writes of it. */

export interface FormFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Field → text or file; a field that comes twice is a list. Undefined: the body is no form. */
export function parseForm(contentType: string | undefined, body: Buffer): Record<string, unknown> | undefined {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)/i.exec(contentType ?? "")?.[1];
  if (boundary === undefined) return undefined;
  const form: Record<string, unknown> = {};
  // Latin-1 keeps every byte, so that positions are those of the body.
  const text = body.toString("latin1");
  for (const part of text.split(`--${boundary}`).slice(1, -1)) {
    const end = part.indexOf("\r\n\r\n");
    const head = Buffer.from(part.slice(0, end), "latin1").toString("utf8");
    const bytes = Buffer.from(part.slice(end + 4, -2), "latin1");
    const name = /\bname="([^"]*)"/i.exec(head)?.[1] ?? "";
    const filename = /\bfilename="([^"]*)"/i.exec(head)?.[1];
    const type = /^content-type:\s*(.+)$/im.exec(head)?.[1]?.trim() ?? "";
    const value = filename === undefined ? bytes.toString("utf8") : { filename, contentType: type, bytes };
    form[name] = name in form ? [form[name], value].flat() : value;
  }
  return form;
}
