/** The one way in which a foreign file is told that it is too large. */
import { MediaError } from "#shared/children/media-error.ts";

/**
 * @param file how errors name it, such as "The mesh"
 * @param what is counted, in the plural
 * @throws MediaError too_large
 */
export function checkMax(file: string, count: number, max: number, what: string): void {
  if (count > max) throw new MediaError("too_large", `${file} has ${count} ${what}; at most ${max} are taken.`);
}
