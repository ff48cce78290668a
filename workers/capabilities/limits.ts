/** Limits on inputs, pages and results that capabilities of several kinds keep. */

/** A param that may be any object, as JSON: data comes as an input, and engines hold params many times over. */
export const CAPABILITY_PARAM_BYTES_MAX = 65_536;

/** Files that one run makes. */
export const CAPABILITY_FILES_MAX = 200;

/** Text of a result stands in `output` up to this size, and is a file beyond it. */
export const CAPABILITY_TEXT_BYTES_MAX = 1_048_576;

/** Tags of HTML, and of all parts of a Word document: readers hold some kilobytes for each. */
export const DOCUMENT_TAGS_MAX = 1_000_000;

/** One page, inflated. */
export const WEB_PAGE_BYTES_MAX = 20 * 1_048_576;
export const WEB_HEADER_CHARACTERS_MAX = 2_000;

/** Redirects that are followed for a capability, as many as browsers follow. */
export const WEB_REDIRECTS_MAX = 20;
