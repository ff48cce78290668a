/** PDF documents of as many pages as wanted, written as generators write them. */

/** @param pages each an empty A4 page of one page tree */
export function documentOf(pages: number): Buffer {
  const kids = Array.from({ length: pages }, (_, at) => `${3 + at} 0 R`);
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages} /Kids [ ${kids.join(" ")} ] >>`,
    ...kids.map(() => "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>"),
  ];
  const body = objects.map((text, at) => `${at + 1} 0 obj\n${text}\nendobj\n`).join("");
  return Buffer.from(`%PDF-1.4\n${body}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\n%%EOF\n`, "latin1");
}
