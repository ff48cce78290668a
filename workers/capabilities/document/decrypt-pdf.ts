import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { text } from "../params.ts";
import { DOCUMENT_PRICE, openPdf, savePdf } from "./pdf.ts";
import { LOCKED } from "./locked-sample.ts";

export default defineCapability({
  id: "document.decrypt_pdf",
  display_name: "Decrypt PDF",
  description: "Removes the encryption of a PDF whose password is known.",
  output_modality: "document",
  input: { document: input("document", "The PDF.") },
  params: { password: text("User or owner password of the document.", { max: 127, required: true }) },
  sample_input: { document: { base64: LOCKED, mime_type: "application/pdf" } },
  examples: [
    { title: "With the user's password", params: { password: "tea" } },
    { title: "With the owner's password", params: { password: "milk" } },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs, folder }) {
    const { document, pages, isEncrypted } = await openPdf(inputs.document, {
      password: params.password,
      passwordParam: "params.password",
    });
    if (!isEncrypted) throw new MediaError("invalid", "Expected an encrypted document, got one that is not.");
    return { output: { pages }, files: [await savePdf(folder, document)] };
  },
});
