/** Limits on what a run may fetch from the web, and on what is read of a page. */
const MB = 1_048_576;

export const WEB_LIMITS = {
  /** One page, inflated. */
  webPageBytesMax: 20 * MB,
  /** One fetch, from the first look-up to the last byte. */
  webFetchMs: 30_000,
  webRedirectsMax: 5,
  /** Headers that a caller sends along, and that are told of an answer. */
  webHeadersMax: 20,
  webAnswerHeadersMax: 100,
  webHeaderCharactersMax: 2_000,
  /** Readers of robots.txt are to take 500 KiB at least (RFC 9309). */
  webRobotsBytesMax: 500 * 1_024,
  webRobotsMs: 10_000,
  /** HTML that becomes Markdown: readers of articles hold it several times over, and go through it as often. */
  webHtmlCharactersMax: 5 * MB,
  webElementsMax: 50_000,
  /** Tags and entities, each of which parts a text in two. */
  webMarksMax: 250_000,
  /** A page that a browser shows: its time to load, its parts, their bytes in all, the time of one, and those fetched at once. */
  webLoadMs: 30_000,
  webPagePartsMax: 500,
  webPagePartsBytesMax: 50 * MB,
  webPartMs: 15_000,
  webPartsAtOnceMax: 6,
  /** Elements within elements: readers call themselves for each level. */
  webDepthMax: 400,
} as const;
