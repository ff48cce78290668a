/** Cleans names of files for display. The names are stored and returned, but never become part of a path. */

const FILENAME_CHARACTERS_MAX = 255;

/** Returns the last segment of a path, without control characters and lone surrogates, and with at most 255 characters. */
export function cleanFilename(sent: string): string {
  const base = sent.split(/[/\\]/).at(-1) ?? "";
  const clean = base
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "")
    .trim();
  const short = shorten(clean);
  return short === "" || /^\.+$/.test(short) ? "file" : short;
}

/** Shortens a name and keeps its extension. */
function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= FILENAME_CHARACTERS_MAX) return name;
  const ending = /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? "";
  return characters.slice(0, FILENAME_CHARACTERS_MAX - ending.length).join("") + ending;
}

/** Returns a `Content-Disposition` header with which every browser saves the file instead of displaying it (RFC 6266). */
export function attachment(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
