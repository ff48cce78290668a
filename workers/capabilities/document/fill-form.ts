import {
  type PDFField,
  type PDFForm,
  PDFCheckBox,
  PDFDropdown,
  PDFName,
  PDFOptionList,
  PDFRadioGroup,
  PDFTextField,
} from "@cantoo/pdf-lib";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { corruptOr } from "../faults.ts";
import { custom, flag } from "../params.ts";
import { DOCUMENT_PRICE, openPdf, REPORT, savePdf } from "./pdf.ts";
import { isWestern } from "./western.ts";

type Value = string | boolean | readonly string[];

export default defineCapability({
  id: "document.fill_form",
  display_name: "Fill PDF form",
  description: "Fills the fields of a PDF form. Only characters of Western European alphabets are supported.",
  output_modality: "document",
  input: { document: input("document", "The PDF.") },
  params: {
    fields: custom<Readonly<Record<string, Value>>, { readonly required: true }>(
      {
        description:
          "Values by field name (see document.info): text, true or false for a check box, or the chosen options.",
        type: "object",
        additionalProperties: {
          anyOf: [
            { type: "string", maxLength: 10_000 },
            { type: "boolean" },
            { type: "array", items: { type: "string", maxLength: 1_000 }, maxItems: 100 },
          ],
        },
        minProperties: 1,
        maxProperties: 1_000,
      },
      { required: true },
    ),
    flatten: flag("Make the values part of the page, so that they can no longer be edited.", true),
  },
  sample_input: REPORT,
  examples: [
    { title: "A name", params: { fields: { customer: "Ada Lovelace" } } },
    {
      title: "Text, a choice and a check box, still editable",
      params: { fields: { customer: "Ada Lovelace", size: "large", agreed: true }, flatten: false },
    },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs, folder }) {
    const { document } = await openPdf(inputs.document);
    if (!document.catalog.has(PDFName.of("AcroForm"))) throw new MediaError("invalid", "Expected a PDF with a form.");
    const filled = Object.entries(params.fields);
    try {
      const form = document.getForm();
      for (const [name, value] of filled) fill(fieldOf(form, name), name, value);
      form.updateFieldAppearances();
      if (params.flatten) form.flatten();
    } catch (error) {
      throw corruptOr(error, "The form cannot be filled.");
    }
    return { output: { filled: filled.length }, files: [await savePdf(folder, document)] };
  },
});

function fieldOf(form: PDFForm, name: string): PDFField {
  const field = form.getFieldMaybe(name);
  if (field) return field;
  const names = form.getFields().map((one) => one.getName());
  const known = names.slice(0, 20).join(", ");
  throw new MediaError(
    "invalid",
    `Expected params.fields to name fields of the form (${known}), got ${name.slice(0, 60)}.`,
  );
}

function fill(field: PDFField, name: string, value: Value): void {
  if (field instanceof PDFTextField && typeof value === "string") {
    if (!isWestern(value)) throw wrong(name, "text in letters of Western alphabets");
    const max = field.getMaxLength();
    if (max !== undefined && value.length > max) throw wrong(name, `text of at most ${max} letters`);
    field.setText(value);
  } else if (field instanceof PDFCheckBox && typeof value === "boolean") {
    if (value) field.check();
    else field.uncheck();
  } else if (field instanceof PDFRadioGroup && typeof value === "string") {
    field.select(optionOf(field.getOptions(), name, value));
  } else if ((field instanceof PDFDropdown || field instanceof PDFOptionList) && typeof value !== "boolean") {
    const chosen = typeof value === "string" ? [value] : [...value];
    field.select(chosen.map((one) => optionOf(field.getOptions(), name, one)));
  } else {
    const wanted =
      field instanceof PDFCheckBox ? "true or false" : field instanceof PDFTextField ? "text" : "one of its options";
    throw wrong(name, wanted);
  }
}

function optionOf(options: readonly string[], name: string, value: string): string {
  if (options.includes(value)) return value;
  throw wrong(name, `one of ${options.slice(0, 20).join(", ")}`);
}

function wrong(name: string, wanted: string): MediaError {
  return new MediaError("invalid", `Expected params.fields.${name.slice(0, 60)} to be ${wanted}.`);
}
