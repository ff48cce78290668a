import {
  defaultDropdownAppearanceProvider,
  defaultTextFieldAppearanceProvider,
  degrees,
  drawImage,
  PDFButton,
  PDFCheckBox,
  PDFDict,
  type PDFDocument,
  PDFDropdown,
  type PDFField,
  type PDFFont,
  type PDFForm,
  PDFName,
  type PDFOperator,
  PDFOptionList,
  PDFRadioGroup,
  PDFStream,
  PDFTextField,
  type PDFWidgetAnnotation,
  TextAlignment,
} from "@cantoo/pdf-lib";
import * as fontkit from "fontkit";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { corruptOr } from "../faults.ts";
import { brokenLines, checkLetters, fontPath, fontWith, needsShaping } from "../fonts.ts";
import { textOverlay } from "../image/overlay.ts";
import { custom, flag } from "../params.ts";
import { DOCUMENT_PRICE, openPdf, REPORT, savePdf } from "./pdf.ts";
import { isWestern } from "./western.ts";

type Value = string | boolean | readonly string[];

export default defineCapability({
  id: "document.fill_form",
  display_name: "Fill PDF form",
  description: "Fills the fields of a PDF form.",
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
      const draw = drawerOf(document);
      for (const field of form.getFields()) {
        // Other fields keep their existing appearance.
        if (field.needsAppearancesUpdate()) await draw(field, Object.hasOwn(params.fields, field.getName()));
      }
      if (params.flatten) form.flatten({ updateFieldAppearances: false });
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

/**
 * Returns a function that draws the text of a form field. It uses the standard font if this font contains all characters, otherwise an
 * installed font. Text that needs shaping is drawn as an image.
 */
function drawerOf(document: PDFDocument) {
  const embedded = new Map<string, PDFFont>();
  document.registerFontkit(fontkit);
  const embed = async (file: string): Promise<PDFFont> => {
    const known = embedded.get(file);
    if (known) return known;
    const font = await document.embedFont(await Bun.file(fontPath(file)).bytes(), { subset: true });
    embedded.set(file, font);
    return font;
  };
  return async (field: PDFField, isFilled: boolean): Promise<void> => {
    const standard = document.getForm().getDefaultFont();
    const fieldText = textOfField(field);
    if (isWestern(fieldText)) return field.defaultUpdateAppearances(standard);
    const name = field.getName().slice(0, 60);
    const what = isFilled ? `params.fields.${name}` : `the form's field ${name}`;
    checkLetters(what, fieldText);
    const file = needsShaping(fieldText) ? undefined : fontWith(fieldText);
    if (file !== undefined) return field.defaultUpdateAppearances(await embed(file));
    if (!(field instanceof PDFTextField || field instanceof PDFDropdown)) {
      throw new MediaError("invalid", `Expected ${what} in letters of one script that are not joined.`);
    }
    await drawPictures(document, field, fieldText, standard);
  };
}

/** Returns the text that a field displays. */
function textOfField(field: PDFField): string {
  if (field instanceof PDFTextField) return field.getText() ?? "";
  if (field instanceof PDFDropdown) return field.getSelected()[0] ?? "";
  if (field instanceof PDFOptionList) return field.getOptions().join("\n");
  if (!(field instanceof PDFButton)) return "";
  const captions = field.acroField.getWidgets().map((one) => one.getAppearanceCharacteristics()?.getCaptions());
  return captions.map((one) => `${one?.normal ?? ""}${one?.down ?? ""}`).join("\n");
}

/** Maximum characters of a default appearance that are parsed. Font, size and colour need fewer. */
const APPEARANCE_CHARACTERS_MAX = 500;

/** Pixels per point of text that is drawn as an image. */
const SHARPNESS = 4;

/** Draws a field's text as an image. PDF text operators support neither shaping nor several fonts. */
async function drawPictures(
  document: PDFDocument,
  field: PDFTextField | PDFDropdown,
  fieldText: string,
  font: PDFFont,
): Promise<void> {
  const pictures = new Map<PDFDict, Picture>();
  const widgets = field.acroField.getWidgets();
  for (const widget of widgets) pictures.set(widget.dict, await pictureOf(field, widget, fieldText));
  // The library draws border and background for a field without text.
  const empty = { getText: { value: () => "" }, getSelected: { value: () => [] } };
  const withPicture = ({ dict }: PDFWidgetAnnotation, bare: PDFOperator[] | { readonly normal: PDFOperator[] }) => {
    const box = pictures.get(dict)?.box;
    const place = { rotate: degrees(0), xSkew: degrees(0), ySkew: degrees(0) };
    return [...(Array.isArray(bare) ? bare : bare.normal), ...(box ? drawImage("Text", { ...box, ...place }) : [])];
  };
  if (field instanceof PDFTextField) {
    const bare = Object.create(field, empty) as PDFTextField;
    field.updateAppearances(font, (_, one) => withPicture(one, defaultTextFieldAppearanceProvider(bare, one, font)));
  } else {
    const bare = Object.create(field, empty) as PDFDropdown;
    field.updateAppearances(font, (_, one) => withPicture(one, defaultDropdownAppearanceProvider(bare, one, font)));
  }
  for (const widget of widgets) {
    const appearance = widget.getAppearances()?.normal;
    const picture = pictures.get(widget.dict);
    if (!(appearance instanceof PDFStream) || !picture) throw new Error("the field has no appearance");
    const image = await document.embedPng(picture.png);
    const resources = appearance.dict.lookup(PDFName.of("Resources"), PDFDict);
    resources.set(PDFName.of("XObject"), document.context.obj({ Text: image.ref }));
  }
}

interface Picture {
  readonly png: Buffer;
  /** Position and size within the widget, in points. */
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
}

async function pictureOf(
  field: PDFTextField | PDFDropdown,
  widget: PDFWidgetAnnotation,
  fieldText: string,
): Promise<Picture> {
  const appearances = [widget.getDefaultAppearance(), field.acroField.getDefaultAppearance()];
  const appearance = appearances.map((one = "") => one.slice(0, APPEARANCE_CHARACTERS_MAX)).join(" ");
  const asked = Number(/([\d.]+)\s+Tf/.exec(appearance)?.[1] ?? 0);
  const margin = (widget.getBorderStyle()?.getWidth() ?? 0) + 2;
  const isTurned = (widget.getAppearanceCharacteristics()?.getRotation() ?? 0) % 180 !== 0;
  const { width: across, height: up } = widget.getRectangle();
  const outer = isTurned ? { width: up, height: across } : { width: across, height: up };
  const textArea = { width: Math.max(1, outer.width - 2 * margin), height: Math.max(1, outer.height - 2 * margin) };
  const isMultiline = field instanceof PDFTextField && field.isMultiline();
  const linesAt = (size: number): string =>
    isMultiline ? brokenLines(fieldText, size, textArea.width).join("\n") : fieldText.replaceAll(/\s+/gu, " ");
  const fits = (size: number): boolean => size > 0 && linesAt(size).split("\n").length * size * 1.2 <= textArea.height;
  const size = [asked, 12, 10, 8, 6].find(fits) ?? 5;
  const align = field instanceof PDFTextField ? field.getAlignment() : TextAlignment.Left;
  const share = { [TextAlignment.Left]: 0, [TextAlignment.Center]: 0.5, [TextAlignment.Right]: 1 }[align];
  const { data: png, ...own } = await textOverlay(linesAt(size), { size: size * SHARPNESS, fill: colorOf(appearance) });
  const scale = Math.min(1 / SHARPNESS, textArea.width / own.width, textArea.height / own.height);
  const box = { width: own.width * scale, height: own.height * scale };
  const x = margin + (textArea.width - box.width) * share;
  return { png, box: { x, y: margin + (textArea.height - box.height) * (isMultiline ? 1 : 0.5), ...box } };
}

/** Returns the CSS colour of a default appearance such as `/Helv 12 Tf 0 0 1 rg`; black if it has none. */
function colorOf(appearance: string): string {
  const parts = /((?:[\d.]+\s+){3})rg\b|([\d.]+\s+)g\b/.exec(appearance);
  const shares = (parts?.[1] ?? parts?.[2]?.repeat(3) ?? "0 0 0").trim().split(/\s+/);
  return `rgb(${shares.map((share) => Math.round(Number(share) * 255)).join(",")})`;
}
