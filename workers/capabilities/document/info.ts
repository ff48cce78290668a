import { PDFName, type PDFDocument } from "@cantoo/pdf-lib";

import { defineCapability, input } from "../define.ts";
import { text } from "../params.ts";
import { openPdf, REPORT, unreadable } from "./pdf.ts";

/** Maximum number of page sizes and fields that are listed. Further ones are only counted. */
const LISTED_MAX = 100;

export default defineCapability({
  id: "document.info",
  display_name: "PDF facts",
  description: "Returns page count, page sizes, title, form fields and encryption of a PDF.",
  output_modality: "text",
  input: { document: input("document", "The PDF.") },
  params: { password: text("Password, if the document is encrypted.", { max: 127 }) },
  sample_input: REPORT,
  examples: [
    { title: "A report", params: {} },
    { title: "With a password (ignored if the document is not encrypted)", params: { password: "tea" } },
  ],
  price: { unit: "per_operation", operation_price: "0.02" },
  engine: "pdf",
  async run({ params, inputs }) {
    const { document, bytes, version, pages, isEncrypted } = await openPdf(inputs.document, {
      password: params.password,
      passwordParam: "params.password",
    });
    try {
      return { output: { pages, bytes, version, is_encrypted: isEncrypted, ...factsOf(document) } };
    } catch (error) {
      throw unreadable(error);
    }
  },
});

function factsOf(document: PDFDocument): Readonly<Record<string, unknown>> {
  const sizes = new Map<string, { width: number; height: number; rotation: number; pages: number }>();
  for (const page of document.getPages()) {
    const { width, height } = page.getSize();
    const rotation = ((page.getRotation().angle % 360) + 360) % 360;
    const key = `${width} ${height} ${rotation}`;
    const known = sizes.get(key);
    if (known) known.pages += 1;
    else sizes.set(key, { width, height, rotation, pages: 1 });
  }
  const hasForm = document.catalog.has(PDFName.of("AcroForm"));
  const fields = hasForm ? document.getForm().getFields() : [];
  const metadata = {
    title: read(() => document.getTitle()),
    author: read(() => document.getAuthor()),
    subject: read(() => document.getSubject()),
    keywords: read(() => document.getKeywords()),
    creator: read(() => document.getCreator()),
    producer: read(() => document.getProducer()),
    language: read(() => document.getLanguage()),
    created: read(() => document.getCreationDate()?.toISOString()),
    modified: read(() => document.getModificationDate()?.toISOString()),
  };
  return {
    ...Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined && value !== "")),
    page_sizes: [...sizes.values()].slice(0, LISTED_MAX),
    attachments: document.getAttachments().length,
    fields: fields.slice(0, LISTED_MAX).map((field) => ({
      name: field.getName(),
      type: field.constructor.name.replace(/^PDF/, "").toLowerCase(),
    })),
    field_count: fields.length,
  };
}

/** Reads an entry of a PDF. Returns undefined if the entry has an invalid type, because many programs write invalid dates. */
function read(fact: () => string | undefined): string | undefined {
  try {
    return fact();
  } catch {
    return undefined;
  }
}
