/** Limits on a document, checked before the work on it, since a small file can claim or inflate to much. */
const MB = 1_048_576;

export const DOCUMENT_LIMITS = {
  documentPagesMax: 2_000,
  /** 200 inches, the most that viewers show. */
  documentPageSidePointsMax: 14_400,
  /** Cells of all sheets of a spreadsheet, empty ones between others counted. */
  documentCellsMax: 1_000_000,
  /** A zipped office document, unpacked: parsers hold several times as much. */
  documentUnpackedBytesMax: 200 * MB,
  /** One packed stream of a PDF that is no picture, inflated. */
  documentContentBytesMax: 32 * MB,
  /** One picture's stream, inflated, and all streams of the PDF together. */
  documentStreamBytesMax: 256 * MB,
  documentStreamsBytesMax: 1_024 * MB,
  /** Lists in lists and quotes in quotes of Markdown. */
  documentDepthMax: 30,
  /** Tags of HTML, and of all parts of a Word document: readers hold some kilobytes for each. */
  documentTagsMax: 1_000_000,
  /** Rows and cells of all tables of HTML that becomes Markdown: larger ones are no text to be read. */
  markdownTableRowsMax: 2_000,
  markdownTableCellsMax: 12_000,
  /** Cells of Markdown tables, which are filled up to their heads: to set as many takes 2 s. */
  markdownCellsMax: 20_000,
  /** Stars, underscores and tildes in one paragraph of Markdown: 40,000 take its reader 34 s, these 0.5 to 1.5 s. */
  markdownEmphasisMax: 5_000,
  /** Letters of a word without a break in a PDF: to set 20,000 takes 7 s and 1.2 GB, to set these 0.4 s and 30 MB. */
  pdfWordLettersMax: 5_000,
} as const;
