/** Limits on inputs, pages and results, shared by several categories of capabilities. */

/**
 * Maximum size of a parameter that accepts any JSON object, in bytes. Larger data must be sent as an input, because engines copy parameters
 * several times.
 */
export const CAPABILITY_PARAM_BYTES_MAX = 65_536;

/** Maximum number of files of one run. */
export const CAPABILITY_FILES_MAX = 200;

/** Maximum size of a text in `output`, in bytes. A longer text is returned as a file. */
export const CAPABILITY_TEXT_BYTES_MAX = 1_048_576;

/** Maximum number of tags in HTML, or in all XML entries of a Word document. Parsers use several kilobytes of memory for each tag. */
export const DOCUMENT_TAGS_MAX = 1_000_000;

/** Maximum decompressed size of a web page, in bytes. */
export const WEB_PAGE_BYTES_MAX = 20 * 1_048_576;
export const WEB_HEADER_CHARACTERS_MAX = 2_000;

/** Maximum number of redirects in one fetch for a capability. Browsers have the same limit. */
export const WEB_REDIRECTS_MAX = 20;
