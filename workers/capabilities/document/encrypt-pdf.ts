import { randomBytes } from "node:crypto";

import { defineCapability, input } from "../define.ts";
import { choice, list, text } from "../params.ts";
import { DOCUMENT_PRICE, openPdf, REPORT, savePdf } from "./pdf.ts";

const RIGHTS = ["print", "copy", "modify", "annotate", "fill_forms"] as const;
type Right = (typeof RIGHTS)[number];

export default defineCapability({
  id: "document.encrypt_pdf",
  display_name: "Encrypt PDF",
  description: "Encrypts a PDF with AES-256, so that it can only be opened with a password.",
  output_modality: "document",
  input: { document: input("document", "The PDF.") },
  params: {
    user_password: text("Password to open the document.", { max: 127, required: true }),
    owner_password: text("Password that gives all rights. Default: none, so that no password gives all rights.", {
      max: 127,
    }),
    allow: list(
      "Actions that viewers allow with the user password.",
      choice("One action.", RIGHTS, { required: true }),
      {
        min: 0,
        max: RIGHTS.length,
        default: [] as Right[],
      },
    ),
  },
  sample_input: REPORT,
  examples: [
    { title: "Read only", params: { user_password: "tea" } },
    {
      title: "Printing allowed, with an owner password",
      params: { user_password: "tea", owner_password: "milk", allow: ["print"] },
    },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs, folder }) {
    const { document, pages } = await openPdf(inputs.document);
    const may = (right: Right): boolean => params.allow.includes(right);
    document.encrypt({
      algorithm: "AES-256",
      userPassword: params.user_password,
      // Without an owner password, the user password would also grant all owner rights.
      ownerPassword: params.owner_password ?? randomBytes(24).toString("base64"),
      permissions: {
        printing: may("print") ? "highResolution" : false,
        copying: may("copy"),
        modifying: may("modify"),
        annotating: may("annotate"),
        fillingForms: may("fill_forms"),
        contentAccessibility: true,
        documentAssembly: may("modify"),
      },
    });
    return { output: { pages, algorithm: "AES-256", allow: params.allow }, files: [await savePdf(folder, document)] };
  },
});
