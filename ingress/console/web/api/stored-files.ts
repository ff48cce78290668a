/** Facts of stored files, and the kinds of inputs that accept them. */
import type { CapabilityEntry, StoredFile } from "#schemas/generated/types.ts";
import { type Query, useCall } from "./query.ts";
import { kindOf, type Schema } from "./schema.ts";
import { hasRole } from "./session.ts";

/** True if the member's role may read files. */
export function mayReadFiles(): boolean {
  return hasRole("owner", "admin", "developer");
}

/** Reads the facts of a file. @param id a text that is no id of a file reads nothing */
export function useStoredFile(id: string): Query<StoredFile> {
  return useCall("GET /v1/files/{file_id}", FILE_ID.test(id) && mayReadFiles() ? { path: { file_id: id } } : null);
}

const FILE_ID = /^file-(?:[0-9a-f]{32}|sample-[a-z]{1,20})$/;

const VIDEOS = "mp4 m4v 3gp mov webm mkv avi flv ogv";
const TEXTS = "txt md csv html htm vtt xml json jsonl ndjson yaml yml srt svg";

/** Extensions of the files that inputs of a kind accept. The API detects the type of a file and refuses a name that contradicts it. */
const ENDINGS: Readonly<Record<string, string>> = {
  image: "png apng jpg jpeg gif webp avif heic heif tif tiff bmp",
  video: `${VIDEOS} gif`,
  audio: `wav ogg oga opus flac aac aiff aif mp3 mpga caf ac3 eac3 ec3 m4a mka ${VIDEOS}`,
  document: `pdf odt ods odp docx xlsx pptx doc xls ppt epub ${TEXTS}`,
  archive: "zip gz tgz xz txz bz2 tbz2 7z tar zst",
  text: TEXTS,
  mesh: "glb",
};

/** Returns false for a file whose name shows that no input of these kinds accepts it. @param kinds undefined accepts all files */
export function isAccepted(filename: string, kinds: readonly string[] = ["any"]): boolean {
  const ending = filename.split(".").slice(1).at(-1)?.toLowerCase() ?? "";
  const has = (endings = ""): boolean => endings.split(" ").includes(ending);
  return kinds.includes("any") || kinds.some((kind) => has(ENDINGS[kind])) || !Object.values(ENDINGS).some(has);
}

/** Returns the schema of a capability's input, with the kinds of files that each member accepts. */
export function inputSchemaOf({ input_schema: schema, input_modality: modality }: CapabilityEntry): Schema {
  const kinds = [modality].flat();
  const members = Object.entries((schema as Schema).properties ?? {});
  // Several types are listed in the order of the members. If the numbers differ, all members accept all listed types.
  const kindsAt = (place: number): readonly string[] =>
    kinds.length === members.length ? kinds.slice(place, place + 1) : kinds;
  const properties = members.map(([name, member], place) => [name, { ...member, kinds: kindsAt(place) }] as const);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Returns the path of the first field that accepts a file, such as `input.image`; undefined if no field does. */
export function fieldFor(schema: Schema, filename: string): string | undefined {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const kind = kindOf(member);
    if ((kind === "file" || kind === "files") && isAccepted(filename, member.kinds)) {
      return kind === "file" ? `input.${name}` : `input.${name}.0`;
    }
  }
  return undefined;
}
