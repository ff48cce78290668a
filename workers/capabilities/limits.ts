/** Limits on inputs, pages and results, shared by several categories of capabilities. */

/** Most bytes of a param with any JSON object. Larger data belongs into an input: engines copy params several times. */
export const CAPABILITY_PARAM_BYTES_MAX = 65_536;

/** Most files of one run. */
export const CAPABILITY_FILES_MAX = 200;

/** Largest text in `output`, in bytes; a longer text is returned as a file. */
export const CAPABILITY_TEXT_BYTES_MAX = 1_048_576;

/** Most tags of HTML, or of all parts of a Word document: parsers use several kilobytes for each. */
export const DOCUMENT_TAGS_MAX = 1_000_000;

/** Largest page, decompressed. */
export const WEB_PAGE_BYTES_MAX = 20 * 1_048_576;
export const WEB_HEADER_CHARACTERS_MAX = 2_000;

/** Most redirects of one fetch for a capability: the limit of browsers. */
export const WEB_REDIRECTS_MAX = 20;
