// @ts-check
/** The log file of `npm start`, in its data folder. */
import { closeSync, openSync, renameSync, writeSync } from "node:fs";

/** Size at which the file is renamed to `<name>.1` and begun again, in bytes. */
const FILE_BYTES_MAX = 64 * 1_048_576;

/**
 * @typedef {object} LogFile
 * @property {string} path absolute
 * @property {(text: string) => string} write appends a line, or several, and returns `<path>:<number of the first of them>`
 * @property {() => void} close
 */

/**
 * Opens a new file. The file of the last start is kept as `<path>.1`.
 * Writes are synchronous: the lines before a crash are the ones that matter.
 * @param {string} path
 * @param {number} [bytesMax]
 * @returns {LogFile}
 */
export function openLogFile(path, bytesMax = FILE_BYTES_MAX) {
  let file = begin(path);
  let lines = 0;
  let bytes = 0;
  return {
    path,
    write(text) {
      if (bytes > bytesMax) {
        closeSync(file);
        file = begin(path);
        lines = 0;
        bytes = 0;
      }
      const place = `${path}:${lines + 1}`;
      bytes += writeSync(file, `${text}\n`);
      lines += text.split("\n").length;
      return place;
    },
    close: () => closeSync(file),
  };
}

/**
 * @param {string} path
 * @returns {number} descriptor of an empty file
 */
function begin(path) {
  try {
    renameSync(path, `${path}.1`);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT") throw error;
  }
  return openSync(path, "a", 0o600);
}
